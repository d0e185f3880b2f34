"""Results on stdout in the format asked for; notes and progress go to stderr."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from billboards.show.table import Table

if TYPE_CHECKING:
    from billboards.analyses._analysis import Result


def emit(arguments: Namespace, tables: Sequence[Table], document: Callable[[], Mapping[str, Any]]) -> None:
    """Print tables, or the JSON document with the number of its schema, as the arguments ask."""
    if arguments.format == "json":
        from billboards.show.documents import SCHEMA, dumps

        print(dumps({"schema": SCHEMA, **document()}), end="")
    elif arguments.format == "csv":
        from billboards.show.csv import to_csv

        print("\n".join(to_csv(table) for table in tables), end="")
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


def note(text: str) -> None:
    """A line for the person at the terminal."""
    print(text, file=sys.stderr)
