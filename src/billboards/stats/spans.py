"""Marked errors of two annotators compared, and generators compared by them.

Agreement is counted in characters, as the shared tasks on error spans do: precision is the share of the first
annotator's marked characters that the second has marked, too, recall the same the other way round, and F1 is their
harmonic mean. It is the same whoever is called the first. Outputs in which nobody marked anything say nothing here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from billboards.errors import InvalidInput

#: Every way of changing signs is tried up to so many documents, else a sample of them.
_ALL = 12


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """Characters that the first marked, that the second marked, and that both did; they add up over outputs."""

    first: int
    second: int
    both: int

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall; None where neither marked anything."""
        marked = self.first + self.second
        return 2 * self.both / marked if marked else None


def overlap(pairs: Iterable[tuple[Collection[object], Collection[object]]]) -> Overlap:
    """What two annotators have in common over several outputs.

    pairs: for each output, what the first and what the second marked: characters, by whatever tells them apart
    """
    first = second = both = 0
    for left, other in pairs:
        mine, theirs = set(left), set(other)
        first, second, both = first + len(mine), second + len(theirs), both + len(mine & theirs)
    return Overlap(first=first, second=second, both=both)


def sign_test(differences: ArrayLike, groups: ArrayLike | None = None, *, draws: int = 1000, seed: int = 0) -> float:
    """The two-sided p-value of a mean difference when, in each group, both sides might as well be exchanged.

    differences: between two generators, one on each instance that both have; NaN where one is missing
    groups: instances of one group, such as a document, are exchanged together (default: each by itself)
    """
    x = np.asarray(differences, float)
    present = np.isfinite(x)
    if not present.any():
        raise InvalidInput("there is no difference to test; give at least one")
    names = np.arange(len(x)) if groups is None else np.asarray(groups)
    sums = np.bincount(np.unique(names[present], return_inverse=True)[1], x[present])
    observed = abs(sums.sum())
    slack = 1e-9 * max(1.0, np.abs(sums).sum())
    if len(sums) <= _ALL:
        signs = 1.0 - 2.0 * ((np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums))) & 1)
        return float(np.mean(np.abs(signs @ sums) >= observed - slack))
    random = np.random.default_rng(seed)
    reached = sum(
        int(
            np.count_nonzero(np.abs((1.0 - 2.0 * random.integers(0, 2, (count, len(sums)))) @ sums) >= observed - slack)
        )
        for count in _blocks(draws, len(sums))
    )
    return (reached + 1) / (draws + 1)


def _blocks(draws: int, size: int) -> Iterable[int]:
    block = max(1, 1_000_000 // size)
    return (min(block, draws - start) for start in range(0, draws, block))
