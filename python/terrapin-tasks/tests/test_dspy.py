"""DSPy: a program with a scripted model, evaluated."""

import dspy
from conftest import Benchmark
from terrapin_tasks import METRICS
from terrapin_tasks.dspy import examples, metric


class Scripted(dspy.Module):
    """Answers from the script; fails like a model's call."""

    def __init__(self, malta: Benchmark) -> None:
        super().__init__()
        self.malta = malta

    def forward(self, question: str) -> dspy.Prediction:
        return dspy.Prediction(query=self.malta.of(question))


def test_means(malta: Benchmark) -> None:
    devset = examples(malta.items)
    means = {}
    for name in METRICS:
        evaluation = dspy.Evaluate(devset=devset, metric=metric(malta.scorer, name), num_threads=2, display_progress=False)
        results = evaluation(Scripted(malta)).results
        means[name] = sum(score for *_, score in results) / len(results)
    malta.check(means)


def test_a_prediction_without_a_query(malta: Benchmark) -> None:
    example = examples(malta.items)[0]
    assert metric(malta.scorer)(example, dspy.Prediction()) == 0
    right = dspy.Prediction(query=example.gold)
    assert metric(malta.scorer, "ex")(example, right, trace=[]) is True
    assert metric(malta.scorer, "ex")(example, dspy.Prediction(query="no"), trace=[]) is False
