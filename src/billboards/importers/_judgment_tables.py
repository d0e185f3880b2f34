"""Tables of judgments that lie apart from the outputs: who said what of which system's text on which line.

Long tables have a row for each judgment, with a column for the system, one for the line or id, and values in one or
more columns, or in a column of values beside one that names the dimension. Wide tables have a column for each system.
Columns with usual names are found; others are named by options. Systems' names are taken as they are written: one that
is not known is refused with those that are near.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from billboards.board import Aggregate, Board, Dimension, Judgment
from billboards.errors import ImportRefused, InvalidInput, UnknownName
from billboards.importers._assembling import assemble
from billboards.reading import (
    Problems,
    Table,
    decimal_number,
    read_number,
    read_table,
    refuse_errors,
    shown,
    some,
    whole_number,
)

#: Where a column is looked for when no option names it; the first that is there is taken, in any case.
USUAL: Mapping[str, tuple[str, ...]] = {
    "system": ("system", "generator", "model", "sys", "system_id", "system_name"),
    "segment": (
        "line",
        "line_number",
        "lineno",
        "segment",
        "segment_id",
        "seg",
        "seg_id",
        "instance",
        "instance_id",
        "item",
        "sentence",
        "sentence_id",
        "sent_id",
        "id",
    ),
    "annotator": ("annotator", "annotator_id", "rater", "judge", "worker", "evaluator", "user"),
    "dimension": ("dimension", "criterion", "aspect", "question"),
}
#: Columns that number lines, whatever ids the instances have.
LINES = ("line", "line_number", "lineno")
VALUES = ("value", "score", "rating", "judgment", "judgement", "human_score", "mqm", "da", "esa")
#: Dimensions that people often ask about, each in a column of its own.
DIMENSIONS = (
    "overall",
    "quality",
    "adequacy",
    "fluency",
    "accuracy",
    "coherence",
    "consistency",
    "relevance",
    "informativeness",
    "grammaticality",
    "grammar",
    "faithfulness",
    "meaning",
    "simplicity",
    "naturalness",
)
#: What a dimension is called where a table doesn't say it.
SCORE = "score"
Join = Literal["line", "id"]
#: What a number may be read from; true and false are none.
_NUMBERS = (str, float, int, type(None))


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What somebody says of a table of judgments; None is to be found out."""

    system: str | None = None
    segment: str | None = None
    annotator: str | None = None
    dimension: str | None = None
    judgment: tuple[str, ...] = ()
    range: tuple[str, ...] = ()
    by: Join | None = None
    first: int = 1


@dataclass(frozen=True, kw_only=True)
class JudgedTable:
    """What a table of judgments says, in the names of the board."""

    dimensions: Mapping[str, Dimension]
    judgments: tuple[Judgment, ...]
    #: Systems that were judged, in order of first appearance.
    systems: tuple[str, ...]
    notes: tuple[str, ...]


def read_judgment_table(path: Path, wanted: Wanted, *, systems: Sequence[str], instances: Sequence[str]) -> JudgedTable:
    """The judgments in a table, joined with instances and systems.

    path: a CSV, TSV, JSONL or Parquet file.
    wanted: which columns hold what.
    systems: the names that judgments may speak of.
    instances: the ids of instances, in the order of their lines.
    """
    problems = Problems()
    table = read_table(path, problems, numbered=True)
    layout = _layout(table, wanted, systems)
    reading = _Reading(table, layout, systems, instances, problems)
    for line, row in table.rows:
        reading.read(line, row)
    reading.check_order()
    refuse_errors(problems)
    if not reading.judgments:
        raise ImportRefused(f"{path}: holds no judgment")
    dimensions = _scaled({name: Dimension(name) for name in reading.dimensions}, wanted.range)
    judged = tuple(dict.fromkeys(judgment.outputs[0] for judgment in reading.judgments))
    _check_ranges(path, reading.judgments, dimensions)
    return JudgedTable(
        dimensions=dimensions,
        judgments=tuple(reading.judgments),
        systems=judged,
        notes=(*table.notes, *_notes(table, layout, reading)),
    )


def judged_board(board: Board, judged: JudgedTable | None) -> Board:
    """A board with the judgments of a table; several scales that are stated have a mean that ranks."""
    if judged is None:
        return board
    dimensions = judged.dimensions
    comparable = len(dimensions) > 1 and all(dimension.range for dimension in dimensions.values())
    aggregates = (Aggregate("overall", tuple(dimensions)),) if comparable else ()
    laid = assemble(
        board.name,
        board.instances,
        board.rows,
        judged.judgments,
        dimensions=tuple(dimensions.values()),
        aggregates=aggregates,
        ranks="overall" if comparable else next(iter(dimensions)),
    )
    return replace(
        board, judgments=laid.judgments, dimensions=laid.dimensions, aggregates=laid.aggregates, ranks=laid.ranks
    )


@dataclass(frozen=True, kw_only=True)
class _Layout:
    """Which column holds what; without a system's column, those of `by_system` are named by systems."""

    single: Mapping[str, str]
    values: tuple[str, ...]
    by_system: tuple[str, ...]
    join: Join | None
    first: int

    @property
    def used(self) -> set[str]:
        return {*self.single.values(), *self.values, *self.by_system}


def _layout(table: Table, wanted: Wanted, systems: Sequence[str]) -> _Layout:
    named = {what: getattr(wanted, what) for what in USUAL if getattr(wanted, what) is not None}
    for column in (*named.values(), *wanted.judgment):
        if column not in table.columns:
            raise UnknownName(f"column of {table.path}", column, table.columns)
    free = [column for column in table.columns if column not in {*named.values(), *wanted.judgment} and column]
    single = dict(named)
    for what, usual in USUAL.items():
        if what not in single and (column := _usual(usual, free)):
            single[what] = column
            free.remove(column)
    by_system = () if "system" in single else _system_columns(table, free, systems)
    values = wanted.judgment or (() if by_system else _value_columns(table, free, "dimension" in single))
    if "dimension" in single and not by_system and len(values) != 1:
        raise ImportRefused(
            f"{table.path}: column {single['dimension']!r} names dimensions, so that one column must hold the values; "
            f"found {some(values)}: name it with --judgment"
        )
    if "segment" not in single and not by_system:
        raise ImportRefused(
            f"{table.path}: no column for the line or the instance's id among {some(table.columns, 12)}; "
            "name it with --segment"
        )
    join = wanted.by or ("line" if single.get("segment", "").lower() in LINES else None)
    return _Layout(single=single, values=tuple(values), by_system=by_system, join=join, first=wanted.first)


def _usual(names: Sequence[str], columns: Sequence[str]) -> str | None:
    """The column of the first of some names that is there, as it is written or in another case."""
    folded = {column.lower().replace(" ", "_"): column for column in reversed(columns)}
    return next((folded[name] for name in names if name in folded), None)


def _system_columns(table: Table, free: Sequence[str], systems: Sequence[str]) -> tuple[str, ...]:
    """The columns of a wide table that are named by systems; one that is nearly is a mistake."""
    columns = tuple(column for column in free if column in systems)
    rest = [name for name in systems if name not in columns]
    for column in free:
        if column not in columns and (near := _near(column, rest, 0.75)):
            raise ImportRefused(
                f"{table.path}: column {column!r} is nearly the system {near[0]!r}, and not quite; "
                "give both the same name, or name the system's column with --system"
            )
    if not columns:
        raise ImportRefused(
            f"{table.path}: no column for the system among {some(table.columns, 12)}, and none that is named by a "
            f"system ({some(systems)}); name it with --system"
        )
    return columns


def _value_columns(table: Table, free: Sequence[str], named_dimensions: bool) -> tuple[str, ...]:
    if (column := _usual(VALUES, free)) is not None:
        return (column,)
    folded = {column.lower().replace(" ", "_"): column for column in free}
    usual = () if named_dimensions else tuple(column for name, column in folded.items() if name in DIMENSIONS)
    if not usual:
        raise ImportRefused(
            f"{table.path}: no column of judgments among {some(table.columns, 12)}; name it with --judgment"
        )
    return usual


def _near(name: str, names: Sequence[str], least: float = 0.6) -> list[str]:
    """Names that are like one: in another case, or few letters away."""
    folded = {other.casefold(): other for other in names}
    if name.casefold() in folded:
        return [folded[name.casefold()]]
    return [folded[near] for near in get_close_matches(name.casefold(), folded, n=3, cutoff=least)]


@dataclass
class _Reading:
    """One pass over a table's rows; every mistake becomes a problem with its line, an unknown name once."""

    table: Table
    layout: _Layout
    systems: Sequence[str]
    instances: Sequence[str]
    problems: Problems
    judgments: list[Judgment] = field(default_factory=list)
    dimensions: dict[str, None] = field(default_factory=dict)
    repeated: int = 0
    not_numbers: int = 0
    rows: int = 0
    _unknown: set[str] = field(default_factory=set)
    _given: dict[tuple[str, str, str | None, str], int] = field(default_factory=dict)
    _open: dict[tuple[str, str, str], dict[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._known = set(self.systems)
        self._ids = set(self.instances)
        self._numbered = all(key == str(k) for k, key in enumerate(self.instances, 1))

    def read(self, line: int, row: Mapping[str, Any]) -> None:
        self.rows += 1
        instance = self._instance(line, row)
        if instance is None:
            return
        annotator = self._text(row, "annotator") or None
        if self.layout.by_system:
            dimension = self._text(row, "dimension") or SCORE
            for system in self.layout.by_system:
                self._add(line, instance, system, annotator, {dimension: self._number(line, row, system)})
            return
        judged = self._system(line, row)
        if judged is None:
            return
        if "dimension" in self.layout.single:
            named = self._text(row, "dimension")
            if not named:
                self._error(line, f"names no dimension in column {self.layout.single['dimension']!r}")
                return
            values = {named: self._number(line, row, self.layout.values[0])}
        else:
            values = {column: self._number(line, row, column) for column in self.layout.values}
        self._add(line, instance, judged, annotator, values)

    def check_order(self) -> None:
        """A table without lines or ids must have a row for each instance."""
        if "segment" not in self.layout.single and self.rows != len(self.instances):
            self._error(
                None,
                f"has no column for the line and {self.rows:,} rows for {len(self.instances):,} instances; "
                "name the column with --segment",
            )

    def _error(self, line: int | None, message: str) -> None:
        self.problems.error(self.table.path, line, message)

    def _text(self, row: Mapping[str, Any], what: str) -> str:
        value = row.get(self.layout.single.get(what, ""))
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return "" if value is None else str(value).strip()

    def _instance(self, line: int, row: Mapping[str, Any]) -> str | None:
        if "segment" not in self.layout.single:
            return self.instances[self.rows - 1] if self.rows <= len(self.instances) else None
        text = self._text(row, "segment")
        if not text:
            self._error(line, f"names no line or instance in column {self.layout.single['segment']!r}")
            return None
        if self.layout.join == "line" or (self.layout.join is None and self._numbered):
            return self._at(line, text)
        if text in self._ids:
            return text
        if text not in self._unknown:
            self._unknown.add(text)
            near = _near(text, self.instances[:10_000])
            hint = f"; did you mean {', '.join(near)}?" if near else "; for numbers of lines say --by line"
            self._error(line, f"no instance has the id {shown(text)}{hint}")
        return None

    def _at(self, line: int, text: str) -> str | None:
        number = whole_number(text)
        place = None if number is None else number - self.layout.first
        if place is not None and 0 <= place < len(self.instances):
            return self.instances[place]
        last = len(self.instances) + self.layout.first - 1
        hint = "; where they are numbered from 0, say --first 0" if number == 0 else ""
        what = f"{shown(text)} is no line of the texts, which are numbered from {self.layout.first} to {last}"
        self._error(line, f"{what}{hint}")
        return None

    def _system(self, line: int, row: Mapping[str, Any]) -> str | None:
        name = self._text(row, "system")
        if name in self._known:
            return name
        if name not in self._unknown:
            self._unknown.add(name)
            near = _near(name, self.systems)
            hint = f"did you mean {', '.join(near)}?" if near else f"there are {some(self.systems, 12)}"
            self._error(line, f"no system is named {shown(name)}; {hint}" if name else "names no system")
        return None

    def _number(self, line: int, row: Mapping[str, Any], column: str) -> float:
        value = row.get(column)
        if type(value) not in _NUMBERS:
            self._error(line, f"column {column!r} must hold numbers; found {shown(value)}")
            return math.nan
        text = "" if value is None else str(value)
        number = read_number(text, f"{column}:", self.table.path, line, self.problems)
        self.not_numbers += math.isnan(number) and text.strip().lower() == "nan"
        return number + 0.0

    def _add(self, line: int, instance: str, system: str, annotator: str | None, values: Mapping[str, float]) -> None:
        present = {name: value for name, value in values.items() if not math.isnan(value)}
        for name in present:
            key = (instance, system, annotator, name)
            first = self._given.setdefault(key, line)
            if first != line and annotator is not None:
                whose = f"{system!r} on {instance!r} by {annotator!r}"
                self._error(line, f"{name} of {whose} appears twice, first on line {first}")
                return
            self.repeated += first != line
        self.dimensions |= dict.fromkeys(present)
        if not present:
            return
        if annotator is not None and (others := self._open.get((instance, system, annotator))) is not None:
            others |= present
            return
        judged = dict(present)
        if annotator is not None:
            self._open[instance, system, annotator] = judged
        self.judgments.append(Judgment(instance=instance, outputs=(system,), values=judged, annotator=annotator))


def _scaled(dimensions: dict[str, Dimension], ranges: Sequence[str]) -> dict[str, Dimension]:
    """Dimensions with the scales that were stated, as in `adequacy=1:5`."""
    for text in ranges:
        match = re.fullmatch(r"(.+)=([^:=]+):([^:=]+)", text)
        low, high = (decimal_number(match[2]), decimal_number(match[3])) if match else (None, None)
        if match is None or low is None or high is None or not low < high:
            raise InvalidInput(f"{text!r} is no scale; write --range DIMENSION=LOW:HIGH, as in adequacy=1:5")
        if match[1] not in dimensions:
            raise UnknownName("dimension", match[1], dimensions)
        dimensions[match[1]] = Dimension(match[1], range=(low, high))
    return dimensions


def _check_ranges(path: Path, judgments: Sequence[Judgment], dimensions: Mapping[str, Dimension]) -> None:
    for judgment in judgments:
        for name, value in judgment.values.items():
            limits = dimensions[name].range
            if limits is not None and not limits[0] <= value <= limits[1]:
                raise ImportRefused(
                    f"{path}: {name} = {value:g} of {judgment.outputs[0]!r} on {judgment.instance!r} lies outside its "
                    f"range {limits[0]:g} to {limits[1]:g}"
                )


def _notes(table: Table, layout: _Layout, reading: _Reading) -> Iterator[str]:
    roles = [f"{what} from {column!r}" for what, column in layout.single.items()]
    roles += [f"a system in each of {some(layout.by_system)}"] if layout.by_system else []
    roles += [f"values from {some(layout.values)}"] if layout.values else []
    yield f"{table.path}: {', '.join(roles)}"
    if "segment" not in layout.single:
        yield f"{table.path}: no column for the line: its rows are taken in the order of the texts"
    unused = [column for column in table.columns if column and column not in layout.used]
    if unused:
        yield f"{table.path}: columns that were not used: {some(unused, 12)}"
    if reading.repeated:
        yield (
            f"{table.path}: {reading.repeated} values judge an output again and name no annotator; "
            "each counts as one more judgment"
        )
    if reading.not_numbers:
        yield f"{table.path}: {reading.not_numbers} cells say NaN; they stay missing"
