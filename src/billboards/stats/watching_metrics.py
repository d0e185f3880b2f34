"""Which metrics agree better with people, asked again after each instance: asymptotic sequences of correlations.

Pearson's r over all judged outputs is a smooth function of six sums over instances. So r after n instances is, but for
a rest that vanishes, a mean over instances of their influence on it, whose covariance the delta method takes from that
of the sums. Means of that kind have asymptotic confidence sequences and e-values (`sequences`, Waudby-Smith et al.
2024); e-BH over all pairs of metrics decides. Nothing is decided before 30 instances; they must come in random order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.stats.correlation import pearson_of_sums
from billboards.stats.sequences import asymptotic_sequence, log_asymptotic_evidence
from billboards.stats.watching import BURN_IN, Decisions

Floats = NDArray[np.float64]
#: Products of sums are worked out in blocks of at most this many numbers.
_BLOCK = 4_000_000


@dataclass(frozen=True, kw_only=True)
class WatchedCorrelations:
    """Correlations of metrics with people after all instances, with sequences for each and for each pair's difference.

    NaN where too few instances have come.
    """

    units: int
    value: Floats
    low: Floats
    high: Floats
    decisions: Decisions
    difference: Floats
    difference_low: Floats
    difference_high: Floats


def watch_correlations(sums: Floats, *, level: float = 0.05, interval: float = 0.95) -> WatchedCorrelations:
    """Follow metrics over the six sums of each instance (metrics × instances × 6), in the order of the instances."""
    metrics, units = sums.shape[:2]
    decisions = Decisions(metrics, level=level)
    every = np.arange(len(decisions.first))
    r, covariance = np.full(metrics, np.nan), np.full((metrics, metrics), np.nan)
    for n, values, spread in _followed(sums):
        r, covariance = values, spread
        gap, sd = r[decisions.first] - r[decisions.second], np.sqrt(_variance(covariance, decisions))
        usable = np.isfinite(sd) & (sd > 1e-9)
        divisor = np.where(usable, sd, 1.0)
        both = np.stack([log_asymptotic_evidence(sign * gap, divisor, n) for sign in (1, -1)], axis=1)
        decisions.look(every, np.where(usable[:, None], both, 0.0), n)
    first, second = decisions.first, decisions.second
    spread = np.sqrt(_variance(covariance, decisions))
    # The difference of correlations of metrics that always agree has no spread, and is no evidence.
    own, apart = np.sqrt(np.maximum(np.diag(covariance), 0.0)), np.where(spread > 1e-9, spread, np.nan)
    low, high = asymptotic_sequence(r, own, max(units, 1), level=interval)
    gap_low, gap_high = asymptotic_sequence(r[first] - r[second], apart, max(units, 1), level=interval)
    return WatchedCorrelations(
        units=units,
        value=r,
        low=np.maximum(low, -1.0),
        high=np.minimum(high, 1.0),
        decisions=decisions,
        difference=r[first] - r[second],
        difference_low=gap_low,
        difference_high=gap_high,
    )


def _variance(covariance: Floats, decisions: Decisions) -> Floats:
    """The variance of one instance's share in each pair's difference."""
    own, (first, second) = np.diag(covariance), (decisions.first, decisions.second)
    return np.maximum(own[first] + own[second] - 2 * covariance[first, second], 0.0)


def _followed(sums: Floats) -> Iterator[tuple[int, Floats, Floats]]:
    """After each unit from the first look on, r of each metric and the covariance of one unit's shares in them.

    Several units are worked out at a time, as many as memory has room for.
    """
    metrics, units = sums.shape[:2]
    by_unit = np.moveaxis(sums, 1, 0).reshape(units, metrics * 6)
    total, products = np.zeros(metrics * 6), np.zeros((metrics * 6, metrics * 6))
    step = max(1, _BLOCK // (metrics * 6) ** 2)
    for start in range(0, units, step):
        part = by_unit[start : start + step]
        totals = total + np.cumsum(part, axis=0)
        outer = products + np.cumsum(part[:, :, None] * part[:, None], axis=0)
        total, products = totals[-1], outer[-1]
        n = start + np.arange(1, len(part) + 1)
        mean = totals / n[:, None]
        spread = (outer / n[:, None, None] - mean[:, :, None] * mean[:, None]).reshape(-1, metrics, 6, metrics, 6)
        gradient = pearson_gradient(mean.reshape(-1, metrics, 6))
        covariance = np.einsum("uijb,ujb->uij", np.einsum("uia,uiajb->uijb", gradient, spread), gradient)
        values = pearson_of_sums(totals.reshape(-1, metrics, 6))
        yield from ((int(n[k]), values[k], covariance[k]) for k in range(len(n)) if n[k] >= BURN_IN)


def pearson_gradient(sums: Floats) -> Floats:
    """How r changes with each of n, Σx, Σy, Σxx, Σyy, Σxy (along the last axis)."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        vx, vy = n * xx - x * x, n * yy - y * y
        root = np.sqrt(vx * vy)
        r = (n * xy - x * y) / root
        gradient = np.stack(
            [
                xy / root - r / 2 * (xx / vx + yy / vy),
                -y / root + r * x / vx,
                -x / root + r * y / vy,
                -r * n / (2 * vx),
                -r * n / (2 * vy),
                n / root,
            ],
            axis=-1,
        )
    return np.where(np.isfinite(gradient), gradient, np.nan)
