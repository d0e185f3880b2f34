"""Tables in a terminal, as wide as it is and no wider.

Where a table has more columns than fit, the ones that matter least are left out, and a line says how many and how to
see them. Names are written as they are, never as markup, so a generator called `[red]` stays one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from billboards.show.table import Table, TableColumn, shown
from billboards.show.words import MISSING, one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

#: Blanks between two columns.
GAP = 2
#: A text wider than this is folded rather than allowed to push other columns out.
WIDEST = 44
#: Columns of instances' ids, and how long one may be before its middle is left out.
IDS = ("instance", "document")
LONGEST_ID = 26
#: What stands between the parts of a signature.
BAR = "|"


def print_table(
    table: Table, console: Console | None = None, *, wide: bool = False, hint: str = "--wide shows all"
) -> None:
    """A table with its title and notes; `wide` shows every column, even beyond the terminal's edge.

    `hint` says how to see columns that don't fit.
    """
    from rich.console import Console
    from rich.text import Text

    console = console or Console()
    columns = table.visible if wide else fitting(table, console.width)
    console.print(Text(one_line(table.title), style="bold"))
    with _as_wide_as(console, _natural(table, columns) if wide else 0):
        console.print(rich_table(table, columns))
    # Where letters can't be bold, as in a file, there is nothing to explain.
    bold = console.is_terminal and any(table.best.get(column.key) for column in columns)
    tested = (table.best_note,) if table.best_note and bold else ()
    for note in (*_hidden_note(table, columns, hint), *table.notes, *tested):
        console.print(Text(one_line(note), style="dim"))
    console.print()


def tables_text(tables: Sequence[Table], width: int = 120, *, wide: bool = False) -> str:
    """Tables as they print, for `str()` of a result; `wide` shows every column."""
    import io

    from rich.console import Console

    text = io.StringIO()
    for table in tables:
        print_table(table, Console(file=text, width=width), wide=wide, hint="to_text(wide=True) shows all")
    return text.getvalue().rstrip()


def rich_table(table: Table, columns: tuple[TableColumn, ...]) -> RichTable:
    """Some columns of a table for rich: a rule under the header, numbers to the right, missing values dim."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold", show_edge=False)
    drawn.show_header = any(column.header for column in columns)
    places = [table.visible.index(column) for column in columns]
    rows = list(shown(table))
    texts = [[_in_parts(column, row[place]) for row in rows] for column, place in zip(columns, places, strict=True)]
    for k, column in enumerate(columns):
        folds = column.align == "left"
        limit = WIDEST if folds else None
        least = min(WIDEST, _longest_word(texts[k])) if folds else None
        drawn.add_column(
            Text(_head(column)),
            justify=column.align,
            no_wrap=not folds,
            overflow="fold",
            min_width=least,
            max_width=limit,
        )
    for row, written in enumerate(zip(*texts, strict=True)):
        cells = (Text(text, style=_style(table, row, c, text)) for c, text in _marked(table, row, columns, written))
        drawn.add_row(*cells)
    return drawn


def _short_id(column: TableColumn, text: str) -> str:
    """An instance's id, cut in its middle where it is a long digest: in pieces over three lines nobody can read it."""
    if column.key not in IDS or len(text) <= LONGEST_ID:
        return text
    return f"{text[: LONGEST_ID - 8]}…{text[-7:]}"


def _in_parts(column: TableColumn, text: str) -> str:
    """A cell's text as its column shows it; a signature that is wider goes on in the next line behind a bar."""
    text = _short_id(column, text)
    if column.align != "left" or BAR not in text or _longest_word([text]) <= WIDEST:
        return text
    return " ".join(_broken(word) for word in text.split(" "))


def _broken(word: str) -> str:
    lines = [""]
    for part in re.findall(r"[^|]+\|?|\|", word):
        if lines[-1] and len(lines[-1]) + len(part) > WIDEST:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def _longest_word(texts: Sequence[str]) -> int:
    """How wide a column must be so that no word is broken."""
    from rich.cells import cell_len

    return max((cell_len(word) for text in texts for word in text.split()), default=0)


def _head(column: TableColumn) -> str:
    """A column's head below those that it shares with others."""
    return "\n".join((*filter(None, column.heads), column.header))


def _marked(
    table: Table, row: int, columns: tuple[TableColumn, ...], texts: Sequence[str]
) -> Iterator[tuple[TableColumn, str]]:
    """Cells with the signs behind them; where a column has any, those without get a blank, so that numbers align."""
    for column, text in zip(columns, texts, strict=True):
        widest = max(map(len, table.marks.get(column.key, {}).values()), default=0)
        yield column, text + table.mark(row, column.key).ljust(widest)


def _style(table: Table, row: int, column: TableColumn, text: str) -> str:
    return "dim" if text == MISSING else "bold" if table.is_best(row, column.key) else ""


def fitting(table: Table, width: int) -> tuple[TableColumn, ...]:
    """The columns that fit, in their order, dropping those of the highest priority number first."""
    columns = table.visible
    while _natural(table, columns) > width and any(column.priority for column in columns):
        least = max(columns, key=lambda column: column.priority)
        columns = tuple(column for column in columns if column is not least)
    return columns


@contextmanager
def _as_wide_as(console: Console, width: int) -> Iterator[None]:
    """Lines may be longer than the terminal for a while; rich has no option for that but the console's own width."""
    own = console.width
    console.width = max(own, width)
    try:
        yield
    finally:
        console.width = own


def _natural(table: Table, columns: tuple[TableColumn, ...]) -> int:
    """How wide some columns are when no number is cut."""
    from rich.cells import cell_len

    texts = list(zip(*shown(table), strict=True)) or [()] * len(table.visible)
    widths = {
        column.key: max(map(cell_len, (*column.heads, column.header, *cells)))
        + max(map(len, table.marks.get(column.key, {}).values()), default=0)
        for column, cells in zip(table.visible, texts, strict=True)
    }
    limits = (min(widths[c.key], WIDEST) if c.align == "left" else widths[c.key] for c in columns)
    return sum(limits) + GAP * len(columns)


def _hidden_note(table: Table, columns: tuple[TableColumn, ...], hint: str) -> tuple[str, ...]:
    hidden = len(table.visible) - len(columns)
    if not hidden:
        return ()
    return (f"{hidden} of {len(table.visible)} columns don't fit here; {hint}.",)
