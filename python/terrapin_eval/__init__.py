"""Scores of predicted OverpassQL queries from a running `terrapin serve`.

    from terrapin_eval import OverpassNL

    metric = OverpassNL("http://localhost:8080")
    metric.compute(predictions=[...], references=[...])
    # {"em": 0.5, "chrf": 0.91, ..., "ex": 0.71, "ex_soft": 0.75, "n": 1000, "errors": {"parse_error": 44}, ...}

The interface is that of Hugging Face's `evaluate`: `compute`, or `add` and `add_batch` and then `compute`. `samples`
returns one dictionary per pair, in the format of lm-evaluation-harness's per-sample logs. Scores are from 0 to 1. The
module requires Python 3.9 or newer and no packages.
"""

from __future__ import annotations

import json
import math
import os
import urllib.error
import urllib.request
from typing import Any, Iterable, Mapping, Sequence

__all__ = ["OverpassNL", "TerrapinError", "feedback"]

# The order of the published metrics; further metrics of a server follow.
METRICS = ("em", "chrf", "kvs", "trees", "oqs", "ex", "ex_soft", "multiset", "f1")
# Scores that are 1 in a record if both results are empty. Here they count as 0: most wrong queries have empty results.
_OF_NOTHING = ("multiset", "f1")
# Numbers of a record that are not scores.
_COUNTS = ("line", "ref_n", "pred_n")

_BATCH = 50


class TerrapinError(RuntimeError):
    """The server rejected a request or cannot be reached."""


def _post(url: str, path: str, body: Mapping[str, Any], timeout: float) -> dict[str, Any]:
    request = urllib.request.Request(
        url.rstrip("/") + path,
        data=json.dumps(body).encode("utf-8"),
        headers={"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        text = error.read().decode("utf-8", "replace")
        try:
            text = json.loads(text)["error"]
        except (ValueError, KeyError, TypeError):
            pass
        raise TerrapinError(f"{path}: {error.code}: {text}") from None
    except (urllib.error.URLError, TimeoutError) as error:
        raise TerrapinError(f"{url}: {error}") from None


def _server(url: str | None) -> str:
    return url or os.environ.get("TERRAPIN_URL") or "http://localhost:8080"


def feedback(query: str, *, url: str | None = None, bbox: str | None = None, sample: int = 5,
             timeout: float = 300, lang: str | None = None, dialect: str | None = None) -> dict[str, Any]:
    """Returns what a model needs to repair a query: `errors`, `results`, `warnings`, and all of it as one `text`.

    `lang` is "overpassql" or "sparql"; by default it is detected from the beginning of the query.
    `dialect` is that of SPARQL: "auto" (default), "wdqs", "qlever" or "standard".
    """
    body = {"query": query, "bbox": bbox, "sample": sample, "lang": lang, "dialect": dialect}
    return _post(_server(url), "/feedback", body, timeout)


class OverpassNL:
    """The metrics of OverpassNL on the snapshot of a server.

    `url` is the server's address; default: the environment variable TERRAPIN_URL, else http://localhost:8080. `places`
    has geocoded places in the format of the authors' nominatim_cache.json. `timeout` applies to a batch of pairs, in
    seconds. With `extract`, predictions are replies of a language model, from which the server extracts the query.
    """

    name = "overpassnl"

    def __init__(self, url: str | None = None, *, places: Mapping[str, Any] | None = None,
                 timeout: float = 3600, extract: bool = False) -> None:
        self.url = _server(url)
        self.places = places
        self.timeout = timeout
        self.extract = extract
        self._pairs: list[tuple[str, str, str | None]] = []

    def add(self, *, prediction: str, reference: str, bbox: str | None = None) -> None:
        """Adds a pair for the next `compute`."""
        self._pairs.append((prediction, reference, bbox))

    def add_batch(self, *, predictions: Sequence[str], references: Sequence[str],
                  bbox: Sequence[str] | None = None) -> None:
        """Adds pairs for the next `compute`."""
        self._pairs.extend(_pairs(predictions, references, bbox))

    def compute(self, *, predictions: Sequence[str] | None = None, references: Sequence[str] | None = None,
                bbox: Sequence[str] | None = None) -> dict[str, Any]:
        """Returns the means over all pairs, the number of pairs, the number of gold queries with results (`usable`),
        and the errors of predictions by class."""
        if predictions is not None or references is not None:
            self.add_batch(predictions=predictions or (), references=references or (), bbox=bbox)
        pairs, self._pairs = self._pairs, []
        return _totals(list(self._score(pairs)))

    def samples(self, *, predictions: Sequence[str], references: Sequence[str],
                bbox: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """Returns one dictionary per pair: `doc_id`, `target`, `resps`, each metric, and the whole `record`."""
        pairs = _pairs(predictions, references, bbox)
        return [
            {
                "doc_id": index,
                "target": reference,
                "resps": [[prediction]],
                "filtered_resps": [prediction],
                **{name: _value(record, name) for name in _metrics([record])},
                "record": record,
            }
            for index, ((prediction, reference, _), record) in enumerate(zip(pairs, self._score(pairs)))
        ]

    def _score(self, pairs: Sequence[tuple[str, str, str | None]]) -> Iterable[dict[str, Any]]:
        for start in range(0, len(pairs), _BATCH):
            batch = pairs[start:start + _BATCH]
            body: dict[str, Any] = {
                "predictions": [prediction for prediction, _, _ in batch],
                "references": [reference for _, reference, _ in batch],
            }
            if any(bbox is not None for _, _, bbox in batch):
                body["bbox"] = [bbox or "" for _, _, bbox in batch]
            if self.extract:
                body["extract"] = True
            if self.places is not None:
                body["places"] = self.places
            for offset, record in enumerate(_post(self.url, "/score", body, self.timeout)["results"]):
                yield {**record, "line": start + offset + 1}


def _pairs(predictions: Sequence[str], references: Sequence[str],
           bbox: Sequence[str] | None) -> list[tuple[str, str, str | None]]:
    if len(predictions) != len(references) or (bbox is not None and len(bbox) != len(references)):
        raise ValueError("predictions, references and bbox must have the same length")
    return list(zip(predictions, references, bbox if bbox is not None else [None] * len(references)))


def _metrics(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the names of the scores in any of the records."""
    found = [name for name in METRICS if any(name in record for record in records)]
    for record in records:
        for name, value in record.items():
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if is_number and name not in _COUNTS and name not in found:
                found.append(name)
    return found


def _value(record: Mapping[str, Any], name: str) -> Any:
    """Returns a score of a record; two empty results give no credit."""
    finds_nothing = record.get("ref_n") == 0 and record.get("pred_n") == 0
    return 0 if finds_nothing and name in _OF_NOTHING else record[name]


def _totals(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    totals: dict[str, Any] = {}
    for name in _metrics(records):
        scores = [_value(record, name) for record in records if record.get(name) is not None]
        if scores:
            totals[name] = math.fsum(scores) / len(scores)
    errors: dict[str, int] = {}
    for record in records:
        if record.get("error"):
            errors[record["error"]] = errors.get(record["error"], 0) + 1
    if any("ref_n" in record for record in records):
        totals["usable"] = sum((record.get("ref_n") or 0) > 0 for record in records)
    totals["errors"] = dict(sorted(errors.items()))
    totals["n"] = len(records)
    return totals
