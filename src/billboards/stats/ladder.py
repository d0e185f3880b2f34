"""The Ladder: what a board says to somebody who tries again and again (Blum and Hardt 2015).

A new value is published only where it beats the best one so far by more than noise; otherwise the best one is said
again. An answer then carries information only when it is an improvement, so that hundreds of tries can't be summed up
into a guess of the hidden data. With a step the noise is that step; without one it is the standard error of the
difference to the best entry, output by output (their parameter-free version).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Rung:
    """What is published of one entry: its own value where it `improves`, else the best one before it."""

    value: float
    improves: bool


def climb(value: float, best: float | None, noise: float, *, unit: float) -> Rung:
    """One entry's rung: its value in multiples of a unit where it beats the best so far by more than noise."""
    if best is None or value > best + noise:
        return Rung(value=round(round(value / unit) * unit, 12), improves=True)
    return Rung(value=best, improves=False)


def paired_noise(scores: Floats, best: Floats | None, human: Floats) -> float:
    """The standard error of the difference of two correlations with people, from each output's part in either.

    An output's part in Pearson's r is the product of its standardised score and judgment; r is their mean. Where the
    best entry's scores are gone, the noise is that of a correlation alone.
    """
    used = np.isfinite(scores) & np.isfinite(human)
    both = used if best is None else used & np.isfinite(best)
    if best is None or both.sum() < 3:
        return 1.0 / math.sqrt(max(int(used.sum()) - 3, 1))
    difference = _parts(scores[both], human[both]) - _parts(best[both], human[both])
    return float(difference.std() / math.sqrt(len(difference)))


def _parts(scores: Floats, human: Floats) -> Floats:
    x, y = scores - scores.mean(), human - human.mean()
    spread = float(x.std() * y.std())
    parts: Floats = x * y / spread if spread > 0 else np.zeros(len(x))
    return parts
