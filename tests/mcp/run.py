#!/usr/bin/env python3
"""The protocol's own client (mcp) with `terrapin mcp` over a pipe and with `/mcp` over HTTP: every tool and resource, ten
questions about Malta that are answered through the tools alone, malformed calls, huge answers, cancellation. And
`/openapi.json` by its validator.

TERRAPIN is the program (else the release build), TERRAPIN_CLIENTS the folder where Python's packages are kept (else one in
~/.cache). Exit status 77: what is needed is not here; the last line says what.
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
    print(f"skipped: mcp: {why}")
    sys.exit(77)


def python():
    """A Python with the packages, kept for the next run."""
    requirements = HERE / "requirements.txt"
    digest = hashlib.sha256((sys.version + requirements.read_text()).encode()).hexdigest()[:12]
    folder = CACHE / f"mcp-{digest}"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        for command in (
            [sys.executable, "-m", "venv", folder],
            [folder / "bin" / "pip", "install", "--quiet", "--no-deps", "-r", requirements],
        ):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                skip("the client cannot be installed: " + " / ".join(done.stderr.strip().splitlines()[-2:]))
        (folder / "complete").touch()
    return folder / "bin" / "python"


def main():
    target = os.environ.get("CARGO_TARGET_DIR", Path.home() / ".cache" / "terrapin-target")
    program = os.environ.get("TERRAPIN", Path(target) / "release" / "terrapin")
    if not Path(program).exists():
        sys.exit(f"mcp: {program} is not there: `make build`, or set TERRAPIN")
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
            done = subprocess.run([python(), HERE / "client.py", program, snapshot, address])
        finally:
            server.terminate()
            server.wait(20)
        sys.exit(done.returncode)


main()
