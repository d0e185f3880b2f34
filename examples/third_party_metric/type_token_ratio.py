"""The type-token ratio: how many of an output's words are different ones.

Once the package is installed, `billboards score BOARD --metric type-token-ratio` knows it.
"""

from dataclasses import dataclass
from typing import ClassVar

from billboards.metrics.base import Batch, Floats, Metric, MetricCard, score_each


@dataclass(frozen=True)
class TypeTokenRatio(Metric):
    """Different words over words, split at spaces; an empty output has 0."""

    lowercase: bool = True

    card: ClassVar[MetricCard] = MetricCard(
        name="type-token-ratio",
        summary="Share of different words among the words of an output",
        needs_references=False,
        range=(0.0, 1.0),
        training_data="none",
        licence="Apache-2.0",
        paper="Johnson 1944, Studies in Language Behavior, Psychological Monographs 56",
        failures="Falls with length; a single word has the best value.",
        is_statistic=True,
    )

    def versions(self) -> dict[str, str]:
        return {"type-token-ratio": "0.1"}

    def score_batch(self, batch: Batch) -> Floats:
        return score_each(batch, lambda item: self._ratio(item.output))

    def _ratio(self, output: str) -> float:
        words = (output.lower() if self.lowercase else output).split()
        return len(set(words)) / len(words) if words else 0.0
