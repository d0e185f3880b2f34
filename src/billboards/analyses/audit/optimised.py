"""The contract of an optimiser: a metric in, the best outputs it can find under that metric out, no reference seen.

What an optimiser returns is a row of texts. One that chose among generators' outputs also says whose each is, so that
everything known of that output is known of the optimised one, and can leave any generator out of its pool.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.audit.bench import Bench
from billboards.analyses.audit.results import OptimisationMethod
from billboards.board import Texts
from billboards.metrics.base import Metric

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Pool:
    """What was chosen from: rows of the board, and how each choice is valued (rows × instances; NaN: can't be chosen).

    `valued_without` holds the values where one row is left out and others' values change with it (risk over a pool).
    """

    rows: tuple[int, ...]
    values: Floats
    valued_without: Floats | None = None

    def best(self, without: int | None = None) -> Indices:
        """For each instance the position in the pool of the best output, -1 for none; the first of equal ones."""
        first, second = self._two_best
        if without is None:
            return first
        if self.valued_without is None:
            return np.where(first == without, second, first)
        values = self.valued_without[without].copy()
        values[without] = np.nan
        return _best(values)

    @cached_property
    def _two_best(self) -> tuple[Indices, Indices]:
        """The best of all, and the best without it: leaving out any one row needs no more."""
        first = _best(self.values)
        rest = self.values.copy()
        rest[first, np.arange(len(first))] = np.nan
        return first, _best(rest)


def _best(values: Floats) -> Indices:
    scored = np.isfinite(values)
    chosen: Indices = np.where(scored, values, -np.inf).argmax(axis=0)
    return np.where(scored.any(axis=0), chosen, -1)


@dataclass(frozen=True, kw_only=True)
class Optimised:
    """Outputs made for a metric: texts, how they were found, from which pool, at what cost, and whether to the end."""

    method: OptimisationMethod
    how: str
    texts: Texts
    pairs: int
    complete: bool = True
    pool: Pool | None = None
    #: A random choice from the same candidates, where they are no pool.
    random_texts: Texts = ()


class Optimiser(Protocol):
    """One way to find outputs that a metric likes."""

    @property
    def method(self) -> OptimisationMethod: ...

    def optimise(self, bench: Bench, metric: Metric) -> Optimised:
        """The best outputs that this way finds under a metric."""


def drawn(seed: int, instance: str) -> random.Random:
    """The source of a random choice, which depends on seed and instance alone."""
    return random.Random(f"{seed}\trandom choice\t{instance}")


def best_of(instances: Sequence[int], scores: Floats) -> dict[int, int]:
    """The place of each instance's best try; the first of equal ones."""
    best: dict[int, int] = {}
    for place, i in enumerate(instances):
        if i not in best or scores[place] > scores[best[i]]:
            best[i] = place
    return best
