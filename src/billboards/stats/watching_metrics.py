"""Which metrics agree better with people, asked again after each instance: asymptotic sequences of correlations.

Pearson's r over all judged outputs is a smooth function of six sums over instances. So r after n instances is, but for
a rest that vanishes, a mean over instances of their influence on it, whose covariance the delta method takes from that
of the sums. Means of that kind have asymptotic confidence sequences and e-values (`sequences`, Waudby-Smith et al.
2024); e-BH over all pairs of metrics decides. Nothing is decided before 30 instances; they must come in random order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.stats.correlation import pearson_of_sums
from billboards.stats.sequences import asymptotic_sequence, log_asymptotic_evidence
from billboards.stats.watching import BURN_IN, Decisions

Floats = NDArray[np.float64]


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
    first, second = decisions.first, decisions.second
    every = np.arange(len(first))
    r, covariance = np.full(metrics, np.nan), np.full((metrics, metrics), np.nan)
    total, products = np.zeros((metrics, 6)), np.zeros((metrics, 6, metrics, 6))
    for n, unit in enumerate(np.moveaxis(sums, 1, 0), 1):
        total += unit
        products += unit[:, :, None, None] * unit
        if n < BURN_IN:
            continue
        r, covariance = _correlations(total, products, n)
        spread = np.sqrt(_variance(covariance, decisions))
        usable = np.isfinite(spread) & (spread > 1e-9)
        gap, divisor = r[first] - r[second], np.where(usable, spread, 1.0)
        both = np.stack([log_asymptotic_evidence(sign * gap, divisor, n) for sign in (1, -1)], axis=1)
        decisions.look(every, np.where(usable[:, None], both, 0.0), n)
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


def _correlations(total: Floats, products: Floats, n: int) -> tuple[Floats, Floats]:
    """r of each metric, and the covariance of one instance's shares in them."""
    mean = total / n
    spread = products / n - mean[:, :, None, None] * mean
    gradient = pearson_gradient(mean)
    return pearson_of_sums(total), np.einsum("ijb,jb->ij", np.einsum("ia,iajb->ijb", gradient, spread), gradient)


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
