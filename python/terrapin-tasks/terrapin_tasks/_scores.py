"""Scores of models' answers, equal to those of `terrapin eval`."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import warnings
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from terrapin_osm import Snapshot, Stop, query_of

from ._data import Item

METRICS = ("ex", "ex_soft", "f1", "syntax", "length")
"""The scores, each from 0 to 1: equal results (`ex`), agreement of the results (`ex_soft`, `f1`), whether the
prediction is a valid query (`syntax`), and whether it is no longer than the gold query (`length`). If both results are
empty, `ex`, `ex_soft` and `f1` are 0, because most wrong queries have empty results."""

_LOG = logging.getLogger("terrapin_tasks")

TIMEOUT = 30.0
"""Default timeout of each query, in seconds."""


class Scorer:
    """Scores answers against their items. It opens a snapshot by path and can be pickled.

    `places` has geocoded places, as a dictionary or the path of OverpassNL's `nominatim_cache.json`; other names are
    looked up in the data. `timeout` applies to each query, in seconds. In one call, each distinct query runs once,
    even if it times out.
    """

    def __init__(
        self,
        snapshot: Snapshot | str | os.PathLike[str],
        *,
        places: Mapping[str, Any] | str | os.PathLike[str] | None = None,
        timeout: float = TIMEOUT,
        threads: int | None = None,
    ) -> None:
        self.snapshot = snapshot if isinstance(snapshot, Snapshot) else Snapshot.open(snapshot)
        if isinstance(places, str | os.PathLike):
            places = json.loads(Path(places).read_text(encoding="utf-8"))
        self.places: Any = places
        self.timeout = timeout
        self.threads = threads

    def score(self, item: Item, answer: str) -> dict[str, float]:
        """Returns the scores of one answer."""
        return self.score_all([(item, answer)])[0]

    async def score_async(self, item: Item, answer: str) -> dict[str, float]:
        """Async version of `score`."""
        return (await self.records_async([(item, answer)]))[0][1]

    def score_all(self, answers: Iterable[tuple[Item, str]]) -> list[dict[str, float]]:
        """Returns the scores of many answers, in their order."""
        return [scores for _, scores in self.records(answers)]

    def records(
        self, answers: Iterable[tuple[Item, str]], *, stop: Stop | None = None
    ) -> list[tuple[dict[str, Any], dict[str, float]]]:
        """Returns for each answer the record of `terrapin eval`, with a `summary` of its errors, and the scores."""
        listed = [(item, query_of(answer, _lang(item))) for item, answer in answers]
        found: list[dict[str, Any]] = [{}] * len(listed)
        for lang in ("overpassql", "sparql"):
            places = [n for n, (item, _) in enumerate(listed) if _lang(item) == lang]
            if places:
                records = self._records(lang, [listed[place] for place in places], stop)
                for place, record in zip(places, records):
                    found[place] = record
        return [(record, _scores(record, item, query)) for record, (item, query) in zip(found, listed)]

    async def records_async(
        self, answers: Iterable[tuple[Item, str]]
    ) -> list[tuple[dict[str, Any], dict[str, float]]]:
        """Async version of `records`; cancelling the task stops the queries."""
        stop = Stop()
        try:
            return await asyncio.to_thread(self.records, list(answers), stop=stop)
        except asyncio.CancelledError:
            stop.set()
            raise

    def usable(self, items: Iterable[Item]) -> list[Item]:
        """Returns the items with a gold query that has results here. Only these distinguish good answers from empty
        ones.
        """
        listed = list(items)
        # The gold query is also the prediction, so that it runs once.
        records = self.records((item, item.gold) for item in listed)
        return [item for item, (record, _) in zip(listed, records) if has_signal(record)]

    def _records(self, lang: str, pairs: Sequence[tuple[Item, str]], stop: Stop | None) -> list[dict[str, Any]]:
        overpass = {"bbox": [item.bbox for item, _ in pairs], "places": self.places} if lang == "overpassql" else {}
        return self.snapshot.score_batch(
            [(item.gold, query) for item, query in pairs],
            lang="sparql" if lang == "sparql" else "overpassql",
            timeout=self.timeout,
            similarity=False,
            summary=True,
            threads=self.threads,
            stop=stop,
            **overpass,
        )


def _lang(item: Item) -> Any:
    if item.lang not in ("overpassql", "sparql"):
        raise ValueError(f"item {item.id!r}: lang {item.lang!r}: expected \"overpassql\" or \"sparql\"")
    return item.lang


def has_signal(record: Mapping[str, Any]) -> bool:
    """Returns whether the gold query of a record has results."""
    return (record["summary"]["ref_n"] or 0) > 0


def report_usable(usable: int, total: int) -> None:
    """Logs the number of gold queries with results, and warns if they are fewer than half: answers to the others score
    0.
    """
    _LOG.info("%d of %d gold queries give something on this snapshot", usable, total)
    if total and 2 * usable < total:
        warnings.warn(
            f"{usable} of {total} gold queries give something on this snapshot: answers to the others score 0. "
            "Scorer.usable(items) gives those that do",
            RuntimeWarning,
            stacklevel=3,
        )


def _scores(record: Mapping[str, Any], item: Item, query: str) -> dict[str, float]:
    summary, strict = record["summary"], record.get("strict")
    if strict is not None:
        ex, soft, f1 = strict.get("multiset"), strict["jaccard"], strict.get("f1")
    else:
        ex, soft, f1 = record["ex"], record["ex_soft"], record.get("f1")
    if summary["ref_n"] == summary["pred_n"] == 0:
        ex = soft = f1 = 0
    length = min(1.0, len(item.gold) / len(query)) if query else 0.0
    # A score that is missing because a limit cut a result counts as 0.
    return {
        "ex": float(ex or 0), "ex_soft": float(soft), "f1": float(f1 or 0), "syntax": float(summary["syntax"]),
        "length": length,
    }  # fmt: skip


class Once:
    """An async cache: each result is computed once, also for concurrent requests, and the latest ones are kept."""

    def __init__(self, most: int = 4096) -> None:
        self._most = most
        self._done: OrderedDict[str, Any] = OrderedDict()
        self._running: dict[tuple[int, str], asyncio.Task[Any]] = {}

    async def get(self, parts: Sequence[object], make: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """Returns the result of `make` for the key `parts`."""
        name = sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()
        if name in self._done:
            self._done.move_to_end(name)
            return self._done[name]
        place = (id(asyncio.get_running_loop()), name)
        task = self._running.get(place)
        if task is None:
            task = self._running[place] = asyncio.ensure_future(make())
            task.add_done_callback(lambda done: self._finish(place, done))
        # If one request is cancelled, the others still wait.
        return await asyncio.shield(task)

    def _finish(self, place: tuple[int, str], task: asyncio.Task[Any]) -> None:
        self._running.pop(place, None)
        if not task.cancelled() and task.exception() is None:
            self._done[place[1]] = task.result()
            while len(self._done) > self._most:
                self._done.popitem(last=False)
