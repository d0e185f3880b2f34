"""Measure what one more reference is worth: each metric's correlation with 1, 2, … references.

The mean over all subsets of a size, or over 50 seeded ones where there are more. Missing scores are computed
first; slow metrics take part only when they are named.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    options.add_board(parser)
    options.add_metrics(parser)
    parser.add_argument(
        "--aggregate", metavar="NAME", help="the aggregate or dimension of judgments (default: the board's)"
    )
    parser.add_argument("--most", type=options.positive, default=50, metavar="N", help="subsets per size (default 50)")
    options.add_seed(parser)
    options.add_jobs(parser)
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from billboards.api.scoring import references
    from billboards.board.folder import open_board
    from billboards.cli.output import show
    from billboards.cli.progress import scoring_progress

    with scoring_progress() as progress:
        result = references(
            open_board(arguments.board),
            arguments.metric,
            aggregate=arguments.aggregate,
            most=arguments.most,
            seed=arguments.seed,
            jobs=arguments.jobs,
            on_progress=progress,
        )
    return show(arguments, result)
