"""Shared fixtures: a snapshot, a scripted model, and the numbers of `terrapin eval` for the same answers.

TERRAPIN_SHARED has the extract and the benchmark, TERRAPIN is the program; a test that lacks them says so and is
skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from terrapin_osm import Snapshot
from terrapin_tasks import Scorer, overpassnl, query_of

SHARED = Path(os.environ.get("TERRAPIN_SHARED", Path(__file__).parents[4] / "shared"))
COUNT = 60
REFUSAL = "I am sorry, but I cannot help with that."


def needed(path: Path) -> Path:
    if not path.exists():
        pytest.skip(f"skipped for want of {path}")
    return path


class Benchmark:
    """Questions about Malta, a model's answers to them, and the program's numbers."""

    def __init__(self, folder: Path) -> None:
        source = needed(SHARED / "conformance/malta-benchmark")
        self.path = str(folder / "malta.terrapin")
        made = os.environ.get("TERRAPIN_MALTA")
        if made:
            self.path = made
        else:
            Snapshot.load(osm=needed(SHARED / "data/osm/malta-2016.osm.pbf"), out=self.path)
        columns = [(source / name).read_text().splitlines() for name in ("gold.nl", "gold.query", "pred.query")]
        # Each question once, so that the scripted model can identify a question by its text.
        rows = list({row[0]: row for row in reversed(list(zip(*columns)))}.values())[-COUNT:]
        for name, column in (("nl", 0), ("query", 1)):
            (folder / f"dataset.dev.{name}").write_text("".join(row[column] + "\n" for row in rows))
        self.folder = folder
        self.items = overpassnl(folder, "dev")
        preds = [row[2] for row in rows]
        self.answers = [self.answer(n, pred) for n, pred in enumerate(preds)]
        self.expected, self.means = self._program()
        self.scorer = Scorer(self.path)

    @staticmethod
    def answer(number: int, pred: str) -> str:
        """Returns answers: right and wrong ones, with and without fences, broken ones, refusals, empty ones."""
        if number % 10 == 3:
            return REFUSAL
        if number % 10 == 6:
            return ""
        if number % 10 == 8:
            return f"```\n{pred.replace(';', '', 1)}\n```"
        return f"Here is the query:\n```overpassql\n{pred}\n```\nIt is short." if number % 2 else pred

    def of(self, question: str) -> str:
        """Returns the model's answer to a text that contains a question."""
        asked = [n for n, item in enumerate(self.items) if item.question in question]
        return self.answers[max(asked, key=lambda n: len(self.items[n].question))]

    def _program(self) -> tuple[list[dict[str, float]], dict[str, float]]:
        program = os.environ.get("TERRAPIN")
        if not program:
            pytest.skip("skipped for want of the program: TERRAPIN")
        pred, out = self.folder / "pred.query", self.folder / "run"
        pred.write_text("".join(query_of(answer) + "\n" for answer in self.answers))
        gold = self.folder / "dataset.dev.query"
        command = [program, "eval", "overpassnl", self.path, "--gold", gold, "--pred", pred, "--out", out, "--no-cache", "--overwrite"]
        subprocess.run(command, check=True, capture_output=True)
        records = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
        each = [{name: float(record.get(name) or 0) for name in ("ex", "ex_soft", "f1")} for record in records]
        return each, {name: sum(scores[name] for scores in each) / len(each) for name in ("ex", "ex_soft", "f1")}

    def check(self, means: dict[str, float]) -> None:
        """Checks that a harness's means equal those of the program."""
        for name, value in self.means.items():
            assert means[name] == pytest.approx(value, abs=1e-9), name
        assert 0 < means["ex"] < 1 and 0 < means["syntax"] < 1 and 0 < means["length"] < 1


@pytest.fixture(scope="session")
def malta(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    return Benchmark(tmp_path_factory.mktemp("malta"))


TRIPLES = """\
<http://example.org/a> <http://example.org/name> "Anna"@en .
<http://example.org/a> <http://example.org/age> "42"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://example.org/b> <http://example.org/name> "Ben" .
"""


@pytest.fixture(scope="session")
def people(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A snapshot with triples, and lines of SPARQL for it in the format of Instruct-to-SPARQL."""
    folder = tmp_path_factory.mktemp("people")
    (folder / "people.nt").write_text(TRIPLES)
    path = str(folder / "people.terrapin")
    Snapshot.load(rdf=[folder / "people.nt"], out=path)
    names = "SELECT ?n { ?p <http://example.org/name> ?n }"
    ages = "SELECT ?a { ?p <http://example.org/age> ?a }"
    rows = [
        {"id": "1", "query": names, "instructions": ["What are they called?"]},
        {"id": "2", "query": ages, "instructions": ["How old are they?"]},
    ]
    lines = folder / "queries.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path, str(lines)
