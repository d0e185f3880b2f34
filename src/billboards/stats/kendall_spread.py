"""How sure Kendall's tau-b is, when whole instances are the sample: an infinitesimal jackknife.

A bootstrap would sort thousands of outputs again in every draw. tau-b is a ratio of three sums over pairs of outputs,
so what one more copy of an output would change is known from that output's own pairs; the squares of these changes,
added up over instances, are the variance. The outputs of an instance stay together, as they do in a bootstrap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from billboards.stats.alignment import jointly

Floats = NDArray[np.float64]

#: People mostly judge in a few steps; with more than this, every two outputs are compared instead.
_LEVELS = 64
#: Signs that are held at a time.
_SIGNS = 4_000_000


def kendall_se(scores: Floats, human: Floats) -> float:
    """Standard error of tau-b of one metric (rows × instances, NaN where missing) over resampled instances.

    NaN where tau is not defined, or where a single instance is all there is.
    """
    x, y = jointly(scores, human)
    there = ~np.isnan(x)
    instance = np.nonzero(there)[1]
    if len(np.unique(instance)) < 2:
        return np.nan
    change = _changes(x[there], y[there])
    return float(np.sqrt((np.bincount(instance, change) ** 2).sum()))


def _changes(x: Floats, y: Floats) -> Floats:
    """What a further weight on each output would change of tau-b; NaN where a side does not vary."""
    x_differs, y_differs = (_different(side) for side in (x, y))
    total_x, total_y = x_differs.sum(), y_differs.sum()
    if not total_x or not total_y:
        return np.full(len(x), np.nan)
    levels = np.unique(y)
    balance = _by_level(x, y, levels) if len(levels) <= _LEVELS else _by_pair(x, y)
    scale = np.sqrt(total_x) * np.sqrt(total_y)
    tau = balance.sum() / scale
    changes: Floats = 2 * balance / scale - tau * (x_differs / total_x + y_differs / total_y)
    return changes


def _different(values: Floats) -> Floats:
    """How many others differ from each value."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    different: Floats = (len(values) - count[place]).astype(np.float64)
    return different


def _by_level(x: Floats, y: Floats, levels: Floats) -> Floats:
    """Each output's pairs in people's order less those against it, from the sorted scores of every level."""
    balance = np.zeros(len(x))
    for level in levels:
        at_level = np.sort(x[y == level])
        above = np.searchsorted(at_level, x, "left") + np.searchsorted(at_level, x, "right") - len(at_level)
        balance += np.sign(y - level) * above
    return balance


def _by_pair(x: Floats, y: Floats) -> Floats:
    """The same from the signs of all pairs."""
    balance = np.empty(len(x))
    step = max(1, _SIGNS // len(x))
    for start in range(0, len(x), step):
        part = slice(start, start + step)
        signs = np.sign(x[part, None] - x[None, :]), np.sign(y[part, None] - y[None, :])
        balance[part] = np.einsum("ij,ij->i", *signs)
    return balance
