"""Results on stdout or in files, in the format asked for; notes and progress go to stderr."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from billboards.errors import InvalidInput, UnknownName
from billboards.show.table import Table

if TYPE_CHECKING:
    from billboards.analyses._analysis import Result

#: Formats by the ends of files' names.
FORMATS = {
    ".csv": "csv",
    ".tex": "latex",
    ".md": "markdown",
    ".html": "html",
    ".htm": "html",
    ".json": "json",
    ".txt": "terminal",
}
_SUFFIXES = {kind: suffix for suffix, kind in reversed(FORMATS.items())}


def emit(
    arguments: Namespace,
    tables: Sequence[Table],
    document: Callable[[], Mapping[str, Any]],
    latex: Callable[[], str] | None = None,
) -> None:
    """Print tables, or the JSON document with the number of its schema, as the arguments ask, or write them to files.

    A CSV stream holds one table, so that whatever reads CSV reads it; a note names the others. `latex` writes a form of
    its own, where a paper has one, unless something else is asked for.
    """
    path: Path | None = getattr(arguments, "tables_out", None)
    kind = _kind(arguments, path)
    if kind == "json":
        from billboards.show.documents import SCHEMA, dumps

        _put(dumps({"schema": SCHEMA, **document()}), path)
        return
    if arguments.table is not None:
        tables = [_chosen(tables, arguments.table)]
    names: Sequence[str] = _names(tables)
    if kind == "latex" and latex is not None and arguments.table is None and not _latex_options(arguments):
        _put(f"{latex()}\n", _within(path, "table.tex"))
        return
    tables, names = _arranged(arguments, tables, names)
    if path is not None and path.suffix.lower() not in FORMATS:
        files = [_within(path, f"{_file_name(name)}{_SUFFIXES[kind]}") for name in names]
        for table, file in zip(tables, files, strict=True):
            _put(_text(arguments, [table], kind), file)
        return
    if kind == "csv" and len(tables) > 1:
        printed, *others = names
        every = "" if path is None and not hasattr(arguments, "tables_out") else "; -o FOLDER writes all"
        note(f"this is the table {printed}; --table NAME prints another: {', '.join(others)}{every}")
        tables = tables[:1]
    if kind == "terminal" and path is None:
        from billboards.show.terminal import print_table

        for table in tables:
            print_table(table, wide=arguments.wide)
    else:
        _put(_text(arguments, tables, kind), path)


def print_document(kind: str, document: Mapping[str, Any]) -> None:
    """Print what is no table as JSON, under the same head as every document."""
    from billboards.show.documents import SCHEMA, dumps

    print(dumps({"schema": SCHEMA, "kind": kind, **document}), end="")


def show(arguments: Namespace, result: Result[Any]) -> int:
    """Print a result of the Python API as the arguments ask; the exit code of a command that did what it was asked."""
    emit(arguments, result.tables, lambda: result.document)
    return 0


def _kind(arguments: Namespace, path: Path | None) -> str:
    """The format: the one that was asked for, else that of the file's name; a folder has CSV."""
    if arguments.format != "terminal" or path is None:
        if arguments.format == "json" and path is not None and path.suffix.lower() not in FORMATS:
            raise InvalidInput(f"-o {path}: a JSON document is one file; name it, as in -o result.json")
        return str(arguments.format)
    return FORMATS.get(path.suffix.lower(), "csv")


def _within(path: Path | None, name: str) -> Path | None:
    """A file of a folder; the path itself where it names a file."""
    return path if path is None or path.suffix.lower() in FORMATS else path / name


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "table"


def _put(text: str, path: Path | None) -> None:
    if path is None:
        print(text, end="")
        return
    from billboards.saving import save_file

    note(f"wrote {save_file(path, text)}")


def _text(arguments: Namespace, tables: Sequence[Table], kind: str) -> str:
    """Tables in one of the formats."""
    wide = bool(arguments.wide)
    if kind == "csv":
        from billboards.show.csv import to_csv

        return "".join(map(to_csv, tables))
    if kind == "latex":
        from billboards.show.latex import to_latex

        return "\n\n".join(to_latex(table, wide=wide, **_latex_options(arguments)) for table in tables) + "\n"
    if kind == "markdown":
        from billboards.show.markdown import to_markdown

        return "\n".join(to_markdown(table, wide=wide) for table in tables)
    if kind == "html":
        from billboards.show.frames import table_html

        return "\n".join(map(table_html, tables)) + "\n"
    from billboards.show.terminal import tables_text

    return tables_text(tables, wide=wide) + "\n"


def _latex_options(arguments: Namespace) -> dict[str, Any]:
    from billboards.cli._arguments import given_options
    from billboards.show.latex import LATEX

    return given_options(arguments, LATEX)


def _arranged(
    arguments: Namespace, tables: Sequence[Table], names: Sequence[str]
) -> tuple[Sequence[Table], Sequence[str]]:
    """Tables as the arguments want them; of several, those that have the rows and columns asked for."""
    from billboards.cli._arguments import given_options
    from billboards.show.arranging import ARRANGING, arrange

    wanted = given_options(arguments, ARRANGING)
    if not wanted:
        return tables, names
    fitting: list[tuple[Table, str]] = []
    lacking: list[str] = []
    first: UnknownName | None = None
    for table, name in zip(tables, names, strict=True):
        try:
            fitting.append((arrange(table, wanted), name))
        except UnknownName as error:
            first = first or error
            lacking.append(name)
    if first is not None and not fitting:
        raise first
    if lacking:
        note(f"left out, because they lack what was asked for: {', '.join(lacking)}")
    return [table for table, _ in fitting], [name for _, name in fitting]


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
