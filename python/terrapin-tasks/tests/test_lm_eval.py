"""lm-evaluation-harness: the task files with a scripted model."""

from __future__ import annotations

from typing import Any

from conftest import Benchmark
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager
from terrapin_tasks import METRICS
from terrapin_tasks.lm_eval import PATH


class Scripted(LM):
    """Answers a context."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
        return [self.answer(request.args[0]) for request in requests]

    def loglikelihood(self, requests: Any, disable_tqdm: bool = False) -> Any:
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: Any, disable_tqdm: bool = False) -> Any:
        raise NotImplementedError


def means(task: str, answer: Any, metadata: dict[str, str]) -> dict[str, float]:
    manager = TaskManager(include_path=PATH, include_defaults=False, metadata=metadata)
    found = simple_evaluate(model=Scripted(answer), tasks=[task], task_manager=manager, bootstrap_iters=0)
    return {name: found["results"][task][f"{name},none"] for name in METRICS}


def test_overpassnl(malta: Benchmark) -> None:
    malta.check(means("terrapin_overpassnl", malta.of, {"snapshot": malta.path, "folder": str(malta.folder)}))


def test_sparql(people: tuple[str, str]) -> None:
    def answer(context: str) -> str:
        return "SELECT ?name { ?p <http://example.org/name> ?name }" if "called" in context else "No."

    path, lines = people
    assert means("terrapin_instruct_to_sparql", answer, {"snapshot": path, "path": lines})["ex"] == 0.5
