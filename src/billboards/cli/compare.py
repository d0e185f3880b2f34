"""Compare two metrics, or two generators: is the difference real, and which outputs decide it? Or every two metrics.

billboards compare BOARD COMET BLEU
billboards compare BOARD systemA systemB --by chrF
billboards compare BOARD
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    options.add_board(parser)
    parser.add_argument("first", metavar="A", nargs="?", help="a metric or a generator (default: every two metrics)")
    parser.add_argument("second", metavar="B", nargs="?", help="another of the same kind")
    options.add_view(parser)
    parser.add_argument(
        "--unit",
        choices=("both", "instances", "generators"),
        default="both",
        help="what permutation tests of metrics exchange: single scores (PERM-BOTH, default), or whole units",
    )
    parser.add_argument(
        "--by", metavar="SCORE", help="what decides between generators (default: people, else a metric)"
    )
    parser.add_argument("--show", type=options.positive, default=5, metavar="N", help="outputs to show (default 5)")
    parser.add_argument(
        "--draws", type=options.positive, metavar="N", help="draws (default 1000; 10000 for every two metrics)"
    )
    options.add_resampled(parser)
    options.add_seed(parser)
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from billboards.api.comparing import compare, compare_all
    from billboards.board.folder import open_board
    from billboards.cli.output import show
    from billboards.errors import InvalidInput

    board, how = open_board(arguments.board), options.chosen_view(arguments, "unit", "seed")
    if arguments.first is None:
        return show(arguments, compare_all(board, draws=arguments.draws or 10_000, **how))
    if arguments.second is None:
        raise InvalidInput(f"{arguments.first} must be compared with another: name two metrics or two generators")
    how |= {
        "draws": arguments.draws or 1000,
        "by": arguments.by,
        "shown": arguments.show,
        "resampled": arguments.resampled,
    }
    return show(arguments, compare(board, arguments.first, arguments.second, **how))
