"""What is asked of a database while a test looks on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from billboards.site.database.engine import Database


@contextmanager
def statements(database: Database) -> Iterator[list[tuple[str, Any]]]:
    """Every statement with its parameters, as the driver gets it."""
    asked: list[tuple[str, Any]] = []

    def note(_: Any, __: Any, statement: str, parameters: Any, *rest: Any) -> None:
        asked.append((statement, parameters))

    event.listen(database.engine, "before_cursor_execute", note)
    try:
        yield asked
    finally:
        event.remove(database.engine, "before_cursor_execute", note)
