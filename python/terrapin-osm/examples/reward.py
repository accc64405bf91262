"""A reward for training: how well what predicted queries give agrees with what the gold queries give.

TRL's trainers call such a function with the model's completions and the dataset's columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from terrapin_osm import Snapshot


def reward(snapshot: Snapshot, *, timeout: float = 10) -> Callable[..., list[float]]:
    """F1 over the results. Two queries that find nothing agree in nothing: they get 0."""

    def score(completions: Sequence[str], gold: Sequence[str], **columns: Any) -> list[float]:
        records = snapshot.score_batch(zip(gold, completions), timeout=timeout, similarity=False, extract=True)
        return [record["f1"] if record.get("f1") and record["ref_n"] else 0.0 for record in records]

    return score
