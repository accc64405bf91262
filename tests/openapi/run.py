#!/usr/bin/env python3
"""Checks `/openapi.json` against the server that it describes: schemathesis sends requests that fit each schema and requests
that do not, and checks statuses, media types and methods.

EXAMPLES is the number of random requests for each operation (default: 30). Other variables and exit status: see
tests/common/malta.py.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "common"))

import malta  # noqa: E402
from tools import programs  # noqa: E402

with malta.server("openapi") as (_, _, address), tempfile.TemporaryDirectory() as work:
    schemathesis = programs("openapi", "the packages", "--no-deps", requirements=HERE / "requirements.txt") / "st"
    # One worker: a second one would stop the queries of the first by /api/kill_my_queries. One seed: a run is repeatable.
    done = subprocess.run(
        [
            *(schemathesis, "--config-file", HERE / "schemathesis.toml", "run", address + "/openapi.json"),
            *("--phases", "examples,coverage,fuzzing", "--max-examples", os.environ.get("EXAMPLES", "30")),
            *("--workers", "1", "--seed", "1", "--no-color", "--continue-on-failure"),
        ],
        cwd=work,
    )
sys.exit(done.returncode)
