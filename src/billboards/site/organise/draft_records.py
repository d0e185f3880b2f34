"""Drafts of boards in the database: where each came from, what became of reading it, and what is odd about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, delete, insert, select, update

from billboards.errors import UnknownName
from billboards.site.database.schema import board_drafts

Source = Literal["demo", "catalogue", "table", "text", "folder"]
State = Literal["reading", "ready", "failed"]


@dataclass(frozen=True, kw_only=True)
class BoardDraft:
    """A board that an owner is making; `origin` is what it is made of, in words."""

    name: str
    source: Source
    origin: str
    state: State
    problems: Sequence[str]
    notes: Sequence[str]
    findings: Sequence[dict[str, Any]]
    actor: str
    created: float
    changed: float


def list_drafts(connection: Connection) -> tuple[BoardDraft, ...]:
    """Every draft, the latest first."""
    rows = connection.execute(select(board_drafts).order_by(board_drafts.c.created.desc())).mappings()
    return tuple(BoardDraft(**row) for row in rows)


def draft(connection: Connection, name: str) -> BoardDraft:
    """A draft by its name."""
    row = connection.execute(select(board_drafts).where(board_drafts.c.name == name)).mappings().one_or_none()
    if row is None:
        raise UnknownName("draft", name, connection.execute(select(board_drafts.c.name)).scalars())
    return BoardDraft(**row)


def add_draft(connection: Connection, name: str, source: Source, origin: str, *, actor: str, now: float) -> None:
    """Write a draft down that is being read."""
    values = {"name": name, "source": source, "origin": origin, "state": "reading", "actor": actor}
    lists: dict[str, Any] = {"problems": [], "notes": [], "findings": []}
    connection.execute(insert(board_drafts).values(**values, **lists, created=now, changed=now))


def change_draft(connection: Connection, name: str, *, now: float, **values: Any) -> None:
    """Write down what became of a draft."""
    connection.execute(update(board_drafts).where(board_drafts.c.name == name).values(**values, changed=now))


def remove_draft(connection: Connection, name: str) -> None:
    connection.execute(delete(board_drafts).where(board_drafts.c.name == name))
