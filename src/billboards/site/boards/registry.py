"""The boards of a site: where each one's folder lies, what its owner decided, and how often it has changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from billboards.errors import UnknownName
from billboards.site.database import trail
from billboards.site.database.schema import audit, boards

#: What the audit trail says of a new board, of one whose folder can't be read, and of one that is as it was again.
ADDED, UNREADABLE, MENDED = "board.added", "board.unreadable", "board.mended"
#: What says that a board's folder can be read, or can't.
FOLDER_STATES = (ADDED, UNREADABLE, MENDED, "board.edited", "board.moved")


@dataclass(frozen=True, kw_only=True)
class Registered:
    """A board as the site knows it; `fingerprint` changes with the folder, `generation` with anything pages can see."""

    name: str
    folder: str
    fingerprint: str
    settings: Mapping[str, Any]
    generation: int
    changed: float


def list_boards(connection: Connection) -> tuple[Registered, ...]:
    """Every board, by name."""
    return tuple(Registered(**row) for row in connection.execute(select(boards).order_by(boards.c.name)).mappings())


def board(connection: Connection, name: str) -> Registered:
    """A board by its name."""
    row = connection.execute(select(boards).where(boards.c.name == name)).mappings().one_or_none()
    if row is None:
        raise UnknownName("board", name, connection.execute(select(boards.c.name)).scalars())
    return Registered(**row)


def held_to_cards(connection: Connection) -> frozenset[str]:
    """Boards that are published only with a complete data card; those of version 0.1's sites stay as they were."""
    added = select(audit.c.subject, audit.c.detail).where(audit.c.action == ADDED)
    return frozenset(name for name, detail in connection.execute(added) if "draft" in detail)


def folder_states(connection: Connection) -> dict[str, trail.Entry]:
    """What was last said of each board's folder."""
    last = select(func.max(audit.c.id)).where(audit.c.action.in_(FOLDER_STATES)).group_by(audit.c.board)
    rows = connection.execute(select(audit).where(audit.c.id.in_(last))).mappings()
    return {str(row["board"]): trail.Entry(**row) for row in rows}


def add_board(
    connection: Connection, name: str, folder: str, fingerprint: str, *, draft: bool = False, now: float
) -> None:
    """Write a board down, and whether it was a draft then."""
    values = {"folder": folder, "fingerprint": fingerprint, "settings": {}, "generation": 1, "changed": now}
    connection.execute(insert(boards).values(name=name, **values))
    detail = {"folder": folder, "draft": draft}
    trail.note(connection, "site", ADDED, name, now=now, board=name, detail=detail)


def change_board(
    connection: Connection,
    name: str,
    action: str,
    *,
    actor: str,
    now: float,
    detail: Mapping[str, Any] | None = None,
    **values: Any,
) -> Registered:
    """Change what is written of a board, with a line of the audit trail, which says `detail` beside the values."""
    connection.execute(update(boards).where(boards.c.name == name).values(**values))
    trail.note(connection, actor, action, name, now=now, board=name, detail={**values, **(detail or {})})
    trail.raise_generation(connection, name, now=now)
    return board(connection, name)
