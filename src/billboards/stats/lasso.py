"""The whole lasso path, exactly, from a Gram matrix.

The lasso's coefficients are piecewise linear in its penalty: between two knots nothing enters or leaves. Following the
knots downwards (Efron et al. 2004, least angle regression with the lasso's modification) costs a small linear solve
each, gives the solution at every penalty at once, and needs no tolerance; the number of rows behind the Gram matrix
does not matter. Penalties are on scikit-learn's scale: ½·mean squared error + penalty·Σ|w|.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_TINY = 1e-10


@dataclass(frozen=True)
class Segment:
    """A stretch of the path on which the same columns are active: from `high` down to `low`."""

    high: float
    low: float
    at_high: Floats
    at_low: Floats
    active: tuple[int, ...]

    def at(self, penalty: float) -> Floats:
        share = 0.0 if self.high == self.low else (self.high - penalty) / (self.high - self.low)
        weights: Floats = self.at_high + share * (self.at_low - self.at_high)
        return weights


def lasso_path(gram: Floats, moment: Floats, *, until: float = 0.0) -> list[Segment]:
    """The path from the penalty at which the first column enters down to 0, or to the stretch that holds `until`.

    `gram` is XᵀX/n and `moment` is Xᵀy/n of standardised columns and a centred target. A column that is a combination
    of the active ones (two metrics with equal scores) never enters beside them.
    """
    columns = len(moment)
    weights = np.zeros(columns)
    barred = np.diag(gram) <= _TINY
    penalty = float(np.abs(np.where(barred, 0.0, moment)).max(initial=0.0))
    active: list[int] = []
    segments: list[Segment] = []
    scale = max(penalty, 1e-300)
    left: int | None = None
    while penalty > max(_TINY * scale, until) and len(segments) < 8 * columns + 8:
        residual = moment - gram @ weights
        entering = _entering(residual, penalty, scale, active, barred, left)
        if entering is not None:
            if _depends(gram, active, entering):
                barred[entering] = True
            else:
                active.append(entering)
            left = None
            continue
        if not active:
            break
        direction = np.zeros(columns)
        signs = np.sign(residual[active])
        direction[active] = np.linalg.solve(gram[np.ix_(active, active)], signs)
        step = _step_to_entry(residual, gram @ direction, penalty, active, barred, left)
        step, leaving = _step_to_exit(weights, direction, active, min(step, penalty))
        after = weights + step * direction
        if leaving is not None:
            after[leaving] = 0.0
        segments.append(Segment(penalty, penalty - step, weights, after, tuple(active)))
        weights, penalty = after, penalty - step
        left = leaving
        if leaving is not None:
            active.remove(leaving)
    return segments


def _entering(
    residual: Floats, penalty: float, scale: float, active: list[int], barred: NDArray[np.bool_], left: int | None
) -> int | None:
    """The first column outside whose correlation with the residual has reached the penalty."""
    outside = ~barred
    outside[active] = False
    if left is not None:
        outside[left] = False
    reached = np.flatnonzero(outside & (np.abs(residual) >= penalty - _TINY * scale))
    return int(reached[0]) if len(reached) else None


def _depends(gram: Floats, active: list[int], column: int) -> bool:
    """Whether a column is, to rounding, a combination of the active ones."""
    if not active:
        return False
    cross = gram[active, column]
    explained = cross @ np.linalg.solve(gram[np.ix_(active, active)], cross)
    return bool(gram[column, column] - explained <= 1e-9 * gram[column, column])


def _step_to_entry(
    residual: Floats, slope: Floats, penalty: float, active: list[int], barred: NDArray[np.bool_], left: int | None
) -> float:
    """How far the penalty may fall until a further column enters."""
    outside = ~barred
    outside[active] = False
    candidates = [penalty]
    for column in np.flatnonzero(outside):
        for sign in (1.0, -1.0):
            gap, closing = penalty - sign * residual[column], 1.0 - sign * slope[column]
            if closing > _TINY and (gap > _TINY * penalty or (column != left and gap >= 0)):
                candidates.append(max(float(gap / closing), 0.0))
    return min(candidates)


def _step_to_exit(weights: Floats, direction: Floats, active: list[int], limit: float) -> tuple[float, int | None]:
    """The same step, or a shorter one at which an active weight reaches 0 and its column leaves."""
    step, leaving = limit, None
    for column in active:
        if weights[column] * direction[column] < 0:
            reach = -float(weights[column] / direction[column])
            if reach < step:
                step, leaving = reach, column
    return step, leaving


def weights_at(path: list[Segment], penalty: float, columns: int) -> Floats:
    """The lasso's weights at a penalty."""
    for segment in path:
        if segment.low <= penalty <= segment.high:
            return segment.at(penalty)
    return np.zeros(columns) if not path or penalty > path[0].high else path[-1].at_low


def segment_with(path: list[Segment], count: int) -> Segment | None:
    """The first stretch, from the top, with this many columns; else the one with the most that stays below it."""
    exact = [segment for segment in path if len(segment.active) == count and segment.high > segment.low]
    if exact:
        return exact[0]
    fewer = [segment for segment in path if len(segment.active) < count and segment.high > segment.low]
    return max(fewer, key=lambda segment: len(segment.active), default=None)
