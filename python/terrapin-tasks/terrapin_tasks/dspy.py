"""A metric for DSPy: `dspy.Evaluate(devset=examples(items), metric=metric(scorer))`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import dspy

from ._data import Item
from ._scores import Scorer


def examples(items: Iterable[Item]) -> list[dspy.Example]:
    """Returns examples with the input `question` and the gold query as `query`."""
    made = (dspy.Example(**item.row(), query=item.gold) for item in items)
    return [example.with_inputs("question") for example in made]


class Metric:
    """One of `METRICS` for a field of the prediction; while a program is compiled, whether it is at least `passing`."""

    def __init__(self, scorer: Scorer, name: str, field: str, passing: float) -> None:
        self.__name__ = "terrapin_metric"
        self.scorer, self.name, self.field, self.passing = scorer, name, field, passing

    def __call__(self, example: Any, prediction: Any, trace: Any = None, *_: Any) -> float | bool:
        answer = getattr(prediction, self.field, None) or ""
        value = self.scorer.score(Item.of(example), answer)[self.name]
        return value if trace is None else value >= self.passing


def metric(scorer: Scorer, name: str = "f1", *, field: str = "query", passing: float = 1.0) -> Metric:
    """Returns a metric for `dspy.Evaluate` and for optimizers: one of `METRICS`."""
    return Metric(scorer, name, field, passing)
