"""The group `loading`: an extract into what answers queries."""

import os
import shutil

import measure
import peers
import product
from measure import Failed, run
from overpass import OURS, start
from results import Group, Table

REST = [("mbs", "PBF, MB a second of processor", "{:.2f}"), ("wall", "wall, s", "{:.1f}"), ("rss_mb", "memory, MB", "{:.0f}"),
        ("size_mb", "on disk, MB", "{:.1f}"), ("runs", "runs", "{}")]


def repeated(options, extract, times):
    """The extract laid side by side, by terrapin-repeat."""
    if times == 1:
        return extract
    out = options.folder / f"{extract.name.removesuffix('.osm.pbf')}-{times}.osm.pbf"
    if not out.exists():
        program = os.environ.get("TERRAPIN_REPEAT", product.PROGRAM.with_name("terrapin-repeat"))
        run([program, extract, "--times", times, "--out", out])
    return out


def measured(options):
    group = Group("Loading", "An extract into what answers queries, with indexes for tags, ids and places. Terrapin, Overpass API "
                  "and PostGIS also have the geometry of relations or areas; DuckDB has lines of ways only. osmium makes no "
                  "database: it reads the file and writes it again. Memory is the largest resident set of a process; for PostGIS "
                  "that of osm2pgsql, without the server's 1 GB of shared buffers. Overpass API reads XML, which osmium makes.")
    sources = [("niue", 1)] if options.quick else [("malta-2024", 1), ("malta-2024", 4)]
    if options.world and not options.quick:
        sources.append(("patchwork-world", 1))
    loaders = {OURS: lambda source, name: product.load(source, options.folder / f"{name}.terrapin")}
    postgres = None
    if not options.quick:
        postgres = programs(options, group, loaders)
    try:
        for name, times in sources:
            try:
                source = repeated(options, options.extract(name), times)
            except (Failed, OSError) as error:
                group.missing[f"{name} x {times}"] = f"cannot be made: {error}"
                continue
            group.tables.append(table(options, source, f"load-{name}-{times}", loaders))
    finally:
        if postgres:
            postgres.__exit__()
    return group


def programs(options, group, loaders):
    """Adds the peers that can be had."""
    overpass = start(group, "Overpass API", peers.Overpass)
    postgres = start(group, "PostGIS", lambda: peers.Postgres().__enter__())
    if postgres:
        group.versions["osm2pgsql"] = postgres.version()
        loaders["osm2pgsql, PostGIS"] = lambda source, name: postgres.load(source, "loaded", options.limit)
    if start(group, "DuckDB", peers.python):
        group.versions["DuckDB"] = f"DuckDB {peers.package_version('duckdb')}"
        loaders["DuckDB"] = lambda source, name: options.load_duckdb(source, options.folder / f"{name}.duckdb")
    if start(group, "osmium", lambda: peers.program("osmium")):
        group.versions["osmium"] = peers.version(["osmium", "--version"])
        loaders["osmium, no database"] = lambda source, name: osmium(source, options.folder / f"{name}.copy.osm.pbf")
    if start(group, "GeoDesk", lambda: options.gol_tool()):
        loaders["GeoDesk"] = lambda source, name: options.load_gol(source, options.folder / f"{name}.gol")
    if overpass:
        group.versions["Overpass API"] = overpass.version()
        loaders["Overpass API"] = lambda source, name: through_overpass(options, overpass, source)
    return postgres


def through_overpass(options, overpass, source):
    """Loads into the database that the group `overpass` uses; one of a larger extract is removed, for it takes gigabytes."""
    database = options.folder / f"{source.name}.overpass"
    free, needed = shutil.disk_usage(options.folder).free, options.bytes.get("Overpass API", 0) * source.stat().st_size
    if 2 * needed > free:
        raise Failed(f"left out: would take {needed / 1e9:.0f} GB of disk at the rate of the smaller extract")
    took = overpass.load(source, database, options.limit)
    options.bytes["Overpass API"] = took["size"] / source.stat().st_size
    if source.parent == options.folder:
        shutil.rmtree(database)
    else:
        (options.folder / f"{database.name}.complete").touch()
    return took


def osmium(source, out):
    took = run([peers.program("osmium"), "cat", source, "-o", out, "--overwrite"])
    return {**took, "size": out.stat().st_size}


def table(options, source, name, loaders):
    """Ours before each peer, so that both meet the same other load; the peers once if they take long."""
    size = source.stat().st_size
    table = Table(f"{source.name}, {size / 1e6:.1f} MB", listed=True, scale=1.0, heading="processor time, s", rest=REST)
    runs = {loader: [] for loader in loaders}
    failed = {}
    for turn in range(1 if options.quick else options.rounds):
        for loader, load in loaders.items():
            slow = runs[loader] and (runs[loader][0]["wall"] > 20 or (turn and size > 2e7 and loader != OURS))
            if loader in failed or slow:
                continue
            predicted = options.seconds.get(loader, 0) * size
            if predicted > options.limit:
                failed[loader] = {"cannot": f"left out: over {options.limit} s at the rate of the smaller extract"}
                continue
            try:
                runs[loader].append(load(source, name))
                print(f"  {source.name}: {loader}: {runs[loader][-1]['cpu']:.1f} s", flush=True)
            except Failed as error:
                failed[loader] = {"cannot": str(error)}
    for loader, took in runs.items():
        cell = failed.get(loader) if not took else measure.summary(took, size=took[-1]["size"])
        if took:
            options.seconds[loader] = cell["wall"] / size
            cell |= {"mbs": size / 1e6 / cell["cpu"], "rss_mb": cell["rss"] / 1e6, "size_mb": cell["size"] / 1e6}
        table.rows.append({"name": loader, "cells": {loader: cell}})
    return table
