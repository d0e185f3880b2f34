"""Metrics by their agreement with people, generators by the best metric, and the ensemble of metrics.

A board in memory is ranked on its imported scores; one in a folder also on those that were computed there, and its
ensembles and rankings are numbered and kept there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from billboards.analyses import documents
from billboards.analyses.ensemble import study_ensemble
from billboards.analyses.ensemble_tables import ablation_table, ensemble_table, gains_table
from billboards.analyses.home import Home, home_of
from billboards.analyses.keeping import keep, numbered
from billboards.analyses.ranking import fit_view, rank_board
from billboards.analyses.ranking_results import EnsembleStudy, Method, Ranking, Resampled
from billboards.analyses.ranking_tables import generator_table, lines_table, metric_table
from billboards.analyses.view import view_board
from billboards.api.result import Result
from billboards.board import Board, Slice


def rank(
    board: Board,
    *,
    aggregate: str | None = None,
    references: Sequence[str] | None = None,
    part: Slice | None = None,
    k: int = 3,
    lam: float | None = None,
    by: str | None = None,
    method: Method = "lasso",
    resampled: Resampled = "instances",
    draws: int = 1000,
    seed: int = 0,
    save: bool = False,
) -> Result[Ranking]:
    """Metrics by agreement with people, generators by the best metric; `save` keeps a snapshot in the folder.

    `resampled` is what the intervals' bootstrap draws: which other instances, documents or generators they are about.
    """
    home = home_of(board) if board.home is not None else None
    ranking = rank_board(
        board,
        None if home is None else home.cells,
        aggregate=aggregate,
        references=None if references is None else board.check_references(references),
        part=part,
        k=k,
        lam=lam,
        by=by,
        method=method,
        resampled=resampled,
        draws=draws,
        seed=seed,
    )
    if home is not None:
        ranking = keep(home, ranking)[0] if save else numbered(home, ranking)
    shown = [metric_table(ranking), generator_table(ranking)]
    if ranking.lines:
        shown.append(lines_table(ranking))
    return Result(ranking, tuple(shown), documents.ranking_document(ranking))


def ensemble(
    board: Board,
    *,
    aggregate: str | None = None,
    part: Slice | None = None,
    k: int = 3,
    lam: float | None = None,
    method: Method = "lasso",
) -> Result[EnsembleStudy]:
    """The ensemble, its ablations, and what each metric adds."""
    study = study_of(home_of(board) if board.home is not None else None, board, aggregate, part, k, lam, method)
    shown = (ensemble_table(study.ensemble), ablation_table(study), gains_table(study))
    return Result(study, shown, documents.study_document(study))


def study_of(
    home: Home | None,
    board: Board,
    aggregate: str | None,
    part: Slice | None,
    k: int,
    lam: float | None,
    method: Method,
) -> EnsembleStudy:
    """The study of a board's ensemble, numbered where the board has a folder."""
    view = view_board(board, None if home is None else home.cells, aggregate=aggregate, part=part)
    fitted = fit_view(board, view, k=k, lam=lam, method=method)
    if home is not None:
        fitted = replace(fitted, ensemble=home.archive.versioned(fitted.ensemble))
    return study_ensemble(fitted, view.scores, view.judged_human)
