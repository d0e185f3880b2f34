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

#: Draws are weighted in blocks of at most this many numbers, so that memory stays bounded on large boards.
_BLOCK = 4_000_000


@dataclass(frozen=True)
class Correlations:
    """Pearson's r of each metric, the pairs it rests on, and a bootstrap interval; NaN where r is not defined."""

    r: Floats
    n: NDArray[np.int64]
    low: Floats
    high: Floats


def pearson(scores: Floats, human: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Pooled Pearson of each metric (metrics × rows × instances) with people (rows × instances), and the pairs used."""
    sums = _instance_sums(scores, human).sum(axis=1)
    return pearson_of_sums(sums), np.rint(sums[:, 0]).astype(np.int64)


def pearson_with_intervals(
    scores: Floats, human: Floats, *, draws: int = 1000, seed: int = 0, level: float = 0.95
) -> Correlations:
    """Pooled Pearson with percentile intervals from resampling whole instances, so that their rows stay together."""
    sums = _instance_sums(scores, human)
    total = sums.sum(axis=1)
    drawn = _resampled(sums, draws, seed)
    outside = (1 - level) / 2
    low, high = np.full((2, len(sums)), np.nan)
    defined = np.isfinite(drawn).any(axis=0) if draws else np.zeros(len(sums), bool)
    if defined.any():
        low[defined], high[defined] = np.nanquantile(drawn[:, defined], (outside, 1 - outside), axis=0)
    return Correlations(pearson_of_sums(total), np.rint(total[:, 0]).astype(np.int64), low, high)


def between_metrics(scores: Floats) -> Floats:
    """Pearson between every two metrics over the outputs that both have scored, as metrics × metrics."""
    return np.array([pearson(scores, one)[0] for one in scores]).reshape(len(scores), len(scores))


def _instance_sums(scores: Floats, human: Floats) -> Floats:
    """n, Σx, Σy, Σxx, Σyy, Σxy of each metric and instance, as metrics × instances × 6.

    One metric after the other, on the judged rows alone, so that no copy of the whole matrix is ever made.
    """
    judged = np.isfinite(human).any(axis=1)
    return np.array([_sums_of(one[judged], human[judged]) for one in scores]).reshape(len(scores), human.shape[1], 6)


def _sums_of(scores: Floats, human: Floats) -> Floats:
    """The six sums of one metric per instance; those of an instance without a pair are 0."""
    return np.stack([part.sum(axis=0) for part in _parts(scores, human)], axis=-1)


def cell_sums(scores: Floats, human: Floats) -> Floats:
    """The terms of the six sums of one metric in every cell, as rows × instances × 6."""
    return np.stack(_parts(scores, human), axis=-1)


def _parts(scores: Floats, human: Floats) -> tuple[Floats, ...]:
    """1, x, y, xx, yy, xy of every cell, 0 where a side is missing.

    Both sides are centred and scaled first, because squares of raw scores lose the digits that matter.
    """
    used = np.isfinite(scores) & np.isfinite(human)
    x, y = _standardised(scores, used), _standardised(human, used)
    return used.astype(float), x, y, x * x, y * y, x * y


def _standardised(values: Floats, used: NDArray[np.bool_]) -> Floats:
    """Values less their mean, over their spread; 0 where unused, so that sums skip them."""
    centred = np.where(used, values, 0.0)
    centred = np.where(used, centred - centred.sum() / max(np.count_nonzero(used), 1), 0.0)
    spread = np.abs(centred).max(initial=0.0)
    return centred / (spread if spread > 0 else 1.0)


def pearson_of_sums(sums: Floats) -> Floats:
    """Pearson's r from the six sums; NaN for fewer than two pairs or a side that does not vary."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        vx, vy = xx - x * x / n, yy - y * y / n
        r = (xy - x * y / n) / np.sqrt(vx * vy)
    # A constant leaves rounding errors of about 1e-16 of the scale, which is 1 after standardising.
    varies = (n >= 2) & (vx > 1e-12 * np.maximum(xx, 1e-300)) & (vy > 1e-12 * np.maximum(yy, 1e-300))
    return np.where(varies, np.clip(r, -1.0, 1.0), np.nan)


def _resampled(sums: Floats, draws: int, seed: int) -> Floats:
    """r of every metric in every draw, as draws × metrics."""
    metrics, instances, _ = sums.shape
    random = np.random.default_rng(seed)
    flat = np.ascontiguousarray(np.moveaxis(sums, 1, 0)).reshape(instances, -1)
    block = max(1, _BLOCK // max(instances, 1))
    drawn = [
        pearson_of_sums(
            (resampling_weights(random, instances, min(block, draws - start)) @ flat).reshape(-1, metrics, 6)
        )
        for start in range(0, draws, block)
    ]
    return np.concatenate(drawn) if drawn else np.empty((0, metrics))


def resampling_weights(random: np.random.Generator, instances: int, draws: int) -> Floats:
    """How often each instance is drawn, as draws × instances; counting what is drawn beats drawing the counts."""
    weights = np.empty((draws, instances))
    for draw in weights:
        draw[:] = np.bincount(random.integers(instances, size=instances), minlength=instances)
    return weights
