"""A table as somebody wants to print it: which columns and rows, how many digits, what stands out, which words.

The options are declared here once. The command line offers them with every result, and Python takes them in
`to_latex`, `to_markdown` and `to_html`. Nothing is computed anew: which cells are best was tested by the analysis, and
stays true of all rows when only some of them are shown, which the notes then say.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le

from billboards.errors import UnknownName
from billboards.options import Named, check_options, options_of
from billboards.show.table import NOTES, Table, TableColumn
from billboards.show.words import one_line

Bold = Literal["significant", "best", "none"]
Notes = Literal["paper", "all", "none"]

#: Letters of a caption; what is longer goes on as a note.
CAPTION = 150


def arranged(
    table: Table,
    *,
    columns: Annotated[
        str | Sequence[str] | None,
        Named(metavar="A,B"),
        "show these columns, in this order: keys as in CSV, or heads; * and ? stand for any letters",
    ] = None,
    rows: Annotated[
        str | Sequence[str] | None,
        Named(metavar="A,B"),
        "show these rows, in this order, by their names; * and ? stand for any letters",
    ] = None,
    digits: Annotated[int | None, Ge(0), Le(12), Named(metavar="N"), "decimals of every value that has any"] = None,
    bold: Annotated[
        Bold, "set in bold the best of a column with all that is not significantly worse, the best alone, or nothing"
    ] = "significant",
    heat: Annotated[bool, "colour cells by their values: the better, the darker"] = False,
    caption: Annotated[str | None, Named(metavar="TEXT"), "the caption, instead of the table's own"] = None,
    notes: Annotated[
        Notes, "the notes that a paper needs, all of them, or none; other formats than LaTeX and Markdown have all"
    ] = "paper",
) -> Table:
    """The table with what was chosen; what isn't there is an error that names what is."""
    chosen = table
    if caption is not None:
        chosen = replace(chosen, caption=caption)
    if digits is not None:
        chosen = replace(chosen, columns=tuple(_with_digits(chosen, column, digits) for column in chosen.columns))
    chosen = _with_bold(chosen, bold)
    if heat:
        chosen = replace(chosen, heat=_heat(chosen))
    if rows is not None:
        chosen = _with_rows(chosen, names_in(rows))
    if columns is not None:
        chosen = _with_columns(chosen, names_in(columns))
    if notes == "none":
        return replace(chosen, notes=(), asides=(), best_note="")
    return replace(chosen, asides=()) if notes == "all" else chosen


ARRANGING = options_of(arranged)


def arrange(table: Table, options: Mapping[str, Any]) -> Table:
    """The same with options by name, checked."""
    return arranged(table, **check_options("a table", ARRANGING, options))


def names_in(text: str | Sequence[str]) -> list[str]:
    """Names from a list, or parted by commas that stand in no brackets."""
    if not isinstance(text, str):
        return list(text)
    parts = re.findall(r"(?:[^,(\[]|\([^)]*\)|\[[^\]]*\]|[(\[])+", text)
    return [part.strip() for part in parts if part.strip()]


def for_paper(table: Table) -> Table:
    """The table with the columns and notes that a paper has, and how the best were tested among the latter."""
    kept = tuple(replace(column, visible=column.visible and column.paper) for column in table.columns)
    tested = (table.best_note,) if any(table.best.get(column.key) for column in kept if column.visible) else ()
    printed = replace(table, columns=kept)
    notes = (*(note for note in table.notes if _is_needed(printed, note)), *filter(None, tested))
    return replace(printed, notes=notes)


def _is_needed(table: Table, note: str) -> bool:
    """Whether a note explains something that is there to be seen."""
    sign = next((mark for mark, text in NOTES.items() if text == note), None)
    if sign is not None:
        named = any(column.kind == "name" for column in table.visible)
        signs = {str(row.get("mark") or "") for row in table.rows} if named else set()
        return sign in signs or any(sign in column.header for column in table.visible)
    explained = table.notes_of.get(note)
    return note not in table.asides and (explained is None or explained in {c.key for c in table.visible})


def short_caption(table: Table) -> tuple[str, str]:
    """A caption of some 150 letters, and what of a longer title must go on below."""
    text = one_line(table.caption or table.title)
    if table.caption or len(text) <= CAPTION:
        return text, ""
    start = text[:CAPTION]
    for end in (". ", "; ", " (", ", "):
        place = start.rfind(end)
        if place > CAPTION // 3:
            kept = text[: place + 1].rstrip(" ;,(")
            return kept, text[place + 1 :].strip() if end != " (" else text[place:].strip().strip("()")
    place = start.rfind(" ")
    return text[:place], text[place:].strip()


def _with_digits(table: Table, column: TableColumn, digits: int) -> TableColumn:
    """Columns of decimal numbers have the digits asked for; counts and p-values stay as they are."""
    if column.kind in ("rank", "name", "p"):
        return column
    decimal = column.digits is not None or any(isinstance(row.get(column.key), float) for row in table.rows)
    return replace(column, digits=digits) if decimal else column


def _with_bold(table: Table, bold: Bold) -> Table:
    if bold == "significant":
        return table
    if bold == "none":
        return replace(table, best={}, best_note="")
    best = {column.key: _highest(table, column) for column in table.columns if column.better is not None}
    return replace(table, best=best, best_note="Bold: the best value of a column.")


def _highest(table: Table, column: TableColumn) -> frozenset[int]:
    values = {k: value for k, row in enumerate(table.rows) if (value := number(row.get(column.key))) is not None}
    if not values:
        return frozenset()
    top = max(values.values()) if column.better == "higher" else min(values.values())
    return frozenset(k for k, value in values.items() if value == top)


def number(value: object) -> float | None:
    """A value as a finite number, where it is one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _heat(table: Table) -> dict[str, dict[int, float]]:
    shades = {}
    for column in table.columns:
        values = {k: value for k, row in enumerate(table.rows) if (value := number(row.get(column.key))) is not None}
        if column.better is None or len(set(values.values())) < 2:
            continue
        low, high = min(values.values()), max(values.values())
        up = column.better == "higher"
        shades[column.key] = {k: ((v - low) if up else (high - v)) / (high - low) for k, v in values.items()}
    return shades


def _with_rows(table: Table, names: Sequence[str]) -> Table:
    key = naming_key(table)
    having = [str(row.get(key)) for row in table.rows]
    order = _matching(names, having, f"row of the table {table.name}".rstrip())
    place = {old: new for new, old in enumerate(order)}

    def moved(rows: Iterable[int]) -> frozenset[int]:
        return frozenset(place[k] for k in rows if k in place)

    def moved_values(values: Mapping[int, Any]) -> dict[int, Any]:
        return {place[k]: value for k, value in values.items() if k in place}

    of_all = f" Best of all {len(table.rows)} rows, of which {len(order)} are shown." if table.best_note else ""
    fewer = len(order) < len(table.rows)
    return replace(
        table,
        rows=tuple(table.rows[k] for k in order),
        all_rows=table.all_rows or table.rows,
        best={key: moved(rows) for key, rows in table.best.items()},
        best_note=table.best_note + (of_all if fewer else ""),
        marks={key: moved_values(marks) for key, marks in table.marks.items()},
        heat={key: moved_values(shades) for key, shades in table.heat.items()},
    )


def naming_key(table: Table) -> str:
    """The column that names the rows."""
    return next(
        (column.key for kind in ("name", "left") for column in table.columns if kind in (column.kind, column.align)),
        table.columns[0].key if table.columns else "",
    )


def _with_columns(table: Table, names: Sequence[str]) -> Table:
    """Those columns alone are visible, first and in the order asked for; the others stay for data."""
    keys = [column.key for column in table.columns]
    heads = [" ".join((*column.heads, column.header)) for column in table.columns]
    order = _matching(names, keys, f"column of the table {table.name}".rstrip(), heads)
    shown = tuple(replace(table.columns[k], visible=True, paper=True, priority=0) for k in order)
    rest = tuple(replace(column, visible=False) for k, column in enumerate(table.columns) if k not in order)
    return replace(table, columns=(*shown, *rest))


def _matching(names: Sequence[str], having: Sequence[str], what: str, others: Sequence[str] = ()) -> list[int]:
    """Places of what is named, in the order of the names; each once."""
    places: list[int] = []
    for name in names:
        matches = _places(name, having, others)
        if not matches:
            raise UnknownName(what, name, having)
        places += [k for k in matches if k not in places]
    return places


def _places(name: str, having: Sequence[str], others: Sequence[str]) -> list[int]:
    """Exactly, then whatever the case, then as a pattern; by key before by head."""
    pattern = re.sub(r"\[", "[[]", name)
    ways: tuple[Callable[[str], bool], ...] = (
        lambda text: text == name,
        lambda text: text.lower() == name.lower(),
        lambda text: ("*" in name or "?" in name) and fnmatchcase(text, pattern),
    )
    for matches in ways:
        for texts in (having, others):
            places = [k for k, text in enumerate(texts) if matches(text)]
            if places:
                return places
    return []
