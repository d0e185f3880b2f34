"""Intervals of predictions (conformal, by document): what unseen outputs were missed by, each document counting once.

Errors come from predictions of unseen generators in unseen documents. Outputs of one document are alike, so each
document weighs the same, and the quantiles are those of one output more than there are: not of all, but of as many as
would say the same if they were not alike.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from billboards.ensembles._held_out import HeldOut, Judged, Part

Floats = NDArray[np.float64]

LEVEL = 0.95
Interval = tuple[float, float]


def error_quantiles(errors: Floats, documents: NDArray[np.int64], level: float = LEVEL) -> Interval:
    """The errors between which the given share of outputs of a new document is expected to lie."""
    place = np.unique(documents, return_inverse=True)[1]
    weights = 1 / np.bincount(place)[place]
    tail = (1 - level) / 2
    low, high = (_quantile(errors, weights, share) for share in (tail, 1 - tail))
    count = _independent((errors < low) | (errors > high), place)
    # How far each error lies outside (or, below 0, inside): so much is added that one output more would be covered.
    more = _quantile(np.maximum(low - errors, errors - high), weights, min(level * (count + 1) / count, 1.0))
    return low - more, high + more


def _independent(outside: NDArray[np.bool_], place: NDArray[np.intp]) -> float:
    """How many independent outputs tell as much as these (Kish), by how alike those of one document are."""
    sizes = np.bincount(place).astype(float)
    count, documents = len(outside), len(sizes)
    share = float(outside.mean())
    if documents < 2 or count == documents or share in (0.0, 1.0):
        return float(documents)
    means = np.bincount(place, outside) / sizes
    between = float((sizes * (means - share) ** 2).sum()) / (documents - 1)
    within = float((sizes * means * (1 - means)).sum()) / (count - documents)
    usual = (count - float((sizes**2).sum()) / count) / (documents - 1)
    alike = (between - within) / (between + (usual - 1) * within) if between + (usual - 1) * within > 0 else 0.0
    return max(count / (1 + (count / documents - 1) * max(alike, 0.0)), float(documents))


def _quantile(values: Floats, weights: Floats, share: float) -> float:
    """The smallest value with at least this share of the weight at or below it."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    place = int(np.searchsorted(reached, share * reached[-1] * (1 - 1e-12)))
    return float(values[order[min(place, len(values) - 1)]])


def widened(whole: Interval, single: list[Interval]) -> Interval:
    """The interval where several metrics are missing, from those where each alone is."""
    low = whole[0] ** 2 + sum(max(part[0] ** 2 - whole[0] ** 2, 0.0) for part in single)
    high = whole[1] ** 2 + sum(max(part[1] ** 2 - whole[1] ** 2, 0.0) for part in single)
    return -float(np.sqrt(low)) if whole[0] < 0 else whole[0], float(np.sqrt(high))


def coverage(held_out: HeldOut, judged: Judged, parts: list[Part], level: float = LEVEL) -> float:
    """The share of outputs inside intervals whose errors come from other generators and other documents."""
    errors = judged.target - held_out.raw
    inside = total = 0
    for part in parts:
        seen = part.seen & np.isfinite(errors)
        low, high = error_quantiles(errors[seen], judged.document[seen], level)
        inside += int(((errors[part.held] >= low) & (errors[part.held] <= high)).sum())
        total += int(part.held.sum())
    return inside / total
