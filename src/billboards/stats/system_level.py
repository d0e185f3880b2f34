"""Generators compared by their means: shares beaten, correlations and partial correlations, over resampled instances.

Scores are generators × instances with NaN where missing. Every draw weights the instances anew, so that all numbers of
an audit can be had from the same draws and their differences have intervals, too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from billboards.stats.correlation import resampling_weights

Floats = NDArray[np.float64]
Interval = tuple[float, float]


def instance_weights(instances: int, *, draws: int, seed: int) -> Floats:
    """How often each instance is drawn, as draws × instances; the first row is the sample itself."""
    drawn = resampling_weights(np.random.default_rng(seed), instances, draws)
    return np.concatenate((np.ones((1, instances)), drawn))


def weighted_means(scores: Floats, weights: Floats) -> Floats:
    """Means over instances in every draw, as draws × generators; NaN where a generator has no score drawn."""
    present = np.isfinite(scores)
    counts = weights @ present.T.astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((weights @ np.where(present, scores, 0.0).T) / counts)


def beaten_shares(differences: Floats, weights: Floats) -> Floats:
    """The share of generators with a positive mean difference in every draw; half of one for a difference of none."""
    means = weighted_means(differences, weights)
    wins = np.where(np.isnan(means), np.nan, (np.sign(means) + 1) / 2)
    decided = np.isfinite(wins)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(decided, wins, 0.0).sum(axis=1) / decided.sum(axis=1))


def correlations(x: Floats, y: Floats) -> Floats:
    """Pearson's r of every draw's means (draws × generators); NaN where a side doesn't vary or two generators lack."""
    both = np.isfinite(x) & np.isfinite(y)
    n = both.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        xc, yc = (
            np.where(both, side - (np.where(both, side, 0.0).sum(axis=1) / n)[:, None], 0.0)
            for side in (np.where(both, x, 0.0), np.where(both, y, 0.0))
        )
        vx, vy = (xc**2).sum(axis=1), (yc**2).sum(axis=1)
        r = (xc * yc).sum(axis=1) / np.sqrt(vx * vy)
    scale = np.nanmax(np.abs(np.stack((x, y))), initial=1e-300)
    return np.where((n >= 3) & (np.minimum(vx, vy) > 1e-24 * scale**2), np.clip(r, -1.0, 1.0), np.nan)


def partial_correlations(x: Floats, y: Floats, given: Floats) -> Floats:
    """The correlation of what is left of x and y when each is freed of its linear part in `given`, draw by draw."""
    xy, xz, yz = correlations(x, y), correlations(x, given), correlations(y, given)
    with np.errstate(invalid="ignore", divide="ignore"):
        partial = (xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2))
    left = (1 - xz**2 > 1e-9) & (1 - yz**2 > 1e-9)
    return np.where(left, np.clip(partial, -1.0, 1.0), np.nan)


def residuals(x: Floats, given: Floats) -> Floats:
    """Standardised x, freed of its linear part in standardised `given`, for one value per generator."""
    zx, zg = standardised(x), standardised(given)
    both = np.isfinite(zx) & np.isfinite(zg)
    slope = float((zx[both] * zg[both]).sum() / max(float((zg[both] ** 2).sum()), 1e-300))
    return np.asarray(zx - slope * zg)


def standardised(values: Floats) -> Floats:
    """Values along the last axis less their mean, in population standard deviations; 0 where they don't vary."""
    centre = np.nanmean(values, axis=-1, keepdims=True)
    spread = np.nanstd(values, axis=-1, keepdims=True)
    return np.asarray((values - centre) / np.where(spread > 0, spread, 1.0))


def value_and_interval(drawn: Floats, level: float = 0.95) -> tuple[float | None, Interval | None]:
    """The first entry, which is the sample's own, and the percentile interval of the others; None where undefined."""
    value = None if np.isnan(drawn[0]) else float(drawn[0])
    rest = drawn[1:][np.isfinite(drawn[1:])]
    if value is None or not len(rest):
        return value, None
    low, high = np.quantile(rest, ((1 - level) / 2, (1 + level) / 2))
    return value, (float(low), float(high))


def wilson_interval(right: int, n: int, z: float = 1.959964) -> Interval:
    """Wilson's 95% interval of a share, which stays between 0 and 1 and has width for shares of 0 and 1."""
    if n == 0:
        return 0.0, 1.0
    share, z2 = right / n, z * z
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * np.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))
