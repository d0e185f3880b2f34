"""Lexical diversity: instances whose outputs share few words (Zouhar et al. 2025, unigram diversity)."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np

from billboards.selectors._selector import Candidates, Floats, selector


@selector()
def diversity(candidates: Candidates) -> Floats:
    """Where an instance's outputs share few words."""
    return np.array([_mean_distance(texts) for texts in zip(*candidates.texts, strict=True)], float)


def _mean_distance(texts: tuple[str | None, ...]) -> float:
    """1 - the mean F1 of words between pairs of outputs; NaN from fewer than two."""
    bags = [Counter(text.split()) for text in texts if text is not None]
    distances = [1.0 - _overlap(first, second) for first, second in combinations(bags, 2)]
    return float(np.mean(distances)) if distances else float("nan")


def _overlap(first: Counter[str], second: Counter[str]) -> float:
    """The F1 of two bags of words; two empty texts are the same."""
    words = first.total() + second.total()
    return 2 * (first & second).total() / words if words else 1.0
