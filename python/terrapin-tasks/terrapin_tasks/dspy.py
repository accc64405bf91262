"""A metric for DSPy: `dspy.Evaluate(devset=examples(items), metric=metric(scorer))`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import dspy

from ._data import Item
from ._scores import Scorer


def examples(items: Iterable[Item]) -> list[dspy.Example]:
    """Examples whose input is `question`; the gold query is `query`."""
    made = (dspy.Example(**item.row(), query=item.gold) for item in items)
    return [example.with_inputs("question") for example in made]


def metric(scorer: Scorer, name: str = "f1", *, field: str = "query", passing: float = 1.0) -> Callable[..., Any]:
    """One of `METRICS`, of the prediction's field; while a program is compiled, whether it reaches `passing`."""

    def terrapin_metric(example: Any, prediction: Any, trace: Any = None, *_: Any) -> float | bool:
        value = scorer.score(Item.of(example), getattr(prediction, field, None) or "")[name]
        return value if trace is None else value >= passing

    return terrapin_metric
