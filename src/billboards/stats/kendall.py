"""Kendall's tau b and c of many groups at once, and how sure tau-b is.

tau-b = (C - D)/sqrt((P - T_x)(P - T_y)) with P pairs, T of them tied; tau-c = 2(C - D)/(n²(m - 1)/m) for n outputs and
m values on the side that has fewer, for scales of different length. Neither is defined where a side has no two values.
Short groups are counted from the signs of all their pairs, long ones by scipy.

The standard error, when whole instances are the sample, is an infinitesimal jackknife, because a bootstrap would sort
thousands of outputs again in every draw. tau-b is a ratio of three sums over pairs of outputs, so what one more copy of
an output would change is known from that output's own pairs; the squares of these changes, added up over instances, are
the variance. The outputs of an instance stay together, as they do in a bootstrap.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.stats.alignment import jointly

Floats = NDArray[np.float64]
Variant = Literal["b", "c"]
#: In groups of up to this many outputs the signs of all pairs are cheaper than a call per group.
_SHORT = 200
#: Signs are kept for at most this many pairs at a time.
_BLOCK = 2_000_000


def kendall(x: Floats, y: Floats, variant: Variant) -> Floats:
    """tau of each group (outputs × groups, NaN in both where either is missing); NaN where it is not defined."""
    if len(x) > _SHORT:
        return np.array([kendall_with_p(group, other, variant)[0] for group, other in zip(x.T, y.T, strict=True)])
    blocks = [_from_signs(x[:, part], y[:, part], variant) for part in _blocks(*x.shape)]
    return np.concatenate(blocks) if blocks else np.empty(0)


def kendall_with_p(x: Floats, y: Floats, variant: Variant) -> tuple[float, float]:
    """tau of one group, and its p-value: exact for small groups without ties, else from a normal approximation."""
    from scipy.stats import kendalltau

    present = ~np.isnan(x)
    if present.sum() < 2:
        return np.nan, np.nan
    result = kendalltau(x[present], y[present], variant=variant)
    return float(result.statistic), float(result.pvalue)


def _blocks(outputs: int, groups: int) -> Iterator[slice]:
    step = max(1, _BLOCK // max(outputs * (outputs - 1) // 2, 1))
    for start in range(0, groups, step):
        yield slice(start, start + step)


def _from_signs(x: Floats, y: Floats, variant: Variant) -> Floats:
    first, second = np.triu_indices(len(x), 1)
    dx, dy = (np.nan_to_num(np.sign(values[first] - values[second])) for values in (x, y))
    # What is missing is missing on both sides, so every pair left is in all three sums.
    balance, x_differs, y_differs = (dx * dy).sum(axis=0), np.abs(dx).sum(axis=0), np.abs(dy).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        if variant == "b":
            tau = balance / np.sqrt(x_differs) / np.sqrt(y_differs)
        else:
            n, m = (~np.isnan(x)).sum(axis=0), np.minimum(_distinct(x), _distinct(y))
            tau = 2 * balance / (n**2 * (m - 1) / m)
    return np.where((x_differs > 0) & (y_differs > 0), tau, np.nan)


def _distinct(values: Floats) -> NDArray[np.int64]:
    """How many different values each group has."""
    steps = np.diff(np.sort(values, axis=0), axis=0)
    distinct: NDArray[np.int64] = 1 + (steps > 0).sum(axis=0)
    return distinct


def kendall_se(scores: Floats, human: Floats) -> float:
    """Standard error of tau-b of one metric (rows × instances, NaN where missing) over resampled instances.

    NaN where tau is not defined, or where a single instance is all there is.
    """
    if len(np.unique(np.nonzero(np.isfinite(scores) & np.isfinite(human))[1])) < 2:
        return np.nan
    return float(np.sqrt((kendall_influence(scores, human) ** 2).sum()))


def kendall_influence(scores: Floats, human: Floats, variant: Variant = "b") -> Floats:
    """What a further weight on each instance would change of one metric's tau (rows × instances, NaN where missing).

    0 for an instance without a pair of score and judgment; NaN everywhere where tau is not defined.
    """
    x, y = jointly(scores, human)
    present = ~np.isnan(x)
    instance = np.nonzero(present)[1]
    change = _changes(x[present], y[present], variant)
    influence: Floats = np.bincount(instance, change, scores.shape[1]).astype(np.float64)
    return np.full(scores.shape[1], np.nan) if np.isnan(change).any() else influence


def _changes(x: Floats, y: Floats, variant: Variant) -> Floats:
    """What a further weight on each output would change of tau; NaN where a side does not vary."""
    x_differs, y_differs = (_different(side) for side in (x, y))
    total_x, total_y = x_differs.sum(), y_differs.sum()
    if not total_x or not total_y:
        return np.full(len(x), np.nan)
    levels = np.unique(y)
    balance = _balance(x, y)
    if variant == "c":
        fewest = min(len(levels), len(np.unique(x)))
        scale_c = len(x) ** 2 * (fewest - 1) / fewest
        return np.asarray(2 * (balance - balance.sum() / len(x)) / scale_c)
    scale = np.sqrt(total_x) * np.sqrt(total_y)
    tau = balance.sum() / scale
    changes: Floats = 2 * balance / scale - tau * (x_differs / total_x + y_differs / total_y)
    return changes


def _different(values: Floats) -> Floats:
    """How many others differ from each value."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    different: Floats = (len(values) - count[place]).astype(np.float64)
    return different


def _balance(x: Floats, y: Floats) -> Floats:
    """Each output's pairs in people's order less those against it, from sorted scores instead of all pairs.

    Two different judgments part at one bit of their ranks. So at each bit those outputs are compared across it that
    have all higher bits in common.
    """
    x_ranks, y_ranks = (np.unique(side, return_inverse=True)[1].astype(np.int64) for side in (x, y))
    span = len(x) + 1
    balance = np.zeros(len(x))
    for bit in range(int(y_ranks.max(initial=0)).bit_length()):
        first = (y_ranks >> (bit + 1)) * span
        upper = (y_ranks >> bit) & 1 == 1
        for asked, sign in ((upper, 1), (~upper, -1)):
            others = np.sort((first + x_ranks)[~asked])
            start, place = first[asked], (first + x_ranks)[asked]
            above = np.searchsorted(others, place, "left") - np.searchsorted(others, start, "left")
            below = np.searchsorted(others, start + span, "left") - np.searchsorted(others, place, "right")
            balance[asked] += sign * (above - below)
    return balance
