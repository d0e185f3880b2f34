"""What has become of a site's cells: which of those asked for are there, and why others could not be computed.

Both are answered from the keys alone, without reading a score; where few are asked for, no others are looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, func, select

from billboards.site.database.schema import cell_failures, cells, score_columns
from billboards.site.work.sql_cells import FEW, CellKey, ColumnId


@dataclass(frozen=True)
class CellFailure:
    """Why a cell is not there."""

    reason: str
    platform: bool
    attempts: int
    created: float


def cells_there(
    connection: Connection, board: str, asked: Mapping[ColumnId, frozenset[str]]
) -> dict[ColumnId, frozenset[str]]:
    """Of the cells asked for, by column the versions of their rows, those that are there."""
    query = (
        # One line a column and not one a cell; a version is a digest and holds no comma.
        select(score_columns.c.signature, score_columns.c.context, func.aggregate_strings(cells.c.row_version, ","))
        .join(cells, cells.c.column_id == score_columns.c.id)
        .where(score_columns.c.board == board, *_among(score_columns.c.signature, cells.c.row_version, asked))
        .group_by(score_columns.c.signature, score_columns.c.context)
    )
    there = {(signature, context): versions for signature, context, versions in connection.execute(query)}
    return {column: asked[column].intersection(there[column].split(",")) for column in asked.keys() & there.keys()}


def is_present(connection: Connection, board: str, cell: CellKey) -> bool:
    """Whether one cell is there."""
    signature, context, version = cell
    query = (
        select(cells.c.column_id)
        .join(score_columns, cells.c.column_id == score_columns.c.id)
        .where(
            score_columns.c.board == board,
            score_columns.c.signature == signature,
            score_columns.c.context == context,
            cells.c.row_version == version,
        )
    )
    return connection.execute(query.limit(1)).one_or_none() is not None


def failed_cells(
    connection: Connection, board: str, asked: Mapping[ColumnId, Collection[str]]
) -> dict[CellKey, CellFailure]:
    """Of the cells asked for, by column the versions of their rows, those that could not be computed, and why."""
    key = (cell_failures.c.signature, cell_failures.c.context, cell_failures.c.row_version)
    said = (cell_failures.c[word] for word in ("reason", "platform", "attempts", "created"))
    where = _among(cell_failures.c.signature, cell_failures.c.row_version, asked)
    found = connection.execute(select(*key, *said).where(cell_failures.c.board == board, *where))
    return {
        (signature, context, version): CellFailure(*failure)
        for signature, context, version, *failure in found
        if version in asked.get((signature, context), ())
    }


def _among(
    signature: ColumnElement[str], version: ColumnElement[str], asked: Mapping[ColumnId, Collection[str]]
) -> list[ColumnElement[bool]]:
    """What narrows a query to the metrics and to the rows asked for, where they are few."""
    named = (signature, {one for one, _ in asked}), (version, set[str]().union(*asked.values()))
    return [column.in_(sorted(names)) for column, names in named if len(names) <= FEW]
