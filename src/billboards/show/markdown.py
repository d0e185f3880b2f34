"""Tables as Markdown, for READMEs, issues and model cards: pipes, bold for the best, notes below.

Markdown has one line of heads, so heads that span several columns stand before each of them. Names that hold signs of
Markdown are shown as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from billboards.show.arranging import for_paper, short_caption
from billboards.show.table import Table, TableColumn, shown
from billboards.show.words import one_line


def to_markdown(table: Table, *, wide: bool = False) -> str:
    """A table with its caption above and its notes below; `wide` has the columns, too, that papers leave out."""
    printed = replace(for_paper(table), columns=table.columns) if wide else for_paper(table)
    caption, rest = short_caption(table)
    columns = printed.visible
    lines = [f"**{escape_markdown(caption)}**", ""]
    lines += [_line(_head(column) for column in columns)]
    lines += [_line("---" if column.align == "left" else "---:" for column in columns)]
    for k, texts in enumerate(shown(printed)):
        lines.append(_line(_cell(printed, k, c, text) for c, text in zip(columns, texts, strict=True)))
    notes = [escape_markdown(one_line(note)) for note in (rest, *printed.notes) if note]
    # Two blanks end a line, so that each note has its own.
    return "\n".join([*lines, *(["", "  \n".join(notes)] if notes else []), ""])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _head(column: TableColumn) -> str:
    return escape_markdown(": ".join((*filter(None, column.heads), column.header)))


def _cell(table: Table, row: int, column: TableColumn, text: str) -> str:
    escaped = escape_markdown(text)
    if table.is_best(row, column.key):
        escaped = f"**{escaped}**"
    mark = table.mark(row, column.key)
    return f"{escaped}<sup>{escape_markdown(mark)}</sup>" if mark else escaped


def escape_markdown(text: str) -> str:
    """A text that Markdown shows as it is."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>#|~" else sign for sign in one_line(text))
