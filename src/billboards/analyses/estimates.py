"""Every generator's mean human score: overall and by dimension, with its interval, its worst case, and a metric's help.

The interval resamples the labelled outputs. The worst-case standard error is what the mean could have on its scale
whatever people said (GENIE, Appendix C). The metric's help is the control variate of `estimating`, with the labels it
saves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.ensemble import ENSEMBLE
from billboards.analyses.estimating import NO_MEAN, control_scores, mean_of
from billboards.analyses.preferences import check_values
from billboards.analyses.rating_results import EstimateStudy, GeneratorEstimate
from billboards.analyses.study_results import Mean
from billboards.analyses.view import View, view_board
from billboards.board import Aggregate, Board, Slice
from billboards.board.cells import CellStore
from billboards.errors import NotEnoughData
from billboards.stats.estimate import estimate_mean
from billboards.stats.worst_case import bootstrap_mean, worst_case_se

Floats = NDArray[np.float64]


def estimate_generators(
    board: Board,
    store: CellStore | None,
    *,
    aggregates: Sequence[str] | None = None,
    metric: str = ENSEMBLE,
    part: Slice | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> EstimateStudy:
    """Means of all judged generators; without `aggregates`, by the one that ranks and by each of its dimensions."""
    estimates: list[GeneratorEstimate] = []
    missing: dict[str, str] = {}
    names = aggregates or _by_default(board)
    for name in names:
        view = view_board(board, store, aggregate=name, part=part)
        for row, outputs in enumerate(board.rows):
            if outputs.generator is not None and np.isfinite(view.human[row]).any():
                helped = _helped(board, view, row, metric, missing)
                estimates.append(_estimate(board, view, row, helped, resamples, seed))
    if not estimates:
        check_values(board, names[0], NO_MEAN)
        raise NotEnoughData(f"board {board.name} has no judgments of a generator here, so there is nothing to estimate")
    return EstimateStudy(board.name, metric, str(part or Slice()), resamples, seed, tuple(estimates), missing)


def _by_default(board: Board) -> tuple[str, ...]:
    chosen = board.aggregate()
    return (chosen.name, *(name for name in chosen.dimensions if name != chosen.name))


def _outputs(board: Board, view: View, row: int) -> NDArray[np.bool_]:
    texts = board.rows[row].texts
    return np.array([texts[k] is not None for k in board.select(view.part)], bool)


def _helped(board: Board, view: View, row: int, metric: str, missing: dict[str, str]) -> tuple[Mean, float] | None:
    """The mean with the metric's help and the labels saved; None, with the reason, where the metric can't."""
    there = _outputs(board, view, row)
    people = view.human[row][there]
    try:
        scores = control_scores(board, view, row, metric)[0][row][there]
        if not np.isfinite(scores).any():
            return None
        used = int(np.isfinite(people).sum())
        found = estimate_mean(scores, people, target="population" if used == len(people) else "instances")
    except NotEnoughData as error:
        missing[f"{board.rows[row].name}, {view.aggregate}"] = str(error)
        return None
    return mean_of(found), found.saved


def _estimate(
    board: Board, view: View, row: int, helped: tuple[Mean, float] | None, resamples: int, seed: int
) -> GeneratorEstimate:
    people = view.human[row]
    labels = int(np.isfinite(people).sum())
    mean, low, high = bootstrap_mean(people, resamples=resamples, seed=seed)
    ends = _ends(board, board.aggregate(view.aggregate))
    worst = None if ends is None else worst_case_se(min(max(mean, ends[0]), ends[1]), labels, low=ends[0], high=ends[1])
    return GeneratorEstimate(
        generator=board.rows[row].name,
        dimension=view.aggregate,
        labels=labels,
        outputs=int(_outputs(board, view, row).sum()),
        mean=mean,
        interval=(low, high),
        worst_se=worst,
        with_metric=None if helped is None else helped[0],
        saved=None if helped is None or np.isnan(helped[1]) else helped[1],
    )


def _ends(board: Board, aggregate: Aggregate) -> tuple[float, float] | None:
    """The ends of an aggregate's scale on 0-100; None where a dimension declares none."""
    ends = []
    for name in aggregate.dimensions:
        dimension = board.dimensions[name]
        if dimension.range is None:
            return None
        slope, intercept = dimension.affine()
        ends.append(sorted(value * slope + intercept for value in dimension.range))
    low, high = np.mean(ends, axis=0)
    return float(low), float(high)
