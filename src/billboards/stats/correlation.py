"""Correlation of metrics with people (Billboards, §2.1, M.2), from sums per instance.

Pearson's r over all judged outputs, pooled over generators. Everything is computed from six sums per instance and
metric, so that a bootstrap over instances is one matrix product instead of a thousand passes over the rows. Missing
values are left out pairwise: a metric is measured on the outputs that both it and people have scored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Draws are weighted in blocks of about this many numbers, so that memory stays bounded however large the board.
_BLOCK = 500_000
#: Cells of one metric whose terms are held at a time.
_CELLS = 100_000


@dataclass(frozen=True)
class Correlations:
    """Pearson's r of each metric, the pairs it rests on, and a bootstrap interval; NaN where r is not defined."""

    r: Floats
    n: NDArray[np.int64]
    low: Floats
    high: Floats


def pearson(scores: Floats, human: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Pooled Pearson of each metric (metrics × rows × instances) with people (rows × instances), and the pairs used."""
    sums = instance_sums(scores, human).sum(axis=1)
    return pearson_of_sums(sums), np.rint(sums[:, 0]).astype(np.int64)


def pearson_with_intervals(
    scores: Floats, human: Floats, *, draws: int = 1000, seed: int = 0, level: float = 0.95
) -> Correlations:
    """Pooled Pearson with percentile intervals from resampling whole instances, so that their rows stay together."""
    sums = instance_sums(scores, human)
    total = sums.sum(axis=1)
    drawn = resampled_pearson(sums, draws=draws, seed=seed)
    outside = (1 - level) / 2
    low, high = np.full((2, len(sums)), np.nan)
    # One instance drawn again and again is no sample: an interval without width would look like certainty.
    several = (sums[:, :, 0] > 0).sum(axis=1) > 1
    defined = np.isfinite(drawn).any(axis=0) & several if draws else np.zeros(len(sums), bool)
    if defined.any():
        low[defined], high[defined] = np.nanquantile(drawn[:, defined], (outside, 1 - outside), axis=0)
    return Correlations(pearson_of_sums(total), np.rint(total[:, 0]).astype(np.int64), low, high)


def between_metrics(scores: Floats) -> Floats:
    """Pearson between every two metrics over the outputs that both have scored, as metrics × metrics."""
    return np.array([pearson(scores, metric)[0] for metric in scores]).reshape(len(scores), len(scores))


def instance_sums(scores: Floats, human: Floats) -> Floats:
    """n, Σx, Σy, Σxx, Σyy, Σxy of each metric and instance, as metrics × instances × 6.

    One metric after the other, some judged rows at a time, so that no copy of the matrix is ever made.
    """
    judged = np.flatnonzero(np.isfinite(human).any(axis=1))
    return np.array([_sums_of(metric, human, judged) for metric in scores]).reshape(len(scores), human.shape[1], 6)


def _sums_of(scores: Floats, human: Floats, rows: NDArray[np.intp]) -> Floats:
    """The six sums of one metric per instance over these rows; those of an instance without a pair are 0."""
    scales = _scales(scores, human)
    step = max(1, _CELLS // max(human.shape[1], 1))
    total = np.zeros((human.shape[1], 6))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        total += np.stack([term.sum(axis=0) for term in _terms(scores[part], human[part], *scales)], axis=-1)
    return total


def cell_sums(scores: Floats, human: Floats) -> Floats:
    """The terms of the six sums of one metric in every cell, as rows × instances × 6."""
    return np.stack(_terms(scores, human, *_scales(scores, human)), axis=-1)


_Scale = tuple[float, float]


def _scales(scores: Floats, human: Floats) -> tuple[_Scale, _Scale]:
    """The mean and the largest distance from it, of scores and of judgments, over the cells that have both."""
    used = np.isfinite(scores) & np.isfinite(human)
    return _scale(scores[used]), _scale(human[used])


def _scale(values: Floats) -> _Scale:
    centre = float(values.sum()) / max(len(values), 1)
    spread = max(float(values.max()) - centre, centre - float(values.min())) if len(values) else 0.0
    return centre, spread if spread > 0 else 1.0


def _terms(scores: Floats, human: Floats, scale: _Scale, human_scale: _Scale) -> tuple[Floats, ...]:
    """1, x, y, xx, yy, xy of every cell, 0 where a side is missing.

    Both sides are centred and scaled first, because squares of raw scores lose the digits that matter.
    """
    used = np.isfinite(scores) & np.isfinite(human)
    x, y = (
        (np.where(used, values, centre) - centre) / spread
        for values, (centre, spread) in ((scores, scale), (human, human_scale))
    )
    return used.astype(float), x, y, x * x, y * y, x * y


def pearson_of_sums(sums: Floats) -> Floats:
    """Pearson's r from the six sums; NaN for fewer than two pairs or a side that does not vary."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        vx, vy = xx - x * x / n, yy - y * y / n
        r = (xy - x * y / n) / np.sqrt(vx * vy)
    # A constant leaves rounding errors of about 1e-16 of the scale, which is 1 after standardising.
    varies = (n >= 2) & (vx > 1e-12 * np.maximum(xx, 1e-300)) & (vy > 1e-12 * np.maximum(yy, 1e-300))
    return np.where(varies, np.clip(r, -1.0, 1.0), np.nan)


def resampled_pearson(sums: Floats, *, draws: int, seed: int) -> Floats:
    """r of every metric in every draw of as many units as there are (metrics × units × 6), as draws × metrics.

    The sums of all metrics in all draws are one product: how often each unit is drawn, with what it adds to each sum.
    """
    metrics, units, _ = sums.shape
    random = np.random.default_rng(seed)
    flat = np.ascontiguousarray(np.moveaxis(sums, 1, 0)).reshape(units, -1)
    drawn = np.empty((draws, metrics))
    step = max(1, _BLOCK // max(units, 1))
    for start in range(0, draws, step):
        weights = resampling_weights(random, units, min(step, draws - start))
        drawn[start : start + step] = pearson_of_sums((weights @ flat).reshape(len(weights), metrics, 6))
    return drawn


def resampling_weights(random: np.random.Generator, units: int, draws: int) -> Floats:
    """How often each unit is drawn, as draws × units; counting what is drawn beats drawing the counts."""
    weights = np.empty((draws, units))
    for draw, picked in zip(weights, random.integers(units, size=(draws, units)), strict=True):
        draw[:] = np.bincount(picked, minlength=units)
    return weights
