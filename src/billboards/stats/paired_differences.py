"""PDP, the pairwise difference Pearson: do a metric's differences between outputs of one instance follow people's?

PDP = Σ d_h·d_m / sqrt(Σ d_h² · Σ d_m²) over all pairs of outputs within instances. Unlike a pooled Pearson it is not
moved by instances that are easy for everyone, and unlike a group-by-item one it gives an instance weight by how much
its outputs differ. Over the pairs of an instance with m outputs, Σ (x_a - x_b)(y_a - y_b) = m · Σ (x - x̄)(y - ȳ), so no
pair needs to be formed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.stats.alignment import aligned, group_centred, jointly

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class PairedDifferences:
    """PDP of each metric and the pairs it rests on; NaN where a side never differs within an instance."""

    value: Floats
    n: Integers


def pairwise_difference_pearson(scores: Floats, human: Floats) -> PairedDifferences:
    """PDP of each metric (metrics × rows × instances) with people (rows × instances)."""
    scores, human = aligned(scores, human)
    found = [_pdp(*jointly(one, human)) for one in scores]
    value, n = np.array(found, np.float64).reshape(-1, 2).T
    return PairedDifferences(value, n.astype(np.int64))


def _pdp(x: Floats, y: Floats) -> tuple[float, int]:
    outputs = (~np.isnan(x)).sum(axis=0)
    x, y = _scaled(group_centred(x)), _scaled(group_centred(y))
    xx, yy, xy = (float(outputs @ (a * b).sum(axis=0)) for a, b in ((x, x), (y, y), (x, y)))
    value = min(max(xy / np.sqrt(xx * yy), -1.0), 1.0) if xx > 0 and yy > 0 else np.nan
    return value, int((outputs * (outputs - 1) // 2).sum())


def _scaled(values: Floats) -> Floats:
    """Values over the largest, so that squares neither vanish nor overflow."""
    largest = np.abs(values).max(initial=0.0)
    return values / largest if largest > 0 else values
