"""Ratings that a good metric finds implausible (Billboards, §2.4), listed for a second look by a person.

Each rating is held against what the metric makes one expect of that output. The ensemble that judges a generator's
ratings was fitted without them. A metric may be wrong where people are right: the list says where to look, not what to
find.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.ensemble import ENSEMBLE
from billboards.analyses.estimating import control_scores
from billboards.analyses.rating_results import ImplausibleRating, ImplausibleStudy
from billboards.analyses.view import View, view_board
from billboards.board import Aggregate, Board, Slice
from billboards.board.cells import CellStore
from billboards.stats.implausible import standardised_residuals
from billboards.stats.ratings import UNKNOWN

Floats = NDArray[np.float64]

#: What a person can read through, and how many standard deviations count as far.
SHOWN, FAR = 25, 3.0


def find_implausible(
    board: Board,
    store: CellStore | None,
    *,
    aggregate: str | None = None,
    metric: str = ENSEMBLE,
    part: Slice | None = None,
    shown: int = SHOWN,
) -> ImplausibleStudy:
    """The single ratings that stray farthest from what a metric makes one expect, farthest first."""
    view = view_board(board, store, aggregate=aggregate, part=part)
    chosen = board.aggregate(aggregate)
    keep = np.full(len(board.instances), -1)
    keep[list(board.select(view.part))] = np.arange(view.human.shape[1])
    value = _values(board, chosen)
    used = np.flatnonzero(np.isfinite(value) & (keep[board.judgments.instance] >= 0) & _taking_part(board, view))
    expected_by = _expected(board, view, metric)
    row, column = board.judgments.row[used], keep[board.judgments.instance[used]]
    expected, residual = standardised_residuals(expected_by[row, column], value[used])
    scored = np.isfinite(residual)
    order = np.argsort(np.where(scored, -np.abs(residual), 0.0), kind="stable")[: min(shown, int(scored.sum()))]
    return ImplausibleStudy(
        board.name,
        chosen.name,
        metric,
        str(view.part),
        "rating",
        int(scored.sum()),
        int((np.abs(residual[scored]) > FAR).sum()),
        tuple(_rating(board, int(used[k]), value[used[k]], expected[k], residual[k]) for k in order.tolist()),
    )


def _values(board: Board, aggregate: Aggregate) -> Floats:
    """Each judgment's own mean over the aggregate's dimensions on 0-100; NaN where it lacks one or doesn't count."""
    judgments = board.judgments
    total = np.zeros(len(judgments))
    for name in aggregate.dimensions:
        slope, intercept = board.dimensions[name].affine()
        total += judgments.on(board.dimensions[name]) * slope + intercept
    return np.where(judgments.counted(aggregate.campaigns), total / len(aggregate.dimensions), np.nan)


def _taking_part(board: Board, view: View) -> NDArray[np.bool_]:
    return np.asarray(view.judged[board.judgments.row], bool)


def _expected(board: Board, view: View, metric: str) -> Floats:
    """The control variate's score of every judged output; of each generator by one that doesn't know its labels."""
    scores = np.full(view.human.shape, np.nan)
    for row in np.flatnonzero(view.judged):
        scores[row] = control_scores(board, view, int(row), metric)[0][row]
    return scores


def _rating(board: Board, k: int, value: float, expected: float, residual: float) -> ImplausibleRating:
    judgments = board.judgments
    row, instance = board.rows[judgments.row[k]], board.instances[judgments.instance[k]]
    who = int(judgments.annotator[k])
    return ImplausibleRating(
        instance.id,
        row.name,
        None if who == UNKNOWN else judgments.annotators[who],
        float(value),
        float(expected),
        float(residual),
        row.texts[judgments.instance[k]] or "",
        instance.input or "",
        instance.references[0].text if instance.references else "",
    )
