"""Scores of a board, computed where they are missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from billboards.analyses._archive import home_of
from billboards.board import Board
from billboards.board.missing_cells import Progress, ScoringReport, chosen_metrics, score_board
from billboards.errors import InvalidInput
from billboards.metrics.discovery import Spec
from billboards.run.local import executor


def score(
    board: Board,
    metrics: Spec | Sequence[Spec] | None = None,
    *,
    references: Sequence[str] | None = None,
    jobs: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
) -> ScoringReport:
    """Compute every score of these metrics that is missing, and keep it in the board's folder.

    board: an open board.
    metrics: names, Python files, functions or `Metric` objects, as `metric` takes them (default: the board's).
    references: the references to score with (default: those the board uses).
    jobs: processes to use.
    on_progress: called with how far scoring has come.

        bb.score(board, ["BLEU", "chrF(beta=1)", "./mine.py", my_function])

    board: a board in a folder
    metrics: names, files or metrics
    references: the references to score with (default: the board's)
    jobs: processes to use; above 1 a script needs the usual `if __name__ == "__main__":` guard
    on_progress: called with every step

    Example:

        bb.score(bb.open("my-board"), ["BLEU", "chrF"])
    """
    if not isinstance(board, Board):
        raise InvalidInput(
            f"bb.score takes a board, as in bb.score(bb.open(FOLDER)), not {type(board).__name__}; "
            "for texts there is bb.score_texts(outputs, references)"
        )
    home = home_of(board)
    used = None if references is None else board.check_references(references)
    return score_board(
        board,
        home.cells,
        chosen_metrics(board, metrics),
        executor(jobs),
        references=used,
        counted=True,
        on_progress=on_progress,
    )
