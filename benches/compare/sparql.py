"""The group `sparql`: queries of Wikidata beside other engines over the same triples."""

import gzip
import json
import os
import random

import measure
import peers
import product
from measure import Failed, interleaved, run
from overpass import OURS, start, summarised
from results import Group, Table

PREFIXES = ("PREFIX wd: <http://www.wikidata.org/entity/> PREFIX wdt: <http://www.wikidata.org/prop/direct/> "
            "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> ")
FULL = ["full-entities", "br-municipalities", "kgtk-arnold", "wd50k"]
SMALL = ["full-entities"]
QUERY_LIMIT = 3


def hard(options):
    lines = (options.benches / "hard.tsv").read_text().splitlines()
    return [(name, PREFIXES + query) for name, query in (line.split("\t") for line in lines if line)]


def recorded(options, number):
    """A random choice of the recorded queries that gave rows within the limits of the recording."""
    with gzip.open(options.shared / "conformance" / "sparql" / "vectors.jsonl.gz", "rt") as lines:
        usable = [one for one in map(json.loads, lines) if one["form"] in ("select", "ask")]
    return [(one["id"], one["query"]) for one in random.Random(1).sample(usable, number)]


def files(options, names):
    folder = options.shared / "data" / "wikidata"
    found = [folder / f"subset-{name}.nt.gz" for name in names]
    if not all(file.exists() for file in found):
        raise Failed("the triples are in no public place: set TERRAPIN_SHARED")
    return found


def snapshot(options, name, sources):
    out = options.folder / f"{name}.terrapin"
    if not out.exists():
        run([product.PROGRAM, "load", "--rdf", *sources, "--out", out])
    return out


def measured(options):
    group = Group("SPARQL", "Each program answers with the complete table as text, in tab-separated values: Terrapin over HTTP, "
                  "the libraries into memory. One query at a time, after one run that is not counted. A query is stopped after "
                  f"{QUERY_LIMIT} s of processor time in a peer. Of Terrapin's time, about 0.2 ms are for HTTP.")
    if options.quick:
        quick(options, group)
        return group
    try:
        sources = files(options, FULL)
    except Failed as error:
        group.missing["all"] = str(error)
        return group
    full = snapshot(options, "wikidata", sources)
    workers = {}
    store = start(group, "Oxigraph", lambda: options.oxigraph(sources))
    if store:
        group.versions["Oxigraph"] = f"pyoxigraph {peers.package_version('pyoxigraph')}, persistent store"
        workers["Oxigraph"] = measure.Worker([peers.python(), options.here / "sparql_worker.py", "oxigraph", store], QUERY_LIMIT)
    jena = start(group, "Apache Jena TDB2", lambda: options.jena(sources))
    if jena:
        group.versions["Jena"] = peers.jena_version(peers.jena_classes(options.folder))
        workers["Jena"] = jena
    if "QLEVER" not in os.environ:
        group.missing["QLever"] = "in no package registry: set QLEVER to the address of its server over the same triples"
    with product.Server(full) as server:
        if "QLEVER" in os.environ:
            workers["QLever"] = HttpPeer(os.environ["QLEVER"])
        compare(options, group, server, workers, "5,073,853 triples of four subsets of Wikidata", hard(options),
                recorded(options, options.vectors))
    for worker in workers.values():
        worker.stop()
    in_memory(options, group)
    return group


class HttpPeer:
    """A SPARQL service at an address; the processor time of its process is not known, so the wall time stands for it."""

    def __init__(self, address):
        self.address = address

    def ask(self, query):
        took = run(["curl", "-sSf", "-H", "Accept: text/tab-separated-values", "--data-urlencode", f"query={query}", self.address],
                   limit=QUERY_LIMIT)
        return {"cpu": took["wall"], "wall": took["wall"], "count": product.rows(took["out"].encode())}

    def stop(self):
        pass


def compare(options, group, server, workers, data, hard_queries, others):
    def asked(name, text, rounds):
        askers = {OURS: lambda: server.sparql(text)}
        for peer, worker in workers.items():
            askers[peer] = lambda worker=worker: worker.ask(query=text)
        return {"name": name, "query": text, "cells": interleaved(askers, rounds)}

    rows = [asked(name, text, options.rounds) for name, text in [("an empty query, `ASK {}`", "ASK {}"), *hard_queries]]
    table = Table(f"The {len(hard_queries)} queries of benches/hard.tsv on {data}", rows)
    group.tables.append(table)
    if others:
        runs = [asked(name, text, 1) for name, text in others]
        group.tables.append(summarised(f"{len(runs)} random recorded queries on {data}", runs))


def in_memory(options, group):
    """rdflib holds its triples in the memory of Python: a smaller set, so that loading ends."""
    sources = files(options, SMALL)
    group.versions["rdflib"] = f"rdflib {peers.package_version('rdflib')}, in memory"
    worker = measure.Worker([peers.python(), options.here / "sparql_worker.py", "rdflib", *sources], 2, 900)
    try:
        worker.start()
    except Failed as error:
        group.missing["rdflib"] = str(error)
        return
    names = {"mid-spouse", "mid-year", "mid-group", "mid-class", "mid-order", "mid-distinct", "mid-max", "mid-cities", "fil-lang",
             "min-one", "ask-join", "mid-border"}
    chosen = [one for one in hard(options) if one[0] in names]
    with product.Server(snapshot(options, "wikidata-small", sources)) as server:
        group.tables.append(summarised_for(server, worker, chosen, options))
    worker.stop()


def summarised_for(server, worker, chosen, options):
    rows = []
    for name, text in chosen:
        rows.append({"name": name, "query": text, "cells": interleaved(
            {OURS: lambda: server.sparql(text), "rdflib": lambda: worker.ask(query=text)}, options.rounds)})
    return Table("Twelve of the hard queries beside rdflib, on 400,461 triples", rows,
                 text="rdflib keeps all triples in memory and is stopped after 2 s of processor time.")


def quick(options, group):
    """One query on a few triples, ours alone."""
    triples = options.folder / "quick.nt"
    triples.write_text("".join(f"<urn:s{n}> <urn:p> <urn:s{n // 2}> .\n" for n in range(1000)))
    out = options.folder / "quick.terrapin"
    run([product.PROGRAM, "load", "--rdf", triples, "--out", out])
    with product.Server(out) as server:
        cells = interleaved({OURS: lambda: server.sparql("SELECT ?s { ?s <urn:p>+ <urn:s1> }")}, 2)
    group.tables.append(Table("One query", [{"name": "a path", "cells": cells}]))
