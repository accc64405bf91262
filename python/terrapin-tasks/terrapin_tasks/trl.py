"""A reward function for TRL's trainers, such as `GRPOTrainer(reward_funcs=reward(...))`.

The dataset has the columns of `Item.row()` and `prompt`; `rows` makes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._data import Item
from ._prompt import system_prompt
from ._scores import METRICS, Scorer, has_signal, report_usable

WEIGHTS = {"f1": 0.9, "ex": 0.1}
"""The default weights of the scores. They do not include `syntax`, because it rewards any valid query."""
_FIRST = 16
"""Number of gold queries after which a reward warns if few of them have results."""


def rows(items: Iterable[Item], scorer: Scorer | None = None) -> list[dict[str, Any]]:
    """Returns rows for `datasets.Dataset.from_list`, with prompts as messages. With a scorer, only the items with a
    gold query that has results on its snapshot."""
    items = list(items)
    if scorer is not None:
        usable = scorer.usable(items)
        report_usable(len(usable), len(items))
        items = usable

    def prompt(item: Item) -> list[dict[str, str]]:
        return [{"role": "system", "content": system_prompt(item.lang)}, {"role": "user", "content": item.question}]

    return [{"prompt": prompt(item), **item.row()} for item in items]


class Reward:
    """The weighted sum of scores for each completion; completions may be texts or messages. It can be pickled."""

    def __init__(self, scorer: Scorer, weights: Mapping[str, float]) -> None:
        unknown = [name for name in weights if name not in METRICS]
        if unknown:
            raise ValueError(f"weights: {', '.join(unknown)}: expected names among {', '.join(METRICS)}")
        # The name in the logs of a trainer.
        self.__name__ = "terrapin_reward"
        self.scorer = scorer
        self.weights = dict(weights)
        self._seen: dict[str, bool] = {}

    def __call__(self, completions: Sequence[Any], gold: Sequence[str], **columns: Any) -> list[float]:
        count = len(completions)
        empty = [""] * count
        ids, questions, boxes = (columns.get(name) or empty for name in ("id", "question", "bbox"))
        langs = columns.get("lang") or ["overpassql"] * count
        items = [Item(*row[:4], row[4] or None) for row in zip(ids, questions, gold, langs, boxes)]
        records = self.scorer.records(zip(items, map(_text, completions)))
        self._look(items, [record for record, _ in records])
        return [sum(weight * scores[name] for name, weight in self.weights.items()) for _, scores in records]

    def _look(self, items: Sequence[Item], records: Sequence[Mapping[str, Any]]) -> None:
        """Warns once if few of the first gold queries have results."""
        if len(self._seen) < _FIRST:
            self._seen.update((item.gold, has_signal(record)) for item, record in zip(items, records))
            if len(self._seen) >= _FIRST:
                report_usable(sum(self._seen.values()), len(self._seen))


def reward(scorer: Scorer, weights: Mapping[str, float] = WEIGHTS) -> Reward:
    """Returns a reward function: the weighted sum of scores for each completion."""
    return Reward(scorer, weights)


def _text(completion: Any) -> str:
    if isinstance(completion, str):
        return completion
    # A message without text, such as one that only calls a tool, is an empty answer.
    return str(completion[-1].get("content") or "") if completion else ""
