"""What the task files call."""

from functools import lru_cache
from typing import Any

import datasets

from terrapin_tasks import Item, Scorer, instruct_to_sparql, jsonl, overpassnl




@lru_cache(maxsize=4)
def _scorer(snapshot: str, places: str | None) -> Scorer:
    return Scorer(snapshot, places=places)


def _dataset(items: list[Item], snapshot: str | None, places: str | None) -> dict[str, Any]:
    if not snapshot:
        raise ValueError("no snapshot: --metadata '{\"snapshot\": \"FILE\", ...}'")
    # What scoring an answer needs stands in each row: nothing else is handed on.
    rows = [{**item.row(), "snapshot": snapshot, "places": places or ""} for item in items]
    return {"items": datasets.Dataset.from_list(rows)}


def overpassnl_items(folder: str = "", split: str = "dev", snapshot: str | None = None, places: str | None = None, **_: Any):
    """OverpassNL, of the authors' files in `folder`."""
    return _dataset(overpassnl(folder, split), snapshot, places)


def instruct_to_sparql_items(path: str = "", snapshot: str | None = None, **_: Any):
    """Instruct-to-SPARQL, of a JSONL export."""
    return _dataset(instruct_to_sparql(path), snapshot, None)


def jsonl_items(path: str = "", snapshot: str | None = None, places: str | None = None, **_: Any):
    """Lines with a question and a gold query."""
    return _dataset(jsonl(path), snapshot, places)


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """The scores of an answer."""
    return _scorer(doc["snapshot"], doc["places"] or None).score(Item.of(doc), results[0])
