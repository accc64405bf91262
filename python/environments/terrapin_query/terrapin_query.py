"""An environment of the Environments Hub: questions, and the execution of queries as the reward.

Both the model's query and the gold query run on a pinned snapshot in this process. The reward is 0.9 F1 + 0.1 EX of
their results; a query with many results has no advantage, and two empty results score 0.

`load_environment` is for verifiers before version 0.4; since then the id of the taskset is `terrapin-query`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from terrapin_tasks import METRICS, TIMEOUT, Item, Scorer, instruct_to_sparql, jsonl, overpassnl, system_prompt

__all__ = ["load_environment"]

try:
    import verifiers.v1

    # verifiers 0.4 has tasksets in place of environments; earlier versions have an incomplete `v1`, or none.
    if hasattr(verifiers.v1, "Taskset") and hasattr(verifiers.v1, "load_environment"):
        from terrapin_tasks.verifiers import QueryTaskset

        __all__ += ["QueryTaskset"]
except ImportError:
    pass

WEIGHTS = {"f1": 0.9, "ex": 0.1}
"""The weights of the scores in the reward. `syntax` is not among them, because it rewards any valid query."""


def load_environment(
    snapshot: str = "",
    folder: str = "",
    split: str = "dev",
    sparql: str = "",
    lines: str = "",
    places: str = "",
    timeout: float = TIMEOUT,
    weights: Mapping[str, float] | None = None,
    **options: Any,
) -> Any:
    """Returns the environment.

    `snapshot` is the path of a snapshot. One dataset is required: `folder` with OverpassNL's files, of which `split` is
    read, `sparql` with an export of Instruct-to-SPARQL, or `lines` with JSON lines of `question` and `gold`. Questions
    whose gold query has no results on the snapshot are left out, because they give no signal. `places` is OverpassNL's
    `nominatim_cache.json`, `timeout` applies to each query in seconds. `options` go to the environment's class.
    """
    import verifiers as vf

    if not hasattr(vf, "SingleTurnEnv"):
        raise ImportError(
            "this version of verifiers has tasksets: use the id terrapin-query, or verifiers<0.4 for load_environment"
        )
    from datasets import Dataset

    if not snapshot:
        raise ValueError("no snapshot: pass snapshot=PATH; `terrapin load` makes one")
    weights = dict(WEIGHTS if weights is None else weights)
    unknown = [name for name in weights if name not in METRICS]
    if unknown:
        raise ValueError(f"weights: {', '.join(unknown)}: expected names among {', '.join(METRICS)}")
    scorer = Scorer(snapshot, places=places or None, timeout=timeout)
    items = scorer.usable(_items(folder, split, sparql, lines))
    if not items:
        raise ValueError("no gold query has results on this snapshot: take the snapshot of the benchmark's data")
    dataset = Dataset.from_list([_row(item) for item in items])

    # The parameter `state` of a rollout keeps the scores, so that its queries run once for all functions.
    async def scores(completion: Any, state: dict[str, Any], info: Mapping[str, Any]) -> dict[str, float]:
        if "terrapin" not in state:
            state["terrapin"] = await scorer.score_async(Item.of(info), _text(completion))
        return state["terrapin"]  # type: ignore[no-any-return]

    def function(name: str) -> Any:
        async def score(completion: Any, state: Any, info: Any, **_: Any) -> float:
            return (await scores(completion, state, info))[name]

        score.__name__ = name
        return score

    rubric = vf.Rubric(funcs=[function(name) for name in METRICS], weights=[weights.get(name, 0.0) for name in METRICS])
    return vf.SingleTurnEnv(dataset=dataset, eval_dataset=dataset, rubric=rubric, **options)


def _items(folder: str, split: str, sparql: str, lines: str) -> list[Item]:
    given = [name for name, value in (("folder", folder), ("sparql", sparql), ("lines", lines)) if value]
    if len(given) != 1:
        raise ValueError(f"expected one dataset, folder, sparql or lines; found {', '.join(given) or 'none'}")
    if folder:
        return overpassnl(folder, split)
    return instruct_to_sparql(sparql) if sparql else jsonl(lines)


def _row(item: Item) -> dict[str, Any]:
    system = {"role": "system", "content": system_prompt(item.lang)}
    return {"prompt": [system, {"role": "user", "content": item.question}], "answer": item.gold, "info": item.row()}


def _text(completion: Any) -> str:
    """Returns the text of the last message; a message without text is an empty answer."""
    if isinstance(completion, str):
        return completion
    last = completion[-1] if completion else None
    content = last.get("content") if isinstance(last, Mapping) else getattr(last, "content", None)
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return str(content or "")
