"""Say how many instances, labels or generators it takes to tell two metrics, or two generators, apart.

billboards power BOARD COMET BLEU
billboards power BOARD systemA systemB
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    options.add_board(parser)
    parser.add_argument("first", metavar="A", help="a metric or a generator")
    parser.add_argument("second", metavar="B", help="another of the same kind")
    options.add_view(parser)
    parser.add_argument(
        "--power", type=options.non_negative, default=0.8, metavar="X", help="the chance to find it (default 0.8)"
    )
    parser.add_argument(
        "--level", type=options.non_negative, default=0.05, metavar="X", help="level of the test (default 0.05)"
    )
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from billboards.api.studies import power
    from billboards.board.folder import open_board
    from billboards.cli.output import show

    how = options.chosen_view(arguments, "power", "level")
    return show(arguments, power(open_board(arguments.board), arguments.first, arguments.second, **how))
