"""What a metric makes of all outputs of a system: one value with its interval, and tests between two systems.

BLEU, chrF, TER and others are scores of summed counts; of other metrics the value is the mean of the outputs' scores.
Rows of systems that have the same outputs are resampled together, with the draws of `stats.resampling`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from billboards.metrics.base import Counts, Floats
from billboards.metrics.summed import SummedMetric
from billboards.stats.resampling import Resampling, bounds_of

#: Bytes of the matrices that are multiplied at a time.
_AT_ONCE = 2**26


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusValue:
    """A generator's value under a metric, in the direction in which its users know it (TER: lower is better)."""

    #: The score of the corpus.
    value: float
    #: Bounds of the 95% interval, and the mean of the resampled values; NaN where nothing was or can be resampled.
    low: float
    high: float
    mean: float
    #: Outputs that take part.
    n: int
    #: The mean of their sentence scores; NaN where there are none.
    sentence_mean: float

    @property
    def half_width(self) -> float:
        """Half the interval: what sacreBLEU prints after ±."""
        return (self.high - self.low) / 2


def summed_values(
    metric: SummedMetric, counts: Sequence[Counts | None], scores: Floats, resampling: Resampling
) -> list[CorpusValue | None]:
    """The scores of summed counts, of rows that have some.

    counts: each row's counts, None for a row without.
    scores: the sentence scores, rows × instances, NaN where there is none.
    """
    values: list[CorpusValue | None] = [None] * len(counts)
    counted = [k for k, rows in enumerate(counts) if rows is not None]
    for rows, taking_part in _alike(~np.isnan(scores), counted):
        given = [np.ascontiguousarray(c[taking_part]) for k in rows if (c := counts[k]) is not None]
        n, width = given[0].shape
        step = max(1, _AT_ONCE // (8 * n * width))
        for start in range(0, len(rows), step):
            matrix = np.hstack(given[start : start + step])
            kind = np.float64 if np.issubdtype(matrix.dtype, np.floating) else np.int64
            whole = matrix.sum(axis=0, dtype=kind).reshape(-1, width)
            drawn = resampling.sums(matrix).astype(kind).reshape(-1, width)
            scored, resampled = metric.corpus_scores_of(whole), metric.corpus_scores_of(drawn)
            batch = rows[start : start + step]
            for k, value, row in zip(batch, scored, resampled.reshape(-1, len(batch)).T, strict=True):
                values[k] = _value(float(value), row, scores[k][taking_part])
    return values


def mean_values(scores: Floats, resampling: Resampling | None = None) -> list[CorpusValue | None]:
    """The means of rows of sentence scores, such as an imported column's, with the same draws; None for a row without.

    scores: rows × instances, NaN where there is no score.
    """
    resampling = resampling or Resampling()
    values: list[CorpusValue | None] = [None] * len(scores)
    for rows, taking_part in _alike(~np.isnan(scores), range(len(scores))):
        step = max(1, _AT_ONCE // (8 * int(taking_part.sum())))
        for start in range(0, len(rows), step):
            batch = rows[start : start + step]
            given = scores[batch][:, taking_part]
            resampled = resampling.sums(np.ascontiguousarray(given.T)) / given.shape[1]
            for k, sentences, row in zip(batch, given, resampled.T, strict=True):
                values[k] = _value(float(sentences.mean()), row, sentences)
    return values


def _value(value: float, resampled: Floats, sentences: Floats) -> CorpusValue:
    mean = float(sentences.mean())
    if not len(resampled):
        return CorpusValue(value=value, low=nan, high=nan, mean=nan, n=len(sentences), sentence_mean=mean)
    bounds = bounds_of(resampled)
    return CorpusValue(
        value=value,
        low=bounds.low,
        high=bounds.high,
        mean=bounds.mean,
        n=len(sentences),
        sentence_mean=mean,
    )


def _alike(taking_part: NDArray[np.bool_], rows: Sequence[int]) -> Iterator[tuple[list[int], NDArray[np.bool_]]]:
    """Rows that have scores for the same instances, and which these are; a row that has none is left out."""
    groups: dict[bytes, list[int]] = {}
    for row in rows:
        groups.setdefault(taking_part[row].tobytes(), []).append(row)
    for group in groups.values():
        if taking_part[group[0]].any():
            yield group, taking_part[group[0]]
