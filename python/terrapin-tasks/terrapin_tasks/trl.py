"""A reward function for TRL's trainers, such as `GRPOTrainer(reward_funcs=reward(...))`.

The dataset has the columns of `Item.row()` beside `prompt`; `rows` makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ._data import Item
from ._prompt import system_prompt
from ._scores import Scorer

WEIGHTS = {"f1": 0.8, "ex": 0.1, "syntax": 0.1}
"""What each score counts where nothing else is said."""


def rows(items: Iterable[Item]) -> list[dict[str, Any]]:
    """What `datasets.Dataset.from_list` makes a dataset of, with prompts as messages."""
    def prompt(item: Item) -> list[dict[str, str]]:
        return [{"role": "system", "content": system_prompt(item.lang)}, {"role": "user", "content": item.question}]

    return [{"prompt": prompt(item), **item.row()} for item in items]


def reward(scorer: Scorer, weights: Mapping[str, float] = WEIGHTS) -> Callable[..., list[float]]:
    """The weighted sum of scores for each completion; completions may be texts or messages."""

    def terrapin_reward(completions: Sequence[Any], gold: Sequence[str], **columns: Any) -> list[float]:
        count = len(completions)
        empty = [""] * count
        ids, questions, boxes = (columns.get(name) or empty for name in ("id", "question", "bbox"))
        langs = columns.get("lang") or ["overpassql"] * count
        items = [Item(*row[:4], row[4] or None) for row in zip(ids, questions, gold, langs, boxes)]
        scored = scorer.score_all(zip(items, map(_text, completions)))
        return [sum(weight * scores[name] for name, weight in weights.items()) for scores in scored]

    return terrapin_reward


def _text(completion: Any) -> str:
    if isinstance(completion, str):
        return completion
    # A message without text, such as one that only calls a tool, is an empty answer.
    return str(completion[-1].get("content") or "") if completion else ""
