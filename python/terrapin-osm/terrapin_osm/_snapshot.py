"""A snapshot, and what it is asked."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from . import _native
from ._results import Answer, Solutions
from .errors import QueryError, SnapshotError

if TYPE_CHECKING:
    from datetime import datetime

Path = str | os.PathLike[str]
Language = Literal["overpassql", "sparql"]
Pair = tuple[str, str] | Mapping[str, Any]
Rerank = Callable[[str, list[dict[str, Any]]], Sequence[float]]
T = TypeVar("T")


class Snapshot:
    """A snapshot that is open: mapped into memory, shared by all threads and processes that have it open.

    Every call may be made from many threads at once: none holds Python's lock while it works. Ctrl-C stops it. `timeout`
    is in seconds, `max_memory` in bytes; a query's own `[timeout:]` and `[maxsize:]` hold besides. Without `max_memory` a
    query may take half of the process's memory. What is wrong with a query is a `QueryError`.

    A call whose name ends in `_async` can be awaited; cancelling the task stops its work.
    """

    def __init__(self, native: _native.Snapshot, path: str) -> None:
        self._native = native
        self.path = path

    @classmethod
    def open(cls, path: Path, *, digest: str | None = None, cache: int | None = None) -> Snapshot:
        """Opens a snapshot file. `digest` is the name that it has to have; of `cache` bytes at most pages are kept decoded."""
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
        """Makes a snapshot file of an extract (PBF or XML) and of triples, as `terrapin load` does, and opens it.

        `wikidata` and `rdf` are a file each, or several. Nothing is left where it fails or is stopped. `at` takes the state of that moment from a history file, with
        `history` all versions are kept, without `metadata` no versions, times, changesets and users; `memory` is what it
        takes before temporary files.
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
        """The snapshot's name."""
        return self._native.digest

    @property
    def info(self) -> dict[str, Any]:
        """Where it comes from and what is in it, as `terrapin info --json` tells it."""
        return dict(json.loads(self._native.info()))

    @property
    def has_triples(self) -> bool:
        """Whether SPARQL can be asked."""
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
        """Answers a query in OverpassQL or its XML form.

        Overpass Turbo's `{{shortcuts}}` are replaced first: `bbox` ("south,west,north,east") is what `{{bbox}}` stands for;
        `places` says where names lead that are not to be looked up in the data, in the shape of `nominatim_cache.json`.
        """
        return Answer(self._native.overpass(query, timeout, max_memory, bbox, _json(places), stop))

    async def overpass_async(self, query: str, **options: Any) -> Answer:
        """`overpass`, to be awaited."""
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
        """Answers many queries, each within the bounds on one thread: on all cores, or so many threads, in their order.

        With `errors="return"` exceptions stand in the list in place of answers; else the first is raised when all are done.
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
        stop: _native.Stop | None = None,
    ) -> Solutions:
        """Answers a query in SPARQL as the Wikidata Query Service takes it; `language` is what `[AUTO_LANGUAGE]` stands for."""
        return Solutions(self._native.sparql(query, timeout, max_memory, max_rows, language, stop))

    async def sparql_async(self, query: str, **options: Any) -> Solutions:
        """`sparql`, to be awaited."""
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
        stop: _native.Stop | None = None,
    ) -> dict[str, Any]:
        """What a model needs to repair a query: `errors`, `results`, `warnings`, and all of it as one `text`.

        A query is in the language that it begins like, if `lang` does not say it.
        """
        said = self._native.feedback(query, lang, bbox, _json(places), sample, timeout, max_memory, stop)
        return dict(json.loads(said))

    async def feedback_async(self, query: str, **options: Any) -> dict[str, Any]:
        """`feedback`, to be awaited."""
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
        """The tags that words in English stand for in this data: `tags`, the best first, each with `key`, `value` and `count`;
        `keys` for texts such as names; `total`, how many tags have any of the words.

        `rerank` puts them in an order of its own: of the text and the four times as many tags that words find, it makes a
        number for each, of which the largest come first. A model of embeddings goes in here.
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
        """`search_tags`, to be awaited."""
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
        """Wikidata's entities in this data that a name stands for, the likeliest first: `id`, `label`, `description`, and `uses`,
        how often the data has it. Names are looked for in `language` and those that stand in for it, then in all others."""
        found = json.loads(self._native.search_entities(text, kind, language, limit, timeout, stop))
        return [dict(entity) for entity in found]

    async def search_entities_async(self, text: str, **options: Any) -> list[dict[str, Any]]:
        """`search_entities`, to be awaited."""
        return await _awaited(partial(self.search_entities, text, **options))

    def geocode(
        self, name: str, *, timeout: float | None = None, stop: _native.Stop | None = None
    ) -> dict[str, Any] | None:
        """The area that a name stands for in this data, or nothing: `osm_type`, `osm_id`, `area_id` for queries, `center` and
        `bbox` (south, west, north, east) in degrees."""
        found = json.loads(self._native.geocode(name, timeout, stop))
        return None if found is None else dict(found)

    async def geocode_async(self, name: str, **options: Any) -> dict[str, Any] | None:
        """`geocode`, to be awaited."""
        return await _awaited(partial(self.geocode, name, **options))

    def score(
        self,
        gold: str,
        pred: str,
        *,
        bbox: str | None = None,
        lang: Language = "overpassql",
        places: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        max_memory: int | None = None,
        similarity: bool = True,
        summary: bool = False,
        extract: bool = False,
        stop: _native.Stop | None = None,
    ) -> dict[str, Any]:
        """The record of one pair; see `score_batch`."""
        boxes = None if bbox is None else [bbox]
        return self.score_batch(
            [(gold, pred)], bbox=boxes, lang=lang, places=places, timeout=timeout, max_memory=max_memory,
            similarity=similarity, summary=summary, extract=extract, stop=stop,
        )[0]  # fmt: skip

    async def score_async(self, gold: str, pred: str, **options: Any) -> dict[str, Any]:
        """`score`, to be awaited."""
        return await _awaited(partial(self.score, gold, pred, **options))

    def score_batch(
        self,
        pairs: Iterable[Pair],
        *,
        bbox: Sequence[str | None] | None = None,
        lang: Language = "overpassql",
        places: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        max_memory: int | None = None,
        similarity: bool = True,
        summary: bool = False,
        extract: bool = False,
        first: int = 1,
        threads: int | None = None,
        stop: _native.Stop | None = None,
    ) -> list[dict[str, Any]]:
        """Scores pairs of a gold query and a predicted one: the records of `terrapin eval`, in the order of the pairs.

        OverpassQL is scored as `terrapin eval overpassnl` scores it, SPARQL as `terrapin eval jsonl`. A pair is a tuple, or
        a mapping with `gold` and `pred` (or `reference` and `prediction`) and perhaps `bbox`. Each query has `timeout`, each
        pair `max_memory`; one that reaches a bound has a record that says so. A text with a lone surrogate is an error of
        its record. Without `similarity` queries in OverpassQL are not compared as texts and trees, only by what they give.
        In a batch a query runs once, its time-out included; what queries gave is kept for the next batch. `first` is the
        `line` of the first pair. With `extract` predictions are replies of a language model: see `query_of`.

        With `summary` each record has what a shaped reward needs: `summary` with `ref_n` and `pred_n`, the class of the
        prediction's `error`, whether it is a query at all (`syntax`), the `problem` with its `line`, `column` and `hint`,
        and `warnings` about keys and values that do not occur in the data, with the `nearest` that do.
        """
        lines = self.score_lines(
            pairs, bbox=bbox, lang=lang, places=places, timeout=timeout, max_memory=max_memory, similarity=similarity,
            summary=summary, extract=extract, first=first, threads=threads, stop=stop,
        )  # fmt: skip
        return [json.loads(line) for line in lines]

    async def score_batch_async(self, pairs: Iterable[Pair], **options: Any) -> list[dict[str, Any]]:
        """`score_batch`, to be awaited."""
        return await _awaited(partial(self.score_batch, pairs, **options))

    def score_lines(
        self,
        pairs: Iterable[Pair],
        *,
        bbox: Sequence[str | None] | None = None,
        lang: Language = "overpassql",
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
        """The records of `score_batch` as the lines of `results.jsonl`: the same pair always gives the same bytes."""
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
            stop,
        )

    def score_stream(
        self, pairs: Iterable[Pair], *, batch: int = 1000, first: int = 1, **options: Any
    ) -> Iterator[str]:
        """The lines of `score_lines` for any number of pairs, `batch` of them at a time: no more are in memory. The bytes
        are those of one call with all of them. The options are those of `score_batch`, but for `bbox`."""
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
    """Gold query, prediction and box of a pair. What is wrong names the pair."""
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
    # A system that gave nothing gave no query.
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
    """Runs a call on another thread; where the task is cancelled, so is the call."""
    import asyncio

    stop = _native.Stop()
    try:
        return await asyncio.to_thread(call, stop=stop)
    except asyncio.CancelledError:
        stop.set()
        raise
