"""Results on stdout in the format asked for; notes and progress go to stderr."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from billboards.errors import UnknownName
from billboards.show.table import Table

if TYPE_CHECKING:
    from billboards.analyses._analysis import Result


def emit(arguments: Namespace, tables: Sequence[Table], document: Callable[[], Mapping[str, Any]]) -> None:
    """Print tables, or the JSON document with the number of its schema, as the arguments ask.

    A CSV stream holds one table, so that whatever reads CSV reads it; a note names the others.
    """
    if arguments.format != "json" and arguments.table is not None:
        tables = [_chosen(tables, arguments.table)]
    if arguments.format == "json":
        from billboards.show.documents import SCHEMA, dumps

        print(dumps({"schema": SCHEMA, **document()}), end="")
    elif arguments.format == "csv":
        from billboards.show.csv import to_csv

        print("".join(map(to_csv, tables[:1])), end="")
        if len(tables) > 1:
            printed, *others = _names(tables)
            note(f"this is the table {printed}; --table NAME prints another: {', '.join(others)}")
    elif arguments.format == "latex":
        from billboards.show.latex import to_latex

        print("\n\n".join(to_latex(table) for table in tables))
    else:
        from billboards.show.terminal import print_table

        for table in tables:
            print_table(table, wide=arguments.wide)


def show(arguments: Namespace, result: Result[Any]) -> int:
    """Print a result of the Python API as the arguments ask; the exit code of a command that did what it was asked."""
    emit(arguments, result.tables, lambda: result.document)
    return 0


def _names(tables: Sequence[Table]) -> list[str]:
    """What each of some tables is asked for by: its name, or its number where it has none of its own."""
    names = [table.name for table in tables]
    return [name if name and names.count(name) == 1 else str(k) for k, name in enumerate(names, 1)]


def _chosen(tables: Sequence[Table], wanted: str) -> Table:
    """The table of a name or number."""
    names = _names(tables)
    if wanted in names:
        return tables[names.index(wanted)]
    if wanted.isdecimal() and 0 < int(wanted) <= len(tables):
        return tables[int(wanted) - 1]
    raise UnknownName("table", wanted, names)


def note(text: str) -> None:
    """A line for the person at the terminal."""
    print(text, file=sys.stderr)
