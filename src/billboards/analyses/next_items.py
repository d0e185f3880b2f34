"""Which of a generator's outputs to label next: those where a label says most, drawn by known chances.

How far people stray from a metric's prediction, and at which scores most, is learned from the other generators. Outputs
are drawn in proportion; labels that are there already count as certain. A plain mean of labels drawn so is wrong, so
the chances are part of the result, and `estimate_drawn` weighs each label by them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.ensemble import ENSEMBLE
from billboards.analyses.estimating import control_scores
from billboards.analyses.rating_results import NextItem, NextItems
from billboards.analyses.study_results import Mean
from billboards.analyses.view import View, view_board
from billboards.board import Board
from billboards.board.cells import CellStore
from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.allocation import (
    combine_batches,
    draw_items,
    estimate_weighted,
    inclusion_probabilities,
    residual_spread,
)
from billboards.stats.estimate import estimate_mean

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class _Prospect:
    """A generator's outputs as they stand: where they are, their labels, what the metric predicts, expected errors."""

    view: View
    instances: tuple[str, ...]
    labels: Floats
    scores: Floats
    prediction: Floats
    spread: Floats


def choose_next(
    board: Board,
    store: CellStore | None,
    generator: str,
    labels: int,
    *,
    metric: str = ENSEMBLE,
    aggregate: str | None = None,
    seed: int = 0,
) -> NextItems:
    """So many unlabelled outputs of a generator to label next, with the chances that make the estimate right."""
    prospect = _prospect(board, store, generator, metric, aggregate)
    certain = np.isfinite(prospect.labels)
    if labels > (~certain).sum():
        raise NotEnoughData(
            f"{generator} has {(~certain).sum()} outputs without a label ({prospect.view.aggregate}), so {labels} more "
            "can't be labelled"
        )
    chances = inclusion_probabilities(prospect.spread, labels, certain=certain)
    drawn = draw_items(chances, certain=certain, seed=seed)
    free = prospect.spread[~certain]
    return NextItems(
        board=board.name,
        generator=generator,
        aggregate=prospect.view.aggregate,
        metric=metric,
        labels=labels,
        labelled=int(certain.sum()),
        outputs=len(chances),
        seed=seed,
        design_effect=float((free**2).mean() / free.mean() ** 2),
        items=tuple(
            NextItem(prospect.instances[k], float(chances[k]), float(1 / chances[k]), float(prospect.spread[k]))
            for k in drawn[np.argsort(-chances[drawn], kind="stable")].tolist()
        ),
        probabilities=dict(zip(prospect.instances, chances.tolist(), strict=True)),
    )


def estimate_drawn(
    board: Board,
    store: CellStore | None,
    generator: str,
    probabilities: Mapping[str, float],
    *,
    metric: str = ENSEMBLE,
    aggregate: str | None = None,
) -> Mean:
    """The mean over all of a generator's outputs from labels that were drawn with these chances.

    Instances of chance 1 were labelled before; their own estimate is combined with that of the labels drawn after.
    """
    prospect = _prospect(board, store, generator, metric, aggregate)
    unknown = set(prospect.instances) - set(probabilities)
    if unknown:
        raise InvalidInput(
            f"{len(unknown)} outputs of {generator} have no chance in that draw, first {min(unknown)!r}; "
            "draw again with the board as it is"
        )
    chances = np.array([probabilities[name] for name in prospect.instances])
    certain = chances >= 1
    found = estimate_weighted(prospect.labels, chances, prediction=prospect.prediction)
    if certain.sum() > 2:
        first = estimate_mean(prospect.scores, np.where(certain, prospect.labels, np.nan))
        found = combine_batches(first.mean, first.se, found)
    if np.isnan(found.se):
        return Mean(found.mean, None, None, None)
    return Mean(found.mean, found.se, (found.low, found.high), None)


def _prospect(board: Board, store: CellStore | None, generator: str, metric: str, aggregate: str | None) -> _Prospect:
    row = board.row_position[board.generator(generator).name]
    view = view_board(board, store, aggregate=aggregate)
    texts = board.rows[row].texts
    there = np.array([text is not None for text in texts], bool)
    scores = control_scores(board, view, row, metric)[0]
    others = view.judged & (np.arange(len(board.rows)) != row)
    own, x, y = scores[row], scores[others], view.human[others]
    used = np.isfinite(x) & np.isfinite(y)
    if used.sum() < 20 or np.ptp(x[used]) == 0:
        raise NotEnoughData(
            f"what to label next of {generator} is learned from other generators' labels, and only {used.sum()} of "
            f"those have a score by {metric}; label at random instead"
        )
    slope, intercept = np.polyfit(x[used], y[used], 1)
    spread = residual_spread(own, x[used], y[used] - intercept - slope * x[used])
    prediction = np.where(np.isfinite(own), intercept + slope * own, y[used].mean())
    ids = tuple(one.id for one, has in zip(board.instances, there, strict=True) if has)
    return _Prospect(view, ids, view.human[row][there], own[there], prediction[there], spread[there])
