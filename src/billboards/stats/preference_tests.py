"""How sure agreement with preferences is: intervals over instances, and whether one metric agrees more than another.

The pairs of an instance share outputs, so whole instances are drawn, and whole instances exchanged. A metric's balance
on an instance is its pairs in people's order less the others; (C - D)/(C + D) is the sum of balances over the pairs, so
a thousand draws for all metrics are one matrix product.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from billboards.stats.correlation import Correlations, resampling_weights

Floats = NDArray[np.float64]
Positions = NDArray[np.integer]


def decisions(scores: Floats, better: Positions, worse: Positions, instance: Positions) -> Floats:
    """1 where a metric (metrics × rows × instances) agrees with people on a pair, -1 where not or tied, else NaN."""
    # One metric at a time: there may be many more pairs than outputs.
    found = np.empty((len(scores), len(better)))
    for k, one in enumerate(scores):
        difference = one[better, instance] - one[worse, instance]
        found[k] = np.where(np.isnan(difference), np.nan, np.where(difference > 0, 1.0, -1.0))
    return found


def preference_correlations(
    decided: Floats, instance: Positions, *, draws: int = 1000, seed: int = 0, level: float = 0.95
) -> Correlations:
    """(C - D)/(C + D) of each metric from its decisions (metrics × pairs), and an interval over instances."""
    balance, count = _by_instance(decided, instance)
    n = count.sum(axis=1)
    low, high = np.full((2, len(decided)), np.nan)
    several = (count > 0).sum(axis=1) > 1
    if draws and several.any():
        weights = resampling_weights(np.random.default_rng(seed), balance.shape[1], draws)
        outside = (1 - level) / 2
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn = (weights @ balance[several].T) / (weights @ count[several].T)
        low[several], high[several] = np.nanquantile(drawn, (outside, 1 - outside), axis=0)
    value = np.where(n > 0, balance.sum(axis=1) / np.maximum(n, 1), np.nan)
    return Correlations(value, n.astype(np.int64), low, high)


def exchange_decisions(decided: Floats, instance: Positions, *, draws: int = 1000, seed: int = 0) -> Floats:
    """P-values that one metric agrees more than another: what two decide on an instance is exchanged, or is not.

    Each two metrics are compared on the pairs that both decide; p[a, b] is for a above b, with the +1 correction.
    """
    random = np.random.default_rng(seed)
    balance, count = _by_instance(decided, instance)
    signs = random.choice([-1.0, 1.0], (draws, balance.shape[1]))
    complete = (count == count.max(axis=0, initial=0)).all(axis=1)
    p = np.full((len(decided), len(decided)), np.nan)
    drawn, observed = signs @ balance.T, balance.sum(axis=1)
    for a in range(len(decided)):
        for b in range(len(decided)):
            if a == b:
                continue
            if complete[a] and complete[b]:
                p[a, b] = _above(drawn[:, a] - drawn[:, b], observed[a] - observed[b])
            else:
                joint = np.where(np.isnan(decided[a] + decided[b]), np.nan, (decided[a] - decided[b]))
                difference, shared = _by_instance(joint[None], instance)
                p[a, b] = _above(signs @ difference[0], difference.sum()) if shared.any() else np.nan
    return p


def _above(drawn: Floats, observed: float) -> float:
    return (1 + int((drawn >= observed - 1e-9).sum())) / (1 + len(drawn))


def _by_instance(decided: Floats, instance: Positions) -> tuple[Floats, Floats]:
    """The sum of decisions and their number, as metrics × instances that have any."""
    places, place = np.unique(instance, return_inverse=True)
    balance, count = np.zeros((2, len(decided), len(places)))
    for k, one in enumerate(decided):
        there = ~np.isnan(one)
        balance[k] = np.bincount(place[there], one[there], len(places))
        count[k] = np.bincount(place[there], minlength=len(places))
    return balance, count
