"""Errors, limits, signals, threads, processes."""

from __future__ import annotations

import asyncio
import doctest
import multiprocessing
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import shared

import terrapin_osm
from terrapin_osm import QueryError, QueryLimitError, QuerySyntaxError, Snapshot, SnapshotError, Stop, convert, parse

WORLD = "(-90,-180,90,180)"
FOREVER = f"[out:json][timeout:1000];node{WORLD}->.n;foreach.n->.a(foreach.n(node(around.a:100000);out count;););"


def test_places_in_texts(monaco: Snapshot) -> None:
    with pytest.raises(QuerySyntaxError) as raised:
        monaco.overpass("[out:json];\nnöde[amenity=cafe];out;")
    error = raised.value
    assert (error.kind, error.code, error.line, error.column) == ("parse error", "unknown-statement", 2, 1)
    assert "^" in str(error) and "query:2:1" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is QuerySyntaxError and str(again) == str(error) and again.problems == error.problems
    with pytest.raises(QueryError) as raised2:
        monaco.overpass("node({{bbox}});out;")
    assert raised2.value.code == "shortcut" and "bbox=" in (raised2.value.hint or "")


def test_texts(monaco: Snapshot) -> None:
    assert parse("way[highway](1,2,3,4);out;").find("query/bbox-query") is not None
    with pytest.raises(QuerySyntaxError):
        parse("way[highway(1,2,3,4);out;")
    with pytest.raises(QueryError) as raised:
        convert("node[a=b];out", "xml")
    assert "has-kv" in (raised.value.converted or "")
    with pytest.raises(ValueError, match="expected"):
        convert("out;", "pdf")  # type: ignore[arg-type]
    assert monaco.feedback("[out:json];node[amenty=cafe];out;")["warnings"][0]["nearest"]
    deep = "(" * 20_000 + "node(1);" + ")" * 20_000
    with pytest.raises(QueryError):
        monaco.overpass(deep)


def test_doctests() -> None:
    import terrapin_osm._queries as queries

    assert doctest.testmod(queries).failed == 0


EXAMPLES = Path(__file__).parents[1] / "examples"


def test_examples(folder: Path, monaco: Snapshot) -> None:
    extract = str(shared("data/osm/monaco.osm.pbf"))
    out = str(folder / "quickstart.terrapin")
    done = subprocess.run([sys.executable, EXAMPLES / "quickstart.py", extract, out], capture_output=True, text=True)
    assert "27 cafes" in done.stdout and "unexpected-token in line 1, column 19" in done.stdout, done.stderr
    assert "there is amenity (1277)" in done.stdout and "'ex': 1" in done.stdout
    pytest.importorskip("duckdb")
    done = subprocess.run([sys.executable, EXAMPLES / "tables.py", out], capture_output=True, text=True)
    assert "('service', " in done.stdout, done.stdout + done.stderr
    sys.path.insert(0, str(EXAMPLES))
    from reward import reward

    cafes = "node[amenity=cafe];out;"
    assert reward(monaco)([cafes, "node[amenity=bar];out;", "nonsense"], [cafes] * 3) == [1.0, 0.0, 0.0]


def test_files(folder: Path, monaco: Snapshot) -> None:
    with pytest.raises(SnapshotError) as raised:
        Snapshot.open(folder / "nothing.terrapin")
    assert raised.value.code == "snapshot-unreadable"
    foreign = folder / "foreign.terrapin"
    foreign.write_bytes(b"no snapshot" * 100)
    with pytest.raises(SnapshotError):
        Snapshot.open(foreign)
    with pytest.raises(SnapshotError, match="not 123"):
        Snapshot.open(monaco.path, digest="123")
    with pytest.raises(SnapshotError):
        Snapshot.load(osm=foreign, out=folder / "out.terrapin")
    assert not (folder / "out.terrapin").exists()
    with pytest.raises(ValueError, match="nothing to load"):
        Snapshot.load(out=folder / "out.terrapin")
    assert monaco.info["digest"] == monaco.digest and monaco.info["counts"]["nodes"] > 1000


def test_time_is_bounded(monaco: Snapshot) -> None:
    start = time.monotonic()
    with pytest.raises(QueryLimitError) as raised:
        monaco.overpass(FOREVER, timeout=0.5)
    assert raised.value.code == "timeout" and time.monotonic() - start < 5
    assert "after 0 seconds" not in str(raised.value)
    with pytest.raises(ValueError, match="timeout"):
        monaco.overpass("out;", timeout=0)


@pytest.mark.parametrize(
    "query",
    [
        f"[timeout:1000][maxsize:20000000000];node{WORLD};make a ::geom=hull(gcat(geom()));out geom;",
        f"[timeout:1000][maxsize:20000000000];nwr{WORLD};convert a ::=::,::id=id(),::geom=geom();out geom;",
        f"[timeout:1000][maxsize:20000000000];nwr{WORLD};out meta geom;",
        f"node{WORLD}" + "".join(f'[name~"N.*a{n}"]' for n in range(25_600)) + ";out;",
    ],
)
def test_memory_is_bounded(malta: Snapshot, query: str) -> None:
    malta.overpass(f"[out:json];nwr{WORLD};out meta geom;")  # Cached pages do not count as the query's memory.
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(QueryError) as raised:
        malta.overpass(query, max_memory=8 << 20, timeout=30)
    grew = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
    assert grew < 64 << 20, f"{raised.value.code}: {grew >> 20} MiB"
    assert raised.value.code in ("memory", "work", "timeout")


CTRL_C = """
import sys, threading, time, os, signal
from terrapin_osm import Snapshot
snapshot = Snapshot.open(sys.argv[1])
threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    exec(sys.argv[2])
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - start < 5, len(snapshot.overpass("node(1);out;")))
"""


@pytest.mark.parametrize(
    "call",
    [
        f"snapshot.overpass({FOREVER!r})",
        f"snapshot.overpass_many([{FOREVER!r}] * 4)",
        f"snapshot.score_batch([({FOREVER!r}, 'out;')] * 4)",
        f"snapshot.feedback({FOREVER!r})",
    ],
)
def test_ctrl_c_stops_a_query(monaco: Snapshot, call: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CTRL_C, monaco.path, call], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "interrupted True 0\n", done.stderr


def test_others_stop_a_query(monaco: Snapshot) -> None:
    stop = Stop()
    threading.Timer(0.3, stop.set).start()
    with pytest.raises(QueryLimitError) as raised:
        monaco.overpass(FOREVER, stop=stop)
    assert raised.value.code == "cancelled"


def test_tasks_are_awaited_and_cancelled(monaco: Snapshot) -> None:
    async def main() -> None:
        many = [monaco.overpass_async(f"[out:json];node({n});out;") for n in range(1, 51)]
        assert len(await asyncio.gather(*many)) == 50
        assert (await monaco.score_async("node(1);out;", "node(1);out;"))["em"] == 1
        begun = time.monotonic()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(monaco.overpass_async(FOREVER), 0.3)
        assert time.monotonic() - begun < 5

    asyncio.run(main())
    # The cancelled query's thread is free again.
    begun = time.monotonic()
    monaco.overpass("node(1);out;")
    assert time.monotonic() - begun < 2


def test_threads_go_on_meanwhile(monaco: Snapshot) -> None:
    stop, counted = Stop(), 0
    thread = threading.Thread(target=lambda: pytest.raises(QueryLimitError, monaco.overpass, FOREVER, stop=stop))
    thread.start()
    until = time.monotonic() + 0.5
    while time.monotonic() < until:
        counted += len(monaco.overpass("[out:json];node[amenity=cafe];out ids;"))
    stop.set()
    thread.join(10)
    assert counted > 100 and not thread.is_alive()
    expected = monaco.overpass("[out:json];node[shop];out;").bytes
    seen: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: seen.append(monaco.overpass("[out:json];node[shop];out;").bytes))
        for _ in range(16)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    assert seen == [expected] * 16


def _asked(snapshot: Snapshot) -> tuple[str, int, int]:
    large = len(snapshot.overpass(f"[out:json];nwr{WORLD};out meta geom;"))
    scored = snapshot.score_batch([("node(1);out;", "node(2);out;")] * 10)
    return snapshot.digest, large, len(scored)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(monaco: Snapshot, method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    expected = _asked(monaco)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(_asked, [monaco] * 4).get(120) == [expected] * 4
    assert _asked(monaco) == expected


def test_forked_where_the_snapshot_is_open(monaco: Snapshot) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("no fork here")
    expected = _asked(monaco)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if _asked(monaco) == expected else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_importing_imports_little() -> None:
    code = "import sys, terrapin_osm; print(*sys.modules)"
    imported = set(subprocess.check_output([sys.executable, "-c", code], text=True).split())
    # Slow imports are deferred until they are needed; `benches/speed.py` measures the rest.
    assert not imported & {"asyncio", "duckdb", "geopandas", "numpy", "pandas", "polars", "pyarrow", "shapely"}
    assert terrapin_osm.__version__ in terrapin_osm.ENGINE
