"""The functions that the task files call."""

from functools import lru_cache
from typing import Any

import datasets

from terrapin_tasks import TIMEOUT, Item, Scorer, instruct_to_sparql, jsonl, overpassnl
from terrapin_tasks._scores import report_usable


@lru_cache(maxsize=4)
def _scorer(snapshot: str, places: str | None, timeout: float) -> Scorer:
    return Scorer(snapshot, places=places, timeout=timeout)


def _dataset(items: list[Item], snapshot: str | None, places: str | None, timeout: float) -> dict[str, Any]:
    if not snapshot:
        raise ValueError("no snapshot: --metadata '{\"snapshot\": \"FILE\", ...}'")
    timeout = float(timeout)
    report_usable(len(_scorer(snapshot, places or None, timeout).usable(items)), len(items))
    # Only the rows are passed on: each has all fields for scoring its answer.
    rows = [{**item.row(), "snapshot": snapshot, "places": places or "", "timeout": timeout} for item in items]
    return {"items": datasets.Dataset.from_list(rows)}


def overpassnl_items(
    folder: str = "", split: str = "dev", snapshot: str | None = None, places: str | None = None, timeout: float = TIMEOUT, **_: Any
):  # fmt: skip
    """Returns OverpassNL, from the authors' files in `folder`."""
    return _dataset(overpassnl(folder, split), snapshot, places, timeout)


def instruct_to_sparql_items(path: str = "", snapshot: str | None = None, timeout: float = TIMEOUT, **_: Any):
    """Returns Instruct-to-SPARQL, from a JSONL export."""
    return _dataset(instruct_to_sparql(path), snapshot, None, timeout)


def jsonl_items(
    path: str = "", snapshot: str | None = None, places: str | None = None, timeout: float = TIMEOUT, **_: Any
):  # fmt: skip
    """Returns a dataset from lines with a question and a gold query."""
    return _dataset(jsonl(path), snapshot, places, timeout)


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """Returns the scores of an answer."""
    return _scorer(doc["snapshot"], doc["places"] or None, doc["timeout"]).score(Item.of(doc), results[0])
