"""How much it takes to tell two entries of this board apart: instances, labels or generators.

Every test here compares a difference with a standard error that shrinks as 1/√n, so what n it takes for a given power
follows from the difference and the spread that the board shows. Two generators differ by the mean of paired
differences; two metrics by their pooled Pearson with people, whose spread comes from each instance's influence on the
two correlations, so that outputs of one instance count together. Resampling n instances (or generators) from the board
and testing each resample checks the closed form. All of it asks what would be found if the true difference were the
one seen here; it says nothing about whether that is so. Infinities count as missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput, NotEnoughData

Floats = NDArray[np.float64]

#: Resamples are weighted in blocks of at most this many numbers, so that memory stays bounded on large boards.
_BLOCK = 4_000_000

#: Where each metric's own sums (1, x, h, xx, hh, xh) stand among those of a pair (1, a, b, h, aa, bb, hh, ah, bh).
_FIRST, _SECOND = [0, 1, 3, 4, 6, 7], [0, 2, 3, 5, 6, 8]


@dataclass(frozen=True)
class Needed:
    """What a two-sided test takes to find a difference of the size seen here.

    `sd` is the spread of one unit (the standard error is sd/√n); `units` are those of this board and `power_here` the
    chance that they find it; `needed` are those that find it with the chance asked for, infinite for no difference.
    """

    difference: float
    sd: float
    units: int
    power_here: float
    needed: float


@dataclass(frozen=True)
class LabelsNeeded:
    """How many of the board's instances people must label to tell which generator they prefer on all of them.

    Alone, and with a metric's difference as control variate; at most all instances, and all of them for no difference.
    """

    difference: float
    instances: int
    alone: float
    with_metric: float


@dataclass(frozen=True)
class PowerCurve:
    """The share of resamples of each size whose test finds the difference, and the size that reaches the power.

    `needed` is read from the curve: a test statistic grows as √n, so one slope fits all sizes; NaN where no size has a
    share strictly between 0 and 1. Resampling takes the board for the whole population, so from few units (generators,
    mostly) it sees too little spread, and promises more than the closed form, which allows for that.
    """

    sizes: NDArray[np.int64]
    found: Floats
    needed: float


def tell_generators_apart(first: Floats, second: Floats, *, power: float = 0.8, level: float = 0.05) -> Needed:
    """Instances it takes to tell two generators apart by a score (or by people), from their scores per instance."""
    d = _differences(first, second)
    return _needed(float(d.mean()), float(d.std(ddof=1)), len(d), power, level)


def labels_to_tell_generators_apart(
    human: tuple[Floats, Floats], metric: tuple[Floats, Floats], *, power: float = 0.8, level: float = 0.05
) -> LabelsNeeded:
    """Labels it takes to tell which of two generators people prefer on these instances, alone and with a metric."""
    used = np.isfinite((*human, *metric)).all(axis=0)
    h, m = (pair[0][used] - pair[1][used] for pair in (human, metric))
    n = len(h)
    if n < 4:
        raise NotEnoughData(f"two generators need 4 instances on which both have labels and scores; they share {n}")
    difference, spread, left = float(h.mean()), float(h.std(ddof=1)), _left_over(h, m)
    alone = _labels(difference, spread, n, power, level)
    # The slope on the metric's differences is estimated too, which costs about one label more.
    helped = _labels(difference, left, n, power, level) + 1
    return LabelsNeeded(difference, n, alone, min(alone, helped))


def tell_metrics_apart(
    first: Floats, second: Floats, human: Floats, *, power: float = 0.8, level: float = 0.05
) -> Needed:
    """Units it takes to tell two metrics' pooled Pearson apart; rows × units, units being what would be added.

    For instances give the scores as they are (rows × instances); for generators `generator_means`, one row.
    """
    sums = _pair_sums(first, second, human)
    n = len(sums)
    difference, variance = _compare(sums.sum(axis=0), sums.T @ sums, n)
    if np.isnan(difference):
        raise NotEnoughData("one of the metrics or the judgments do not vary, so there is no correlation to compare")
    return _needed(float(difference), float(np.sqrt(variance * n)), n, power, level)


def tell_preferences_apart(
    first: Floats, second: Floats, instance: NDArray[np.integer], *, power: float = 0.8, level: float = 0.05
) -> Needed:
    """Instances it takes to tell two metrics' (C - D)/(C + D) apart, from what both decide (1 or -1) on the same pairs.

    An instance moves the difference by what its pairs say less what their number would; instances may differ in both.
    """
    used = np.isfinite(first) & np.isfinite(second)
    place = np.unique(instance[used], return_inverse=True)[1]
    pairs = np.bincount(place)
    if len(pairs) < 4:
        raise NotEnoughData(f"two metrics need 4 instances with pairs that both decide; there are {len(pairs)}")
    differences = np.bincount(place, (first - second)[used])
    difference = float(differences.sum() / pairs.sum())
    moves = (differences - difference * pairs) / pairs.mean()
    return _needed(difference, float(moves.std(ddof=1)), len(pairs), power, level)


def generator_means(first: Floats, second: Floats, human: Floats) -> tuple[Floats, Floats, Floats]:
    """Each generator's means over what people and both metrics have scored, as 1 × generators, those with any."""
    used = np.isfinite(first) & np.isfinite(second) & np.isfinite(human)
    judged = used.any(axis=1)
    count = used[judged].sum(axis=1)
    a, b, h = (np.where(used, values, 0.0)[judged].sum(axis=1) / count for values in (first, second, human))
    return a[None], b[None], h[None]


def resample_generators(
    first: Floats,
    second: Floats,
    sizes: Sequence[int],
    *,
    power: float = 0.8,
    level: float = 0.05,
    draws: int = 1000,
    seed: int = 0,
) -> PowerCurve:
    """How often a paired t-test on resampled instances finds the difference of two generators."""
    d = _differences(first, second)
    columns = np.stack((d, d * d), axis=1)

    def statistic(drawn: Floats, n: int) -> Floats:
        mean = drawn[:, 0] / n
        variance = np.maximum(drawn[:, 1] / n - mean**2, 0.0) / (n - 1)
        return _over(mean * np.sign(d.mean()), variance)

    shares = _found_shares(columns, statistic, sizes, 1, level, draws, seed)
    return PowerCurve(np.array(sizes, np.int64), shares, _read_needed(sizes, shares, power, level))


def resample_metrics(
    first: Floats,
    second: Floats,
    human: Floats,
    sizes: Sequence[int],
    *,
    power: float = 0.8,
    level: float = 0.05,
    draws: int = 1000,
    seed: int = 0,
) -> PowerCurve:
    """How often the test between two metrics finds their difference on resampled units (rows × units)."""
    sums = _pair_sums(first, second, human)
    columns = np.concatenate((sums, (sums[:, :, None] * sums[:, None, :]).reshape(len(sums), -1)), axis=1)
    sign = np.sign(_compare(sums.sum(axis=0), sums.T @ sums, len(sums))[0])

    def statistic(drawn: Floats, n: int) -> Floats:
        difference, variance = _compare(drawn[:, :9], drawn[:, 9:].reshape(-1, 9, 9), n)
        return _over(difference * sign, variance)

    shares = _found_shares(columns, statistic, sizes, 3, level, draws, seed)
    return PowerCurve(np.array(sizes, np.int64), shares, _read_needed(sizes, shares, power, level))


def _differences(first: Floats, second: Floats) -> Floats:
    used = np.isfinite(first) & np.isfinite(second)
    d: Floats = first[used] - second[used]
    if len(d) < 2:
        raise NotEnoughData(f"two generators need 2 instances that both have scores on; they share {len(d)}")
    return d


def _quantiles(power: float, level: float) -> tuple[float, float]:
    """Normal quantiles of a two-sided test and of the power asked for."""
    from scipy.special import ndtri

    if not 0 < level < power < 1:
        raise InvalidInput(f"a power of {power:g} at level {level:g} can't be asked for; take 0 < level < power < 1")
    return float(ndtri(1 - level / 2)), float(ndtri(power))


def _needed(difference: float, sd: float, units: int, power: float, level: float) -> Needed:
    """The sample size of a t-test: the normal one plus z²/2 for estimating the spread (Guenther 1981)."""
    from scipy.special import ndtr

    z, chance = _quantiles(power, level)
    if difference == 0:
        return Needed(difference, sd, units, level, math.inf)
    effect = abs(difference) / sd if sd > 0 else math.inf
    shift = effect * math.sqrt(max(units - z**2 / 2, 1e-300))
    power_here = float(ndtr(shift - z) + ndtr(-shift - z))
    return Needed(difference, sd, units, power_here, _whole(((z + chance) / effect) ** 2 + z**2 / 2))


def _whole(n: float) -> float:
    """The next whole number, of which a test needs two at least; kept as a float, since it may be infinite."""
    return float(max(2, math.ceil(n - 1e-9)))


def _labels(difference: float, sd: float, instances: int, power: float, level: float) -> float:
    """n with sd²·(1/n - 1/instances) = (difference/(z + z'))²: so close must the labelled part come to the whole."""
    z, chance = _quantiles(power, level)
    if difference == 0:
        return float(instances)
    inverse = (difference / (z + chance) / sd) ** 2 + 1 / instances if sd > 0 else math.inf
    return min(_whole(1 / inverse + z**2 / 2), float(instances))


def _left_over(h: Floats, m: Floats) -> float:
    """The spread of people's differences that a line through the metric's leaves; never more than all of it."""
    spread = float(h.std(ddof=1))
    if m.std() <= 1e-12 * np.abs(m).max() or spread == 0:
        return spread
    unexplained = 1 - float(np.corrcoef(h, m)[0, 1]) ** 2
    return spread * min(1.0, math.sqrt(max(unexplained, 0.0) * (len(h) - 1) / (len(h) - 2)))


def _pair_sums(first: Floats, second: Floats, human: Floats) -> Floats:
    """Sums per unit of 1, a, b, h, aa, bb, hh, ah, bh over the cells that all three have, each standardised."""
    used = np.isfinite(first) & np.isfinite(second) & np.isfinite(human)
    a, b, h = (_standardised(values, used) for values in (first, second, human))
    parts = (used.astype(float), a, b, h, a * a, b * b, h * h, a * h, b * h)
    sums = np.stack([part.sum(axis=0) for part in parts], axis=1)
    sums = sums[sums[:, 0] > 0]
    if len(sums) < 4:
        raise NotEnoughData(f"two metrics need 4 units that people and both have scored; there are {len(sums)}")
    return sums


def _standardised(values: Floats, used: NDArray[np.bool_]) -> Floats:
    present = values[used]
    if not len(present) or present.std() <= 1e-12 * np.abs(present).max():
        return np.zeros_like(values)
    return np.where(used, (values - present.mean()) / present.std(), 0.0)


def _compare(total: Floats, products: Floats, n: int) -> tuple[Floats, Floats]:
    """The difference of two correlations and its variance, from sums (… × 9) and products of unit sums (… × 9 × 9).

    A unit moves the difference by the gradient times its sums; the variance is the sum of those moves squared, with
    n/(n - 3) for the means, spreads and correlations that were estimated.
    """
    r_a, by_a = _r_and_gradient(total[..., _FIRST])
    r_b, by_b = _r_and_gradient(total[..., _SECOND])
    gradient = np.zeros(total.shape)
    gradient[..., _FIRST] += by_a
    gradient[..., _SECOND] -= by_b
    variance = np.einsum("...k,...kl,...l->...", gradient, products, gradient) * n / (n - 3)
    difference = r_a - r_b
    return np.where(np.abs(difference) < 1e-12, 0.0, difference), np.maximum(variance, 0.0)


def _r_and_gradient(sums: Floats) -> tuple[Floats, Floats]:
    """Pearson's r from 1, x, h, xx, hh, xh and its derivative by each; NaN where a side does not vary."""
    n, x, h, xx, hh, xh = np.moveaxis(sums, -1, 0)
    mx, mh = x / n, h / n
    vx, vh = xx - n * mx**2, hh - n * mh**2
    # Scores are standardised over the board, so a spread of this size in a resample is rounding.
    varies = (vx > 1e-12 * n) & (vh > 1e-12 * n)
    vx, vh = np.where(varies, vx, np.nan), np.where(varies, vh, np.nan)
    root = np.sqrt(vx * vh)
    r = (xh - n * mx * mh) / root
    by_xx, by_hh, by_xh = -r / (2 * vx), -r / (2 * vh), 1 / root
    by_x = -mh * by_xh - 2 * mx * by_xx
    by_h = -mx * by_xh - 2 * mh * by_hh
    by_n = mx * mh * by_xh + mx**2 * by_xx + mh**2 * by_hh
    return r, np.stack((by_n, by_x, by_h, by_xx, by_hh, by_xh), axis=-1)


def _over(difference: Floats, variance: Floats) -> Floats:
    """A difference in standard errors; NaN where resampling left no spread, which finds nothing."""
    spread = np.sqrt(np.where(variance > 0, variance, np.nan))
    statistic: Floats = difference / spread
    return statistic


def _found_shares(
    columns: Floats,
    statistic: Callable[[Floats, int], Floats],
    sizes: Sequence[int],
    estimated: int,
    level: float,
    draws: int,
    seed: int,
) -> Floats:
    """The share of resamples of each size with a significant statistic of the right sign."""
    from scipy.stats import t as student

    if min(sizes, default=0) <= estimated:
        raise InvalidInput(f"sizes {list(sizes)} can't all be tested; give sizes of at least {estimated + 1}")
    random = np.random.default_rng(seed)
    units = len(columns)
    block = max(1, _BLOCK // max(columns.shape))
    shares = []
    for n in sizes:
        critical = student.ppf(1 - level / 2, n - estimated)
        counts = 0
        for start in range(0, draws, block):
            weights = random.multinomial(n, np.full(units, 1 / units), size=min(block, draws - start))
            counts += int((statistic(weights @ columns, n) > critical).sum())
        shares.append(counts / draws)
    return np.array(shares)


def _read_needed(sizes: Sequence[int], shares: Floats, power: float, level: float) -> float:
    """The size that reaches the power on the line through the origin that fits Φ⁻¹(found) + z over √(n - z²/2)."""
    from scipy.special import ndtri

    z, chance = _quantiles(power, level)
    n = np.asarray(sizes, np.float64) - z**2 / 2
    inside = (shares > 0) & (shares < 1) & (n > 0)
    if not inside.any():
        return float("nan")
    slope = float(np.sqrt(n[inside]) @ (ndtri(shares[inside]) + z) / n[inside].sum())
    return _whole(((z + chance) / slope) ** 2 + z**2 / 2) if slope > 0 else math.inf
