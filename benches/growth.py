#!/usr/bin/env python3
"""How loads and answers grow with the size of the data: an extract 1, 4, 16 times side by side.

    cargo build --release --workspace
    benches/growth.py patchwork-world.osm.pbf --times 1,4,16 --folder /somewhere/large

Lays the extract side by side (terrapin-repeat), loads each, and asks each the queries of growth.tsv, which all are for a
fixed box, area or id: cold (a process a query, nothing of the file in memory) and warm (one server, the median of some
rounds). What is in the folder already is not made again; with snapshots instead of an extract, these are asked.
"""

import argparse
import hashlib
import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
RELEASE = Path(os.environ.get("CARGO_TARGET_DIR", Path.home() / ".cache/terrapin-target")) / "release"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", type=Path, help="an extract, or snapshots of growing size")
    parser.add_argument("--times", default="1,4,16", help="how often the extract is laid side by side")
    parser.add_argument("--folder", type=Path, default=Path("."), help="where extracts and snapshots go")
    parser.add_argument("--queries", type=Path, default=HERE / "growth.tsv", help="lines of a name, a tab, a query")
    parser.add_argument("--rounds", type=int, default=15, help="how often a warm query is asked")
    parser.add_argument("--programs", type=Path, default=RELEASE, help="where terrapin and terrapin-repeat are")
    parser.add_argument("--json", action="store_true", help="everything as JSON")
    return parser.parse_args()


def made(options):
    """The snapshots, and what each load took."""
    if all(source.suffix == ".terrapin" for source in options.sources):
        return options.sources, []
    [extract], snapshots, loads = options.sources, [], []
    for times in options.times.split(","):
        source, out = options.folder / f"{times}.osm.pbf", options.folder / f"{times}.terrapin"
        snapshots.append(out)
        if out.exists():
            continue
        if not source.exists():
            subprocess.run([options.programs / "terrapin-repeat", extract, "--times", times, "--out", source], check=True)
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run([options.programs / "terrapin", "load", "--osm", source, "--out", out],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        loads.append({
            "times": int(times), "wall": time.monotonic() - began, "user": after.ru_utime - before.ru_utime,
            "system": after.ru_stime - before.ru_stime, "largest process": after.ru_maxrss * 1024,
            "source": source.stat().st_size, "snapshot": out.stat().st_size,
        })
    return snapshots, loads


def forget(path):
    """Takes a file out of the system's memory."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def cold(options, snapshot, query):
    """Milliseconds of a process that answers one query, and its answer."""
    forget(snapshot)
    began = time.monotonic()
    answer = subprocess.run([options.programs / "terrapin", "query", snapshot, query], check=True, capture_output=True)
    return 1000 * (time.monotonic() - began), answer.stdout


class Server:
    """A server over a snapshot."""

    def __init__(self, options, snapshot):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        command = [options.programs / "terrapin", "serve", snapshot, "--bind", self.address]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://{self.address}/readyz").read()
                return
            except OSError:
                time.sleep(0.05)
        sys.exit(f"{snapshot}: the server does not answer")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def ask(self, query):
        """Milliseconds until the answer is there."""
        body = urllib.parse.urlencode({"data": query}).encode()
        began = time.monotonic()
        urllib.request.urlopen(f"http://{self.address}/api/interpreter", body).read()
        return 1000 * (time.monotonic() - began)


def elements(answer):
    """What an answer has, without what a snapshot says of itself."""
    answer = json.loads(answer)
    return hashlib.sha256(json.dumps(answer["elements"], sort_keys=True).encode()).hexdigest()


def main():
    options = arguments()
    snapshots, loads = made(options)
    queries = [line.split("\t") for line in options.queries.read_text().splitlines() if line]
    rows = [{"name": name, "cold": [], "warm": [], "answers": []} for name, _ in queries]
    for snapshot in snapshots:
        for row, (_, query) in zip(rows, queries):
            took = [cold(options, snapshot, query) for _ in range(3)]
            row["cold"].append(statistics.median(ms for ms, _ in took))
            row["answers"].append(elements(took[0][1]))
        with Server(options, snapshot) as server:
            for row, (_, query) in zip(rows, queries):
                server.ask(query)
                row["warm"].append(statistics.median(server.ask(query) for _ in range(options.rounds)))
    growth = {
        how: [statistics.median(row[how][at] / row[how][0] for row in rows) for at in range(len(snapshots))]
        for how in ("cold", "warm")
    }
    if options.json:
        print(json.dumps({"loads": loads, "queries": rows, "growth": growth}))
        return
    for load in loads:
        rate = load["source"] / 1e6 / (load["user"] + load["system"])
        print(f"x{load['times']}: {load['wall']:.1f} s, {load['user']:.1f} + {load['system']:.1f} s of processors "
              f"({rate:.1f} MB of PBF a second), {load['largest process'] / 1e9:.2f} GB of memory at most, "
              f"a snapshot of {load['snapshot'] / load['source']:.2f} times the PBF")
    names = " ".join(f"{snapshot.stem[-9:]:>9}" for snapshot in snapshots)
    print(f"{'milliseconds':40} cold {names}    warm {names}")
    for row in rows:
        cells = ["".join(f"{ms:10.2f}" for ms in row[how]) for how in ("cold", "warm")]
        same = "" if len(set(row["answers"])) == 1 else "  other answers"
        print(f"{row['name']:40}     {cells[0]}        {cells[1]}{same}")
    for how in ("cold", "warm"):
        print(f"{how}: the median of how many times as long as over the first: "
              + ", ".join(f"{times:.2f}" for times in growth[how]))


if __name__ == "__main__":
    main()
