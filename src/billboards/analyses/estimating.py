"""People's mean score of a generator from few labels, with a metric or the ensemble as control variate.

The metric scores all of the generator's outputs, people label some: the metric says whether the labelled ones are
easier than the rest. It must not have been fitted on these labels, so the ensemble is fitted on the other generators
only. With fewer labels than there are, a seeded subsample is drawn, which shows what labelling less would have given.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.ensemble import ENSEMBLE, ensemble_scores
from billboards.analyses.preferences import check_values
from billboards.analyses.ranking import fit_view
from billboards.analyses.study_results import Mean, MeanEstimate
from billboards.analyses.view import View, view_board
from billboards.board import Board, Slice
from billboards.board.cells import CellStore
from billboards.errors import NotEnoughData
from billboards.stats.estimate import Estimate, Target, estimate_mean

Floats = NDArray[np.float64]

#: What preferences don't give.
NO_MEAN = "there is no mean to estimate"


def estimate_generator(
    board: Board,
    store: CellStore | None,
    generator: str,
    *,
    labels: int | None = None,
    metric: str = ENSEMBLE,
    target: Target | None = None,
    aggregate: str | None = None,
    part: Slice | None = None,
    seed: int = 0,
) -> MeanEstimate:
    """The mean human score of a generator from `labels` seeded labels, or from all there are.

    Without a `target`, it is the mean over the generator's outputs; that is known exactly once all of them are
    labelled, so then it is the mean over the population they are a sample of.
    """
    row = board.row_position[board.generator(generator).name]
    check_values(board, aggregate, NO_MEAN)
    view = view_board(board, store, aggregate=aggregate, part=part)
    keep = board.select(view.part)
    there = np.array([board.rows[row].texts[k] is not None for k in keep], bool)
    people = view.human[row][there]
    given = _some(people, labels, generator, seed)
    scores, fitted_on = control_scores(board, view, row, metric)
    x = scores[row][there]
    used, available = int(np.isfinite(given).sum()), int(np.isfinite(people).sum())
    chosen: Target = target or ("population" if used == len(people) else "instances")
    found = estimate_mean(x, given, target=chosen)
    plain = estimate_mean(np.full(len(x), np.nan), given, target=chosen)
    return MeanEstimate(
        board.name,
        generator,
        view.aggregate,
        str(view.part),
        metric,
        chosen,
        used,
        available,
        len(people),
        int(np.isfinite(x).sum()),
        found.weight,
        mean_of(found),
        mean_of(plain),
        float(people[np.isfinite(people)].mean()),
        seed,
        fitted_on,
    )


def control_scores(board: Board, view: View, row: int, metric: str) -> tuple[Floats, tuple[str, ...]]:
    """The scores of all rows by a control variate that knows none of this row's labels, and whom it was fitted on."""
    if metric != ENSEMBLE:
        return view.scores.of(metric), ()
    others = view.judged & (np.arange(len(view.judged)) != row)
    try:
        fitted = fit_view(board, replace(view, judged=others)).ensemble
    except NotEnoughData as error:
        raise NotEnoughData(
            f"no ensemble without {board.rows[row].name}: {error}; name a metric with --metric (or metric=…)"
        ) from error
    names = (one.name for one, taken in zip(board.rows, others, strict=True) if taken and one.generator is not None)
    return ensemble_scores(fitted, view.scores), tuple(names)


def _some(people: Floats, labels: int | None, generator: str, seed: int) -> Floats:
    """Only so many of the labels, drawn by the seed; NaN elsewhere."""
    available = np.flatnonzero(np.isfinite(people))
    count = len(available) if labels is None else labels
    if not 2 <= count <= len(available):
        raise NotEnoughData(
            f"{generator} has {len(available)} labels and {count} are to be used; take 2 or more of those it has"
        )
    chosen = np.random.default_rng(seed).permutation(available)[:count]
    given = np.full(len(people), np.nan)
    given[chosen] = people[chosen]
    return given


def mean_of(found: Estimate) -> Mean:
    """A mean with its standard error and interval, which labels that are all the same don't have."""
    if np.isnan(found.se):
        return Mean(found.mean, None, None, None)
    return Mean(found.mean, found.se, (found.low, found.high), found.effective)
