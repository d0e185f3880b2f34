"""List the rankings a board has kept, oldest first, or show one of them as it was."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    options.add_board(parser)
    parser.add_argument("ranking", nargs="?", metavar="ID", help="show this ranking")
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from billboards.analyses._analysis import marked
    from billboards.analyses._archive import open_home
    from billboards.analyses.rank import generator_table, metric_table
    from billboards.cli.output import emit
    from billboards.show.documents import document_of

    def _entry(kept: tuple[str, str]) -> dict[str, object]:
        ranking = archive.ranking(kept[0])
        signature = ranking.ensemble.signature if ranking.ensemble else None
        return {
            "id": kept[0],
            "created": kept[1],
            "part": str(ranking.part),
            "ranked_by": ranking.ranked_by,
            "ensemble": signature,
        }

    home = open_home(arguments.board)
    archive = home.archive
    if arguments.ranking is None and arguments.format == "json":
        emit(arguments, (), lambda: {"rankings": list(map(_entry, archive.rankings().items()))})
        return 0
    if arguments.ranking is None:
        for name, created in archive.rankings().items():
            ranking = archive.ranking(name)
            signature = ranking.ensemble.signature if ranking.ensemble else "no ensemble"
            print(f"{name}  {created}  {ranking.part}  ranked by {ranking.ranked_by}  {signature}")
        return 0
    ranking = archive.ranking(arguments.ranking)
    tables, document = marked(home.board, (metric_table(ranking), generator_table(ranking)), document_of(ranking))
    emit(arguments, tables, lambda: document)
    return 0
