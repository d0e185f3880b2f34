"""The cells of one board of a site, in the site's database.

The same contract as the cells of a board folder, with two additions: a cell may be saved on the condition that its
worker still holds the lease for it, and a view may be narrowed to some signatures, so that a column that is still being
computed, or was withdrawn, is not seen. A cell that is there never goes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from sqlalchemy import ColumnElement, Connection, RowMapping, and_, delete, func, insert, select

from billboards.board import Column
from billboards.board.cells import ColumnKey, Floats
from billboards.site.boards.kept_scores import KeptScores
from billboards.site.database.engine import Database
from billboards.site.database.schema import cell_failures, cells, score_columns
from billboards.site.database.trail import storable

#: A cell by what its numbers depend on: signature, context, row version.
CellKey = tuple[str, str, str]
#: A column by what its cells share: signature and context.
ColumnId = tuple[str, str]
#: Rows that are asked for by name; of more, the whole column is read.
FEW = 100


@dataclass(frozen=True)
class SqlCells:
    """The cells of one board; with `signatures`, only those columns are there."""

    database: Database
    board: str
    signatures: frozenset[str] | None = None
    #: What this process has read and keeps; None where it keeps nothing.
    kept: KeptScores | None = field(default=None, compare=False)

    def only(self, signatures: Iterable[str]) -> SqlCells:
        """The same cells, seen through some signatures only."""
        return replace(self, signatures=frozenset(signatures))

    def keeping(self, kept: KeptScores) -> SqlCells:
        """The same cells, each read once."""
        return replace(self, kept=kept)

    def columns(self) -> tuple[ColumnKey, ...]:
        with self.database.reading() as connection:
            begun = select(cells.c.column_id).where(cells.c.column_id == score_columns.c.id).exists()
            query = select(score_columns).where(score_columns.c.board == self.board, begun).order_by(score_columns.c.id)
            keys = [_key(row) for row in connection.execute(query).mappings()]
        return tuple(key for key in keys if self._seen(key.column.signature))

    def present(self, key: ColumnKey) -> frozenset[str]:
        if not self._seen(key.column.signature):
            return frozenset()
        with self.database.reading() as connection:
            query = select(cells.c.row_version).join(score_columns).where(self._is(key)).distinct()
            return frozenset(connection.execute(query).scalars())

    def load(self, key: ColumnKey, versions: Iterable[str]) -> dict[str, Floats]:
        wanted = set(versions)
        if not self._seen(key.column.signature):
            return {}
        if self.kept is None:
            return self._read(key, wanted)
        return self.kept.load((key.column.signature, key.context), wanted, partial(self._read, key))

    def _read(self, key: ColumnKey, wanted: set[str]) -> dict[str, Floats]:
        query = select(cells.c.row_version, cells.c.scores).join(score_columns).where(self._is(key), cells.c.is_primary)
        if len(wanted) <= FEW:
            query = query.where(cells.c.row_version.in_(sorted(wanted)))
        with self.database.reading() as connection:
            found = connection.execute(query).all()
        return {version: np.frombuffer(scores, np.float64) for version, scores in found if version in wanted}

    def save(self, key: ColumnKey, version: str, parts: Mapping[str, Floats], *, seconds: float) -> None:
        with self.database.writing() as connection:
            write_cell(connection, self.board, key, version, parts, seconds=seconds, now=time.time())

    def seconds_per_cell(self, signatures: Iterable[str]) -> dict[str, float]:
        """How long a cell of each of these columns took on average, where there is one."""
        query = (
            select(score_columns.c.signature, func.avg(cells.c.seconds))
            .join(cells, cells.c.column_id == score_columns.c.id)
            .where(score_columns.c.board == self.board, score_columns.c.signature.in_(list(signatures)))
            .group_by(score_columns.c.signature)
        )
        with self.database.reading() as connection:
            return {signature: float(seconds) for signature, seconds in connection.execute(query)}

    def _seen(self, signature: str) -> bool:
        return self.signatures is None or signature in self.signatures

    def _is(self, key: ColumnKey) -> ColumnElement[bool]:
        return and_(
            score_columns.c.board == self.board,
            score_columns.c.signature == key.column.signature,
            score_columns.c.context == key.context,
        )


def write_cell(
    connection: Connection,
    board: str,
    key: ColumnKey,
    version: str,
    parts: Mapping[str, Floats],
    *,
    seconds: float,
    now: float,
) -> None:
    """Write one cell in somebody's transaction; what stood there is replaced, and a failure of it forgotten."""
    column_id = _column_id(connection, board, key)
    connection.execute(delete(cells).where(cells.c.column_id == column_id, cells.c.row_version == version))
    rows = [
        {
            "column_id": column_id,
            "row_version": version,
            "part": part,
            "is_primary": k == 0,
            "scores": np.ascontiguousarray(scores, np.float64).tobytes(),
            "seconds": seconds,
            "created": now,
        }
        for k, (part, scores) in enumerate(parts.items())
    ]
    connection.execute(insert(cells), rows)
    forget_failure(connection, board, (key.column.signature, key.context, version))


def write_failure(
    connection: Connection, board: str, cell: CellKey, *, reason: str, platform: bool, now: float, times: int = 1
) -> int:
    """Note that a cell could not be computed, so many times more; returns how many times by now."""
    known = connection.execute(select(cell_failures.c.attempts).where(_failure(board, cell))).scalar()
    forget_failure(connection, board, cell)
    signature, context, version = cell
    attempts = times + (known or 0)
    connection.execute(
        insert(cell_failures).values(
            board=board,
            signature=signature,
            context=context,
            row_version=version,
            reason=storable(reason),
            platform=platform,
            attempts=attempts,
            created=now,
        )
    )
    return attempts


def forget_failure(connection: Connection, board: str, cell: CellKey) -> None:
    connection.execute(delete(cell_failures).where(_failure(board, cell)))


def _failure(board: str, cell: CellKey) -> ColumnElement[bool]:
    signature, context, version = cell
    return and_(
        cell_failures.c.board == board,
        cell_failures.c.signature == signature,
        cell_failures.c.context == context,
        cell_failures.c.row_version == version,
    )


def _column_id(connection: Connection, board: str, key: ColumnKey) -> int:
    column = key.column
    where = and_(
        score_columns.c.board == board,
        score_columns.c.signature == column.signature,
        score_columns.c.context == key.context,
    )
    found = connection.execute(select(score_columns.c.id).where(where)).scalar()
    if found is not None:
        return int(found)
    made = connection.execute(
        insert(score_columns).values(
            board=board,
            name=column.name,
            signature=column.signature,
            references=list(column.references),
            context=key.context,
            needs_references=column.needs_references,
            needs_input=column.needs_input,
            is_statistic=column.is_statistic,
        )
    )
    assert made.inserted_primary_key is not None
    return int(made.inserted_primary_key[0])


def _key(row: RowMapping) -> ColumnKey:
    references = row["references"]
    assert isinstance(references, list)
    column = Column(
        name=str(row["name"]),
        signature=str(row["signature"]),
        references=tuple(references),
        origin="own",
        source_name=None,
        needs_references=bool(row["needs_references"]),
        needs_input=bool(row["needs_input"]),
        is_statistic=bool(row["is_statistic"]),
    )
    return ColumnKey(column, str(row["context"]))
