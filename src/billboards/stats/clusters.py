"""Many comparisons at once: corrected p-values, and clusters of entries that can't be told apart.

Clusters are drawn as the WMT metrics task draws them: entries in order, best first; a new cluster starts when any
member of the current one beats the next entry significantly. Two entries in one cluster share a rank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def holm(p: Floats) -> Floats:
    """P-values corrected for the family-wise error rate (Holm 1979); NaN stays NaN and does not count."""
    return _stepped(p, lambda sorted_p, m: np.maximum.accumulate(sorted_p * np.arange(m, 0, -1)))


def benjamini_hochberg(p: Floats) -> Floats:
    """P-values corrected for the false discovery rate (Benjamini and Hochberg 1995); NaN stays NaN."""

    def step(sorted_p: Floats, m: int) -> Floats:
        return np.minimum.accumulate((sorted_p * m / np.arange(1, m + 1))[::-1])[::-1]

    return _stepped(p, step)


def _stepped(p: Floats, step: Callable[[Floats, int], Floats]) -> Floats:
    flat = np.asarray(p, np.float64).ravel()
    present = np.flatnonzero(~np.isnan(flat))
    order = present[np.argsort(flat[present], kind="stable")]
    corrected = np.full(flat.shape, np.nan)
    if len(order):
        corrected[order] = np.minimum(step(flat[order], len(order)), 1.0)
    return corrected.reshape(np.shape(p))


def significance_clusters(order: Sequence[int], p: Floats, *, level: float = 0.05) -> dict[int, int]:
    """Cluster numbers from 1 for entries given best first; p[a, b] is the p-value that a beats b."""
    clusters: dict[int, int] = {}
    current: list[int] = []
    number = 0
    for entry in order:
        if not current or any(p[member, entry] <= level for member in current):
            number += 1
            current = []
        current.append(entry)
        clusters[entry] = number
    return clusters


#: Entries that can't be told apart, by number: made of the entries' order, best first.
Clustered = Callable[[Sequence[int]], dict[int, int]]


def places(values: Floats, tests: Floats | Clustered | None) -> tuple[list[int], list[int | None], dict[int, int]]:
    """The order of what has a value, best first; ranks; and clusters where there are tests.

    Entries of one cluster share the rank of its first; without tests, entries of equal value share one.

    tests: p-values of every two entries, or what draws clusters of their order without all of these.
    """
    order = [int(k) for k in np.argsort(-values, kind="stable") if not np.isnan(values[k])]
    clusters = {} if tests is None else tests(order) if callable(tests) else significance_clusters(order, tests)
    ranks: list[int | None] = [None] * len(values)
    for place, k in enumerate(order):
        before = order[place - 1] if place else None
        together = before is not None and (
            clusters[k] == clusters[before]
            if clusters
            else bool(np.isclose(values[k], values[before], rtol=1e-12, atol=1e-15))
        )
        ranks[k] = ranks[before] if together and before is not None else place + 1
    return order, ranks, clusters
