"""Hugging Face's `evaluate`: the module is loaded by its path."""

import evaluate
import pytest
from conftest import Benchmark
from terrapin_tasks.evaluate import PATH


def test_means(malta: Benchmark) -> None:
    metric = evaluate.load(PATH)
    golds = [item.gold for item in malta.items]
    malta.check(metric.compute(predictions=malta.answers, references=golds, snapshot=malta.path))
    for gold, answer in zip(golds, malta.answers):
        metric.add(prediction=answer, reference=gold)
    malta.check(metric.compute(snapshot=malta.scorer))


def test_sparql(people: tuple[str, str]) -> None:
    query = "SELECT ?n { ?p <http://example.org/name> ?n }"
    means = evaluate.load(PATH).compute(
        predictions=[query, "no"], references=[query, query], snapshot=people[0], lang="sparql"
    )
    assert means["ex"] == pytest.approx(0.5)
