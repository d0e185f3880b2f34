"""Measure how much each metric, and the ensemble, overrates machines over a person, beyond what people say.

The person's own text is kept out of the references. Scores that this needs and that can be computed here are computed
first; for the others the reason is given.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    options.add_board(parser)
    parser.add_argument("--human", metavar="NAME", help="the human generator (default: the only judged one)")
    parser.add_argument(
        "--references", metavar="A,B", help="references to score with (default: all but the person's own)"
    )
    options.add_metrics(parser)
    parser.add_argument("--no-score", action="store_true", help="use the scores that are there, compute none")
    parser.add_argument(
        "--aggregate", metavar="NAME", help="the aggregate or dimension of judgments (default: the board's)"
    )
    parser.add_argument(
        "--crossed", action="store_true", help="let generators be a sample, too: intervals about machines like these"
    )
    options.add_ensemble(parser)
    options.add_jobs(parser)
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from billboards.api.scoring import overrating
    from billboards.board.folder import open_board
    from billboards.cli.output import emit
    from billboards.cli.progress import scoring_progress

    board = open_board(arguments.board)
    references = options.chosen_references(board, arguments.references)
    with scoring_progress() as show:
        result = overrating(
            board,
            arguments.human,
            references=references,
            aggregate=arguments.aggregate,
            k=arguments.k,
            lam=arguments.lam,
            method=arguments.ensemble,
            crossed=arguments.crossed,
            score=not arguments.no_score,
            metrics=arguments.metric,
            jobs=arguments.jobs,
            on_progress=show,
        )
    if arguments.format == "latex":
        from billboards.analyses.effect_tables import overrating_latex

        print(overrating_latex([result.value]))
        return 0
    emit(arguments, result.tables, lambda: result.document)
    return 0
