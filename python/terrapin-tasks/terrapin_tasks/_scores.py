"""Scores of what a model answered: those of `terrapin eval`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from terrapin_osm import Snapshot

from ._data import Item

METRICS = ("ex", "ex_soft", "f1", "syntax", "length")
"""The scores, each from 0 to 1: whether both queries give the same (`ex`), how much of it (`ex_soft`, `f1`), whether the
prediction is a query at all (`syntax`), whether it is no longer than the gold (`length`)."""

_QUERY = re.compile(r"\s*(\[|\(|\{\{|<|//|/\*|(node|way|relation|rel|nwr|nw|nr|wr|area|is_in|foreach|out|timeline|make|for|"
                    r"PREFIX|BASE|SELECT|ASK|CONSTRUCT|DESCRIBE)\b)", re.IGNORECASE)  # fmt: skip
_BROKEN = ("parse_error", "static_error", "relative_date", "unknown_error")


def query_of(text: str) -> str:
    """The query in a model's answer: the first block of code that looks like one, else the first block, else all of it."""
    blocks = []
    for block in text.split("```")[1::2]:
        if not _QUERY.match(block):
            name, space, rest = re.match(r"([A-Za-z0-9+\-_#.]*)(\s?)(.*)", block, re.DOTALL).groups()  # type: ignore[union-attr]
            block = rest if space else name + rest
        blocks.append(block.strip())
    return next(filter(_QUERY.match, blocks), blocks[0] if blocks else text.strip())


class Scorer:
    """Scores answers against the items that they are to. It is made of a snapshot's path, so that it can be pickled.

    `places` says where names lead that are not to be looked up in the data, as a dictionary or the path of OverpassNL's
    `nominatim_cache.json`; `timeout` is what each pair has, in seconds.
    """

    def __init__(
        self,
        snapshot: Snapshot | str | os.PathLike[str],
        *,
        places: Mapping[str, Any] | str | os.PathLike[str] | None = None,
        timeout: float = 30,
        threads: int | None = None,
    ) -> None:
        self.snapshot = snapshot if isinstance(snapshot, Snapshot) else Snapshot.open(snapshot)
        if isinstance(places, str | os.PathLike):
            places = json.loads(Path(places).read_text(encoding="utf-8"))
        self.places: Any = places
        self.timeout = timeout
        self.threads = threads

    def score(self, item: Item, answer: str) -> dict[str, float]:
        """The scores of one answer."""
        return self.score_all([(item, answer)])[0]

    def score_all(self, answers: Iterable[tuple[Item, str]]) -> list[dict[str, float]]:
        """Those of many, in their order."""
        return [scores for _, scores in self.records(answers)]

    def records(self, answers: Iterable[tuple[Item, str]]) -> list[tuple[dict[str, Any], dict[str, float]]]:
        """For each answer the record that `terrapin eval` has, with a `summary` of what is wrong, and the scores."""
        listed = [(item, query_of(answer)) for item, answer in answers]
        found: list[dict[str, Any]] = [{}] * len(listed)
        for lang in ("overpassql", "sparql"):
            places = [n for n, (item, _) in enumerate(listed) if item.lang == lang]
            if places:
                for place, record in zip(places, self._records(lang, [listed[place] for place in places])):
                    found[place] = record
        return [(record, _scores(record, item, query)) for record, (item, query) in zip(found, listed)]

    def _records(self, lang: str, pairs: Sequence[tuple[Item, str]]) -> list[dict[str, Any]]:
        overpass = {"bbox": [item.bbox for item, _ in pairs], "places": self.places} if lang == "overpassql" else {}
        return self.snapshot.score_batch(
            [(item.gold, query) for item, query in pairs],
            lang="sparql" if lang == "sparql" else "overpassql",
            timeout=self.timeout,
            similarity=False,
            summary=True,
            threads=self.threads,
            **overpass,
        )


def _scores(record: Mapping[str, Any], item: Item, query: str) -> dict[str, float]:
    strict = record.get("strict")
    if strict is not None:
        ex, soft, f1, syntax = strict.get("multiset"), strict["jaccard"], strict.get("f1"), strict["syntax"]
    else:
        syntax = not str(record.get("error", "")).startswith(_BROKEN)
        ex, soft, f1 = record["ex"], record["ex_soft"], record.get("f1")
    length = min(1.0, len(item.gold) / len(query)) if query else 0.0
    # What is not given because a limit cut a result counts as 0.
    return {
        "ex": float(ex or 0), "ex_soft": float(soft), "f1": float(f1 or 0), "syntax": float(syntax), "length": length,
    }  # fmt: skip
