"""One self-contained HTML page about a board, with every study that its data allow.

A section whose data are missing is left out; the page itself is laid out by `reports.html`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from billboards.analyses.board_studies import study_board
from billboards.analyses.comparison_results import Sensitivity
from billboards.analyses.home import Home, home_of
from billboards.analyses.keeping import numbered
from billboards.analyses.overrating import human_generators
from billboards.analyses.ranking import rank_board
from billboards.analyses.ranking_results import Method, Ranking
from billboards.analyses.report_page import report_html
from billboards.analyses.report_sections import JudgedScores
from billboards.analyses.sensitivity import measure_sensitivity
from billboards.analyses.view import view_board
from billboards.api.ranking import study_of
from billboards.api.scoring import overrating, references
from billboards.board import Board, Slice
from billboards.board.scoring import Progress


def report(
    board: Board,
    path: str | Path,
    *,
    human: str | None = None,
    aggregate: str | None = None,
    part: Slice | None = None,
    k: int = 3,
    lam: float | None = None,
    method: Method = "lasso",
    seed: int = 0,
    with_references: bool = True,
    with_studies: bool = True,
    jobs: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
) -> Path:
    """One self-contained HTML page about a board; scores that overrating and references need are computed first.

    With studies it has hybrids, power, means from few labels and a second source of judgments, as the board allows.
    """
    home = home_of(board)
    ranking = numbered(
        home, rank_board(board, home.cells, aggregate=aggregate, part=part, k=k, lam=lam, method=method, seed=seed)
    )
    compared = human or next(iter(human_generators(board)), None) if board.ranks else None
    how: dict[str, Any] = {"aggregate": aggregate, "jobs": jobs, "on_progress": on_progress}
    page = report_html(
        ranking,
        board=board,
        study=None if ranking.ensemble is None else study_of(home, board, aggregate, part, k, lam, method),
        judged=_best_metric_scores(home, ranking, part),
        sensitivity=_sensitivity(home, ranking, aggregate, part, seed),
        studies=study_board(board, home.cells, ranking, part=part) if with_studies else None,
        audits=home.archive.audits(),
        # Last, because these two compute scores: until then every section has seen the same ones as the ranking.
        overrating=None if compared is None else overrating(board, compared, k=k, lam=lam, method=method, **how).value,
        references=references(board, seed=seed, **how).value if with_references and _can_add(board) else None,
    )
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page, encoding="utf-8")
    return target


def _sensitivity(
    home: Home, ranking: Ranking, aggregate: str | None, part: Slice | None, seed: int
) -> Sensitivity | None:
    if all(metric.correlation is None for metric in ranking.metrics):
        return None
    return measure_sensitivity(home.board, home.cells, aggregate=aggregate, part=part, seed=seed)


def _can_add(board: Board) -> bool:
    """Whether there are references to add one by one, metrics to see the effect of it, and judgments to measure it."""
    return len(board.references) > 1 and bool(board.metrics) and board.ranks is not None


def _best_metric_scores(home: Home, ranking: Ranking, part: Slice | None) -> JudgedScores | None:
    """What the scatter plot shows: the best metric beside people, on the judged rows."""
    best = next((m.name for m in ranking.metrics if m.correlation is not None and not m.is_statistic), None)
    if best is None:
        return None
    view = view_board(home.board, home.cells, aggregate=ranking.aggregate, part=part)
    names = tuple(name for name, judged in zip(view.scores.rows, view.judged, strict=True) if judged)
    return JudgedScores(best, view.human[view.judged], view.scores.of(best)[view.judged], names)
