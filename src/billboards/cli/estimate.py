"""Estimate people's mean score of a generator from some labels, with a metric or the ensemble to correct for luck.

billboards estimate BOARD systemA --labels 100
billboards estimate BOARD systemA --labels 100 --metric COMET
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    options.add_board(parser)
    parser.add_argument("generator", metavar="GENERATOR", help="whose mean to estimate")
    options.add_view(parser)
    parser.add_argument(
        "--labels",
        type=options.positive,
        metavar="N",
        help="use so many of its labels, drawn by the seed (default: all)",
    )
    parser.add_argument(
        "--metric",
        default="ensemble",
        metavar="NAME",
        help="the control variate: a metric, or `ensemble`, fitted on the other generators (default)",
    )
    parser.add_argument(
        "--target",
        choices=("instances", "population"),
        help="the mean over the board's instances (default while some have no label) or over all texts like them",
    )
    options.add_seed(parser)
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from billboards import api
    from billboards.cli.output import show

    how = options.chosen_view(arguments, "labels", "metric", "target", "seed")
    return show(arguments, api.estimate(api.open(arguments.board), arguments.generator, **how))
