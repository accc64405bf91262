"""A metric for Hugging Face's `evaluate`.

    import evaluate
    from terrapin_tasks.evaluate import PATH

    metric = evaluate.load(PATH)
    metric.compute(predictions=[...], references=[...], snapshot="malta.terrapin")
"""

from __future__ import annotations

from typing import Any

import datasets
import evaluate

from terrapin_tasks import METRICS, TIMEOUT, Item, Scorer
from terrapin_tasks._scores import has_signal, report_usable

PATH = __file__
"""The path for `evaluate.load`."""

_DESCRIPTION = "Execution metrics of predicted queries in OverpassQL or SPARQL, on a pinned snapshot."
_INPUTS = "predictions: queries, or answers with a query between fences; references: gold queries; snapshot: a Scorer or a path; timeout: seconds of each query."
_CITATION = "@article{staniek-etal-2024-overpassnl, title={Text-to-OverpassQL}, journal={TACL}, year={2024}}"


class Terrapin(evaluate.Metric):  # type: ignore[misc]
    """The means of `METRICS` over all pairs, and `usable`: the number of gold queries with results."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        features = datasets.Features({"predictions": text, "references": text})
        return evaluate.MetricInfo(
            description=_DESCRIPTION, citation=_CITATION, inputs_description=_INPUTS, features=features
        )

    def _compute(
        self,
        predictions: list[str],
        references: list[str],
        snapshot: Any,
        lang: str = "overpassql",
        bbox: list[str | None] | None = None,
        timeout: float = TIMEOUT,
    ) -> dict[str, float]:
        scorer = snapshot if isinstance(snapshot, Scorer) else Scorer(snapshot, timeout=timeout)
        boxes = bbox if bbox is not None else [None] * len(references)
        items = [Item(str(n), "", gold, lang, box) for n, (gold, box) in enumerate(zip(references, boxes), 1)]
        records = scorer.records(zip(items, predictions))
        usable = sum(has_signal(record) for record, _ in records)
        report_usable(usable, len(records))
        scored = [scores for _, scores in records]
        means = {name: sum(scores[name] for scores in scored) / max(1, len(scored)) for name in METRICS}
        return {**means, "usable": float(usable)}
