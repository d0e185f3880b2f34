"""A mean of ratings with its bootstrap interval, and how far off it can be at worst (GENIE, §7 and Appendix C).

Ratings between two ends of a scale vary most when all of them lie at the ends: with mean mu on 0-1 their variance is
then mu·(1 - mu). So sqrt(mu·(1 - mu)/n) bounds the standard error before a single label is bought, and says how many
labels a campaign must order.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.correlation import resampling_weights

Floats = NDArray[np.float64]

#: Bootstrap draws are made in blocks of at most this many numbers.
_BLOCK = 4_000_000


def worst_case_se(mean: float, n: int, *, low: float = 0.0, high: float = 1.0) -> float:
    """The largest standard error that a mean of n ratings on the scale low-high can have, in the units of the scale."""
    _check(mean, low, high)
    if n < 1:
        raise InvalidInput(f"a standard error needs a label or more, not {n}")
    share = (mean - low) / (high - low)
    return math.sqrt(share * (1 - share) / n) * (high - low)


def labels_for_se(se: float, *, mean: float | None = None, low: float = 0.0, high: float = 1.0) -> int:
    """How many labels keep the worst-case standard error at most `se`; without a mean, whatever it will be."""
    middle = (low + high) / 2 if mean is None else mean
    _check(middle, low, high)
    if not se > 0:
        raise InvalidInput(f"a standard error to aim for is above 0, not {se:g}")
    share = (middle - low) / (high - low)
    return max(1, math.ceil(share * (1 - share) * ((high - low) / se) ** 2 - 1e-9))


def bootstrap_mean(
    values: ArrayLike, *, groups: ArrayLike | None = None, resamples: int = 1000, seed: int = 0, level: float = 0.95
) -> tuple[float, float, float]:
    """The mean of the values that are there, and the ends of its percentile interval over resampled instances.

    Values of one group (several labels of an instance, instances of a document) are drawn together.
    """
    x = np.asarray(values, float)
    present = np.isfinite(x)
    if not present.any():
        raise NotEnoughData("there are no labels, so there is no mean")
    names = np.arange(len(x)) if groups is None else np.asarray(groups)
    number = np.unique(names[present], return_inverse=True)[1]
    total, count = np.bincount(number, x[present]), np.bincount(number).astype(float)
    draws = _resampled(np.stack((total, count), axis=1), resamples, np.random.default_rng(seed))
    low, high = np.quantile(draws, ((1 - level) / 2, (1 + level) / 2))
    return float(x[present].mean()), float(low), float(high)


def _resampled(sums: Floats, resamples: int, random: np.random.Generator) -> Floats:
    block = max(1, _BLOCK // len(sums))
    parts = [
        resampling_weights(random, len(sums), min(block, resamples - start)) @ sums
        for start in range(0, resamples, block)
    ]
    drawn = np.concatenate(parts)
    return np.asarray(drawn[:, 0] / drawn[:, 1], float)


def _check(mean: float, low: float, high: float) -> None:
    if not low < high or not low <= mean <= high:
        raise InvalidInput(f"the mean {mean:g} does not lie on the scale from {low:g} to {high:g}")
