"""What tests with others' programs share: Python packages that are installed once, and a server over Malta.

TERRAPIN is the program (default: the release build), TERRAPIN_CLIENTS the folder where packages are kept (default: in
~/.cache). Exit status 77: something that the test needs is missing; the last line says what.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("TERRAPIN_CLIENTS", Path.home() / ".cache" / "terrapin-clients"))


def skip(test, why):
    """Ends the test as skipped."""
    print(f"skipped: {test}: {why}")
    sys.exit(77)


def programs(test, requirements):
    """Returns the folder of the programs of a virtual environment with the packages of a file."""
    digest = hashlib.sha256((sys.version + requirements.read_text()).encode()).hexdigest()[:12]
    folder = CACHE / f"{test}-{digest}"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        for command in (
            [sys.executable, "-m", "venv", folder],
            [folder / "bin" / "pip", "install", "--quiet", "--no-deps", "-r", requirements],
        ):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                skip(test, "the packages cannot be installed: " + " / ".join(done.stderr.strip().splitlines()[-2:]))
        (folder / "complete").touch()
    return folder / "bin"


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
