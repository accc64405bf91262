#!/usr/bin/env python3
"""Holds answers in GeoJSON against what osmtogeojson makes of the same answers in JSON, over recorded queries.

    tests/geojson/run.py            every query
    tests/geojson/run.py 20         every twentieth

TERRAPIN is the program (else the release build), TERRAPIN_SHARED the folder with extracts and recorded queries (else
../shared). Exit status 77: what is needed is not here; the last line says what.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
SHARED = Path(os.environ.get("TERRAPIN_SHARED", TOP.parent / "shared"))
ENOUGH = 0.995  # of all features, equal
EXTRACTS = ["malta-2016", "niue", "monaco", "malta-2024"]


def skip(why):
    print(f"skipped: geojson: {why}")
    sys.exit(77)


def installed():
    """A folder with the package, kept for the next run."""
    folder = Path(os.environ.get("TERRAPIN_CLIENTS", Path.home() / ".cache" / "terrapin-clients")) / "geojson"
    files = [HERE / name for name in ("package.json", "package-lock.json")]
    if not all((folder / file.name).is_file() and (folder / file.name).read_text() == file.read_text() for file in files):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        shutil.copy(files[0], folder)
        shutil.copy(files[1], folder / "package-lock.json.new")
        (folder / "package-lock.json.new").rename(folder / "package-lock.json")
        done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            shutil.rmtree(folder)
            skip("osmtogeojson cannot be installed: " + done.stderr.strip().splitlines()[-1])
    shutil.copy(HERE / "compare.mjs", folder)
    return folder


def main():
    every = sys.argv[1] if len(sys.argv) > 1 else "1"
    for needed in ["node", "npm"]:
        if not shutil.which(needed):
            skip(f"{needed} is not here")
    if not (SHARED / "conformance").is_dir():
        skip(f"{SHARED / 'conformance'} is not here")
    target = os.environ.get("CARGO_TARGET_DIR", Path.home() / ".cache" / "terrapin-target")
    program = os.environ.get("TERRAPIN", Path(target) / "release" / "terrapin")
    folder = installed()
    equal = features = 0
    with tempfile.TemporaryDirectory() as work:
        for extract in EXTRACTS:
            snapshot = Path(work) / f"{extract}.terrapin"
            load = [program, "load", "--osm", SHARED / "data" / "osm" / f"{extract}.osm.pbf", "--out", snapshot]
            subprocess.run(load, check=True, capture_output=True)
            serve = [program, "serve", snapshot, "--bind", "127.0.0.1:0"]
            server = subprocess.Popen(serve, stdout=subprocess.PIPE, text=True, env={**os.environ, "RUST_LOG": "warn"})
            try:
                address = re.search(r"http://[^/\s]+", server.stdout.readline())[0]
                queries = sorted((SHARED / "conformance" / "overpass").glob(f"{extract}.*.jsonl.gz"))
                print(extract, flush=True)
                compare = ["node", folder / "compare.mjs", address, "--every", every, *queries]
                told = subprocess.run(compare, check=True, stdout=subprocess.PIPE, text=True).stdout
                print(told, end="", flush=True)
                [total] = [json.JSONDecoder().raw_decode(line)[0] for line in told.splitlines() if line.startswith("{")]
                equal += total["equal"]
                features += max(total["features"], total["theirs"])
            finally:
                server.terminate()
                server.wait(20)
    print(f"{equal} of {features} features as osmtogeojson has them, {100 * equal / features:.3f} %")
    return 0 if equal >= ENOUGH * features else 1


if __name__ == "__main__":
    sys.exit(main())
