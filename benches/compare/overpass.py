"""The group `overpass`: queries in OverpassQL beside Overpass API and databases that have the same elements."""

import gzip
import json
import os
import random
import tempfile
from pathlib import Path

import measure
import peers
import product
from measure import Failed, interleaved, run
from questions import QUESTIONS
from results import Group, Table

OURS, PROCESS = "Terrapin", "Terrapin, a process each"


def growth(options):
    return [line.split("\t") for line in (options.benches / "growth.tsv").read_text().splitlines() if line]


def start(group, name, begin):
    """Starts a peer; if it cannot be had, notes why in the group and returns nothing."""
    try:
        return begin()
    except Failed as error:
        group.missing[name] = str(error)
        return None


def measured(options):
    group = Group("OverpassQL", "One query at a time, after one that is not counted. Terrapin writes the complete answer as "
                  "JSON to an HTTP client; the databases return rows of ids, tags and, where the query prints it, the geometry.")
    extract = options.extract("monaco")
    snapshot = options.snapshot(extract)
    if options.quick:
        name, text = growth(options)[1]
        with product.Server(snapshot) as server:
            cells = interleaved({OURS: lambda: server.overpass(text), PROCESS: lambda: product.query(snapshot, text)}, 2)
        group.tables.append(Table("One query", [{"name": name, "cells": cells}]))
        return group
    overpass = start(group, "Overpass API", peers.Overpass)
    databases(options, group, extract, snapshot, overpass)
    if overpass:
        group.versions["Overpass API"] = overpass.version()
        vectors(options, group, overpass)
    return group


def databases(options, group, extract, snapshot, overpass):
    """The queries of growth.tsv in all peers, and the twelve that databases can answer in these."""
    postgres = start(group, "PostGIS", peers.Postgres)
    duckdb = start(group, "DuckDB", lambda: options.duckdb(extract))
    osmium = start(group, "osmium", lambda: peers.program("osmium"))
    gol = start(group, "GeoDesk", lambda: options.gol(extract))
    opened = []
    askers = {}

    def worker(name, script, *arguments):
        process = measure.Worker([peers.python(), options.here / script, *arguments], limit=60)
        opened.append(process)
        askers[name] = process

    with product.Server(snapshot) as server:
        if postgres:
            postgres.__enter__()
            group.versions["PostGIS"] = postgres.version()
            postgres.load(extract, "compared")
            worker("PostGIS", "postgis_worker.py", postgres.folder, "compared")
        if duckdb:
            group.versions["DuckDB"] = f"DuckDB {peers.package_version('duckdb')}"
            worker("DuckDB", "duckdb_worker.py", duckdb)
        if osmium:
            group.versions["osmium"] = peers.version([osmium, "--version"])
        if gol:
            group.versions["GeoDesk"] = f"GeoDesk {peers.package_version('geodesk')}"
            worker("GeoDesk", "geodesk_worker.py", gol)
        try:
            if overpass:
                database = options.overpass_database(overpass, extract)
                group.tables.append(against_overpass(options, server, snapshot, overpass, database))
            group.tables.append(against_databases(options, server, extract, askers, osmium))
        finally:
            for process in opened:
                process.stop()
            if postgres:
                postgres.__exit__()


def against_overpass(options, server, snapshot, overpass, database):
    table = Table(f"The 20 queries of benches/growth.tsv on {options.extract('monaco').name}, beside Overpass API",
                  text="Overpass API runs a process for each query, as its web server does. The second column does the same with "
                       "Terrapin.")

    def theirs(text):
        took = overpass.query(database, text)
        return {**took, "count": product.elements(took.pop("out"))}

    for name, text in growth(options):
        cells = interleaved({OURS: lambda: server.overpass(text), PROCESS: lambda: product.query(snapshot, text),
                             "Overpass API": lambda: theirs(text)}, options.rounds)
        table.rows.append({"name": name, "query": text, "cells": cells})
    return table


def against_databases(options, server, extract, workers, osmium):
    table = Table(f"The twelve that databases can answer, on {extract.name}",
                  text="PostGIS without parallel workers, DuckDB and Terrapin with a thread for each core. osmium reads the whole "
                       "file for each question. A different number of results is in the row.")
    queries = dict(growth(options))
    for name, languages in QUESTIONS.items():
        askers = {OURS: lambda: server.overpass(queries[name])}
        refused = {}
        for peer, worker in workers.items():
            request = languages[peer.lower()]
            if isinstance(request, dict) and "cannot" in request:
                refused[peer] = request
            elif isinstance(request, str):
                askers[peer] = lambda worker=worker, request=request: counted(worker.ask(sql=request), name)
            else:
                askers[peer] = lambda worker=worker, request=request: worker.ask(**request)
        if osmium:
            steps = languages["osmium"]
            if isinstance(steps, dict):
                refused["osmium"] = steps
            else:
                askers["osmium"] = lambda steps=steps: through_osmium(osmium, steps, extract)
        cells = {**interleaved(askers, options.rounds), **refused}
        table.rows.append({"name": name, "query": queries[name], "cells": cells})
    return table


def counted(answer, name):
    """The number of results: what `count(*)` gives, if the question is only for that."""
    return {**answer, "count": answer["value"] if name.endswith("counted") else answer["count"]}


def through_osmium(osmium, steps, extract):
    """Runs commands of osmium one after the other, each on the output of the one before; the last one counts."""
    source, total = extract, {"cpu": 0.0, "wall": 0.0}
    for at, step in enumerate(steps):
        last = at + 1 == len(steps)
        out = ["-f", "opl", "-o", "-"] if last else ["-f", "pbf", "-o", str(extract_step(at)), "--overwrite"]
        arguments = [step[0], *out, *(str(source) if part == "{}" else part for part in step[1:])]
        took = run([osmium, *arguments], limit=120)
        total = {"cpu": total["cpu"] + took["cpu"], "wall": total["wall"] + took["wall"]}
        source = extract_step(at)
    for at in range(len(steps)):
        extract_step(at).unlink(missing_ok=True)
    return {**total, "count": took["out"].count("\n")}


def extract_step(at):
    return Path(tempfile.gettempdir()) / f"compare-osmium-{os.getpid()}-{at}.pbf"


def vectors(options, group, overpass):
    """200 recorded queries: the sums and medians, and in how many both have the same number of results."""
    found = options.shared / "conformance" / "overpass" / "malta-2024.dev.jsonl.gz"
    if not found.exists():
        group.missing["recorded queries"] = f"{found.name} is in no public place: set TERRAPIN_SHARED"
        return
    with gzip.open(found, "rt") as lines:
        recorded = [json.loads(line) for line in lines]
    usable = [one for one in recorded if one["status"] == "ok" and one["format"] == "json" and "[date" not in one["query"]
              and "diff:" not in one["query"]]
    chosen = random.Random(1).sample(usable, min(options.vectors, len(usable)))
    extract = options.extract("malta-2024")
    snapshot = options.snapshot(extract)
    database = options.overpass_database(overpass, extract)
    runs = []
    with product.Server(snapshot) as server:
        for one in chosen:
            text = one["query"]
            theirs = lambda: (lambda took: {**took, "count": product.elements(took.pop("out"))})(overpass.query(database, text))
            runs.append({"name": one["id"], "query": text, "cells": interleaved(
                {OURS: lambda: server.overpass(text), PROCESS: lambda: product.query(snapshot, text), "Overpass API": theirs}, 1)})
    group.tables.append(summarised(f"{len(runs)} recorded queries of OverpassNL's dev split on {extract.name}", runs))


def summarised(title, runs, ours=OURS, text=""):
    """One row for many queries: medians, 90th percentiles and sums of those that all answered."""
    programs = list(runs[0]["cells"])
    answered = [one for one in runs if all("cannot" not in one["cells"][name] for name in programs)]
    table = Table(title, text=text)
    for label, pick in (("median", lambda values: values[len(values) // 2]), ("90th percentile", lambda values: values[
            len(values) * 9 // 10]), ("slowest", lambda values: values[-1]), ("sum", sum)):
        cells = {}
        for name in programs:
            cells[name] = {key: pick(sorted(one["cells"][name][key] for one in answered)) for key in ("cpu", "wall")}
            cells[name]["runs"] = len(answered)
        table.rows.append({"name": label, "cells": cells, "same": True})
    differ = [one["name"] for one in answered if len({str(one["cells"][name].get("count")) for name in programs}) > 1]
    slower = {name: sum(one["cells"][ours]["cpu"] > one["cells"][name]["cpu"] for one in answered) for name in programs
              if not name.startswith(ours)}
    failed = {name: sum("cannot" in one["cells"][name] for one in runs) for name in programs}
    table.text += f" {len(answered)} of {len(runs)} were answered by all programs"
    table.text += "".join(f"; {name} failed or was stopped in {count}" for name, count in failed.items() if count)
    table.text += f". The number of results differs in {len(differ)} of them."
    table.text += "".join(f" Terrapin took more than {name} in {count}." for name, count in slower.items())
    table.text = table.text.strip()
    table.raw = runs
    return table
