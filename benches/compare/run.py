#!/usr/bin/env python3
"""Compares Terrapin with other programs on this machine and writes docs/reference/compare.md and compare.json.

    make compare                              all groups
    make compare GROUPS=sparql,loading        some groups; the page keeps what it has of the others
    benches/compare/run.py --quick            one query a group, Terrapin alone: a test of this program, writes nothing

The programs come from PyPI, npm and Debian; those that must be built are given by variables:

    TERRAPIN, TERRAPIN_REPEAT   the program (default: the release build), and the one that lays extracts side by side
    TERRAPIN_SHARED             extracts, triples and recorded queries (default: ../shared)
    OVERPASS                    a build of Overpass API: a folder with bin and rules
    GOL                         GeoDesk's tool `gol`
    JENA                        a distribution of Apache Jena, a folder with lib (default: Debian's package)
    QLEVER                      the address of a QLever server over the same triples
    OVERPASSNL, SHORTBREAD      checkouts of OverpassNL and of shortbread-tilemaker
    COMPARE_FOLDER              databases, kept for the next run (default: ~/.cache/terrapin-compare)
    COMPARE_PYTHON              a Python with requirements.txt, instead of an installed one
"""

import argparse
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import loading
import measure
import overpass
import page
import peers
import product
import small
import sparql
from measure import Failed, run

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
GROUPS = {"loading": loading.measured, "overpass": overpass.measured, "sparql": sparql.measured, "tiles": small.tiles,
          "geojson": small.geojson, "scoring": small.scoring, "reward": small.reward}


class Options:
    """Where things are, and how often each is measured. Databases that take long are made once and kept."""

    here, benches = HERE, HERE.parent

    def __init__(self, given):
        self.quick, self.rounds, self.vectors, self.world, self.limit = (
            given.quick, given.rounds, given.queries, given.world, given.limit)
        self.shared = Path(os.environ.get("TERRAPIN_SHARED", ROOT.parent / "shared"))
        default = Path(os.environ.get("COMPARE_FOLDER", Path.home() / ".cache" / "terrapin-compare"))
        self.folder = Path(tempfile.mkdtemp(prefix="compare-")) if given.quick else default
        self.folder.mkdir(parents=True, exist_ok=True)
        self.seconds, self.bytes = {}, {}  # of a load by a program, for each byte of its extract

    def extract(self, name):
        found = self.shared / "data" / "osm" / f"{name}.osm.pbf"
        if not found.exists():
            raise Failed(f"{found.name} is not in {found.parent}: set TERRAPIN_SHARED")
        return found

    def kept(self, name, make):
        """A file or folder that is made once for each version of what makes it."""
        path = self.folder / name
        ready = self.folder / f"{name}.complete"
        if not (path.exists() and ready.exists()):
            shutil.rmtree(path, ignore_errors=True)
            make(path)
            ready.touch()
        return path

    def snapshot(self, extract):
        """Made in each run, so that it is one of this program."""
        out = self.folder / f"{extract.name.removesuffix('.osm.pbf')}.terrapin"
        product.load(extract, out)
        return out

    def load_duckdb(self, extract, database):
        database.unlink(missing_ok=True)
        took = run([peers.python(), HERE / "duckdb_worker.py", database, extract], limit=self.limit)
        return {**took, "size": peers.disk(database)}

    def duckdb(self, extract):
        return self.kept(f"{extract.name}.duckdb", lambda path: self.load_duckdb(extract, path))

    def gol_tool(self):
        if "GOL" not in os.environ:
            raise Failed("the package of PyPI only reads files, and the tool that makes them is in no package registry: set GOL")
        return os.environ["GOL"]

    def load_gol(self, extract, out):
        out.unlink(missing_ok=True)
        return {**run([self.gol_tool(), "build", out, extract], limit=self.limit), "size": peers.disk(out)}

    def gol(self, extract):
        self.gol_tool()
        return self.kept(f"{extract.name}.gol", lambda path: self.load_gol(extract, path))

    def overpass_database(self, program, extract):
        return self.kept(f"{extract.name}.overpass", lambda path: program.load(extract, path, 3600))

    def oxigraph(self, sources):
        return self.kept("oxigraph", lambda path: run([peers.python(), HERE / "sparql_worker.py", "oxigraph-load", path, *sources],
                                                      limit=3600))

    def jena(self, sources):
        java, classes = peers.program("java"), peers.jena_classes(self.folder)
        store = self.kept("jena", lambda out: run([java, "-Xmx4g", "-cp", classes, "tdb2.tdbloader", "--loader=phased", "--loc", out,
                                                   *sources], limit=3600))
        return measure.Worker([java, "-Xmx4g", "-cp", classes, HERE / "JenaWorker.java", store], sparql.QUERY_LIMIT)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="?", default="", help="names with commas: " + ",".join(GROUPS))
    parser.add_argument("--quick", action="store_true", help="one query a group, Terrapin alone")
    parser.add_argument("--page", action="store_true", help="write the page anew from compare.json, without measuring")
    parser.add_argument("--rounds", type=int, default=3, help="number of runs of each query (default: 3)")
    parser.add_argument("--queries", type=int, default=200, help="number of recorded queries (default: 200)")
    parser.add_argument("--world", action="store_true", help="also load patchwork-world")
    parser.add_argument("--limit", type=int, default=240, help="seconds after which a load is stopped (default: 240)")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "reference", help="folder of compare.md and compare.json")
    given = parser.parse_args()
    chosen = [name for name in given.groups.split(",") if name] or list(GROUPS)
    unknown = [name for name in chosen if name not in GROUPS]
    if unknown:
        parser.error(f"unknown group {', '.join(unknown)}: {', '.join(GROUPS)}")
    return given, chosen


def machine():
    """This machine, and how busy it is."""
    model = next((line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    memory = int(Path("/proc/meminfo").read_text().split()[1]) / 1e6
    version = subprocess.run([product.PROGRAM, "--version"], capture_output=True, text=True).stdout.splitlines()
    return {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"), "processor": model, "cores": os.cpu_count(),
            "memory_gb": round(memory, 1), "system": f"{platform.system()} {platform.release().split('-')[0]}",
            "load": round(os.getloadavg()[0], 1), "terrapin": version[0] if version else "unknown"}


def finish_quick(options, chosen, results):
    """Fails if Terrapin could not do something, and says which groups had no data."""
    shutil.rmtree(options.folder)
    failed = [f"{name}: {cell['cannot']}" for name, group in results.items() for table in group["tables"]
              for row in table["raw"] or table["rows"] for cell in row["cells"].values() if "cannot" in cell]
    if failed:
        sys.exit("\n".join(failed))
    ran = sum(bool(group["tables"]) for group in results.values())
    print(f"{ran} of {len(chosen)} groups ran")
    if ran < len(chosen):
        print("skipped: compare: the other groups need shared data: TERRAPIN_SHARED")
        sys.exit(77)


def main():
    given, chosen = arguments()
    if given.page:
        page.render_page(given.out, json.loads((given.out / "compare.json").read_text()))
        return
    if not product.PROGRAM.exists():
        print(f"skipped: compare: {product.PROGRAM} is not built: `make build`, or set TERRAPIN")
        sys.exit(77)
    options, results = Options(given), {}
    for name in chosen:
        began, before = time.monotonic(), machine()
        print(f"{name} ...", flush=True)
        try:
            group = GROUPS[name](options)
            results[name] = page.as_json(group, before, os.getloadavg()[0], time.monotonic() - began)
        except Failed as error:
            print(f"{name}: left out: {error}", flush=True)
            if given.quick and "TERRAPIN_SHARED" not in str(error):
                sys.exit(1)
        except Exception:
            if given.quick:
                raise
            traceback.print_exc()
        if not given.quick and name in results:
            page.write(given.out, {name: results[name]}, list(GROUPS))
        print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
    if given.quick:
        finish_quick(options, chosen, results)


if __name__ == "__main__":
    main()
