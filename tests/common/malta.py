"""A server over Malta, for tests with programs of others.

TERRAPIN is the program (default: the release build). Packages are installed by tests/common/tools.py.
"""

import os
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent


@contextmanager
def server(test):
    """Serves Malta with the triples of some towns. Yields the program, the snapshot and the server's address."""
    target = os.environ.get("CARGO_TARGET_DIR", Path.home() / ".cache" / "terrapin-target")
    program = os.environ.get("TERRAPIN", Path(target) / "release" / "terrapin")
    if not Path(program).exists():
        sys.exit(f"{test}: {program} is missing: run `make build`, or set TERRAPIN")
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        subprocess.run([TOP / "scripts" / "extract", work], check=True, stdout=subprocess.DEVNULL)
        towns = TOP / "tests" / "clients" / "towns.ttl"
        snapshot = work / "malta.terrapin"
        load = ["load", "--osm", work / "malta-latest.osm.pbf", "--rdf", towns, "--out", snapshot]
        subprocess.run([program, *load], check=True, capture_output=True)
        process = subprocess.Popen(
            [program, "serve", snapshot, "--bind", "127.0.0.1:0"],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "RUST_LOG": "warn"},
        )
        try:
            address = re.search(r"http://[^/]+", process.stdout.readline())
            if address is None:
                sys.exit(f"{test}: the server ended before it listened; its messages are above")
            yield program, snapshot, address[0]
        finally:
            process.terminate()
            process.wait(20)
