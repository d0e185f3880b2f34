"""Commands of analyses, made from their declarations: arguments and help from the signature, output in every format."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from billboards.cli import options
from billboards.cli._arguments import add_options, given_options

if TYPE_CHECKING:
    from billboards.analyses._analysis import Analysis, Result
    from billboards.analyses._declaration import Declared


def add_arguments(parser: ArgumentParser, asked: Declared) -> None:
    """What the command of an analysis takes."""
    options.add_board(parser)
    add_own_arguments(parser, asked)


def add_own_arguments(parser: ArgumentParser, asked: Declared) -> None:
    """All of it but the board."""
    add_options(parser, asked.options)
    if "aggregate" in asked.view:
        options.add_aggregate(parser)
    if "part" in asked.view:
        options.add_part(parser)
    if asked.keeps:
        parser.add_argument("--no-save", action="store_true", help="don't keep the answer in the board folder")
    if asked.has_chart:
        parser.add_argument(
            "--chart",
            type=Path,
            metavar="FILE",
            help="draw it, too: FILE.pdf or .svg as a column of a paper, .png, or .csv or .dat with its data",
        )
    if asked.scores:
        options.add_jobs(parser)
    options.add_format(parser)


def run(arguments: Namespace, asked: Analysis[Any, Any]) -> int:
    """Ask, and print the answer as the arguments want it."""
    show(arguments, answer(arguments, asked))
    return 0


def answer(arguments: Namespace, asked: Analysis[Any, Any]) -> Result[Any]:
    """Ask the board that was named; an answer that can't be kept is given all the same, and that is said."""
    from billboards.analyses._view import Scoring, look_at
    from billboards.board.folder import open_board
    from billboards.cli.output import note
    from billboards.cli.progress import scoring_progress
    from billboards.errors import StoreFailed

    chosen: dict[str, Any] = {}
    if "aggregate" in asked.view:
        chosen["aggregate"] = arguments.aggregate
    if "part" in asked.view:
        chosen["part"] = options.chosen_slice(arguments)
    board = open_board(arguments.board)
    settings = asked.naming(board, given_options(arguments, asked.options))
    with scoring_progress() as watch:
        scoring = Scoring(jobs=arguments.jobs, on_progress=watch) if asked.scores else None
        view = look_at(board, scoring=scoring, **chosen)
        save = asked.keeps and not arguments.no_save
        try:
            return asked.run(view, save=save, **settings)
        except StoreFailed as error:
            if not save:
                raise
            note(f"the answer was not kept: {error}")
            return asked.run(view, save=False, **settings)


def show(arguments: Namespace, result: Result[Any]) -> None:
    """Print a result, with its notes on stderr and its chart in a file."""
    from billboards.cli.output import emit, note

    for text in result.notes:
        note(text)
    emit(arguments, result.tables, lambda: result.document, result.latex)
    if getattr(arguments, "chart", None):
        for file in result.save_chart(arguments.chart):
            note(f"wrote {file}")
