"""The verbs that compute scores: those of a board, and those that overrating and the worth of a reference need.

A board's own scores see all its references. How metrics treat a person whose text is a reference, and what one
reference more is worth, are seen only with fewer of them: those scores are computed when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from billboards.analyses import documents
from billboards.analyses.effect_tables import overrating_table, reference_table
from billboards.analyses.home import home_of
from billboards.analyses.overrating import (
    NO_EQUAL_QUALITY,
    human_generators,
    measure_overrating,
    references_without,
    rows_compared,
)
from billboards.analyses.preferences import check_values
from billboards.analyses.ranking_results import Method, OverratingReport, ReferenceEffect
from billboards.analyses.references import reference_effect
from billboards.api.result import Result
from billboards.board import Board
from billboards.board.scoring import Progress, ScoringReport, chosen_metrics, score_board
from billboards.errors import InvalidInput, NotEnoughData
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

    With `jobs` above 1 a script needs the usual `if __name__ == "__main__":` guard, as for all of Python's processes.
    """
    home = home_of(board)
    used = None if references is None else board.check_references(references)
    return score_board(
        board, home.cells, chosen_metrics(board, metrics), executor(jobs), references=used, on_progress=on_progress
    )


def overrating(
    board: Board,
    human: str | None = None,
    *,
    references: Sequence[str] | None = None,
    aggregate: str | None = None,
    k: int = 3,
    lam: float | None = None,
    method: Method = "lasso",
    crossed: bool = False,
    score: bool = True,
    metrics: Spec | Sequence[Spec] | None = None,
    jobs: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
) -> Result[OverratingReport]:
    """How much each metric overrates machines over a person; `score` computes what that needs first.

    The paper's model asks about these machines; `crossed`, with generators as a sample, about machines like them.
    """
    home = home_of(board)
    human = human or _only_human(board)
    used = references_without(board, human, None if references is None else tuple(references))
    failures: Mapping[str, str] = {}
    if score and (metrics or board.metrics):
        failures = score_board(
            board,
            home.cells,
            chosen_metrics(board, metrics),
            executor(jobs),
            references=used,
            rows=rows_compared(board, human, aggregate),
            on_progress=on_progress,
        ).failures
    report = measure_overrating(
        board, home.cells, human, references=used, aggregate=aggregate, k=k, lam=lam, method=method, crossed=crossed
    )
    report = replace(report, missing={**report.missing, **failures})
    return Result(report, (overrating_table(report),), documents.overrating_document(report))


def references(
    board: Board,
    metrics: Spec | Sequence[Spec] | None = None,
    *,
    aggregate: str | None = None,
    most: int = 50,
    seed: int = 0,
    jobs: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
) -> Result[ReferenceEffect]:
    """What one more reference is worth to each metric, scoring what is missing; slow metrics only when named."""
    chosen = chosen_metrics(board, metrics)
    effect = reference_effect(
        board,
        home_of(board).cells,
        chosen if metrics is not None else [one for one in chosen if not one.card.slow],
        executor(jobs),
        aggregate=aggregate,
        most=most,
        seed=seed,
        on_progress=on_progress,
    )
    return Result(effect, (reference_table(effect),), documents.reference_document(effect))


def _only_human(board: Board) -> str:
    people = human_generators(board)
    if not people:
        check_values(board, None, NO_EQUAL_QUALITY)
        raise NotEnoughData(f"board {board.name} has no judged human generator, and overrating compares with one")
    if len(people) > 1:
        names = ", ".join(people)
        raise InvalidInput(
            f"board {board.name}: choose the human generator with --human (or human=…); judged ones: {names}"
        )
    return people[0]
