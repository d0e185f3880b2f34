"""Add scores that were computed elsewhere: for generators that a column does not know, or as a new column.

    billboards scores add BOARD comet.tsv --metric COMET --generator my-system
    billboards scores add BOARD table.csv --dry-run
    billboards scores add BOARD edits.jsonl --metric Edits --new --lower-is-better --needs nothing

FILE is CSV, TSV, JSON lines or Parquet with the columns instance, generator, metric and score, those named by --metric
and --generator left out; or, with --metric, a table with a column per generator, as scores/NAME.tsv is.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from billboards.cli import options

if TYPE_CHECKING:
    from billboards.board.added_scores import NewColumn


def add_arguments(parser: ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    add = kinds.add_parser("add", help="add scores from a file to a board folder")
    add.add_argument("board", metavar="BOARD", help="the board folder, or with --to the board's name on a site")
    add.add_argument("file", type=Path, metavar="FILE", help="the scores")
    add.add_argument("--metric", metavar="NAME", help="the metric, where the file does not name it")
    add.add_argument("--generator", metavar="NAME", help="the generator, where the file does not name it")
    add.add_argument(
        "--to", metavar="URL", help="a site whose board it is; an owner's token is read from BILLBOARDS_TOKEN"
    )
    add.add_argument("--replace", action="store_true", help="write over scores that are there already and differ")
    add.add_argument("--dry-run", action="store_true", help="say what would be added, and write nothing")
    add.add_argument("--new", action="store_true", help="add a column where the board has none of the metric's name")
    add.add_argument("--lower-is-better", action="store_true", help="of a new column")
    add.add_argument(
        "--needs",
        metavar="LIST",
        default="references",
        help="what a new column's metric saw: references, input, both with a comma, or nothing (default references)",
    )
    add.add_argument("--references", metavar="A,B", help="the references that a new column's metric saw (default: all)")
    options.add_json(add)


def run(arguments: Namespace) -> int:
    from billboards.board.added_scores import plan_added, read_added, write_added
    from billboards.board.folder import open_board
    from billboards.cli.output import note

    if arguments.to is not None:
        return _send(arguments)
    board = open_board(arguments.board)
    new = _new_column(arguments, board.check_references)
    given = read_added(arguments.file, board, metric=arguments.metric, generator=arguments.generator)
    plans = plan_added(board, given, new=new, replace=arguments.replace)
    if not arguments.dry_run:
        write_added(board, plans, new)
    if arguments.json:
        columns = [
            {"metric": p.source_name, "new": p.is_new, "added": p.added, "replaced": p.replaced, "same": p.same}
            for p in plans
        ]
        _print_columns(arguments, columns)
        return 0
    for plan in plans:
        note(plan.words())
    if arguments.dry_run:
        note("nothing was written")
    return 0


def _print_columns(arguments: Namespace, columns: Sequence[Mapping[str, Any]]) -> None:
    from billboards.cli.output import print_document

    print_document("added", {"written": not arguments.dry_run, "columns": list(columns)})


def _send(arguments: Namespace) -> int:
    """Add the scores to a board on a site."""
    import os

    from billboards.cli.output import note
    from billboards.cli.submit import TOKEN
    from billboards.client import Client

    new = _new_column(arguments, tuple)
    fields = {word: getattr(arguments, word) for word in ("metric", "generator", "replace", "new", "dry_run")}
    if new is not None:
        fields |= {"lower_is_better": not new.higher_is_better, "needs": ",".join(new.needs) or "nothing"}
    with Client(arguments.to, os.environ.get(TOKEN)) as site:
        columns = site.add_scores(arguments.board, arguments.file, **fields)
        if arguments.json:
            _print_columns(arguments, columns)
            return 0
        for column in columns:
            counts = [f"{count} for {name}" for name, count in column["added"].items()]
            counts += [f"{count} replaced of {name}" for name, count in column["replaced"].items()]
            counts += [f"{column['same']} there already"] if column["same"] else []
            note(f"{column['metric']}{' (new)' * column['new']}: {', '.join(counts) or 'nothing'}")
    return 0


def _new_column(arguments: Namespace, check: Callable[[list[str]], tuple[str, ...]]) -> NewColumn | None:
    from billboards.board.added_scores import NewColumn, read_needs
    from billboards.errors import InvalidInput

    stated = arguments.lower_is_better or arguments.needs != "references" or arguments.references is not None
    if not arguments.new:
        if stated:
            raise InvalidInput("--lower-is-better, --needs and --references speak of a new column; add --new")
        return None
    names = None if arguments.references is None else check([name.strip() for name in arguments.references.split(",")])
    return NewColumn(
        higher_is_better=not arguments.lower_is_better, needs=read_needs(arguments.needs), references=names
    )
