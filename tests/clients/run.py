#!/usr/bin/env python3
"""Runs the programs of docs/guides/clients.md, those of the page's "Code" and the other tests of clients against one server.

    tests/clients/run.py            all of them
    tests/clients/run.py geopy      those whose headings have that in them
    tests/clients/run.py --write    writes what they print into the page
    tests/clients/run.py --server http://127.0.0.1:8080     asks a server that runs already, over the same data

TERRAPIN is the program (else the release build), TERRAPIN_CLIENTS the folder where the clients are installed (else one in
~/.cache). Exit status 77: nothing failed, but a requirement is missing and programs were skipped; the last line says which.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "common"))
sys.path.insert(0, str(HERE))
import code_of_page  # noqa: E402
from tools import install, once, programs, skip  # noqa: E402

TOP = HERE.parent.parent
PAGE = TOP / "docs" / "guides" / "clients.md"
ADDRESS = "http://127.0.0.1:8080"
PROGRAM = re.compile(r"^### (?P<name>[^\n]+)\n\n```(?P<language>python|js)\n(?P<text>.*?)```\n\n```text\n(?P<output>.*?)```\n", re.M | re.S)
SECONDS = 300


def python():
    """Returns a Python that has the clients."""
    return programs("python", "the Python clients", "--no-deps", requirements=HERE / "requirements.txt") / "python"


def node_folder():
    files = [HERE / "package.json", HERE / "package-lock.json"]

    def make(folder):
        folder.mkdir(parents=True)
        for file in files:
            shutil.copy(file, folder)
        install(["npm", "ci", "--no-audit", "--no-fund"], "the Node clients", cwd=folder)

    return once("node", "".join(file.read_text() for file in files), make)


def terrapin():
    target = os.environ.get("CARGO_TARGET_DIR", Path.home() / ".cache" / "terrapin-target")
    program = os.environ.get("TERRAPIN", Path(target) / "release" / "terrapin")
    if not Path(program).exists():
        sys.exit(f"clients: {program} is not there: `make build`, or set TERRAPIN")
    return str(program)


class Server:
    """Over a real extract and some triples."""

    def __init__(self, work):
        program = terrapin()
        subprocess.run([TOP / "scripts" / "extract", work], check=True, stdout=subprocess.DEVNULL)
        snapshot = self.snapshot = work / "clients.terrapin"
        load = ["load", "--osm", work / "malta-latest.osm.pbf", "--rdf", HERE / "towns.ttl", "--out", snapshot]
        loaded = subprocess.run([program, *load], check=True, capture_output=True, text=True)
        self.digest = loaded.stdout.strip().splitlines()[0]
        self.process = subprocess.Popen(
            [program, "serve", snapshot, "--bind", "127.0.0.1:0", "--cors", "*,https://overpass-turbo.eu"],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "RUST_LOG": "warn"},
        )
        said = self.process.stdout.readline()
        self.address = re.search(r"http://[^/]+", said)[0]

    def end(self):
        self.process.terminate()
        self.process.wait(20)


class Running:
    """Somebody else's server."""

    snapshot = digest = None

    def __init__(self, address):
        self.address = address

    def end(self):
        pass


class Clients:
    """Runs programs of either language with the clients at hand."""

    def __init__(self, server, work):
        self.server, self.work = server, work
        self.python, self.node = python(), node_folder()

    def run(self, language, text, *arguments):
        """What a program prints, and whether it ended well."""
        text = text.replace(ADDRESS, self.server.address).replace(ADDRESS[7:], self.server.address[7:])
        # Node looks for packages from where the program lies.
        folder = self.work if language == "python" else self.node
        with tempfile.NamedTemporaryFile("w", suffix=".py" if language == "python" else ".mjs", dir=folder) as file:
            file.write(text)
            file.flush()
            interpreter = self.python if language == "python" else "node"
            command = [interpreter, file.name, *arguments]
            environment = {**os.environ, "NO_PROXY": "*", "no_proxy": "*", "MPLBACKEND": "Agg", "PYTHONWARNINGS": "ignore"}
            with tempfile.TemporaryDirectory(dir=self.work) as here:
                try:
                    done = subprocess.run(
                        command, capture_output=True, text=True, timeout=SECONDS, cwd=here, env=environment
                    )
                except subprocess.TimeoutExpired:
                    return "", f"not done after {SECONDS} s"
        return done.stdout, "" if done.returncode == 0 else done.stderr.strip() or f"exit status {done.returncode}"


def run_programs(clients, wanted, write):
    """The page's programs: each prints what the page says."""
    page, failed = PAGE.read_text(), []
    for found in PROGRAM.finditer(PAGE.read_text()):
        name = found["name"]
        if wanted not in name:
            continue
        began = time.monotonic()
        printed, error = clients.run(found["language"], found["text"])
        # Blanks at the end of a line do not show on a page.
        printed = "\n".join(line.rstrip() for line in printed.splitlines()) + "\n" if printed else ""
        if write and not error:
            page = page.replace(found[0], found[0].replace(f"```text\n{found['output']}```", f"```text\n{printed}```"))
        good = not error and (write or printed == found["output"])
        told(name, good, began)
        if not good:
            failed.append(name)
            print(f"  printed:\n{printed}  the page has:\n{found['output']}  {error[-2000:]}")
    if write:
        PAGE.write_text(page)
    return failed


def scripts(clients, wanted, write):
    """The other programs: raw requests, and what clients show of answers that break off, which the page has as a table."""
    failed = []
    for name in ["requests.py", "stopped.py", "stopped.mjs"]:
        if wanted not in name:
            continue
        began = time.monotonic()
        printed, error = clients.run("python" if name.endswith("py") else "js", (HERE / name).read_text(), clients.server.address)
        rows = [line for line in printed.splitlines() if line.startswith("|")]
        if write and rows:
            clients_of = {row.split("|")[1] for row in rows}
            kept = [line for line in PAGE.read_text().splitlines() if "".join(line.split("|")[1:2]) not in clients_of]
            PAGE.write_text("\n".join(kept + rows) + "\n")
        missing = [row for row in rows if row not in PAGE.read_text().splitlines()]
        good = not error and not missing
        told(name, good, began)
        if not good:
            failed.append(name)
            print("\n".join(f"  not on the page: {row}" for row in missing) + f"\n  {error[-2000:]}")
    return failed


def code(clients, wanted):
    """The programs of the page. Returns those that failed, and those that were skipped with the reason."""
    began, failed, skipped = time.monotonic(), [], []
    if wanted and "code" not in wanted:
        return failed, skipped
    server = clients.server
    program = terrapin() if server.snapshot else None
    for name, problem in code_of_page.run(server.address, clients.work, clients.python, program, server.snapshot and str(server.snapshot), server.digest):
        if problem.startswith(("skipped: ", "left out: ")):
            kind, reason = problem.split(": ", 1)
            print(f"skip  {name}: {reason}", flush=True)
            if kind == "skipped":
                skipped.append(f"{name}: {reason}")
            continue
        told(name, not problem, began)
        if problem:
            failed.append(name)
            print(f"  {problem}")
    return failed, skipped


def told(name, good, began):
    print(f"{'ok  ' if good else 'FAIL'}  {name}  ({time.monotonic() - began:.1f} s)", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("wanted", nargs="?", default="")
    arguments.add_argument("--write", action="store_true")
    arguments.add_argument("--server")
    asked = arguments.parse_args()
    wanted, write = asked.wanted, asked.write
    if sys.version_info < (3, 11):
        skip("Python 3.11 or newer is needed")
    for needed in ["node", "npm", "cargo"]:
        if not shutil.which(needed):
            skip(f"{needed} is not here")
    with tempfile.TemporaryDirectory() as work:
        python(), node_folder()
        server = Running(asked.server) if asked.server else Server(Path(work))
        try:
            clients = Clients(server, Path(work))
            failed = run_programs(clients, wanted, write) + scripts(clients, wanted, write)
            failed_code, skipped = code(clients, wanted)
            failed += failed_code
        finally:
            server.end()
    if failed:
        print(f"failed: {', '.join(failed)}")
        return 1
    if skipped:
        skip("; ".join(skipped))
    print("all clients were answered")
    return 0


if __name__ == "__main__":
    sys.exit(main())
