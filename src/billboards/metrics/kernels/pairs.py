"""Outputs paired with each of their references, and the way back from the pairs' scores to one score per output.

Metrics that know only one reference at a time score pairs; an output has the best of its pairs, or their mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.metrics.kernels.items import Items

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pairs:
    """Outputs and the references they meet, as numbers of texts; item k's pairs are those from `bounds[k]`."""

    outputs: NDArray[np.int32]
    references: NDArray[np.int32]
    bounds: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.outputs)

    def best(self, scores: Floats) -> NDArray[np.intp]:
        """For each item the place of its highest score, the first where several are equal."""
        if not len(self):
            return np.empty(0, np.intp)
        highest = np.repeat(np.maximum.reduceat(scores, self.bounds[:-1]), np.diff(self.bounds))
        places = np.flatnonzero(scores == highest)
        return places[np.searchsorted(places, self.bounds[:-1])]

    def mean(self, scores: Floats) -> Floats:
        """For each item the mean of its scores."""
        if not len(self):
            return np.empty(0)
        means: Floats = np.add.reduceat(scores, self.bounds[:-1]) / np.diff(self.bounds)
        return means


def pairs_of(items: Items) -> Pairs:
    """Every output with every reference of its own."""
    return Pairs(np.repeat(items.outputs, np.diff(items.bounds)), items.references, items.bounds)
