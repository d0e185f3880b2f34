"""Drafts of boards in the database: where each came from, what became of reading it, and what is odd about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, delete, insert, select, update

from billboards.errors import UnknownName
from billboards.site.database.schema import board_drafts

Source = Literal["demo", "catalogue", "table", "text", "folder"]
State = Literal["waiting", "reading", "ready", "failed"]


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
    #: What a worker reads it from; None where the server that was asked does.
    wanted: Mapping[str, Any] | None = None
    #: How far reading it has come, in words.
    progress: str = ""


def list_drafts(connection: Connection) -> tuple[BoardDraft, ...]:
    """Every draft, the latest first."""
    rows = connection.execute(select(board_drafts).order_by(board_drafts.c.created.desc())).mappings()
    return tuple(BoardDraft(**row) for row in rows)


def waiting_drafts(connection: Connection) -> tuple[BoardDraft, ...]:
    """Drafts that a worker is to read, or was reading, the oldest first."""
    query = select(board_drafts).where(board_drafts.c.state.in_(("waiting", "reading")))
    rows = connection.execute(query.order_by(board_drafts.c.created)).mappings()
    return tuple(draft for draft in (BoardDraft(**row) for row in rows) if draft.wanted is not None)


def draft(connection: Connection, name: str) -> BoardDraft:
    """A draft by its name."""
    row = connection.execute(select(board_drafts).where(board_drafts.c.name == name)).mappings().one_or_none()
    if row is None:
        raise UnknownName("draft", name, connection.execute(select(board_drafts.c.name)).scalars())
    return BoardDraft(**row)


def add_draft(
    connection: Connection,
    name: str,
    source: Source,
    origin: str,
    *,
    actor: str,
    now: float,
    wanted: Mapping[str, Any] | None = None,
) -> None:
    """Write a draft down that is being read, or that waits for a worker to read what is `wanted`."""
    state = "reading" if wanted is None else "waiting"
    values: dict[str, Any] = {"name": name, "source": source, "origin": origin, "state": state, "actor": actor}
    values["wanted"] = None if wanted is None else dict(wanted)
    lists: dict[str, Any] = {"problems": [], "notes": [], "findings": []}
    connection.execute(insert(board_drafts).values(**values, **lists, created=now, changed=now))


def change_draft(connection: Connection, name: str, *, now: float, **values: Any) -> bool:
    """Write down what became of a draft; False where it was thrown away meanwhile."""
    changed = update(board_drafts).where(board_drafts.c.name == name).values(**values, changed=now)
    return connection.execute(changed).rowcount == 1


def remove_draft(connection: Connection, name: str) -> None:
    connection.execute(delete(board_drafts).where(board_drafts.c.name == name))
