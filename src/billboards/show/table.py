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

    Columns of priority 0 are always shown; on a narrow terminal, and in a paper, those of the highest priority number
    go first. A column that is not `visible` is for CSV and data frames only, and one that is not for a `paper` is left
    out of LaTeX and Markdown unless somebody asks for it.
    """

    key: str
    header: str
    align: Literal["left", "right"] = "right"
    digits: int | None = None
    kind: Literal["value", "name", "rank", "interval", "change", "p"] = "value"
    priority: int = 0
    visible: bool = True
    paper: bool = True
    #: Heads above its own, outermost first, as in ("summarization", "SummEval"); neighbours that share one are spanned.
    heads: tuple[str, ...] = ()
    #: Which end of its values is the best, where one is.
    better: Literal["higher", "lower"] | None = None


@dataclass(frozen=True)
class Table:
    """Rows of plain values under columns that say how to show them; a row's `mark` is shown behind its name.

    By its `name` somebody asks for one of several tables. What stands out is said by who computed the values: `best`
    has, by a column's key, the numbers of the rows that are best or not significantly worse, and `best_note` how that
    was tested; `marks` has signs behind single cells, which the notes explain.
    """

    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[Mapping[str, object], ...]
    notes: tuple[str, ...] = ()
    name: str = ""
    #: What a paper prints above or below it, in some 150 letters at most; the title where there is none.
    caption: str = ""
    #: Those of the notes that a paper leaves out.
    asides: tuple[str, ...] = ()
    best: Mapping[str, frozenset[int]] = field(default_factory=dict)
    best_note: str = ""
    marks: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    #: The column at whose changes a paper draws a rule.
    block: str = ""
    #: Notes that explain one column, with its key: a paper leaves them out where it lacks the column.
    notes_of: Mapping[str, str] = field(default_factory=dict)
    #: All rows, where only some of them are shown: ranks are shared with those, too.
    all_rows: tuple[Mapping[str, object], ...] = ()
    #: How dark a cell's ground is, from 0 to 1, by column and row.
    heat: Mapping[str, Mapping[int, float]] = field(default_factory=dict)

    @property
    def visible(self) -> tuple[TableColumn, ...]:
        return tuple(column for column in self.columns if column.visible)

    def without(self, keys: Iterable[str]) -> Table:
        """The same table with some columns kept for data only."""
        hidden = set(keys)
        return replace(self, columns=tuple(replace(c, visible=c.visible and c.key not in hidden) for c in self.columns))

    def is_best(self, row: int, key: str) -> bool:
        """Whether a cell is set in bold."""
        return row in self.best.get(key, ())

    def mark(self, row: int, key: str) -> str:
        """The sign behind a cell."""
        return self.marks.get(key, {}).get(row, "")

    @property
    def rules(self) -> frozenset[int]:
        """The rows above which a paper draws a rule."""
        if not self.block:
            return frozenset()
        values = [row.get(self.block) for row in self.rows]
        return frozenset(k for k in range(1, len(values)) if values[k] != values[k - 1])


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
        return rank_texts(values, [row.get(column.key) for row in table.all_rows])
    if column.kind == "name":
        marks = [row.get("mark") or "" for row in table.rows]
        return [f"{value_text(v)} {mark}".rstrip() for v, mark in zip(values, marks, strict=True)]
    if column.kind == "interval":
        return [interval_text(value, column.digits) for value in values]
    if column.kind == "p":
        return [p_text(value) for value in values]
    texts = [value_text(value, column.digits) for value in values]
    if column.kind == "change":
        return [f"+{t}" if _is_rise(v, t) else t for t, v in zip(texts, values, strict=True)]
    return texts


def _is_rise(value: object, text: str) -> bool:
    """Whether a change is above zero as it is shown: 0.00001 is 0.000, not +0.000."""
    return isinstance(value, float) and value > 0 and any(sign in "123456789" for sign in text)


def _plain(column: TableColumn, row: Mapping[str, object]) -> Iterable[tuple[str, object]]:
    value = row.get(column.key)
    if column.kind == "interval":
        low, high = value if isinstance(value, tuple) else (None, None)
        return ((f"{column.key}_low", finite(low)), (f"{column.key}_high", finite(high)))
    if isinstance(value, tuple):
        return ((column.key, ";".join(map(str, value))),)
    return ((column.key, finite(value) if isinstance(value, float) else value),)


def head_lines(columns: Sequence[TableColumn]) -> list[list[tuple[str, int]]]:
    """The lines of heads above the columns' own, outermost first, each as texts with the columns that they span.

    A head is spanned as long as all heads above it are spanned, too. A column with fewer heads has them lowest.
    """
    depth = max((len(column.heads) for column in columns), default=0)
    padded = [("",) * (depth - len(column.heads)) + column.heads for column in columns]
    lines: list[list[tuple[str, int]]] = []
    for level in range(depth):
        line: list[tuple[str, int]] = []
        for k, heads in enumerate(padded):
            goes_on = k > 0 and heads[level] != "" and heads[: level + 1] == padded[k - 1][: level + 1]
            if goes_on:
                line[-1] = (heads[level], line[-1][1] + 1)
            else:
                line.append((heads[level], 1))
        lines.append(line)
    return lines


def rows_of(results: Sequence[Any]) -> tuple[Mapping[str, object], ...]:
    """The fields of results as rows of a table."""
    return tuple(asdict(result) for result in results)
