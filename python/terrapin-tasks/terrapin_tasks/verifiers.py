"""An environment for `verifiers` (v1): questions, search tools, and the scores as rewards and metrics.

    [taskset]
    id = "terrapin_tasks.verifiers"
    snapshot = "malta.terrapin"
    folder = "OverpassNL/dataset"
    tools = true                      # or false: one answer, without tools

The reward is 0.9 F1 + 0.1 EX; all of `METRICS` are recorded. `timeout` applies to each query, in seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import lru_cache
from typing import cast

import verifiers.v1 as vf

from terrapin_tasks import TIMEOUT, Item, Scorer, instruct_to_sparql, jsonl, overpassnl, system_prompt
from terrapin_tasks._scores import Once, report_usable
from terrapin_tasks.tools import TOOLS, TerrapinTools


@lru_cache(maxsize=4)
def _scorer(snapshot: str, places: str, timeout: float) -> Scorer:
    return Scorer(snapshot, places=places or None, timeout=timeout)


# All rewards and metrics of a rollout share the same scores.
_SCORES = Once()


class ToolsConfig(vf.ToolsetConfig):
    """The configuration of the tools."""

    snapshot: str = ""
    timeout: float = TIMEOUT


class QueryTools(vf.Toolset[ToolsConfig, vf.State]):
    """The tools of `terrapin_tasks.tools`; the model gets failures as error texts."""

    TOOL_PREFIX = None

    async def _run(self, name: str, text: str) -> str:
        timeout = self.config.timeout
        tools = TerrapinTools(_scorer(self.config.snapshot, "", timeout).snapshot, timeout=timeout)
        try:
            return str(await asyncio.to_thread(getattr(tools, name), text))
        except Exception as error:
            return f"error: {error}"

    @vf.tool
    async def search_tags(self, text: str) -> str:
        return await self._run("search_tags", text)

    @vf.tool
    async def geocode(self, text: str) -> str:
        return await self._run("geocode", text)

    @vf.tool
    async def search_entities(self, text: str) -> str:
        return await self._run("search_entities", text)

    @vf.tool
    async def query_overpass(self, text: str) -> str:
        return await self._run("query_overpass", text)

    @vf.tool
    async def query_sparql(self, text: str) -> str:
        return await self._run("query_sparql", text)


for _name, _words in TOOLS.items():
    getattr(QueryTools, _name).__doc__ = _words


class QueryTaskConfig(vf.TaskConfig):
    """The configuration of scoring and tools."""

    snapshot: str = ""
    places: str = ""
    tools: bool = False
    timeout: float = TIMEOUT


class QueryData(vf.TaskData):
    """An item."""

    question: str
    gold: str
    lang: str = "overpassql"
    bbox: str = ""


class QueryTask(vf.Task[QueryData, vf.State, QueryTaskConfig]):
    """One question; the last answer of the model is scored."""

    @classmethod
    def toolsets(cls, config: QueryTaskConfig) -> list[vf.Toolset]:
        return [QueryTools(ToolsConfig(snapshot=config.snapshot, timeout=config.timeout))] if config.tools else []

    async def _scores(self, trace: vf.Trace) -> dict[str, float]:
        data, config = self.data, self.config
        item = Item("", "", data.gold, data.lang, data.bbox or None)
        # A rollout that ended before any answer has an empty one.
        answer = trace.last_reply or ""
        given = (config.snapshot, config.places, config.timeout)
        scored = await _SCORES.get((*given, item, answer), lambda: _scorer(*given).score_async(item, answer))
        return cast("dict[str, float]", scored)

    @vf.metric
    async def scores(self, trace: vf.Trace) -> dict[str, float]:
        """All of `METRICS`."""
        return await self._scores(trace)

    @vf.reward(weight=0.9)
    async def reward_f1(self, trace: vf.Trace) -> float:
        """F1 of the results."""
        return (await self._scores(trace))["f1"]

    @vf.reward(weight=0.1)
    async def reward_ex(self, trace: vf.Trace) -> float:
        """EX: whether the results are equal."""
        return (await self._scores(trace))["ex"]


class QueryTasksetConfig(vf.TasksetConfig):
    """A snapshot, and one dataset: `folder` with OverpassNL's files, `sparql` with an export of Instruct-to-SPARQL, or
    `lines`.
    """

    snapshot: str = ""
    places: str = ""
    folder: str = ""
    split: str = "dev"
    sparql: str = ""
    lines: str = ""
    tools: bool = False
    timeout: float = TIMEOUT


class QueryTaskset(vf.Taskset[QueryTask, QueryTasksetConfig]):
    """The items of a dataset."""

    def load(self) -> Iterable[QueryTask]:
        given = self.config
        if given.folder:
            items = overpassnl(given.folder, given.split)
        elif given.sparql:
            items = instruct_to_sparql(given.sparql)
        elif given.lines:
            items = jsonl(given.lines)
        else:
            raise ValueError("no dataset: give folder, sparql or lines")
        usable = _scorer(given.snapshot, given.places, given.timeout).usable(items)
        report_usable(len(usable), len(items))
        config = QueryTaskConfig(
            snapshot=given.snapshot, places=given.places, tools=given.tools, timeout=given.timeout
        )
        for item in items:
            row = item.row()
            yield QueryTask(QueryData(prompt=item.question, system_prompt=system_prompt(item.lang), **row), config)


__all__ = ["QueryTaskset"]

if __name__ == "__main__":
    # verifiers starts the server of the tools this way.
    QueryTools.run()
