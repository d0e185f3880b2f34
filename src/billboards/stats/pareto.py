"""The Pareto front: what nothing else beats on both sides, quality and cost."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def pareto_front(quality: Floats, cost: Floats) -> NDArray[np.bool_]:
    """Which entries nobody betters: none is as good for less, or better for as much; without a number, on no front."""
    measured = np.isfinite(quality) & np.isfinite(cost)
    front = np.zeros(len(quality), bool)
    best, last = -np.inf, np.nan
    # From the cheapest on, and of equal cost the best first: on the front is who is better than all before.
    for k in sorted(np.nonzero(measured)[0], key=lambda k: (cost[k], -quality[k])):
        if quality[k] > best:
            front[k] = True
            best, last = quality[k], cost[k]
        elif quality[k] == best and cost[k] == last:
            # Equal in both: neither beats the other.
            front[k] = True
    return front
