"""Tasks and a scorer for Inspect AI:

    inspect eval terrapin_tasks/overpassnl -T snapshot=malta.terrapin -T folder=OverpassNL/dataset --model ...

With `tools=true` the model may search tags and places and try its query before it answers. `timeout` applies to each
query, in seconds.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer as InspectScorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate, system_message, use_tools
from inspect_ai.tool import Tool, ToolError, tool

from terrapin_tasks import METRICS, TIMEOUT, Item, Scorer, instruct_to_sparql, jsonl, overpassnl, query_of, system_prompt
from terrapin_tasks._scores import report_usable
from terrapin_tasks.tools import TOOLS, TerrapinTools


def samples(items: Iterable[Item]) -> MemoryDataset:
    """Returns a dataset of items."""
    return MemoryDataset([Sample(input=item.question, target=item.gold, id=item.id, metadata=item.row()) for item in items])


@scorer(metrics={name: [mean(), stderr()] for name in METRICS})
def terrapin_scorer(given: Scorer) -> InspectScorer:
    """Returns a scorer with all of `METRICS`; the explanation has the errors of the query."""

    async def score(state: TaskState, target: Target) -> Score:
        answer = state.output.completion
        item = Item.of(state.metadata)
        record, scores = (await given.records_async([(item, answer)]))[0]
        return Score(value=dict(scores), answer=query_of(answer, item.lang), explanation=json.dumps(record.get("summary")))

    return score


def _tools(tools: TerrapinTools) -> list[Tool]:
    def made(name: str) -> Tool:
        run = getattr(tools, name)

        @tool(name=name)
        def one() -> Tool:
            async def execute(text: str) -> str:
                try:
                    return str(await asyncio.to_thread(run, text))
                except Exception as error:
                    raise ToolError(str(error)) from error

            execute.__doc__ = f"{TOOLS[name]}\n\nArgs:\n    text: {tools.argument(name)}\n"
            return execute

        return one()

    return [made(name) for name in tools.names]


def _task(items: list[Item], snapshot: str, places: str | None, tools: bool, timeout: float) -> Task:
    given = Scorer(snapshot, places=places, timeout=timeout)
    usable = len(given.usable(items))
    report_usable(usable, len(items))
    solver: list[Any] = [system_message(system_prompt(items[0].lang))]
    if tools:
        solver.append(use_tools(*_tools(TerrapinTools(given.snapshot, timeout=timeout))))
    metadata = {"gold_queries": len(items), "usable_gold_queries": usable}
    return Task(
        dataset=samples(items), solver=[*solver, generate()], scorer=terrapin_scorer(given), metadata=metadata
    )


@task(name="overpassnl")
def overpassnl_task(
    snapshot: str, folder: str, split: str = "dev", places: str | None = None, tools: bool = False, timeout: float = TIMEOUT
) -> Task:
    """OverpassNL, from the authors' files."""
    return _task(overpassnl(folder, split), snapshot, places, tools, timeout)


@task(name="instruct_to_sparql")
def instruct_to_sparql_task(snapshot: str, path: str, tools: bool = False, timeout: float = TIMEOUT) -> Task:
    """Instruct-to-SPARQL, from a JSONL export."""
    return _task(instruct_to_sparql(path), snapshot, None, tools, timeout)


@task(name="jsonl")
def jsonl_task(snapshot: str, path: str, tools: bool = False, timeout: float = TIMEOUT) -> Task:
    """Any lines with a question and a gold query, all in one language."""
    return _task(jsonl(path), snapshot, None, tools, timeout)
