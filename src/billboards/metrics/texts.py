"""A metric on plain texts, without a board: the outputs of one system in, their scores and one value out.

`score_outputs` is the one way from texts to numbers; `TextScores` holds what came out, and computes intervals and
tests between two systems from the counts that it keeps. Everything is in the direction in which users know the metric
(TER: lower is better).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch, Counts, Floats, Metric, score_counted_checked
from billboards.metrics.corpus import CorpusValue, mean_values, summed_values
from billboards.metrics.summed import SummedMetric
from billboards.stats.resampling import DRAWS, SEED, Resampling, Scores, Swaps, bootstrap_p, randomisation_p


@dataclass(frozen=True, kw_only=True)
class PairedTests:
    """Whether two systems differ under a metric: the difference of their values, and what two tests say of it."""

    difference: float
    #: p-values of the paired bootstrap and of approximate randomisation.
    bootstrap: float
    randomisation: float


@dataclass(frozen=True, kw_only=True, repr=False)
class TextScores:
    """The scores of one system's outputs under a metric."""

    metric: Metric
    #: One score for each output, by the names of the metric's parts, the primary one first; NaN where it abstained.
    parts: Mapping[str, Floats]
    #: The value of all outputs together.
    corpus: float
    #: How many references each output has.
    references: int | Literal["var"] | None = None
    counts: Counts | None = field(default=None, repr=False)

    @property
    def sentences(self) -> Floats:
        """One score for each output."""
        return next(iter(self.parts.values()))

    @property
    def signature(self) -> str:
        """What a paper cites: for sacreBLEU's metrics its own signature."""
        return self.metric.corpus_signature(self.references)

    def interval(self, *, draws: int = DRAWS, seed: int = SEED) -> tuple[float, float]:
        """The 95% interval of the value, from resampled corpora; NaN where the metric has none."""
        value = self.value(Resampling(draws, seed))
        return value.low, value.high

    def value(self, resampling: Resampling) -> CorpusValue:
        """The value with its interval; the same resampling serves many systems and metrics."""
        scores = self.sentences[np.newaxis]
        if isinstance(self.metric, SummedMetric) and self.counts is not None:
            (value,) = summed_values(self.metric, [self.counts], scores, resampling)
        else:
            (value,) = mean_values(scores, resampling)
        return value or CorpusValue(
            value=self.corpus, low=nan, high=nan, mean=nan, n=len(self.sentences), sentence_mean=nan
        )

    def tests(self, other: TextScores, resampling: Resampling, swaps: Swaps) -> PairedTests | None:
        """Whether another system's value differs from this one's; None where the metric has no scores of outputs.

        other: the scores of the other system's outputs, for the same inputs in the same order.
        resampling: the draws of the bootstrap.
        swaps: the trials of the randomisation; both serve many systems and metrics.
        """
        if len(self.sentences) != len(other.sentences):
            raise InvalidInput(
                f"{len(self.sentences)} outputs of one system and {len(other.sentences)} of the other; give as many"
            )
        both = ~(np.isnan(self.sentences) | np.isnan(other.sentences))
        if not both.any():
            return None
        first, second = self._rows(both), other._rows(both)
        scores = self._scores_of(int(both.sum()))
        of_first, of_second = (float(scores(rows.sum(axis=0)[np.newaxis])[0]) for rows in (first, second))
        drawn = [scores(resampling.sums(rows).astype(rows.dtype)) for rows in (first, second)]
        difference = of_second - of_first
        return PairedTests(
            difference=difference,
            bootstrap=bootstrap_p(drawn[0], drawn[1], difference),
            randomisation=randomisation_p(first, second, scores, difference, swaps=swaps),
        )

    def _rows(self, chosen: NDArray[np.bool_]) -> Counts:
        """What is summed: the counts of outputs, or their scores."""
        if isinstance(self.metric, SummedMetric) and self.counts is not None:
            rows: Counts = self.counts[chosen]
            return rows if np.issubdtype(rows.dtype, np.floating) else rows.astype(np.int64)
        scores: Counts = self.sentences[chosen][:, np.newaxis]
        return scores

    def _scores_of(self, outputs: int) -> Scores:
        if isinstance(self.metric, SummedMetric) and self.counts is not None:
            return self.metric.corpus_scores_of
        return lambda sums: sums[:, 0] / outputs

    def to_pandas(self) -> Any:
        """The scores of the outputs as a pandas data frame, a column for each part."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingPart(
                'to_pandas needs pandas, which is not installed; pip install "billboards[frames]"'
            ) from error
        return pd.DataFrame({part or self.metric.name: scores for part, scores in self.parts.items()})

    def __str__(self) -> str:
        return f"{self.metric.name} {self.corpus:.4g} ({self.signature})"

    __repr__ = __str__


def score_outputs(
    metric: Metric,
    outputs: Sequence[str],
    references: Sequence[Sequence[str]] = (),
    sources: Sequence[str] = (),
    *,
    language: str | None = None,
) -> TextScores:
    """The scores of one system's outputs.

    metric: the metric.
    outputs: one text for each input.
    references: a list of texts for each output; empty where there are none.
    sources: the input of each output; empty where there are none.
    language: the language of the outputs.
    """
    if not outputs:
        raise InvalidInput(f"{metric.name}: no output to score; give at least one")
    batch = Batch(
        outputs,
        references if metric.card.needs_references else (),
        sources if metric.card.needs_input else (),
        language,
    )
    parts, counts = score_counted_checked(metric, batch)
    if isinstance(metric, SummedMetric) and counts is not None:
        corpus = float(metric.corpus_scores_of(counts.sum(axis=0)[np.newaxis])[0])
    elif counts is not None:
        corpus = float(counts[0][0])
    else:
        scores = next(iter(parts.values()))
        corpus = float(scores[~np.isnan(scores)].mean()) if not np.isnan(scores).all() else nan
    if isnan(corpus):
        raise InvalidInput(f"{metric.name} gave none of the {len(outputs)} outputs a score")
    sizes = {len(texts) for texts in batch.references}
    each: int | Literal["var"] | None = sizes.pop() if len(sizes) == 1 else "var" if sizes else None
    return TextScores(metric=metric, parts=parts, corpus=corpus, references=each, counts=counts)
