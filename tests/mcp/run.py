#!/usr/bin/env python3
"""The protocol's own client (mcp) with `terrapin mcp` over a pipe and with `/mcp` over HTTP: every tool and resource, ten
questions about Malta that are answered through the tools alone, malformed calls, huge answers, cancellation. And
`/openapi.json` by its validator.

Variables and exit status: see tests/common/malta.py.
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "common"))

import malta  # noqa: E402
from tools import programs  # noqa: E402

with malta.server("mcp") as (program, snapshot, address):
    python = programs("mcp", "the packages", "--no-deps", requirements=HERE / "requirements.txt") / "python"
    done = subprocess.run([python, HERE / "client.py", program, snapshot, address])
sys.exit(done.returncode)
