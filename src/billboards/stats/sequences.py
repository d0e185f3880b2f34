"""Intervals and evidence that stay valid however often one looks: confidence sequences and e-values.

An ordinary 95% interval holds for one look at a number of labels that was fixed before. Who looks after each label and
stops when it looks good is wrong far more often. A confidence sequence holds at all times at once: with probability
1 - α the truth is in all of its intervals. It is made of bets (Waudby-Smith & Ramdas 2024): a gambler who bets against
a mean m at fair odds can't expect to gain where m is true, and has 1/α times the stake at any time with probability α
at most (Ville 1939). What the gambler has is an e-value against m; the interval holds each m with an e-value below 1/α.

Bets here are a mixture: the stake is spread evenly over 14 gamblers who always bet the same share of the most that can
be bet. So today's e-value does not depend on the order of the values before. Values are bounded, and each is taken from
the same mean given those before it; nothing else is assumed. With a `pool` the values are drawn without replacement
from so many, and m is the mean of these (Waudby-Smith & Ramdas 2020).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from billboards.errors import InvalidInput
from billboards.stats.bootstrap import Interval

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
#: The shares of the largest possible bet that the mixture stakes, each with the same weight.
STAKES: Floats = 0.5 ** (np.arange(14) / 2)
#: Halvings of [0, 1], after which an end of an interval is known to 1e-6.
HALVINGS = 20
#: An asymptotic sequence is tightest after so many units.
TIGHTEST_AT = 100


def log_mean(logs: Floats) -> Floats:
    """The logarithm of the mean over the last axis of numbers given by their logarithms."""
    top = logs.max(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        mean = np.log(np.exp(logs - np.where(np.isfinite(top), top, 0.0)).mean(axis=-1))
    return np.asarray(mean + top[..., 0], np.float64)


def log_evidence(values: ArrayLike, mean: float, *, pool: int | None = None) -> Floats:
    """The logarithm of the e-value, after each of the values on 0-1, against their mean being `mean` or less."""
    x = _bounded(values)
    expected = _expected(x, mean, pool)
    refuted = np.maximum.accumulate((expected < 0) | ((expected <= 0) & (x > 0)) | _too_much(x, mean, pool))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(refuted | (expected <= 0), 1.0, x / expected)
        wealth = np.cumsum(np.log(1 - STAKES + STAKES * ratio[:, None]), axis=0)
    return np.where(refuted, np.inf, log_mean(wealth))


def _bounded(values: ArrayLike) -> Floats:
    x = np.asarray(values, np.float64)
    if x.ndim != 1 or not ((x >= 0) & (x <= 1)).all():
        raise InvalidInput(
            "a sequence by betting needs values from 0 to 1; bring them there by the ends of their scale"
        )
    return x


def _expected(x: Floats, mean: float, pool: int | None) -> Floats:
    """What each value is expected to be if the mean is `mean`: that, or the mean of what is left in the pool."""
    if pool is None:
        return np.full(len(x), float(mean))
    if pool < len(x):
        raise InvalidInput(f"{len(x)} values can't be drawn from a pool of {pool}")
    drawn = np.arange(len(x))
    before = np.concatenate([[0.0], np.cumsum(x)[:-1]]) if len(x) else x
    left = (pool * mean - before) / (pool - drawn)
    # Sums of the same values in another order differ by rounding, which must not refute what is true.
    return np.where(np.abs(left) < 1e-9, 0.0, left)


def _too_much(x: Floats, mean: float, pool: int | None) -> Bools:
    """Where the values so far sum to more than the whole pool would."""
    return np.zeros(len(x), bool) if pool is None else np.asarray(np.cumsum(x) > pool * mean + 1e-9)


def confidence_sequence(
    values: ArrayLike, *, low: float = 0.0, high: float = 1.0, level: float = 0.95, pool: int | None = None
) -> Interval:
    """Where the mean lies after these values, in the order they came, if one has looked after each of them.

    It is what all intervals so far have in common. `low` and `high` are the ends of the values' scale.
    """
    if not high > low:
        raise InvalidInput(f"a scale has a low and a higher end; found {low:g} and {high:g}")
    x = (np.asarray(values, np.float64) - low) / (high - low)
    # A mean of values at an end may miss it by a rounding.
    x = _bounded(np.where((x > -1e-9) & (x < 1 + 1e-9), np.clip(x, 0.0, 1.0), x))
    below, above = _lower_end(x, (1 - level) / 2, pool), 1 - _lower_end(1 - x, (1 - level) / 2, pool)
    if pool is not None:
        # What was drawn is certain; the rest can't be below 0 or above 1.
        below, above = max(below, float(x.sum()) / pool), min(above, (float(x.sum()) + pool - len(x)) / pool)
    return low + (high - low) * below, low + (high - low) * above


def _lower_end(x: Floats, alpha: float, pool: int | None) -> float:
    """The largest mean that was ever refuted from above; evidence against a mean falls as the mean grows."""
    if not x.any():
        return 0.0
    refuted, kept = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (refuted + kept) / 2
        if log_evidence(x, middle, pool=pool).max() >= -math.log(alpha):
            refuted = middle
        else:
            kept = middle
    return refuted


def mixture_width(level: float = 0.95, tightest_at: int = TIGHTEST_AT) -> float:
    """The ρ of a normal mixture that is tightest after so many units (Waudby-Smith et al. 2024, appendix B.2)."""
    twice = -2 * math.log(1 - level)
    return math.sqrt((twice + math.log(twice + 1)) / tightest_at)


def asymptotic_sequence(
    estimate: ArrayLike, sd: ArrayLike, n: int, *, level: float = 0.95, rho: float | None = None
) -> tuple[Floats, Floats]:
    """The ends of an asymptotic confidence sequence after n units (Waudby-Smith et al. 2024, Theorem 2.2).

    `estimate` is, but for a rest that vanishes, a mean over units, and `sd` the standard deviation of one unit's share
    in it. Nothing need be bounded; in return it holds only from enough units on.
    """
    rho = mixture_width(level) if rho is None else rho
    spread = n * rho**2 + 1
    width = math.sqrt(2 * spread / (n * rho) ** 2 * math.log(math.sqrt(spread) / (1 - level)))
    half = np.asarray(sd, np.float64) * width
    middle = np.asarray(estimate, np.float64)
    return middle - half, middle + half


def log_asymptotic_evidence(estimate: ArrayLike, sd: ArrayLike, n: ArrayLike, *, rho: float | None = None) -> Floats:
    """The logarithm of the asymptotic e-value against a mean of 0 or less, by the same mixture over gains alone.

    It is that of normal values whose mean is drawn from the upper half of a normal distribution. NaN where sd is 0.
    """
    from scipy.special import log_ndtr

    rho, units = mixture_width() if rho is None else rho, np.asarray(n, np.float64)
    spread = units * rho**2 + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        score = rho * units * np.asarray(estimate, np.float64) / np.asarray(sd, np.float64) / np.sqrt(spread)
        return np.asarray(math.log(2) - 0.5 * np.log(spread) + 0.5 * score**2 + log_ndtr(score), np.float64)


def log_evidence_of_error(right: ArrayLike, wrong: ArrayLike, *, accuracy: float) -> Floats:
    """The logarithm of the e-value against an annotator's being right with probability `accuracy` or more.

    It is the likelihood of right and wrong answers under a lower accuracy, each as likely as another, over that under
    `accuracy`. Whoever is at least as accurate has an e-value above 1/α at any time with probability α at most.
    """
    from scipy.special import betainc, betaln

    if not 0 < accuracy < 1:
        raise InvalidInput(f"an accuracy to be reached lies between 0 and 1; found {accuracy:g}")
    rights, wrongs = np.asarray(right, np.float64), np.asarray(wrong, np.float64)
    with np.errstate(divide="ignore"):
        lower = np.log(betainc(rights + 1, wrongs + 1, accuracy)) + betaln(rights + 1, wrongs + 1) - math.log(accuracy)
    return np.asarray(lower - rights * math.log(accuracy) - wrongs * math.log1p(-accuracy), np.float64)


def e_benjamini_hochberg(log_evidence: ArrayLike, level: float, *, hypotheses: int | None = None) -> Bools:
    """Which hypotheses to reject so that the share of false ones among them is expected to be `level` at most.

    By e-values, which may depend on one another in any way (Wang & Ramdas 2022): the k largest are rejected, with the
    largest k for which all of these are at least hypotheses / (level · k). `hypotheses` counts those not listed too.
    """
    logs = np.asarray(log_evidence, np.float64)
    total = logs.size if hypotheses is None else hypotheses
    if not 0 < level < 1:
        raise InvalidInput(f"the share of false ones lies between 0 and 1; found {level:g}")
    order = np.sort(logs.ravel())[::-1]
    enough = np.flatnonzero(order >= math.log(total / level) - np.log(np.arange(1, logs.size + 1)))
    return np.asarray(logs >= order[enough[-1]] if len(enough) else np.zeros(logs.shape, bool), bool)
