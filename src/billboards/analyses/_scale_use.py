"""What people did with one dimension of a board: where their values lie, and how far they agree.

The level of measurement decides what agreement means: values of few steps are taken as ordered, others as numbers;
what is read off levels, and preferences, as plain categories.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from billboards.board import Aggregate, Agreement, Board, Dimension, Preferences, ScaleUse, Spread, preferred_pairs
from billboards.errors import NotEnoughData
from billboards.stats.ratings import ratings_in_columns
from billboards.stats.reliability import Level, alpha_with_interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: A scale with at most so many different values counts as steps in an order, and each of them is shown.
STEPS = 12
ALIKE, CHOSEN = "alike", "one is better"


def measure_dimension(board: Board, dimension: Dimension, *, draws: int, seed: int) -> ScaleUse:
    """The use of a dimension by everybody who judged it, test questions aside."""
    if dimension.kind == "preference":
        return _compared(board, dimension, draws, seed)
    values = board.judgments.on(dimension)
    used = board.judgments.counted() & np.isfinite(values)
    values, annotator = values[used], board.judgments.annotator[used].astype(np.int64)
    unit = board.judgments.row[used].astype(np.int64) * len(board.instances) + board.judgments.instance[used]
    steps = np.unique(values)
    level: Level = "nominal" if dimension.levels_of else "ordinal" if len(steps) <= STEPS else "interval"
    low, high = (0.0, 1.0) if dimension.levels_of else dimension.range or (None, None)
    return ScaleUse(
        name=dimension.name,
        definition=dimension.definition,
        scale=_scale(dimension),
        judgments=len(values),
        outputs=len(np.unique(unit)),
        annotators=len(np.unique(annotator[annotator >= 0])),
        values=_spread(values),
        shares={f"{step:.4g}": float((values == step).mean()) for step in steps} if len(steps) <= STEPS else {},
        at_lowest=_share(values, low),
        at_highest=_share(values, high),
        agreement=_agreement(unit, annotator, values, level, draws, seed),
    )


def _compared(board: Board, dimension: Dimension, draws: int, seed: int) -> ScaleUse:
    pairs = preferred_pairs(board, Aggregate(dimension.name, (dimension.name,)))
    shares: Mapping[str, float] = {}
    if len(pairs):
        tied = float(pairs.tied.mean())
        shares = {CHOSEN: 1 - tied, ALIKE: tied}
    unit, value = _pair_units(pairs, len(board.rows))
    cells = np.concatenate([pairs.better, pairs.worse]).astype(np.int64) * len(board.instances)
    outputs = np.unique(cells + np.concatenate([pairs.instance, pairs.instance]))
    annotator = pairs.annotator.astype(np.int64)
    annotators = len(np.unique(annotator[annotator >= 0]))
    return ScaleUse(
        name=dimension.name,
        definition=dimension.definition,
        scale=_scale(dimension),
        judgments=len(pairs),
        outputs=len(outputs),
        annotators=annotators,
        values=None,
        shares=shares,
        at_lowest=None,
        at_highest=None,
        agreement=_agreement(unit, annotator, value, "nominal", draws, seed),
    )


def _pair_units(pairs: Preferences, rows: int) -> tuple[Ints, Floats]:
    """Two outputs of an instance as one unit, whoever stands first; 1 for the first, -1 for the second, 0 for none."""
    first, second = np.minimum(pairs.better, pairs.worse), np.maximum(pairs.better, pairs.worse)
    unit = (pairs.instance.astype(np.int64) * rows + first) * rows + second
    return unit, np.where(pairs.tied, 0.0, np.where(pairs.better == first, 1.0, -1.0))


def _agreement(unit: Ints, annotator: Ints, values: Floats, level: Level, draws: int, seed: int) -> Agreement:
    first = _first_of_each(unit, annotator)
    ratings = ratings_in_columns(unit[first], annotator[first], values[first])
    try:
        alpha = alpha_with_interval(ratings, level, resamples=draws, seed=seed)
    except NotEnoughData:
        return Agreement(
            level=level,
            alpha=None,
            interval=None,
            units=0,
            ratings=0,
            reason="no output was judged by two" if len(values) else "nobody judged it",
        )
    if np.isnan(alpha.value):
        return Agreement(
            level=level,
            alpha=None,
            interval=None,
            units=alpha.units,
            ratings=alpha.ratings,
            reason="all values are the same",
        )
    interval = None if np.isnan(alpha.low) else (alpha.low, alpha.high)
    return Agreement(level=level, alpha=alpha.value, interval=interval, units=alpha.units, ratings=alpha.ratings)


def _first_of_each(unit: Ints, annotator: Ints) -> NDArray[np.intp]:
    """Places of everybody's first judgment of each unit; of unknown people every one is somebody's first."""
    named = np.flatnonzero(annotator >= 0)
    _, first = np.unique(np.stack([unit[named], annotator[named]]), axis=1, return_index=True)
    return np.sort(np.concatenate([named[first], np.flatnonzero(annotator < 0)]))


def _spread(values: Floats) -> Spread | None:
    if not len(values):
        return None
    return Spread(
        lowest=float(values.min()),
        median=float(np.median(values)),
        mean=float(values.mean()),
        highest=float(values.max()),
    )


def _share(values: Floats, of: float | None) -> float | None:
    return None if of is None or not len(values) else float((values == of).mean())


def _scale(dimension: Dimension) -> str:
    """A dimension's scale in words."""
    if dimension.kind == "preference":
        return "which output is better"
    if dimension.levels_of is not None:
        return f"1 where {dimension.levels_of} is at least {dimension.at_least:g}, else 0"
    words = "any number" if dimension.range is None else f"{dimension.range[0]:g} to {dimension.range[1]:g}"
    return words if dimension.higher_is_better else f"{words}, lower is better"
