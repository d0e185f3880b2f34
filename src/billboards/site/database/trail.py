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
    action: str | None = None,
    before: int | None = None,
    limit: int = 100,
) -> tuple[Entry, ...]:
    """The audit trail, the latest first; an `action` such as board means all that begin with it, too."""
    query = select(audit).order_by(audit.c.id.desc()).limit(limit)
    if board is not None:
        query = query.where(audit.c.board == board)
    if subject is not None:
        query = query.where(audit.c.subject == subject)
    if action is not None:
        query = query.where((audit.c.action == action) | audit.c.action.startswith(f"{action}.", autoescape=True))
    if before is not None:
        query = query.where(audit.c.id < before)
    return tuple(Entry(**row) for row in connection.execute(query).mappings())


def actions(connection: Connection, *, board: str | None = None) -> tuple[str, ...]:
    """Every action that the trail holds, of a board or of the whole site, by name."""
    query = select(audit.c.action).distinct().order_by(audit.c.action)
    if board is not None:
        query = query.where(audit.c.board == board)
    return tuple(connection.execute(query).scalars())


def changes(before: Mapping[str, Any], after: Mapping[str, Any], place: str = "") -> dict[str, list[Any]]:
    """What differs between two documents: by its key, the value before and the value after."""
    differences: dict[str, list[Any]] = {}
    for key in (*before, *(key for key in after if key not in before)):
        old, new = before.get(key), after.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            differences |= changes(old, new, f"{place}{key}.")
        elif old != new:
            differences[f"{place}{key}"] = [old, new]
    return differences


def latest(connection: Connection, board: str, action: str) -> Entry | None:
    """The last line of one action on a board."""
    query = select(audit).where(audit.c.board == board, audit.c.action == action).order_by(audit.c.id.desc()).limit(1)
    row = connection.execute(query).mappings().one_or_none()
    return None if row is None else Entry(**row)


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
