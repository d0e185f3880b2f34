"""Metrics of billboards for Hugging Face's evaluate: `evaluate.load("…/billboards_metric", "chrF")`.

The configuration is the metric, as billboards names it. `compute` returns the corpus value, each output's score and the
signature that a paper cites.
"""

from __future__ import annotations

from typing import Any

import datasets
import evaluate

import billboards as bb


class BillboardsMetric(evaluate.Metric):
    """One metric of billboards."""

    def _info(self) -> evaluate.MetricInfo:
        one = {"predictions": datasets.Value("string"), "references": datasets.Value("string")}
        many = {**one, "references": datasets.Sequence(datasets.Value("string"))}
        return evaluate.MetricInfo(
            description=__doc__ or "",
            citation="Kasai et al. (2022): Bidimensional Leaderboards: Generate and Evaluate Language Hand in Hand",
            inputs_description="predictions: texts; references: a text, or a list of texts, for each",
            features=[datasets.Features(many), datasets.Features(one)],
        )

    def _compute(self, predictions: list[str], references: list[Any], **options: Any) -> dict[str, Any]:
        name = "BLEU" if self.config_name == "default" else self.config_name
        scored = bb.metric(name, **options).score(predictions, references)
        return {"score": scored.corpus, "scores": list(scored.sentences), "signature": scored.signature}
