"""Tables that papers published, as data: theirs beside ours, cell by cell, with the difference and its known reason.

A publication is a TOML file beside this one: its tables, where they are from, and how each cell is computed again with
metrics and statistics of this package. Data are read where somebody has them: the public files that an importer reads,
or a board folder made of them. What can't be computed says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

from billboards.analyses._analysis import Result
from billboards.errors import InvalidInput, UnknownName
from billboards.reading import toml_document
from billboards.show.documents import document_of
from billboards.show.table import Table, TableColumn
from billboards.show.words import listed, one_line

#: Differences that still count as the same, and as near, in the last digits of the paper's scale.
WITHIN: Mapping[str, tuple[float, float]] = {"beametrics": (0.3, 2.0)}
#: The same for papers that print correlations from -1 to 1 and scores.
FINE = (0.005, 0.02)


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishedCell:
    """One published number: its table, its place there, what we get, and why the two differ or ours is missing."""

    table: str
    block: str
    row: str
    column: str
    theirs: float
    ours: float | None = None
    reason: str | None = None

    @property
    def difference(self) -> float | None:
        """Ours less theirs."""
        return None if self.ours is None else self.ours - self.theirs


@dataclass(frozen=True, kw_only=True)
class PublishedTables:
    """A publication's cells beside ours; `near` and `close` are the differences that count as near and as the same."""

    DOCUMENT: ClassVar[str] = "published"

    name: str
    title: str
    source: str
    cells: tuple[PublishedCell, ...]
    close: float
    near: float
    notes: tuple[str, ...] = ()

    @property
    def computed(self) -> tuple[PublishedCell, ...]:
        """The cells that could be computed."""
        return tuple(cell for cell in self.cells if cell.ours is not None)

    def within(self, difference: float) -> int:
        """How many computed cells are so close, to the digits of the paper."""
        return sum(_off(cell, self) <= difference + 1e-4 for cell in self.computed)

    @property
    def further(self) -> tuple[PublishedCell, ...]:
        """The computed cells that are further off."""
        return tuple(cell for cell in self.computed if _off(cell, self) > self.near + 1e-4)


def _off(cell: PublishedCell, tables: PublishedTables) -> float:
    """How far a cell is off, ours rounded as the paper prints it."""
    digits = 1 if tables.close >= 0.1 else 6
    return abs(round(cell.ours or 0.0, digits) - cell.theirs)


def published_names() -> tuple[str, ...]:
    """The publications there are."""
    files = resources.files(__package__).iterdir()
    return tuple(sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml")))


@cache
def read_publication(name: str) -> Mapping[str, Any]:
    """A publication's file."""
    if name not in published_names():
        raise UnknownName("publication", name, published_names())
    return toml_document((resources.files(__package__) / f"{name}.toml").read_text("utf-8"))


def printed_cells(publication: Mapping[str, Any]) -> Iterator[PublishedCell]:
    """Every number of a publication's tables."""
    for table in publication["tables"]:
        for line in table["cells"].strip().splitlines():
            block, row, *values = line.split("\t")
            for column, value in zip(table["columns"], values, strict=True):
                if value != "-":
                    yield PublishedCell(table=table["name"], block=block, row=row, column=column, theirs=float(value))


def published(
    name: str, data: str | Path | None = None, *, columns: Sequence[str] = (), learned: bool = False
) -> Result[PublishedTables]:
    """A publication's tables, theirs beside ours.

    name: one of `published_names()`.
    data: the folder that holds the public data, each under a name that the publication's file knows, or that folder
    itself; without it only theirs are shown.
    columns: only these columns or sets, as the tables head them (default: all).
    learned: whether to compute rows of learned metrics, too, whose models must be at hand.

    Example:

        print(bb.published("beametrics", "data", columns=["SumE"]))
    """
    publication = read_publication(name)
    headers = list(dict.fromkeys(column for table in publication["tables"] for column in table["columns"]))
    for column in columns:
        if not any(_is_of(each, column) for each in headers):
            raise UnknownName("column", column, headers)
    cells = [c for c in printed_cells(publication) if not columns or any(_is_of(c.column, asked) for asked in columns)]
    notes: list[str] = []
    if data is not None:
        cells = _computed(publication, cells, Path(data), notes, learned=learned)
    close, near = WITHIN.get(publication["kind"], FINE)
    tables = PublishedTables(
        name=name,
        title=publication["title"],
        source=publication["source"],
        cells=tuple(cells),
        close=close,
        near=near,
        notes=tuple(notes),
    )
    return Result(
        value=tables,
        tables=published_tables(tables),
        document=document_of(tables),
        words=tuple(published_words(tables)),
    )


def _is_of(column: str, asked: str) -> bool:
    """Whether a column is the one asked for, or one of the set of that name."""
    return asked in (column, column.split(" ")[0])


def _computed(
    publication: Mapping[str, Any], cells: list[PublishedCell], data: Path, notes: list[str], *, learned: bool
) -> list[PublishedCell]:
    if not data.is_dir():
        raise InvalidInput(f"{data}: no such folder; name the one that holds the public data")
    if publication["kind"] == "beametrics":
        from billboards.analyses.published import _beametrics

        computed = _beametrics.values(publication, cells, data, notes, learned=learned)
    elif publication["kind"] == "billboard":
        from billboards.analyses.published import _billboard

        computed = _billboard.values(publication, cells, data)
    elif publication["kind"] == "told":
        computed = _told(publication, cells)
    else:
        from billboards.analyses.published import _mtme

        computed = _mtme.values(publication, cells, data)
    return [replace(cell, ours=value, reason=reason) for cell, (value, reason) in zip(cells, computed, strict=True)]


def _told(publication: Mapping[str, Any], cells: Sequence[PublishedCell]) -> Values:
    """Cells that no public data give again: the reason of each, by its table."""
    reasons = {table["name"]: str(table["reason"]) for table in publication["tables"]}
    return [(None, reasons[cell.table]) for cell in cells]


def folder_of(data: Path, names: Sequence[str]) -> Path | None:
    """Where a set lies: the first of its names that is there, or the folder itself where that is its name."""
    for name in names:
        if (data / name).is_dir():
            return data / name
    return data if data.name in names else None


def published_tables(tables: PublishedTables) -> tuple[Table, ...]:
    """A line for each cell."""
    rows = tuple(
        {
            "table": cell.table,
            "block": cell.block,
            "row": cell.row,
            "column": cell.column,
            "theirs": cell.theirs,
            "ours": cell.ours,
            "difference": cell.difference,
            "reason": cell.reason if cell.ours is None or cell in tables.further else None,
        }
        for cell in tables.cells
    )
    digits = 1 if tables.close >= 0.1 else 3
    columns = (
        TableColumn("table", "table", "left"),
        TableColumn("block", "refs" if tables.name == "beametrics" else "what", "left"),
        TableColumn("row", "row", "left"),
        TableColumn("column", "column", "left"),
        TableColumn("theirs", "theirs", digits=digits),
        TableColumn("ours", "ours", digits=digits, visible=bool(tables.computed)),
        TableColumn("difference", "difference", digits=digits, visible=bool(tables.computed)),
        TableColumn("reason", "why", "left", priority=1, visible=any(row["reason"] for row in rows)),
    )
    return (Table(f"{one_line(tables.title)}: theirs and ours", columns, rows, (tables.source,), tables.name),)


def published_words(tables: PublishedTables) -> Iterator[str]:
    """How many cells agree, and the reasons of the others."""
    computed, further = tables.computed, tables.further
    if not computed:
        can = not any(cell.reason for cell in tables.cells)
        yield f"{len(tables.cells)} published cells{'; name the folder with the data to compute them again' * can}."
    else:
        close = tables.within(tables.close)
        yield (
            f"{len(computed)} of {len(tables.cells)} cells computed: {close} within {tables.close:g}, "
            f"{tables.within(tables.near) - close} within {tables.near:g}, {len(further)} further off."
        )
    for reason, cells in _by_reason(further):
        yield f"{len(cells)} further off: {listed(sorted({c.column for c in cells}), 6)}: {one_line(reason)}."
    for reason, cells in _by_reason([cell for cell in tables.cells if cell.ours is None and cell.reason]):
        yield f"{len(cells)} not computed: {one_line(reason)}."
    yield from tables.notes


def _by_reason(cells: Sequence[PublishedCell]) -> list[tuple[str, list[PublishedCell]]]:
    by_reason: dict[str, list[PublishedCell]] = {}
    for cell in cells:
        by_reason.setdefault(cell.reason or "no reason is known", []).append(cell)
    return sorted(by_reason.items(), key=lambda item: -len(item[1]))


#: What a publication's kind gives: a value for each cell, or none, and the reason of a difference or of the absence.
Values = list[tuple[float | None, str | None]]
__all__ = ["PublishedCell", "PublishedTables", "published", "published_names"]
