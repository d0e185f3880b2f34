"""What happened: the audit trail of every change of state, and the logs of submissions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from billboards.site.database.schema import audit, boards, logs


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of the audit trail."""

    id: int
    at: float
    actor: str
    action: str
    board: str | None
    subject: str
    detail: Mapping[str, Any]


@dataclass(frozen=True)
class LogLine:
    """Some text of a submission's log; `stream` is `platform` (the site's words) or `program` (the metric's own)."""

    id: int
    at: float
    stream: str
    text: str


def note(
    connection: Connection,
    actor: str,
    action: str,
    subject: str,
    *,
    now: float,
    board: str | None = None,
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Add a line to the audit trail."""
    values = {"at": now, "actor": actor, "action": action, "board": board, "subject": subject}
    connection.execute(insert(audit).values(**values, detail=dict(detail or {})))


def entries(
    connection: Connection,
    *,
    board: str | None = None,
    subject: str | None = None,
    before: int | None = None,
    limit: int = 100,
) -> tuple[Entry, ...]:
    """The audit trail, the latest first."""
    query = select(audit).order_by(audit.c.id.desc()).limit(limit)
    if board is not None:
        query = query.where(audit.c.board == board)
    if subject is not None:
        query = query.where(audit.c.subject == subject)
    if before is not None:
        query = query.where(audit.c.id < before)
    return tuple(Entry(**row) for row in connection.execute(query).mappings())


def since(connection: Connection, board: str, after: int, actions: Collection[str]) -> tuple[Entry, ...]:
    """Lines of some actions on a board that came after another line, the oldest first."""
    where = (audit.c.board == board, audit.c.id > after, audit.c.action.in_(list(actions)))
    return tuple(
        Entry(**row) for row in connection.execute(select(audit).where(*where).order_by(audit.c.id)).mappings()
    )


def write_log(connection: Connection, submission: str, text: str, *, now: float, stream: str = "platform") -> None:
    """Add to a submission's log."""
    values = {"submission_id": submission, "at": now, "stream": stream, "text": storable(text)}
    connection.execute(insert(logs).values(**values))


def storable(text: str) -> str:
    """A program's words as every database can hold them: without NUL and without half a character."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def read_log(connection: Connection, submission: str, *, after: int = 0, limit: int = 1000) -> tuple[LogLine, ...]:
    """A submission's log from a place on, oldest first."""
    query = select(logs.c.id, logs.c.at, logs.c.stream, logs.c.text)
    query = query.where(logs.c.submission_id == submission, logs.c.id > after).order_by(logs.c.id).limit(limit)
    return tuple(LogLine(**row) for row in connection.execute(query).mappings())


def raise_generation(connection: Connection, board: str, *, now: float) -> None:
    """Say that something changed that pages can see."""
    values = {"generation": boards.c.generation + 1, "changed": now}
    connection.execute(update(boards).where(boards.c.name == board).values(**values))


def generation(connection: Connection, board: str) -> int | None:
    """How often a board has changed, or None where there is none of that name."""
    return connection.execute(select(boards.c.generation).where(boards.c.name == board)).scalar()


def generations(connection: Connection) -> int:
    """How often any board has changed."""
    return connection.execute(select(func.sum(boards.c.generation))).scalar() or 0
