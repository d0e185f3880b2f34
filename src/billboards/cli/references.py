"""Measure what one more reference is worth: each metric's correlation with 1, 2, … references.

The mean over all subsets of a size, or over 50 seeded ones where there are more. Missing scores are computed first.
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
    from billboards.cli.output import emit
    from billboards.cli.progress import scoring_progress
    from billboards.execution.local import executor
    from billboards.reports.tables import reference_table
    from billboards.service.home import open_home
    from billboards.service.references import reference_effect
    from billboards.store.documents import reference_document

    home = open_home(arguments.board)
    metrics = options.chosen_metrics(home.board, arguments.metric)
    with scoring_progress() as show:
        effect = reference_effect(
            home.board,
            home.cells,
            metrics,
            executor(arguments.jobs),
            aggregate=arguments.aggregate,
            most=arguments.most,
            seed=arguments.seed,
            on_progress=show,
        )
    emit(arguments, [reference_table(effect)], lambda: reference_document(effect))
    return 0
