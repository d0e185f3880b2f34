"""Study people's single ratings, on a board or in any table with one rating per row.

billboards ratings agreement BOARD
billboards ratings designs labels.csv --item item --value rating --annotator worker
billboards ratings doubts BOARD --metric COMET
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from billboards.cli._arguments import given_options

if TYPE_CHECKING:
    from billboards.analyses._analysis import Analysis
    from billboards.analyses.ratings._ratings import RatingColumns


def add_arguments(parser: ArgumentParser) -> None:
    from billboards.analyses import own_analyses
    from billboards.analyses._declaration import declared
    from billboards.cli import _analyses

    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name in own_analyses():
        group, _, action = name.partition(" ")
        if group != "ratings":
            continue
        study = declared(name)
        words = study.summary.rstrip(".")
        sub = actions.add_parser(action, help=words[:1].lower() + words[1:], description=study.explanation)
        if study.view:
            _analyses.add_arguments(sub, study)
        else:
            _add_source(sub)
            _analyses.add_own_arguments(sub, study)


def run(arguments: Namespace) -> int:
    from billboards.analyses import analysis_named
    from billboards.cli import _analyses

    study = analysis_named(f"ratings {arguments.action}")
    if study.view or arguments.board.is_dir():
        return _analyses.run(arguments, study)
    _analyses.show(arguments, study.show(_of_table(arguments, study)))
    return 0


def _of_table(arguments: Namespace, study: Analysis[Any, Any]) -> Any:
    """A study of the ratings in a file."""
    from billboards.analyses.ratings._ratings import studying

    chosen = given_options(arguments, study.options)
    chosen.pop("dimension", None)
    chosen.pop("campaign", None)
    return studying(_columns(arguments), study, chosen)


def _add_source(parser: ArgumentParser) -> None:
    parser.add_argument("board", type=Path, metavar="BOARD|FILE", help="a board folder, or a CSV, TSV, JSONL, Parquet")
    table = parser.add_argument_group("columns of a FILE")
    table.add_argument(
        "--item", type=_names, metavar="A[,B]", help="the column(s) that tell one rated thing from another"
    )
    table.add_argument("--value", metavar="COLUMN", help="the rating")
    table.add_argument("--annotator", metavar="COLUMN", help="who rated")
    table.add_argument("--generator", metavar="COLUMN", help="who or what made it")
    table.add_argument("--dimensions", metavar="COLUMN", help="which dimension the rating is on")
    table.add_argument("--time", metavar="COLUMN", help="when: ISO 8601, or seconds since 1970")
    table.add_argument("--range", type=_range, metavar="LOW:HIGH", help="ends of the scale (default: those that occur)")


def _names(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(",") if part)


def _range(text: str) -> tuple[float, float]:
    try:
        low, high = map(float, text.split(":"))
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a range such as 1:5") from None
    if not low < high:
        raise ArgumentTypeError(f"{text!r} runs the wrong way; write the lower end first")
    return low, high


def _columns(arguments: Namespace) -> list[RatingColumns]:
    """The ratings of a table, a dimension each."""
    from billboards.analyses.ratings._ratings import TableColumns, table_ratings
    from billboards.errors import InvalidInput, UnknownName

    if arguments.item is None or arguments.value is None:
        raise InvalidInput(
            f"{arguments.board} is no board folder; of a table, name the columns with --item and --value"
        )
    optional = (arguments.annotator, arguments.generator, arguments.dimensions, arguments.time, arguments.range)
    columns = table_ratings(arguments.board, TableColumns(arguments.item, arguments.value, *optional))
    chosen = getattr(arguments, "dimension", None) or columns
    for name in chosen:
        if name not in columns:
            raise UnknownName("dimension", name, columns)
    return [columns[name] for name in chosen]
