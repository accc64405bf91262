"""The environment with both generations of verifiers, with a scripted policy in place of a model."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import terrapin_query
import verifiers as vf
from terrapin_osm import Snapshot
from terrapin_tasks import METRICS

TRIPLES = """\
<http://example.org/a> <http://example.org/name> "Anna" .
<http://example.org/b> <http://example.org/name> "Ben" .
<http://example.org/a> <http://example.org/age> "42"^^<http://www.w3.org/2001/XMLSchema#integer> .
"""
NAMES = "SELECT ?n { ?p <http://example.org/name> ?n }"
ALL = "SELECT ?x { { ?p <http://example.org/name> ?x } UNION { ?p <http://example.org/age> ?x } }"

CLASSIC = hasattr(vf, "SingleTurnEnv")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A snapshot, and lines with two questions, one of which has an empty answer."""
    folder = tmp_path_factory.mktemp("people")
    (folder / "people.nt").write_text(TRIPLES)
    path = str(folder / "people.terrapin")
    Snapshot.load(rdf=[folder / "people.nt"], out=path)
    nothing = "SELECT ?n { ?p <http://example.org/weight> ?n }"
    rows = [
        {"id": "1", "question": "What are they called?", "gold": NAMES, "lang": "sparql"},
        {"id": "2", "question": "What do they weigh?", "gold": nothing, "lang": "sparql"},
    ]
    lines = folder / "queries.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path, str(lines)


@pytest.mark.skipif(not CLASSIC, reason="this verifiers has tasksets")
def test_rewards_of_a_scripted_policy(data: tuple[str, str]) -> None:
    snapshot, lines = data
    env = vf.load_environment("terrapin-query", snapshot=snapshot, lines=lines)
    # The question without results is left out.
    dataset = env.get_dataset()
    assert [row["info"]["id"] for row in dataset] == ["1"]
    row = dataset[0]
    assert row["prompt"][-1]["content"] == "What are they called?" and row["answer"] == NAMES

    def reward(answer: str) -> tuple[float, dict[str, float]]:
        completion = [{"role": "assistant", "content": answer}]
        state: Any = vf.State(input=row) if hasattr(vf, "State") else dict(row)
        state.update(completion=completion, prompt=row["prompt"], answer=row["answer"], info=row["info"], task="")
        state.setdefault("timing", {})
        asyncio.run(env.rubric.score_rollout(state))
        return float(state["reward"]), dict(state["metrics"])

    right, metrics = reward(f"```sparql\n{NAMES}\n```")
    assert right == pytest.approx(1.0) and set(METRICS) <= set(metrics) and metrics["ex"] == 1.0
    # More results are not better: 2 of 3 are right, F1 is 0.8.
    more, metrics = reward(f"```sparql\n{ALL}\n```")
    assert more == pytest.approx(0.9 * 0.8) and metrics["ex"] == 0.0
    assert reward("I cannot.")[0] == 0.0 and reward("```sparql\nSELECT ?n {\n```")[0] == 0.0


@pytest.mark.skipif(CLASSIC, reason="this verifiers has environments")
def test_the_package_is_a_taskset(data: tuple[str, str]) -> None:
    import verifiers.v1 as v1
    from verifiers.v1.utils.loaders import taskset_class

    snapshot, lines = data
    found = taskset_class("owner/terrapin-query@0.1.0")
    assert found is terrapin_query.QueryTaskset
    from terrapin_tasks.verifiers import QueryTasksetConfig

    taskset = found(QueryTasksetConfig(id="terrapin-query", snapshot=snapshot, lines=lines))
    assert isinstance(taskset, v1.Taskset) and [task.data.question for task in taskset.load()][0] == "What are they called?"
    with pytest.raises(ImportError, match="has tasksets"):
        terrapin_query.load_environment(snapshot=snapshot, lines=lines)


@pytest.mark.skipif(not CLASSIC, reason="this verifiers has tasksets")
def test_wrong_arguments_are_named(data: tuple[str, str]) -> None:
    snapshot, lines = data
    for given, says in (
        ({}, "no snapshot"),
        ({"snapshot": snapshot}, "expected one dataset"),
        ({"snapshot": snapshot, "lines": lines, "folder": "x"}, "found folder, lines"),
        ({"snapshot": snapshot, "lines": lines, "weights": {"fame": 1}}, "fame: expected names among"),
    ):
        with pytest.raises(ValueError, match=says):
            terrapin_query.load_environment(**given)


def test_the_package_has_the_layout_of_the_hub() -> None:
    import tomllib

    folder = Path(__file__).parents[1]
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert project["name"].replace("-", "_") == folder.name == terrapin_query.__name__
    assert {"name", "version", "description", "tags", "dependencies"} <= set(project)
    assert (folder / "README.md").exists() and sys.version_info >= (3, 11)
