"""Ranking a board: metrics by how well they agree with people, generators by the metric that agrees best (§2.1).

Every judged row takes part whose text is not among the references. The best metric, or the ensemble where it agrees
better, ranks the generators; statistics and reference-free metrics are shown but don't decide alone where there are
references, because a metric without references rewards outputs like those of its own model. What has no value has no
rank; what permutation tests can't tell apart shares one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from billboards.analyses.ensemble import ENSEMBLE, FittedEnsemble, fit_board_ensemble
from billboards.analyses.preferences import GROUPING, STATISTIC, agreement_with_preferences
from billboards.analyses.ranking_results import Ensemble, Method, MetricStanding, Ranking, Resampled
from billboards.analyses.reference_lines import reference_lines
from billboards.analyses.resampling import correlations_with_intervals
from billboards.analyses.standings import rank_generators, rank_metrics
from billboards.analyses.view import Floats, View, only_rows, view_board
from billboards.board import Board, ReferenceSet, Slice
from billboards.board.cells import CellStore
from billboards.errors import NotEnoughData, UnknownName
from billboards.stats.correlation import Correlations
from billboards.stats.significance import permute_correlations

DRAWS = 1000
#: The version of how rankings are computed. Raise it with every change that may give other numbers on the same board:
#: sites then rank their boards anew.
METHOD = 1
#: How a note ends that says which metric agrees best and may not lead.
NOT_ALONE = "it correlates best but does not rank generators alone"


def rank_board(
    board: Board,
    store: CellStore | None,
    *,
    aggregate: str | None = None,
    references: ReferenceSet | None = None,
    part: Slice | None = None,
    k: int = 3,
    lam: float | None = None,
    by: str | None = None,
    method: Method = "lasso",
    resampled: Resampled = "instances",
    draws: int = DRAWS,
    seed: int = 0,
    barred: Mapping[str, str] | None = None,
) -> Ranking:
    """Everything a board says: metrics, ensemble and generators, ranked, and lines to read the metrics against.

    `barred` metrics may not rank the generators alone, each for the reason given, unless asked for by name.
    """
    judged = board.ranks is not None or aggregate is not None
    # Before the matrix is there: on a large board each of the two needs much memory for a while.
    lines = reference_lines(board, part or Slice(), aggregate, references, seed=seed) if judged else ()
    view = view_board(board, store, aggregate=aggregate, references=references, part=part)
    notes: list[str] = []
    ensemble = _try_ensemble(board, view, k, lam, method, notes)
    other: Method = "lasso" if method == "best-subset" else "best-subset"
    alternative = _try_ensemble(board, view, k, None, other, [])
    found, tests = _agreement(board, view, resampled, draws, seed)
    metrics = rank_metrics(view.scores.columns, found, tests)
    ranked_by = _leader(board, metrics, ensemble, by, notes, barred or {})
    return Ranking(
        board.name,
        board.version,
        "pearson" if view.pairs is None else STATISTIC,
        "pooled" if view.pairs is None else GROUPING,
        view.aggregate,
        str(view.part),
        view.references,
        seed,
        draws,
        metrics,
        rank_generators(board, _with_shares(view), ensemble, ranked_by, draws, seed),
        ranked_by,
        ensemble,
        tuple(notes),
        alternative,
        lines,
        resampled,
    )


def _agreement(
    board: Board, view: View, resampled: Resampled, draws: int, seed: int
) -> tuple[Correlations, Floats | None]:
    """How far each metric agrees with people, by the statistic that fits what they gave, and tests between metrics."""
    scores = view.scores.values
    if view.pairs is not None:
        return agreement_with_preferences(
            board, view.part, scores, view.pairs, resampled=resampled, draws=draws, seed=seed
        )
    human = view.judged_human
    found = correlations_with_intervals(board, view.part, scores, human, resampled=resampled, draws=draws, seed=seed)
    return found, permute_correlations(scores, human, draws=draws, seed=seed).p if draws else None


def _with_shares(view: View) -> View:
    """A view that shows, where people compared outputs, the share of its comparisons that each output won."""
    return view if view.pairs is None else replace(view, human=view.pairs.share_won(view.human.shape))


def fit_view(
    board: Board, view: View, *, k: int = 3, lam: float | None = None, method: Method = "lasso"
) -> FittedEnsemble:
    """The ensemble on what a view looks at; only generators take part, since one of them is held out at a time."""
    if view.pairs is not None:
        raise NotEnoughData(f"people compared outputs on {view.aggregate} and gave no values to fit")
    generators = np.array([row.generator is not None for row in board.rows], bool)
    human = only_rows(view.judged_human, generators)
    return fit_board_ensemble(
        board,
        view.scores,
        human,
        aggregate=view.aggregate,
        references=view.references,
        part=str(view.part) if view.part else "",
        k=k,
        lam=lam,
        method=method,
    )


def _try_ensemble(
    board: Board, view: View, k: int, lam: float | None, method: Method, notes: list[str]
) -> Ensemble | None:
    try:
        return fit_view(board, view, k=k, lam=lam, method=method).ensemble
    except NotEnoughData as error:
        notes.append(f"no ensemble: {error}")
        return None


def _leader(
    board: Board,
    metrics: Sequence[MetricStanding],
    ensemble: Ensemble | None,
    by: str | None,
    notes: list[str],
    barred: Mapping[str, str],
) -> str | None:
    """The name of what ranks the generators."""
    if by is not None:
        if by == ENSEMBLE and ensemble is not None:
            return by
        chosen = next((m.name for m in metrics if by in (m.name, m.source_name)), None)
        if chosen is None:
            raise UnknownName("metric", by, [m.name for m in metrics])
        return chosen
    ranked = [m for m in metrics if m.correlation is not None and not m.is_statistic]
    able = [m for m in ranked if m.name not in barred and (board.free_may_rank or not m.reference_free)]
    for metric in ranked:
        if able and metric not in able and (metric.correlation or 0) > (able[0].correlation or 0):
            why = barred.get(metric.name, "uses no reference")
            notes.append(f"{metric.name} {why}: {NOT_ALONE}")
            break
    best = able[0] if able else None
    best_r = -np.inf if best is None or best.correlation is None else best.correlation
    if ensemble is not None and ensemble.correlation is not None and ensemble.correlation > best_r:
        return ENSEMBLE
    if best is not None and best.reference_free:
        notes.append(f"{best.name} uses no reference and ranks the generators: {_why_free(board)}")
    if best is None:
        notes.append("generators are not ranked: no metric has a correlation with judgments; choose one with --by")
        return None
    return best.name


def _why_free(board: Board) -> str:
    return "the board has none" if not board.references else "the board's owner allows it"
