"""A reward for training: the agreement of the results of predicted and gold queries.

TRL's trainers call such a function with the model's completions and the dataset's columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from terrapin_osm import Snapshot


def reward(snapshot: Snapshot, *, timeout: float = 10) -> Callable[..., list[float]]:
    """Returns a reward function: F1 over the results, and 0 if both results are empty."""

    def score(completions: Sequence[str], gold: Sequence[str], **columns: Any) -> list[float]:
        records = snapshot.score_batch(zip(gold, completions), timeout=timeout, similarity=False, extract=True)
        return [record["f1"] if record.get("f1") and record["ref_n"] else 0.0 for record in records]

    return score
