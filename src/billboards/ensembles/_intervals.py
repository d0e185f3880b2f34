"""Intervals of predictions (conformal, by document): what unseen outputs were missed by, each document counting once.

Errors come from predictions of unseen generators in unseen documents. Outputs of one document are alike, so each
document weighs the same, and the quantiles are those of one document more than there are.
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
    sizes = np.bincount(place)
    order = np.argsort(errors, kind="stable")
    share = np.cumsum((1 / sizes[place])[order]) / (len(sizes) + 1)
    tail, values = (1 - level) / 2, errors[order]
    low = values[min(int(np.searchsorted(share, tail - 1 / (len(sizes) + 1))), len(values) - 1)]
    high = values[min(int(np.searchsorted(share, 1 - tail)), len(values) - 1)]
    return float(min(low, high)), float(max(low, high))


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
