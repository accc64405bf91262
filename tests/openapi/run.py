#!/usr/bin/env python3
"""`/openapi.json` against the server that it describes: schemathesis sends requests that fit each schema and requests that do
not, and checks statuses, media types and methods.

TERRAPIN is the program (default: the release build), TERRAPIN_CLIENTS the folder where Python packages are kept (default: in
~/.cache), EXAMPLES the number of random requests for each operation (default: 30). Exit status 77: something that the test
needs is missing; the last line says what.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
CACHE = Path(os.environ.get("TERRAPIN_CLIENTS", Path.home() / ".cache" / "terrapin-clients"))


def skip(why):
    print(f"skipped: openapi: {why}")
    sys.exit(77)


def schemathesis():
    """Returns the program, installed once."""
    requirements = HERE / "requirements.txt"
    digest = hashlib.sha256((sys.version + requirements.read_text()).encode()).hexdigest()[:12]
    folder = CACHE / f"openapi-{digest}"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        for command in (
            [sys.executable, "-m", "venv", folder],
            [folder / "bin" / "pip", "install", "--quiet", "--no-deps", "-r", requirements],
        ):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                skip("schemathesis cannot be installed: " + " / ".join(done.stderr.strip().splitlines()[-2:]))
        (folder / "complete").touch()
    return folder / "bin" / "st"


def main():
    target = os.environ.get("CARGO_TARGET_DIR", Path.home() / ".cache" / "terrapin-target")
    program = os.environ.get("TERRAPIN", Path(target) / "release" / "terrapin")
    if not Path(program).exists():
        sys.exit(f"openapi: {program} is missing: run `make build`, or set TERRAPIN")
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        subprocess.run([TOP / "scripts" / "extract", work], check=True, stdout=subprocess.DEVNULL)
        towns = TOP / "tests" / "clients" / "towns.ttl"
        snapshot = work / "malta.terrapin"
        load = ["load", "--osm", work / "malta-latest.osm.pbf", "--rdf", towns, "--out", snapshot]
        subprocess.run([program, *load], check=True, capture_output=True)
        server = subprocess.Popen(
            [program, "serve", snapshot, "--bind", "127.0.0.1:0"],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "RUST_LOG": "warn"},
        )
        try:
            address = re.search(r"http://[^/]+", server.stdout.readline())[0]
            # One worker: a second one would stop the queries of the first by /api/kill_my_queries. One seed: a run is repeatable.
            done = subprocess.run(
                [
                    *(schemathesis(), "--config-file", HERE / "schemathesis.toml", "run", address + "/openapi.json"),
                    *("--phases", "examples,coverage,fuzzing", "--max-examples", os.environ.get("EXAMPLES", "30")),
                    *("--workers", "1", "--seed", "1", "--no-color", "--continue-on-failure"),
                ],
                cwd=work,
            )
        finally:
            server.terminate()
            server.wait(20)
        sys.exit(done.returncode)


main()
