"""verifiers: rollouts by its own chat program, with a scripted model on a local address."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import verifiers.v1 as vf
from conftest import Benchmark
from terrapin_tasks import METRICS
from terrapin_tasks.verifiers import QueryTaskset, QueryTasksetConfig

COUNT = 12
"""Number of rollouts; each is a process."""
Answer = Callable[[list[dict[str, Any]]], dict[str, Any]]


@contextmanager
def model(answer: Answer) -> Iterator[str]:
    """A server with OpenAI's chat completions."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = {"role": "assistant", "content": None, **answer(asked["messages"])}
            reason = "tool_calls" if message.get("tool_calls") else "stop"
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            head = {"id": "x", "created": 0, "model": "scripted"}
            if asked.get("stream"):
                calls = [{"index": n, **call} for n, call in enumerate(message.get("tool_calls", []))]
                delta = message | ({"tool_calls": calls} if calls else {})
                pieces = [
                    {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
                    {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
                    {"choices": [], "usage": usage},
                ]
                said = [json.dumps({**head, "object": "chat.completion.chunk", **piece}) for piece in pieces]
                form, body = "text/event-stream", "".join(f"data: {piece}\n\n" for piece in [*said, "[DONE]"])
            else:
                choice = {"index": 0, "message": message, "finish_reason": reason}
                form, body = "application/json", json.dumps(
                    {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
                )
            sent = body.encode()
            self.send_response(200)
            self.send_header("Content-Type", form)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()


def rollouts(malta: Benchmark, answer: Answer, tools: bool, count: int) -> list[vf.Trace]:
    if not shutil.which("uv"):
        pytest.skip("skipped for want of uv, by which verifiers runs its programs")
    os.environ.setdefault("SCRIPTED_KEY", "none")
    taskset = QueryTaskset(QueryTasksetConfig(snapshot=malta.path, folder=str(malta.folder), tools=tools))

    async def run(address: str) -> list[vf.Trace]:
        config = vf.AgentConfig(
            harness={"id": "null"}, runtime=vf.SubprocessConfig(), model="scripted", max_turns=4,
            client=vf.EvalClientConfig(base_url=address, api_key_var="SCRIPTED_KEY"),
        )  # fmt: skip
        async with vf.Agent(config) as agent:
            some = asyncio.Semaphore(2)

            async def one(task: vf.Task) -> vf.Trace:
                async with some:
                    return await agent.run(task)

            return await asyncio.gather(*(one(task) for task in taskset.take(count)))

    with model(answer) as address:
        return asyncio.run(run(address))


def text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def question(messages: list[dict[str, Any]]) -> str:
    return next(text(message) for message in messages if message["role"] == "user")


def test_one_answer(malta: Benchmark) -> None:
    traces = rollouts(malta, lambda messages: {"content": malta.of(question(messages))}, False, COUNT)
    assert not [error for trace in traces for error in trace.errors]
    for trace, expected in zip(traces, malta.expected):
        assert set(METRICS) <= set(trace.metrics)
        assert {name: trace.metrics[name] for name in expected} == expected
    assert len({trace.metrics["ex"] for trace in traces}) == len({trace.metrics["syntax"] for trace in traces}) == 2
    for trace, scores in zip(traces, malta.scorer.score_all(zip(malta.items, malta.answers))):
        assert trace.reward == pytest.approx(0.9 * scores["f1"] + 0.1 * scores["ex"])


def test_tools_and_their_errors(malta: Benchmark) -> None:
    told: list[str] = []

    def answer(messages: list[dict[str, Any]]) -> dict[str, Any]:
        if messages[-1]["role"] == "tool":
            told.append(text(messages[-1]))
            return {"content": malta.of(question(messages))}
        arguments = json.dumps({"text": "node[amenity=cafe;out;"})
        call = {"id": "1", "type": "function", "function": {"name": "query_overpass", "arguments": arguments}}
        return {"tool_calls": [call]}

    traces = rollouts(malta, answer, True, 4)
    assert [trace.metrics["ex"] for trace in traces] == [scores["ex"] for scores in malta.expected[:4]]
    assert len(told) == 4 and all("line 1, column 18" in words for words in told), told
