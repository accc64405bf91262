"""An environment of `verifiers` (v1): questions, tools to look things up, and the scores as rewards and metrics.

    [taskset]
    id = "terrapin_tasks.verifiers"
    snapshot = "malta.terrapin"
    folder = "OverpassNL/dataset"
    tools = true                      # or false: one answer, without any help

The reward is F1, with a little for equal results and for a query that is one; all of `METRICS` are recorded.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import verifiers.v1 as vf

from terrapin_tasks import Item, Scorer, instruct_to_sparql, jsonl, overpassnl, system_prompt
from terrapin_tasks.tools import TOOLS, TerrapinTools


@lru_cache(maxsize=4)
def _scorer(snapshot: str, places: str) -> Scorer:
    return Scorer(snapshot, places=places or None)


class ToolsConfig(vf.ToolsetConfig):
    """Where the tools look."""

    snapshot: str = ""


class QueryTools(vf.Toolset[ToolsConfig, vf.State]):
    """The tools of `terrapin_tasks.tools`; what one cannot do is an error that the model reads."""

    TOOL_PREFIX = None

    def _run(self, name: str, text: str) -> str:
        tools = TerrapinTools(_scorer(self.config.snapshot, "").snapshot)
        try:
            return str(getattr(tools, name)(text))
        except Exception as error:
            return f"error: {error}"

    @vf.tool
    async def search_tags(self, text: str) -> str:
        return self._run("search_tags", text)

    @vf.tool
    async def geocode(self, text: str) -> str:
        return self._run("geocode", text)

    @vf.tool
    async def search_entities(self, text: str) -> str:
        return self._run("search_entities", text)

    @vf.tool
    async def query_overpass(self, text: str) -> str:
        return self._run("query_overpass", text)

    @vf.tool
    async def query_sparql(self, text: str) -> str:
        return self._run("query_sparql", text)


for _name, _words in TOOLS.items():
    getattr(QueryTools, _name).__doc__ = _words


class QueryTaskConfig(vf.TaskConfig):
    """How tasks are scored, and whether there are tools."""

    snapshot: str = ""
    places: str = ""
    tools: bool = False


class QueryData(vf.TaskData):
    """An item."""

    question: str
    gold: str
    lang: str = "overpassql"
    bbox: str = ""


class QueryTask(vf.Task[QueryData, vf.State, QueryTaskConfig]):
    """One question: what the model answers last is scored."""

    @classmethod
    def toolsets(cls, config: QueryTaskConfig) -> list[vf.Toolset]:
        return [QueryTools(ToolsConfig(snapshot=config.snapshot))] if config.tools else []

    def _scores(self, trace: vf.Trace) -> dict[str, float]:
        data, config = self.data, self.config
        item = Item(data.id or "", data.question, data.gold, data.lang, data.bbox or None)
        # A rollout that broke off before any answer has an empty one.
        return _scorer(config.snapshot, config.places).score(item, trace.last_reply or "")

    @vf.metric
    async def scores(self, trace: vf.Trace) -> dict[str, float]:
        """All of `METRICS`."""
        return self._scores(trace)

    @vf.reward(weight=0.8)
    async def reward_f1(self, trace: vf.Trace) -> float:
        """How well the results agree."""
        return self._scores(trace)["f1"]

    @vf.reward(weight=0.1)
    async def reward_ex(self, trace: vf.Trace) -> float:
        """Whether they are the same."""
        return self._scores(trace)["ex"]

    @vf.reward(weight=0.1)
    async def reward_syntax(self, trace: vf.Trace) -> float:
        """Whether it is a query."""
        return self._scores(trace)["syntax"]


class QueryTasksetConfig(vf.TasksetConfig):
    """A snapshot, and one of: `folder` with OverpassNL's files, `sparql` with an export of Instruct-to-SPARQL, `lines`."""

    snapshot: str = ""
    places: str = ""
    folder: str = ""
    split: str = "dev"
    sparql: str = ""
    lines: str = ""
    tools: bool = False


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
        config = QueryTaskConfig(snapshot=given.snapshot, places=given.places, tools=given.tools)
        for item in items:
            row = item.row()
            yield QueryTask(QueryData(prompt=item.question, system_prompt=system_prompt(item.lang), **row), config)


__all__ = ["QueryTaskset"]

if __name__ == "__main__":
    # How verifiers starts the server of the tools.
    QueryTools.run()
