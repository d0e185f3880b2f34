"""Which subsets of the references to try when asking what one more reference is worth (Billboards, Fig. 3)."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np


def reference_subsets(
    names: tuple[str, ...], size: int, *, most: int = 50, seed: int = 0
) -> tuple[tuple[str, ...], ...]:
    """All subsets of a size, or `most` different ones drawn with a seed where there are more."""
    if math.comb(len(names), size) <= most:
        return tuple(combinations(names, size))
    random = np.random.default_rng((seed, size))
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < most:
        drawn.setdefault(tuple(sorted(random.choice(len(names), size, replace=False).tolist())))
    return tuple(tuple(names[k] for k in chosen) for chosen in drawn)
