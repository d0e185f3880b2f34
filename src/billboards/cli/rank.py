"""Rank metrics by their correlation with people, and generators by the best metric or the ensemble.

Each ranking is kept in the board folder as a snapshot, and each new ensemble under a signature that papers can cite.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    options.add_board(parser)
    options.add_view(parser)
    options.add_ensemble(parser)
    parser.add_argument(
        "--references", metavar="A,B", help="use scores against these references (default: the board's)"
    )
    parser.add_argument("--by", metavar="METRIC", help="rank generators by this metric instead of the best one")
    parser.add_argument(
        "--draws",
        type=options.none_or_more,
        default=1000,
        metavar="N",
        help="bootstrap draws for intervals (default 1000)",
    )
    options.add_resampled(parser)
    options.add_seed(parser)
    parser.add_argument("--no-save", action="store_true", help="don't keep this ranking in the board folder")
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from billboards.analyses.documents import ranking_document
    from billboards.analyses.ensemble_tables import ensemble_table
    from billboards.analyses.home import open_home
    from billboards.analyses.keeping import keep, numbered
    from billboards.analyses.ranking import rank_board
    from billboards.analyses.ranking_tables import generator_table, lines_table, metric_table
    from billboards.cli.output import emit, note
    from billboards.errors import StoreFailed

    home = open_home(arguments.board)
    ranking = rank_board(
        home.board,
        home.cells,
        aggregate=arguments.aggregate,
        references=options.chosen_references(home.board, arguments.references),
        part=options.chosen_slice(arguments),
        k=arguments.k,
        lam=arguments.lam,
        by=arguments.by,
        method=arguments.ensemble,
        resampled=arguments.resampled,
        draws=max(arguments.draws, 0),
        seed=arguments.seed,
    )
    if not ranking.metrics:
        note(f"no scores yet: `billboards score {arguments.board}` computes them")
    for text in ranking.notes:
        note(text)
    if arguments.no_save:
        ranking = numbered(home, ranking)
    else:
        try:
            ranking, _ = keep(home, ranking)
        except StoreFailed as error:
            note(f"the ranking was not kept: {error}")
            ranking = numbered(home, ranking)
    tables = [metric_table(ranking), generator_table(ranking)]
    if ranking.ensemble is not None:
        tables.insert(1, ensemble_table(ranking.ensemble))
    if ranking.lines:
        tables.insert(1, lines_table(ranking))
    emit(arguments, tables, lambda: ranking_document(ranking))
    return 0
