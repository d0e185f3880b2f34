"""Tables as an address wants them: digits, columns and rows, and each as a file in the form that papers print.

The options are those of `billboards.show.arranging`; a page shows what they leave, and its downloads hold the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from billboards.errors import InvalidInput, UnknownName
from billboards.reading import whole_number
from billboards.show.arranging import arrange
from billboards.show.csv import to_csv
from billboards.show.latex import to_latex
from billboards.show.markdown import to_markdown
from billboards.show.table import Table
from billboards.site.web.rendering import Body

#: Options of tables that a page offers.
TABLE_OPTIONS = ("digits", "columns", "rows")
#: What a table is downloaded as, by the end of the file's name: the format's name, and the kind of file.
FORMATS: Mapping[str, tuple[str, str]] = {
    "csv": ("CSV", "text/csv; charset=utf-8"),
    "tex": ("LaTeX", "application/x-tex; charset=utf-8"),
    "md": ("Markdown", "text/markdown; charset=utf-8"),
}
#: The most decimals that can be asked for.
MOST_DIGITS = 12


def table_options(query: Mapping[str, str]) -> dict[str, Any]:
    """How tables are wanted, from an address."""
    options: dict[str, Any] = {key: text for key in TABLE_OPTIONS if (text := query.get(key, "").strip())}
    if "digits" in options:
        digits = whole_number(options["digits"])
        if digits is None or not 0 <= digits <= MOST_DIGITS:
            raise InvalidInput(
                f"digits must be a whole number from 0 to {MOST_DIGITS}; found {options['digits'][:20]!r}"
            )
        options["digits"] = digits
    return options


def arranged_tables(tables: Sequence[Table], options: Mapping[str, Any]) -> list[Table]:
    """Tables as somebody wants them shown; those that lack a row or column that was asked for are left out."""
    if not options:
        return list(tables)
    fitting, first = [], None
    for table in tables:
        try:
            fitting.append(arrange(table, options))
        except UnknownName as error:
            first = first or error
    if first is not None and not fitting:
        raise first
    return fitting


def table_names(tables: Sequence[Table]) -> list[str]:
    """What each table is asked for by: its name, or its number where that says too little."""
    names = [table.name for table in tables]
    return [name if name and names.count(name) == 1 else str(k) for k, name in enumerate(names, 1)]


def table_file(tables: Sequence[Table], options: Mapping[str, Any], file: str, prefix: str) -> Body:
    """A table as it is shown, as a file: CSV with every column in full, LaTeX and Markdown as papers print it."""
    name, _, end = file.rpartition(".")
    if end not in FORMATS:
        raise UnknownName("kind of file", end, FORMATS)
    named = dict(zip(table_names(tables), tables, strict=True))
    if name not in named:
        raise UnknownName("table", name, named)
    (table,) = arranged_tables([named[name]], options)
    text = {"csv": to_csv, "tex": to_latex, "md": to_markdown}[end](table)
    disposition = f'attachment; filename="{prefix}-{name}.{end}"'
    return Body(text.encode("utf-8", "replace"), FORMATS[end][1], headers=(("content-disposition", disposition),))
