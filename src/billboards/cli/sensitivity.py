"""Rank the metrics under every statistic, grouping and dimension, and without each generator in turn.

Metrics whose place changes are marked, and so is a generator that pulls the correlations far more than the others.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    options.add_board(parser)
    options.add_view(parser)
    parser.add_argument(
        "--draws", type=options.positive, default=1000, metavar="N", help="draws for SPA (default 1000)"
    )
    parser.add_argument(
        "--values", action="store_true", help="show every statistic's value, p and n of every metric instead of ranks"
    )
    options.add_seed(parser)
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from billboards.api.comparing import sensitivity
    from billboards.board.folder import open_board
    from billboards.cli.output import show

    how = options.chosen_view(arguments, "draws", "seed", "values")
    return show(arguments, sensitivity(open_board(arguments.board), **how))
