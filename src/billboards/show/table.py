"""A result as a neutral table, from which every format renders.

A table keeps its values as they are: numbers as numbers, a missing one as None. `shown` turns them into the words that
a reader sees, the same in the terminal, in LaTeX and in HTML, and `records` into plain values for CSV and data frames.
So a tie, a missing score or a human generator looks alike wherever it is shown, and no format ever prints NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from billboards.show.words import interval_text, listed, one_line, p_text, rank_texts, value_text

REFERENCE_FREE = "†"
HUMAN = "‡"
STATISTIC = "§"
SCORES_ONLY = "¶"
FLAGGED = "!"
DOUBTED = "?"
NOTES = {
    REFERENCE_FREE: f"{REFERENCE_FREE} uses no references: diagnostic",
    HUMAN: f"{HUMAN} written by people",
    STATISTIC: f"{STATISTIC} a statistic of the text, not a judgment of its quality",
    SCORES_ONLY: f"{SCORES_ONLY} scores only: sent in without what computes them; it leads no ranking",
    FLAGGED: f"{FLAGGED} something speaks against it: see the notes",
    DOUBTED: f"{DOUBTED} there are doubts about its outputs: see the notes",
}


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column: which value of a row it shows, and how.

    Columns of priority 0 are always shown; on a narrow terminal those of the highest priority number go first. A
    column that is not `visible` is for CSV and data frames only.
    """

    key: str
    header: str
    align: Literal["left", "right"] = "right"
    digits: int | None = None
    kind: Literal["value", "name", "rank", "interval", "change", "p"] = "value"
    priority: int = 0
    visible: bool = True


@dataclass(frozen=True)
class Table:
    """Rows of plain values under columns that say how to show them; a row's `mark` is shown behind its name.

    By its `name` somebody asks for one of several tables.
    """

    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[Mapping[str, object], ...]
    notes: tuple[str, ...] = ()
    name: str = ""

    @property
    def visible(self) -> tuple[TableColumn, ...]:
        return tuple(column for column in self.columns if column.visible)

    def without(self, keys: Iterable[str]) -> Table:
        """The same table with some columns kept for data only."""
        hidden = set(keys)
        return replace(self, columns=tuple(replace(c, visible=c.visible and c.key not in hidden) for c in self.columns))


@dataclass(frozen=True)
class MarkNotes:
    """Gathers the notes that explain the marks a table uses."""

    marks: set[str] = field(default_factory=set)

    def mark(self, mark: str) -> str:
        if mark:
            self.marks.add(mark)
        return mark

    def texts(self) -> tuple[str, ...]:
        return tuple(note for mark, note in NOTES.items() if mark in self.marks)


def shown(table: Table) -> tuple[tuple[str, ...], ...]:
    """What a reader sees, row by row, for the visible columns."""
    by_column = [_column_texts(table, column) for column in table.visible]
    return tuple(zip(*by_column, strict=True))


def records(table: Table) -> list[dict[str, object]]:
    """Plain values, row by row, for every column; an interval becomes its two ends, a missing value None."""
    return [{key: value for c in table.columns for key, value in _plain(c, row)} for row in table.rows]


def record_keys(table: Table) -> tuple[str, ...]:
    """The keys of every record, in order."""
    return tuple(key for column in table.columns for key, _ in _plain(column, {}))


def mean_digits(values: Iterable[float | None]) -> int:
    """How many decimals show four figures of the largest value: 78.85, 0.4521."""
    largest = max((abs(v) for v in values if v is not None and math.isfinite(v)), default=0.0)
    return 4 if largest == 0 else min(4, max(0, 3 - math.floor(math.log10(largest))))


def column_digits(rows: Sequence[Mapping[str, object]], key: str) -> int:
    """How many decimals a column of means is shown with."""
    values = (row.get(key) for row in rows)
    return mean_digits(value for value in values if isinstance(value, float | int))


def finite(value: float | None) -> float | None:
    """A number that can be shown; None for one that is missing or none at all."""
    return None if value is None or not math.isfinite(value) else value


def reason_notes(what: str, reasons: Mapping[str, str | None]) -> tuple[str, ...]:
    """Why something is not there, a line per reason, however many share it."""
    sharing: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        if reason is not None:
            sharing.setdefault(reason, []).append(name)
    return tuple(f"{what} {listed(names, most=20)}: {one_line(reason)}" for reason, names in sharing.items())


def _column_texts(table: Table, column: TableColumn) -> list[str]:
    values = [row.get(column.key) for row in table.rows]
    if column.kind == "rank":
        return rank_texts(values)
    if column.kind == "name":
        marks = [row.get("mark") or "" for row in table.rows]
        return [f"{value_text(v)} {mark}".rstrip() for v, mark in zip(values, marks, strict=True)]
    if column.kind == "interval":
        return [interval_text(value, column.digits) for value in values]
    if column.kind == "p":
        return [p_text(value) for value in values]
    texts = [value_text(value, column.digits) for value in values]
    if column.kind == "change":
        return [f"+{t}" if isinstance(v, float) and v > 0 else t for t, v in zip(texts, values, strict=True)]
    return texts


def _plain(column: TableColumn, row: Mapping[str, object]) -> Iterable[tuple[str, object]]:
    value = row.get(column.key)
    if column.kind == "interval":
        low, high = value if isinstance(value, tuple) else (None, None)
        return ((f"{column.key}_low", finite(low)), (f"{column.key}_high", finite(high)))
    if isinstance(value, tuple):
        return ((column.key, ";".join(map(str, value))),)
    return ((column.key, finite(value) if isinstance(value, float) else value),)


def rows_of(results: Sequence[Any]) -> tuple[Mapping[str, object], ...]:
    """The fields of results as rows of a table."""
    return tuple(asdict(result) for result in results)
