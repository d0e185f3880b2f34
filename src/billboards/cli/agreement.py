"""Hold two sources of judgments against each other, such as crowd against experts: do they agree, and where not?

billboards agreement BOARD crowd overall
billboards agreement BOARD da overall --show 25
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    options.add_board(parser)
    parser.add_argument("first", metavar="FIRST", help="an aggregate or dimension of judgments")
    parser.add_argument("second", metavar="SECOND", help="another one")
    options.add_part(parser)
    parser.add_argument(
        "--show", type=options.positive, default=5, metavar="N", help="outputs to show of each corner (default 5)"
    )
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from billboards.api.studies import agreement
    from billboards.board.folder import open_board
    from billboards.cli.output import show

    board, part = open_board(arguments.board), options.chosen_slice(arguments)
    return show(arguments, agreement(board, arguments.first, arguments.second, part=part, shown=arguments.show))
