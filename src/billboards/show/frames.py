"""Tables as data frames and as HTML for notebooks.

pandas and polars are optional: each is imported when asked for, and its absence is an error that says what to install.
The HTML is semantic (caption, scopes) and escaped, and the same that the HTML report shows.
"""

from __future__ import annotations

from html import escape
from typing import Any

from billboards.errors import MissingPart
from billboards.show.table import Table, TableColumn, head_lines, record_keys, records, shown
from billboards.show.words import MISSING

#: A table of more columns than this needs smaller print on paper.
BROAD = 12


def to_pandas(table: Table) -> Any:
    """A pandas DataFrame with every column of a table."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingPart(
            "to_pandas needs pandas, which is not installed; install it with `pip install 'billboards[frames]'`"
        ) from error
    return pd.DataFrame(records(table), columns=list(record_keys(table)))


def to_polars(table: Table) -> Any:
    """A polars DataFrame with every column of a table."""
    try:
        import polars as pl
    except ImportError as error:
        raise MissingPart(
            "to_polars needs polars, which is not installed; install it with `pip install 'billboards[frames]'`"
        ) from error
    values = records(table)
    columns = {key: [record[key] for record in values] for key in record_keys(table)}
    return pl.DataFrame([pl.Series(key, column, strict=False) for key, column in columns.items()])


def table_html(table: Table) -> str:
    """A table as HTML, for a notebook's `_repr_html_` and for the report."""
    head = "".join(_header(column) for column in table.visible)
    above = "".join(f"<tr>{''.join(_spanning(*each) for each in line)}</tr>" for line in head_lines(table.visible))
    body = "".join(_row(table, k, texts) for k, texts in enumerate(shown(table)))
    tested = (table.best_note,) if table.best_note and any(table.best.values()) else ()
    notes = "".join(f"<p>{escape(note)}</p>" for note in (*table.notes, *tested))
    below = f'<div class="notes">{notes}</div>' if notes else ""
    broad = " broad" if len(table.visible) > BROAD else ""
    return (
        f'<div class="scroll{broad}" role="region" tabindex="0" aria-label="{escape(table.title)}"><table>'
        f"<caption><span>{escape(table.title)}</span></caption>"
        f"<thead>{above}<tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{below}"
    )


def _header(column: TableColumn) -> str:
    return f'<th scope="col"{_side(column)}>{escape(column.header)}</th>'


def _spanning(text: str, span: int) -> str:
    """A head above several columns."""
    if not text:
        return "<td></td>" * span
    return f'<th scope="colgroup" colspan="{span}" style="text-align:center">{escape(text)}</th>'


def _row(table: Table, row: int, texts: tuple[str, ...]) -> str:
    names = [c.key for c in table.visible if c.align == "left"]
    cells = (_cell(table, row, c, text, head=c.key in names[:1]) for c, text in zip(table.visible, texts, strict=True))
    return f"<tr>{''.join(cells)}</tr>"


def _cell(table: Table, row: int, column: TableColumn, text: str, *, head: bool) -> str:
    if head:
        return f'<th scope="row"{_side(column)}><span>{escape(text)}</span></th>'
    missing = ' class="missing"' if text == MISSING else ""
    words = f"<strong>{escape(text)}</strong>" if table.is_best(row, column.key) else escape(text)
    mark = table.mark(row, column.key)
    sign = f"<sup>{escape(mark)}</sup>" if mark else ""
    return f"<td{_side(column, table.heat.get(column.key, {}).get(row))}{missing}>{words}{sign}</td>"


def _side(column: TableColumn, shade: float | None = None) -> str:
    # Inline, because a notebook has a style of its own for cells and no place for ours.
    ground = "" if shade is None else f";background:rgba(70,140,200,{0.6 * shade:.2f})"
    return f' style="text-align:{column.align}{ground}"'
