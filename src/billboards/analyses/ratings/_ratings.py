"""Single ratings as columns, from a board's judgments or from any table with one rating per row.

What is asked of annotators (do they agree, how severe are they, which design is steadiest) needs ratings before they
are averaged: the output, who rated it, when, and the value. Test questions and preferences take no part. Where somebody
rated an output more than once, the last word counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from billboards.analyses._analysis import Analysis
from billboards.analyses._view import View
from billboards.board import Board, Dimension, Judgments, Slice
from billboards.errors import ImportRefused, InvalidInput, NotEnoughData, UnknownName
from billboards.options import Named, check_options
from billboards.reading import Problems, Table, read_table, refuse_errors, shown
from billboards.show.documents import document_of
from billboards.stats.ratings import UNKNOWN, Ratings

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Names = tuple[str, ...] | None
#: What every study of ratings asks: on which dimensions, and of which campaigns.
DimensionsOption = Annotated[Names, Named(metavar="NAME"), "only this one; may be repeated (default: all that rank)"]
CampaignsOption = Annotated[Names, Named(metavar="NAME"), "only ratings of this campaign; may be repeated"]


@dataclass(frozen=True, kw_only=True)
class RatingColumns:
    """Ratings on one dimension, a position each, numbered from 0; -1 is an unknown generator, annotator or campaign.

    `time` is in seconds since 1970, NaN where it is not known.
    """

    source: str
    dimension: Dimension
    output: Ints
    instance: Ints
    generator: Ints
    annotator: Ints
    campaign: Ints
    value: Floats
    time: Floats
    generators: tuple[str, ...]
    annotators: tuple[str, ...]
    campaigns: tuple[str, ...] = ()
    #: All ratings, where somebody rated an output several times and only the last one stands here.
    before: RatingColumns | None = None

    def __len__(self) -> int:
        return len(self.value)

    def only(self, chosen: Bools) -> RatingColumns:
        """Some of the ratings; names and numbers stay."""
        columns = ("output", "instance", "generator", "annotator", "campaign", "value", "time")
        return replace(self, before=None, **{name: getattr(self, name)[chosen] for name in columns})

    @property
    def ratings(self) -> Ratings:
        """The columns that agreement is measured on."""
        return Ratings(np.unique(self.output, return_inverse=True)[1], self.annotator, self.value)

    @property
    def on_100(self) -> Floats:
        """Values on the 0-100 scale that scores are told in."""
        slope, intercept = self.dimension.affine()
        return self.value * slope + intercept

    @property
    def on_unit(self) -> Floats:
        """Values stretched from the ends of the scale to 0-1, higher is better."""
        if self.dimension.range is None:
            raise InvalidInput(
                f"{self.source}: {self.dimension.name} has no declared range; give `range` in board.toml, or --range"
            )
        low, high = self.dimension.range
        share = (self.value - low) / (high - low)
        return share if self.dimension.higher_is_better else 1 - share


@dataclass(frozen=True)
class TableColumns:
    """Which columns of a table hold what; several columns together may name an item."""

    item: tuple[str, ...]
    value: str
    annotator: str | None = None
    generator: str | None = None
    dimension: str | None = None
    time: str | None = None
    range: tuple[float, float] | None = None

    @property
    def named(self) -> tuple[str, ...]:
        others = (self.value, self.annotator, self.generator, self.dimension, self.time)
        return (*self.item, *(name for name in others if name is not None))


def board_ratings(
    board: Board, dimension: str, *, campaigns: Sequence[str] | None = None, part: Slice | None = None
) -> RatingColumns:
    """All single ratings of a board on one dimension, test questions aside."""
    judgments = board.judgments
    if dimension not in board.dimensions:
        raise UnknownName("dimension", dimension, board.dimensions)
    for name in campaigns or ():
        if name not in judgments.campaigns:
            raise UnknownName("campaign", name, judgments.campaigns)
    value = judgments.on(board.dimensions[dimension])
    kept = np.zeros(len(board.instances), bool)
    kept[list(board.select(part or Slice()))] = True
    used = judgments.counted(None if campaigns is None else tuple(campaigns)) & np.isfinite(value)
    used &= kept[judgments.instance]
    if not used.any():
        raise NotEnoughData(f"board {board.name} has no single ratings on {dimension} here; see `billboards check`")
    return _last_words(_of_board(board, dimension, value).only(used))


def _of_board(board: Board, dimension: str, value: Floats) -> RatingColumns:
    judgments = board.judgments
    time = np.full(len(judgments), np.nan)
    for k, detail in judgments.details.items():
        if "time" in detail:
            time[k] = seconds(detail["time"])
    numbered = {row.name: k for k, row in enumerate(output for output in board.rows if output.generator is not None)}
    of_row = np.array([numbered.get(row.name, UNKNOWN) for row in board.rows], np.int64)
    return RatingColumns(
        source=board.name,
        dimension=board.dimensions[dimension],
        output=judgments.row.astype(np.int64) * len(board.instances) + judgments.instance,
        instance=judgments.instance.astype(np.int64),
        generator=of_row[judgments.row],
        annotator=judgments.annotator.astype(np.int64),
        campaign=judgments.campaign.astype(np.int64),
        value=value,
        time=time,
        generators=tuple(numbered),
        annotators=judgments.annotators,
        campaigns=judgments.campaigns,
    )


def table_ratings(path: Path, columns: TableColumns) -> dict[str, RatingColumns]:
    """The ratings in a table, by dimension; without a column of dimensions they are the value column's."""
    problems = Problems()
    table = read_table(path, problems)
    for name in columns.named:
        if name not in table.columns:
            raise UnknownName(f"column in {path}", name, table.columns)
    rows = list(_rows(table, columns, problems))
    refuse_errors(problems)
    if not rows:
        raise ImportRefused(f"{path}: no row has a rating; is {columns.value} the right column?")
    by_dimension: dict[str, list[_Row]] = {}
    for row in rows:
        by_dimension.setdefault(row.dimension, []).append(row)
    return {name: _last_words(_of_rows(path, name, some, columns)) for name, some in by_dimension.items()}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    item: tuple[str, ...]
    generator: str | None
    annotator: str | None
    dimension: str
    value: float
    time: float


def _rows(table: Table, columns: TableColumns, problems: Problems) -> Iterator[_Row]:
    for line, row in table.rows:
        text = row.get(columns.value)
        if text is None or text == "":
            continue
        try:
            value = float(text)
        except (TypeError, ValueError):
            problems.error(table.path, line, f"{columns.value} must be a number; found {shown(text)}")
            continue
        if np.isfinite(value):
            yield _Row(
                item=tuple(str(row.get(name)) for name in columns.item),
                generator=_text(row, columns.generator),
                annotator=_text(row, columns.annotator),
                dimension=_text(row, columns.dimension) or columns.value,
                value=value,
                time=seconds(row.get(columns.time)) if columns.time else float("nan"),
            )


def _text(row: Mapping[str, Any], column: str | None) -> str | None:
    value = None if column is None else row.get(column)
    return None if value is None or value == "" else str(value)


def _of_rows(path: Path, name: str, rows: Sequence[_Row], columns: TableColumns) -> RatingColumns:
    values = np.array([row.value for row in rows])
    low, high = columns.range or (float(values.min()), float(values.max()))
    if values.min() < low or values.max() > high:
        raise InvalidInput(f"{path}: {name} runs from {values.min():g} to {values.max():g}, beyond {low:g} to {high:g}")
    generators, annotators = (sorted({cell for cell in column if cell is not None}) for column in _names(rows))
    instance, output = _codes([row.item for row in rows]), _codes([(row.generator, row.item) for row in rows])
    return RatingColumns(
        source=path.name,
        dimension=Dimension(name, range=(low, high) if high > low else None),
        output=output,
        instance=instance,
        generator=_numbers([row.generator for row in rows], generators),
        annotator=_numbers([row.annotator for row in rows], annotators),
        campaign=np.full(len(rows), UNKNOWN, np.int64),
        value=values,
        time=np.array([row.time for row in rows]),
        generators=tuple(generators),
        annotators=tuple(annotators),
    )


def _codes(keys: Sequence[object]) -> Ints:
    """Numbers from 0 by first appearance."""
    number: dict[object, int] = {}
    return np.array([number.setdefault(key, len(number)) for key in keys], np.int64)


def _names(rows: Sequence[_Row]) -> tuple[list[str | None], list[str | None]]:
    return [row.generator for row in rows], [row.annotator for row in rows]


def _numbers(names: Sequence[str | None], distinct: Sequence[str]) -> Ints:
    number = {name: k for k, name in enumerate(distinct)}
    return np.array([UNKNOWN if name is None else number[name] for name in names], np.int64)


def _last_words(columns: RatingColumns) -> RatingColumns:
    """Each known annotator's last rating of an output."""
    key = columns.output * (len(columns.annotators) + 1) + columns.annotator
    key[columns.annotator == UNKNOWN] = -1 - np.flatnonzero(columns.annotator == UNKNOWN)
    last = len(key) - 1 - np.unique(key[::-1], return_index=True)[1]
    keep = np.zeros(len(key), bool)
    keep[last] = True
    return columns if keep.all() else replace(columns.only(keep), before=columns)


def seconds(time: object) -> float:
    """A time as seconds since 1970, from a number or from ISO 8601 (UTC where it names no zone); NaN from no time."""
    if isinstance(time, str):
        try:
            return float(time)
        except ValueError:
            pass
        try:
            moment = datetime.fromisoformat(time)
        except ValueError:
            return float("nan")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return float(time) if isinstance(time, int | float) else float("nan")


def board_dimensions(board: Board) -> tuple[str, ...]:
    """The dimensions that rank, or all that were judged where none do."""
    return board.aggregate().dimensions if board.ranks is not None else board.judgments.dimensions


def ratings_of(
    view: View, dimensions: Sequence[str] | None, campaigns: Sequence[str] | None = None
) -> list[RatingColumns]:
    """The ratings of a board that a view looks at, a dimension each (default: all that rank)."""
    if view.ratings is not None:
        return list(view.ratings)
    names = dimensions or board_dimensions(view.counted)
    if not names:
        raise NotEnoughData(f"board {view.board.name} has no ratings to study")
    return [board_ratings(view.counted, name, campaigns=campaigns) for name in names]


def together(studies: Sequence[Any]) -> dict[str, Any]:
    """One document of several dimensions' studies."""
    documents = [document_of(study) for study in studies]
    kind = f"{documents[0]['kind']}_by_dimension"
    return {"schema": documents[0]["schema"], "kind": kind, "dimensions": documents}


def studying(columns: Sequence[RatingColumns], study: Analysis[Any, Any], options: Mapping[str, Any]) -> Any:
    """A study of ratings asked of ratings that lie on no board."""
    nothing = Board(name="ratings", instances=(), rows=(), judgments=Judgments(), dimensions={}, aggregates={})
    view = View(board=nothing, counted=nothing, ratings=tuple(columns))
    return study.function(view, **check_options(study.name, study.options, options))
