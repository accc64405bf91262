"""The class `Snapshot`: an open snapshot, and the queries, searches and scores on it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from . import _native
from ._results import Answer, Solutions
from ._suite import score_suite
from .errors import QueryError, SnapshotError

if TYPE_CHECKING:
    from datetime import datetime

Path = str | os.PathLike[str]
Language = Literal["overpassql", "sparql"]
Dialect = Literal["auto", "wdqs", "qlever", "standard"]
Pair = tuple[str, str] | Mapping[str, Any]
Rerank = Callable[[str, list[dict[str, Any]]], Sequence[float]]
T = TypeVar("T")


class Snapshot:
    """An open snapshot, mapped into memory and shared by all threads and processes that open it.

    All methods are thread-safe, and none holds the GIL while it works. Ctrl-C stops a call. `timeout` is in seconds,
    `max_memory` in bytes; the query's own `[timeout:]` and `[maxsize:]` also apply. By default, a query may use half of
    the process's memory. Errors in a query raise `QueryError`.

    Methods with the suffix `_async` are coroutines; cancelling the task stops the work.
    """

    def __init__(self, native: _native.Snapshot, path: str) -> None:
        self._native = native
        self.path = path

    @classmethod
    def open(cls, path: Path, *, digest: str | None = None, cache: int | None = None) -> Snapshot:
        """Opens a snapshot file.

        `digest` is the required digest; another one raises `SnapshotError`. `cache` is the maximum size of the cache of
        decoded pages, in bytes.
        """
        native = _native.Snapshot.open(path, cache)
        if digest is not None and native.digest != digest:
            raise SnapshotError("snapshot-other", f"{os.fspath(path)}: it is {native.digest}, not {digest}")
        return cls(native, os.fspath(path))

    @classmethod
    def load(
        cls,
        *,
        out: Path,
        osm: Path | None = None,
        wikidata: Path | Sequence[Path] = (),
        rdf: Path | Sequence[Path] = (),
        at: datetime | None = None,
        history: bool = False,
        metadata: bool = True,
        memory: int = 1 << 30,
    ) -> Snapshot:
        """Makes a snapshot file from an extract (PBF or XML) and triples, like `terrapin load`, and opens it.

        `wikidata` and `rdf` are one file each, or several. `at` loads the state of a history file at that time, and
        `history` keeps all versions. `metadata=False` leaves out versions, times, changesets and users. `memory` is the
        limit in bytes above which sorts spill to temporary files. If the load fails or is stopped, no file remains.
        """
        moment = None
        if at is not None:
            if at.tzinfo is None:
                raise ValueError("at: give its time zone, such as datetime.timezone.utc")
            moment = int(at.timestamp())
        stop = _native.Stop()
        digest = _native.load(out, osm, _files(wikidata), _files(rdf), moment, history, metadata, memory, stop)
        return cls.open(out, digest=digest)

    def __repr__(self) -> str:
        return f"<Snapshot {self.digest[:12]} of {self.path}>"

    def __reduce__(self) -> tuple[Callable[..., Snapshot], tuple[str, str]]:
        return _reopen, (os.path.abspath(self.path), self.digest)

    @property
    def digest(self) -> str:
        """The digest that identifies the snapshot."""
        return self._native.digest

    @property
    def info(self) -> dict[str, Any]:
        """The sources and counts of the snapshot, as in `terrapin info --json`."""
        return dict(json.loads(self._native.info()))

    @property
    def has_triples(self) -> bool:
        """Whether the snapshot has triples."""
        return self._native.has_triples

    def overpass(
        self,
        query: str,
        *,
        timeout: float | None = None,
        max_memory: int | None = None,
        bbox: str | None = None,
        places: Mapping[str, Any] | None = None,
        stop: _native.Stop | None = None,
    ) -> Answer:
        """Runs a query in OverpassQL or its XML form.

        Overpass Turbo's `{{shortcuts}}` are replaced first. `bbox` ("south,west,north,east") is the value of
        `{{bbox}}`. `places` has geocoded places in the format of `nominatim_cache.json`; other names are looked up in
        the data.
        """
        return Answer(self._native.overpass(query, timeout, max_memory, bbox, _json(places), stop))

    async def overpass_async(self, query: str, **options: Any) -> Answer:
        """Async version of `overpass`."""
        return await _awaited(partial(self.overpass, query, **options))

    @overload
    def overpass_many(
        self,
        queries: Iterable[str],
        *,
        errors: Literal["raise"] = ...,
        timeout: float | None = ...,
        max_memory: int | None = ...,
        bbox: str | None = ...,
        places: Mapping[str, Any] | None = ...,
        threads: int | None = ...,
        stop: _native.Stop | None = ...,
    ) -> list[Answer]: ...
    @overload
    def overpass_many(
        self,
        queries: Iterable[str],
        *,
        errors: Literal["return"],
        timeout: float | None = ...,
        max_memory: int | None = ...,
        bbox: str | None = ...,
        places: Mapping[str, Any] | None = ...,
        threads: int | None = ...,
        stop: _native.Stop | None = ...,
    ) -> list[Answer | QueryError]: ...
    def overpass_many(
        self,
        queries: Iterable[str],
        *,
        errors: Literal["raise", "return"] = "raise",
        timeout: float | None = None,
        max_memory: int | None = None,
        bbox: str | None = None,
        places: Mapping[str, Any] | None = None,
        threads: int | None = None,
        stop: _native.Stop | None = None,
    ) -> list[Answer] | list[Answer | QueryError]:
        """Runs many queries and returns their answers in order. Each query runs on one thread, within the limits.

        `threads` is the number of queries that run at once (default: one per core). With `errors="return"`, the list
        contains the exceptions of failed queries; otherwise the first one is raised when all queries are done.
        """
        given = self._native.overpass_many(list(queries), timeout, max_memory, bbox, _json(places), threads, stop)
        results: list[Answer | QueryError] = []
        for answer in given:
            if not isinstance(answer, QueryError):
                results.append(Answer(answer))
            elif errors == "raise":
                raise answer
            else:
                results.append(answer)
        return results

    def sparql(
        self,
        query: str,
        *,
        timeout: float | None = None,
        max_memory: int | None = None,
        max_rows: int | None = None,
        language: str = "en",
        dialect: Dialect = "auto",
        stop: _native.Stop | None = None,
    ) -> Solutions:
        """Runs a SPARQL query. `language` replaces `[AUTO_LANGUAGE]`.

        `dialect` is "wdqs" for the Wikidata Query Service, "qlever" or "standard"; "auto" is "qlever" for a query with
        one of QLever's constructs, and otherwise "wdqs".
        """
        return Solutions(self._native.sparql(query, timeout, max_memory, max_rows, language, dialect, stop))

    async def sparql_async(self, query: str, **options: Any) -> Solutions:
        """Async version of `sparql`."""
        return await _awaited(partial(self.sparql, query, **options))

    def feedback(
        self,
        query: str,
        *,
        lang: Language | None = None,
        bbox: str | None = None,
        places: Mapping[str, Any] | None = None,
        sample: int = 5,
        timeout: float | None = None,
        max_memory: int | None = None,
        dialect: Dialect = "auto",
        stop: _native.Stop | None = None,
    ) -> dict[str, Any]:
        """Returns what a model needs to repair a query: `errors`, `results`, `warnings`, and all of it as one `text`.

        Without `lang`, the language is detected from the beginning of the query. `dialect` is that of `sparql`.
        """
        said = self._native.feedback(query, lang, bbox, _json(places), sample, timeout, max_memory, dialect, stop)
        return dict(json.loads(said))

    async def feedback_async(self, query: str, **options: Any) -> dict[str, Any]:
        """Async version of `feedback`."""
        return await _awaited(partial(self.feedback, query, **options))

    def search_tags(
        self,
        text: str,
        *,
        limit: int = 10,
        rerank: Rerank | None = None,
        timeout: float | None = None,
        stop: _native.Stop | None = None,
    ) -> dict[str, Any]:
        """Finds the tags for a description in English words.

        Returns `tags`, best first, each with `key`, `value` and `count`; `keys` for texts such as names; and `total`,
        the number of tags with any of the words. `rerank`, for example an embedding model, changes the order: it gets
        the text and four times as many tags, and returns a score for each; higher scores come first.
        """
        found = dict(json.loads(self._native.search_tags(text, limit * (1 if rerank is None else 4), timeout, stop)))
        if rerank is not None:
            tags = found["tags"]
            scores = list(rerank(text, tags))
            if len(scores) != len(tags):
                raise ValueError(f"rerank gave {len(scores)} numbers for {len(tags)} tags")
            order = sorted(range(len(tags)), key=lambda number: -scores[number])
            found["tags"] = [tags[number] for number in order[:limit]]
        return found

    async def search_tags_async(self, text: str, **options: Any) -> dict[str, Any]:
        """Async version of `search_tags`."""
        return await _awaited(partial(self.search_tags, text, **options))

    def search_entities(
        self,
        text: str,
        *,
        kind: Literal["item", "property", "lexeme"] = "item",
        language: str = "en",
        limit: int = 8,
        timeout: float | None = None,
        stop: _native.Stop | None = None,
    ) -> list[dict[str, Any]]:
        """Finds the Wikidata entities in this data with a name, most likely first.

        Returns `id`, `label`, `description`, and `uses`, the number of occurrences in the data. Names in `language` and
        its fallback languages come before those in other languages.
        """
        found = json.loads(self._native.search_entities(text, kind, language, limit, timeout, stop))
        return [dict(entity) for entity in found]

    async def search_entities_async(self, text: str, **options: Any) -> list[dict[str, Any]]:
        """Async version of `search_entities`."""
        return await _awaited(partial(self.search_entities, text, **options))

    def geocode(
        self, name: str, *, timeout: float | None = None, stop: _native.Stop | None = None
    ) -> dict[str, Any] | None:
        """Returns the area with a name in this data, or `None`.

        It has `osm_type`, `osm_id`, `area_id` for queries, and `center` and `bbox` (south, west, north, east) in
        degrees.
        """
        found = json.loads(self._native.geocode(name, timeout, stop))
        return None if found is None else dict(found)

    async def geocode_async(self, name: str, **options: Any) -> dict[str, Any] | None:
        """Async version of `geocode`."""
        return await _awaited(partial(self.geocode, name, **options))

    def score(
        self,
        gold: str,
        pred: str,
        *,
        bbox: str | None = None,
        lang: Language = "overpassql",
        dialect: Dialect = "auto",
        places: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        max_memory: int | None = None,
        similarity: bool = True,
        summary: bool = False,
        extract: bool = False,
        stop: _native.Stop | None = None,
    ) -> dict[str, Any]:
        """Scores one pair and returns its record; see `score_batch`."""
        boxes = None if bbox is None else [bbox]
        return self.score_batch(
            [(gold, pred)], bbox=boxes, lang=lang, dialect=dialect, places=places, timeout=timeout,
            max_memory=max_memory, similarity=similarity, summary=summary, extract=extract, stop=stop,
        )[0]  # fmt: skip

    async def score_async(self, gold: str, pred: str, **options: Any) -> dict[str, Any]:
        """Async version of `score`."""
        return await _awaited(partial(self.score, gold, pred, **options))

    def score_batch(
        self,
        pairs: Iterable[Pair],
        *,
        bbox: Sequence[str | None] | None = None,
        lang: Language = "overpassql",
        dialect: Dialect = "auto",
        places: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        max_memory: int | None = None,
        similarity: bool = True,
        summary: bool = False,
        extract: bool = False,
        first: int = 1,
        threads: int | None = None,
        stop: _native.Stop | None = None,
        suite: Sequence[Snapshot] = (),
    ) -> list[dict[str, Any]]:
        """Scores pairs of a gold and a predicted query. Returns the records of `terrapin eval`, in the order of the
        pairs.

        OverpassQL is scored like in `terrapin eval overpassnl`, SPARQL like in `terrapin eval jsonl`, in the
        `dialect` of `sparql`. A pair is a tuple, or a mapping with `gold` and `pred` (or `reference` and `prediction`)
        and optionally `bbox`.

        `timeout` limits each query, `max_memory` each pair; the record of a pair that reaches a limit reports it. A
        text with a lone surrogate is an error of its record. With `similarity=False`, OverpassQL queries are compared
        only by their results, not as texts and trees. In a batch, each distinct query runs once, even if it times out;
        results are cached for later batches. `first` is the `line` of the first pair. With `extract=True`, predictions
        are replies of a language model: see `query_of`.

        With `summary=True`, each record has the fields for a shaped reward, in `summary`: `ref_n` and `pred_n`, the
        class of the prediction's `error`, whether it is a valid query (`syntax`), the `problem` with its `line`,
        `column` and `hint`, and `warnings` about keys and values that do not occur in the data, with the `nearest`
        existing ones.

        With `suite`, further snapshots, pairs that are right on this snapshot also run on those. `suite` in a record is
        1 if the results are equal on all; else `counterexample` has the first snapshot on which they differ.
        """
        pairs = list(pairs)
        lines = self.score_lines(
            pairs, bbox=bbox, lang=lang, dialect=dialect, places=places, timeout=timeout, max_memory=max_memory,
            similarity=similarity, summary=summary, extract=extract, first=first, threads=threads, stop=stop,
        )  # fmt: skip
        records = [json.loads(line) for line in lines]
        if suite:
            options = {"lang": lang, "dialect": dialect, "places": places, "timeout": timeout,
                       "max_memory": max_memory, "extract": extract, "threads": threads, "stop": stop}  # fmt: skip
            score_suite(records, pairs, bbox, suite, options)
        return records

    async def score_batch_async(self, pairs: Iterable[Pair], **options: Any) -> list[dict[str, Any]]:
        """Async version of `score_batch`."""
        return await _awaited(partial(self.score_batch, pairs, **options))

    def score_lines(
        self,
        pairs: Iterable[Pair],
        *,
        bbox: Sequence[str | None] | None = None,
        lang: Language = "overpassql",
        dialect: Dialect = "auto",
        places: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        max_memory: int | None = None,
        similarity: bool = True,
        summary: bool = False,
        extract: bool = False,
        first: int = 1,
        threads: int | None = None,
        stop: _native.Stop | None = None,
    ) -> list[str]:
        """Returns the records of `score_batch` as lines of `results.jsonl`. The same pair always gives the same
        bytes.
        """
        listed = [_pair(number, pair, lang) for number, pair in enumerate(pairs, first)]
        if bbox is None and any(box is not None for _, _, box in listed):
            bbox = [box for _, _, box in listed]
        return self._native.score_batch(
            [gold for gold, _, _ in listed],
            [pred for _, pred, _ in listed],
            None if bbox is None else list(bbox),
            lang,
            _json(places),
            timeout,
            max_memory,
            similarity,
            summary,
            extract,
            first,
            threads,
            dialect,
            stop,
        )

    def score_stream(
        self, pairs: Iterable[Pair], *, batch: int = 1000, first: int = 1, **options: Any
    ) -> Iterator[str]:
        """Yields the lines of `score_lines` for any number of pairs, with `batch` pairs in memory at a time.

        The bytes equal those of a single call. The options are those of `score_batch`, except `bbox`.
        """
        if "bbox" in options:
            raise TypeError("bbox: give pairs with boxes to score_lines")
        rest = iter(pairs)
        while some := list(islice(rest, batch)):
            yield from self.score_lines(some, first=first, **options)
            first += len(some)


def _reopen(path: str, digest: str) -> Snapshot:
    return Snapshot.open(path, digest=digest)


def _files(given: Path | Sequence[Path]) -> list[Path]:
    return [given] if isinstance(given, str | os.PathLike) else list(given)


def _pair(number: int, pair: Any, lang: str) -> tuple[str, str, str | None]:
    """Returns gold query, prediction and box of a pair. Errors name the pair."""
    box = None
    if isinstance(pair, Mapping):
        gold, pred = (_field(number, pair, names) for names in (("gold", "reference"), ("pred", "prediction")))
        box = pair.get("bbox") or None
        if pair.get("lang") not in (None, lang):
            raise ValueError(f"pair {number}: its lang is {pair['lang']!r}, that of the batch {lang!r}")
    elif isinstance(pair, Sequence) and not isinstance(pair, str | bytes) and len(pair) == 2:
        gold, pred = pair
    else:
        raise TypeError(f"pair {number}: expected (gold, prediction) or a mapping of both, found {_shown(pair)}")
    # A missing prediction counts as an empty query.
    pred = "" if pred is None else pred
    for name, text in (("gold", gold), ("pred", pred)):
        if not isinstance(text, str):
            raise TypeError(f"pair {number}: {name}: expected a text, found {_shown(text)}")
    return gold, pred, box


def _field(number: int, pair: Mapping[str, Any], names: tuple[str, str]) -> Any:
    for name in names:
        if name in pair:
            return pair[name]
    raise ValueError(f"pair {number}: no {names[0]!r} (or {names[1]!r}); it has {', '.join(map(repr, pair))}")


def _shown(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return f"{type(value).__name__} of {len(value)}"
    return type(value).__name__


def _json(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else json.dumps(value)


async def _awaited(call: Callable[..., T]) -> T:
    """Runs a call on another thread. If the task is cancelled, the call is cancelled."""
    import asyncio

    stop = _native.Stop()
    try:
        return await asyncio.to_thread(call, stop=stop)
    except asyncio.CancelledError:
        stop.set()
        raise
