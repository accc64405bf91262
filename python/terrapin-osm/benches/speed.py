"""How fast the package is, beside the program: `python speed.py SNAPSHOT [--program terrapin] [--shared ../shared]`.

SNAPSHOT is of malta-2016, the one that the benchmark's pairs are for. `--only peers` takes overpy and pyoxigraph from
PyPI.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from terrapin_osm import Snapshot


def timed(call: Callable[[], object], times: int = 3) -> float:
    """Returns the shortest time of some runs, in seconds."""
    took = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        took.append(time.perf_counter() - start)
    return min(took)


def resident() -> int:
    """Returns the resident anonymous memory of the process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def short_queries(snapshot: Snapshot, count: int) -> None:
    ids = [i for _, i in snapshot.overpass("[out:json];node[name];out ids 5000;").ids]
    chosen = random.Random(7)
    by_id = [f"[out:json];node({chosen.choice(ids)});out;" for _ in range(count)]
    sides = [(35.8 + chosen.random() * 0.2, 14.3 + chosen.random() * 0.25) for _ in range(count)]
    by_tag = [
        f"[out:json];node[highway=bus_stop]({lat:.5f},{lon:.5f},{lat + 0.01:.5f},{lon + 0.01:.5f});out;"
        for lat, lon in sides
    ]
    for what, queries in (("node(id)", by_id), ("a tag in a small box", by_tag)):
        took = timed(lambda: snapshot.overpass_many(queries))
        print(f"{what:<24} {count / took:>10,.0f} a second in a batch, {os.cpu_count()} cores")
        some = queries[: count // 20]
        took = timed(lambda: [snapshot.overpass(query) for query in some])
        print(f"{'':<24} {len(some) / took:>10,.0f} a second one after another")


def arrow(snapshot: Snapshot) -> None:
    # The nodes of a small extract, several times.
    times = -(-1_000_000 // snapshot.info["counts"]["nodes"])
    query = "[out:json][timeout:600][maxsize:4000000000];node(-90,-180,90,180);" + "out {};" * times
    for detail in ("", "meta"):
        start = time.perf_counter()
        answer = snapshot.overpass(query.format(*[detail] * times))
        ran = time.perf_counter() - start
        took = timed(answer.to_arrow)
        print(f"{len(answer):,} nodes {detail:<5} {ran:.2f} s to run, {took:.2f} s to_arrow, {answer.nbytes >> 20} MiB")


def dev(snapshot: Snapshot, shared: Path, program: str) -> None:
    folder = shared / "conformance/malta-benchmark"
    gold, pred = folder / "gold.query", folder / "pred.query"
    pairs = list(zip(gold.read_text().splitlines(), pred.read_text().splitlines()))
    with tempfile.TemporaryDirectory() as out:
        command = [program, "eval", "overpassnl", snapshot.path, "--gold", str(gold), "--pred", str(pred), "--no-cache"]
        for turn in range(2):
            run = f"{out}/{turn}"
            start = time.perf_counter()
            subprocess.run([*command, "--out", run], check=True, stdout=subprocess.DEVNULL)
            binary = time.perf_counter() - start
            # A process of its own, so that no cache is warm.
            code = (
                "import sys, time, json\nfrom terrapin_osm import Snapshot\nstart = time.perf_counter()\n"
                "snapshot = Snapshot.open(sys.argv[1])\n"
                "pairs = list(zip(open(sys.argv[2]).read().splitlines(), open(sys.argv[3]).read().splitlines()))\n"
                "lines = snapshot.score_lines(pairs)\nprint(time.perf_counter() - start)\n"
                "open(sys.argv[4], 'w').write('\\n'.join(lines) + '\\n')\n"
            )
            ours = f"{out}/ours.jsonl"
            arguments = [sys.executable, "-c", code, snapshot.path, str(gold), str(pred), ours]
            wheel = float(subprocess.check_output(arguments))
            same = Path(ours).read_bytes() == Path(run, "results.jsonl").read_bytes()
            print(f"{len(pairs)} pairs: {binary:.2f} s by the program, {wheel:.2f} s here; the same bytes: {same}")


def flat(snapshot: Snapshot, shared: Path, count: int) -> None:
    folder = shared / "conformance/malta-benchmark"
    gold = (folder / "gold.query").read_text().splitlines()
    pred = (folder / "pred.query").read_text().splitlines()
    # The few slow pairs are left out: only memory and bytes matter here.
    chosen = random.Random(11)
    quick = []
    for pair in zip(gold, pred):
        start = time.perf_counter()
        snapshot.score_lines([pair], timeout=5)
        if time.perf_counter() - start < 0.02:
            quick.append(pair)
    print(f"{len(quick)} of {len(gold)} pairs take less than 20 ms")
    seen: dict[tuple[str, str], str] = {}
    done, start, steps = 0, time.perf_counter(), []
    while done < count:
        batch = []
        for _ in range(min(10_000, count - done)):
            one, other = chosen.choice(quick)
            cut = chosen.randrange(4)
            batch.append((one, other if cut else other[: chosen.randrange(len(other) + 1)]))
        for pair, line in zip(batch, snapshot.score_lines(batch, timeout=30)):
            record = json.loads(line)
            del record["line"]
            digest = hashlib.sha256(json.dumps(record).encode()).hexdigest()
            if seen.setdefault(pair, digest) != digest:
                raise SystemExit(f"another record for {pair}")
            if len(seen) > 50_000:
                seen.clear()
        done += len(batch)
        if done % 50_000 == 0 or done == count:
            steps.append(f"{done:,}: {resident() >> 20} MiB")
    took = time.perf_counter() - start
    print(f"{count:,} pairs, {count / took:,.0f} a second; memory after " + ", ".join(steps))


def peers(snapshot: Snapshot, shared: Path, program: str) -> None:
    """Compares with overpy on a server with the same snapshot, and with pyoxigraph on the same triples; both from
    PyPI.
    """
    import overpy
    import pyoxigraph

    ids = [i for _, i in snapshot.overpass("[out:json];node[name];out ids 2000;").ids]
    queries = [f"[out:json];node({i});out;" for i in ids]
    serve = [program, "serve", snapshot.path, "--bind", "127.0.0.1:0", "--json"]
    server = subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"].rstrip("/")
        api = overpy.Overpass(url=f"{url}/api/interpreter")
        took = timed(lambda: [api.query(query).nodes[0].lat for query in queries])
    finally:
        server.terminate()
    own = timed(lambda: [list(snapshot.overpass(query))[0]["lat"] for query in queries])
    print(f"node(id), read          {len(queries) / own:>10,.0f} a second, overpy over HTTP {len(queries) / took:,.0f}")

    source = shared / "data/wikidata/subset-wd50k.nt.gz"
    vectors = gzip.open(shared / "conformance/sparql/vectors.jsonl.gz", "rt", encoding="utf-8")
    asked = [v["query"] for v in map(json.loads, vectors) if v["form"] == "select" and v["ms"] < 50]
    with tempfile.TemporaryDirectory() as folder:
        loaded = Snapshot.load(out=Path(folder) / "triples.terrapin", rdf=[source])
        store = pyoxigraph.Store(os.path.join(folder, "oxigraph"))
        with gzip.open(source) as triples:
            store.bulk_load(triples, pyoxigraph.RdfFormat.N_TRIPLES)
        store.optimize()
        both: list[list[float]] = [[], []]
        same = 0
        for query in random.Random(5).sample(asked, 300):
            rows = [0, 0]
            start = time.perf_counter()
            rows[0] = sum(1 for _ in loaded.sparql(query, timeout=60))
            middle = time.perf_counter()
            rows[1] = sum(1 for _ in store.query(query))  # type: ignore[union-attr]
            both[0].append(middle - start)
            both[1].append(time.perf_counter() - middle)
            same += rows[0] == rows[1]
    medians = [1000 * statistics.median(times) for times in both]
    print(f"300 SPARQL queries: {sum(both[0]):.2f} s, median {medians[0]:.2f} ms; pyoxigraph {sum(both[1]):.2f} s, "
          f"median {medians[1]:.2f} ms; as many rows in {same}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("snapshot")
    parser.add_argument("--program", default="terrapin")
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--only", nargs="*", default=["short", "arrow", "dev", "flat"])
    given = parser.parse_args()
    snapshot = Snapshot.open(given.snapshot)
    code = "import time; s = time.perf_counter(); import terrapin_osm; print(time.perf_counter() - s)"
    took = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(20)]
    print(f"import                  {1000 * statistics.median(took):>10.0f} ms, the median of 20")
    if "short" in given.only:
        short_queries(snapshot, given.queries)
    if "arrow" in given.only:
        arrow(snapshot)
    if "dev" in given.only:
        dev(snapshot, given.shared, given.program)
    if "peers" in given.only:
        peers(snapshot, given.shared, given.program)
    if "flat" in given.only:
        flat(snapshot, given.shared, given.pairs)


if __name__ == "__main__":
    main()
