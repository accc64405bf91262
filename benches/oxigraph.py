"""Oxigraph's persistent store as a peer of benches/sparql.rs: python3 oxigraph.py STORE.

Reads {"query": ..., "times": N, "rows": MOST} a line; writes the median seconds of asking N times, after one time
before, and the number of solutions, of which none is taken beyond MOST.
"""

import itertools
import json
import statistics
import sys
import time

import pyoxigraph

store = pyoxigraph.Store.read_only(sys.argv[1])
for line in sys.stdin:
    request = json.loads(line)
    seconds, count = [], None
    try:
        for _ in range(request["times"] + 1):
            started = time.perf_counter()
            answer = store.query(request["query"])
            if isinstance(answer, pyoxigraph.QueryBoolean):
                count = int(bool(answer))
            else:
                count = sum(1 for _ in itertools.islice(answer, request["rows"]))
            del answer
            seconds.append(time.perf_counter() - started)
        result = {"seconds": statistics.median(seconds[1:]), "count": count}
    except (SyntaxError, ValueError, RuntimeError, OSError) as error:
        result = {"error": str(error)}
    print(json.dumps(result), flush=True)
