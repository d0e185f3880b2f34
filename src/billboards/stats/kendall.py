"""Kendall's tau b and c of many groups at once: short groups from the signs of all their pairs, long ones by scipy.

tau-b = (C - D)/sqrt((P - T_x)(P - T_y)) with P pairs, T of them tied; tau-c = 2(C - D)/(n²(m - 1)/m) for n outputs and
m values on the side that has fewer, for scales of different length. Neither is defined where a side has no two values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Variant = Literal["b", "c"]

#: In groups of up to this many outputs the signs of all pairs are cheaper than a call per group.
_SHORT = 200
#: Signs are kept for at most this many pairs at a time.
_BLOCK = 2_000_000


def kendall(x: Floats, y: Floats, variant: Variant) -> Floats:
    """tau of each group (outputs × groups, NaN in both where either is missing); NaN where it is not defined."""
    if len(x) > _SHORT:
        return np.array([kendall_with_p(one, other, variant)[0] for one, other in zip(x.T, y.T, strict=True)])
    blocks = [_from_signs(x[:, part], y[:, part], variant) for part in _blocks(*x.shape)]
    return np.concatenate(blocks) if blocks else np.empty(0)


def kendall_with_p(x: Floats, y: Floats, variant: Variant) -> tuple[float, float]:
    """tau of one group, and its p-value: exact for small groups without ties, else from a normal approximation."""
    from scipy.stats import kendalltau

    there = ~np.isnan(x)
    if there.sum() < 2:
        return np.nan, np.nan
    found = kendalltau(x[there], y[there], variant=variant)
    return float(found.statistic), float(found.pvalue)


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
