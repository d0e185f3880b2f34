"""Ask every metric whether it notices a spoilt text: a reference against itself with one mistake put in.

    billboards challenge BOARD --metric chrF --metric length
    billboards challenge BOARD --kind negation --kind number --json

Mistakes: negation, number, entity, word order, truncation, repetition, and a copy of the input. The same seed makes the
same mistakes everywhere.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    options.add_board(parser)
    options.add_metrics(parser)
    parser.add_argument("--base", metavar="NAME", help="the reference to spoil (default: the board's first)")
    parser.add_argument("--kind", action="append", metavar="NAME", help="only this mistake; may be repeated")
    options.add_seed(parser)
    options.add_jobs(parser)
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from billboards.api.auditing import challenge
    from billboards.board.folder import open_board
    from billboards.cli.output import show
    from billboards.cli.progress import scoring_progress

    board = open_board(arguments.board)
    with scoring_progress() as watch:
        result = challenge(
            board,
            arguments.metric,
            base=arguments.base,
            kinds=arguments.kind,
            seed=arguments.seed,
            jobs=arguments.jobs,
            on_progress=watch,
        )
    return show(arguments, result)
