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
    options.add_seed(parser)
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from billboards import api
    from billboards.cli.output import emit

    result = api.sensitivity(
        api.open(arguments.board),
        aggregate=arguments.aggregate,
        part=options.chosen_slice(arguments),
        draws=arguments.draws,
        seed=arguments.seed,
    )
    emit(arguments, result.tables, lambda: result.document)
    return 0
