"""Inspect AI: tasks run end to end with its scripted model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conftest import Benchmark
from inspect_ai import eval as run
from inspect_ai.model import ChatMessageTool, ModelOutput, ModelUsage, get_model
from terrapin_tasks import METRICS
from terrapin_tasks.inspect_tasks import instruct_to_sparql_task, overpassnl_task


def model(answer: Any) -> Any:
    return get_model("mockllm/model", custom_outputs=answer)


def said(output: ModelOutput) -> ModelOutput:
    """Sets the token counts, which would otherwise need tables from the network."""
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def means(log: Any) -> dict[str, float]:
    assert log.status == "success", log.error
    return {score.name: score.metrics["mean"].value for score in log.results.scores}


def test_overpassnl(malta: Benchmark, tmp_path: Path) -> None:
    def answer(messages: Any, *_: Any) -> ModelOutput:
        return said(ModelOutput.from_content("mockllm/model", malta.of(messages[-1].text)))

    task = overpassnl_task(malta.path, str(malta.folder))
    (log,) = run(task, model=model(answer), log_dir=str(tmp_path), display="none")
    found = means(log)
    assert set(found) == set(METRICS)
    malta.check(found)


def test_tools_and_their_errors(malta: Benchmark, tmp_path: Path) -> None:
    """Calls a tool with wrong arguments, gets the error, and answers."""
    told: list[str] = []

    def answer(messages: Any, *_: Any) -> ModelOutput:
        last = messages[-1]
        if isinstance(last, ChatMessageTool):
            told.append(last.error.message if last.error else last.text)
            return said(ModelOutput.from_content("mockllm/model", malta.of(messages[1].text)))
        return said(ModelOutput.for_tool_call("mockllm/model", "query_overpass", {"text": "node[amenity=cafe;out;"}))

    task = overpassnl_task(malta.path, str(malta.folder), tools=True)
    (log,) = run(task, model=model(answer), log_dir=str(tmp_path), display="none")
    malta.check(means(log))
    assert len(told) == len(malta.items) and all("line 1, column 18" in text for text in told)


def test_sparql(people: tuple[str, str], tmp_path: Path) -> None:
    path, lines = people
    right = "```sparql\nSELECT ?name { ?p <http://example.org/name> ?name }\n```"
    outputs = [said(ModelOutput.from_content("mockllm/model", text)) for text in (right, "No.")]
    (log,) = run(
        instruct_to_sparql_task(path, lines), model=model(outputs), log_dir=str(tmp_path), display="none", max_connections=1,
        max_samples=1,
    )  # fmt: skip
    assert means(log)["ex"] == 0.5
