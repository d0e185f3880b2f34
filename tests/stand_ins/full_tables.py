"""A database in which every table has rows, made from the tables themselves: a table that is added is filled too."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, Boolean, Column, Connection, Float, Integer, LargeBinary, insert

from billboards.site.database.row_lines import BATCH
from billboards.site.database.schema import metadata

#: A table that no other refers to, filled beyond one batch.
LONG = "standings"


def fill_every_table(connection: Connection) -> None:
    """Three rows for each table, and more than a batch for one."""
    for table in metadata.sorted_tables:
        count = BATCH + 7 if table.name == LONG else 3
        rows = [{column.name: _value(column, k) for column in table.columns} for k in range(count)]
        connection.execute(insert(table), rows)


def _value(column: Column[Any], k: int) -> Any:
    """The k-th value of a column; a key that refers elsewhere has the k-th value there."""
    for key in column.foreign_keys:
        return _value(key.column, k)
    if column.nullable and k == 1:
        return None
    if isinstance(column.type, JSON):
        return {"b": [k, None, 0.1], "a": "Zürich ☃ \U0001f6a2", "": {"deep": True}}
    if isinstance(column.type, Boolean):
        return k == 0
    if isinstance(column.type, Float):
        return (0.1 + 0.2, 1_800_000_000.123456, 5e-324)[k % 3]
    if isinstance(column.type, Integer):
        return 100 + k
    if isinstance(column.type, LargeBinary):
        return bytes(range(256)) * k
    return f"{k} {column.name} ä"
