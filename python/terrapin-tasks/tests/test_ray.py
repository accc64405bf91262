"""Ray: several workers with the same snapshot give the same bytes as one process."""

from __future__ import annotations

import ray
from conftest import Benchmark
from terrapin_osm import Snapshot

WORKERS = 4
BATCH = 25


@ray.remote(num_cpus=0)
class Worker:
    """Maps the snapshot; all workers share its pages in the page cache."""

    def __init__(self, path: str, digest: str) -> None:
        self.snapshot = Snapshot.open(path, digest=digest)

    def score(self, first: int, pairs: list[tuple[str, str]]) -> list[str]:
        return self.snapshot.score_lines(pairs, first=first, threads=1, timeout=60)


def test_the_same_bytes(malta: Benchmark) -> None:
    pairs = [(item.gold, answer) for item, answer in zip(malta.items, malta.answers)]
    pairs += [(gold, pred[: len(pred) // 2]) for gold, pred in pairs] + pairs[::-1]
    alone = malta.scorer.snapshot.score_lines(pairs, timeout=60)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        workers = [Worker.remote(malta.path, malta.scorer.snapshot.digest) for _ in range(WORKERS)]
        pending = [
            workers[number % WORKERS].score.remote(start + 1, pairs[start : start + BATCH])
            for number, start in enumerate(range(0, len(pairs), BATCH))
        ]
        scored = [line for lines in ray.get(pending) for line in lines]
    finally:
        ray.shutdown()
    assert scored == alone
    assert list(malta.scorer.snapshot.score_stream(iter(pairs), batch=7, timeout=60)) == alone
