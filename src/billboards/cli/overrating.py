"""Measure how much each metric, and the ensemble, overrates machines over a person, beyond what people say.

The person's own text is kept out of the references. Scores that this needs and that can be computed here are computed
first; for the others the reason is given.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from billboards.cli import options

if TYPE_CHECKING:
    from billboards.domain import Board
    from billboards.service.home import Home


def add_arguments(parser: ArgumentParser) -> None:
    options.add_board(parser)
    parser.add_argument("--human", metavar="NAME", help="the human generator (default: the only judged one)")
    parser.add_argument(
        "--references", metavar="A,B", help="references to score with (default: all but the person's own)"
    )
    options.add_metrics(parser)
    parser.add_argument("--no-score", action="store_true", help="use the scores that are there, compute none")
    parser.add_argument(
        "--aggregate", metavar="NAME", help="the aggregate or dimension of judgments (default: the board's)"
    )
    options.add_ensemble(parser)
    options.add_jobs(parser)
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from billboards.cli.output import emit, note
    from billboards.reports.tables import overrating_table
    from billboards.service.home import open_home
    from billboards.service.overrating import measure_overrating, references_without
    from billboards.store.documents import overrating_document

    home = open_home(arguments.board)
    human = arguments.human or _only_human(home.board)
    references = references_without(home.board, human, options.chosen_references(home.board, arguments.references))
    if not arguments.no_score and (arguments.metric or home.board.metrics):
        for name, reason in _score_missing(arguments, home, human, references).items():
            note(f"failed: {name}: {reason}")
    report = measure_overrating(
        home.board,
        home.cells,
        human,
        references=references,
        aggregate=arguments.aggregate,
        k=arguments.k,
        lam=arguments.lam,
    )
    emit(arguments, [overrating_table(report)], lambda: overrating_document(report))
    return 0


def _only_human(board: Board) -> str:
    from billboards.errors import InvalidInput
    from billboards.service.overrating import human_generators

    people = human_generators(board)
    if len(people) != 1:
        names = ", ".join(people) or "none"
        raise InvalidInput(f"board {board.name}: choose the human generator with --human; judged ones: {names}")
    return people[0]


def _score_missing(arguments: Namespace, home: Home, human: str, references: tuple[str, ...]) -> dict[str, str]:
    from billboards.cli.progress import scoring_progress
    from billboards.execution.local import executor
    from billboards.service.overrating import rows_compared
    from billboards.service.scoring import score_board

    metrics = options.chosen_metrics(home.board, arguments.metric)
    rows = rows_compared(home.board, human, arguments.aggregate)
    with scoring_progress() as show:
        report = score_board(
            home.board,
            home.cells,
            metrics,
            executor(arguments.jobs),
            references=references,
            rows=rows,
            on_progress=show,
        )
    return report.failures
