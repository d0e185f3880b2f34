"""Publications of boards in the database: who asked for files, how far they are, and what became of them.

A board has one, the last that was asked for. `asked` tells it from the one before: whoever still writes an older one
finds that its time is another, and stops.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, delete, insert, select, update

from billboards.site.database.schema import publications

State = Literal["waiting", "writing", "ready", "failed"]
#: States in which there is something to do.
OPEN = ("waiting", "writing")


@dataclass(frozen=True, kw_only=True)
class Publication:
    """The files of a board that somebody asked for; `done` of `total` pages are written, `size` is the archive's."""

    board: str
    state: State
    actor: str
    wanted: Mapping[str, Any]
    asked: float
    changed: float
    done: int
    total: int
    seconds: float | None
    size: int
    reason: str | None


def publication(connection: Connection, board: str) -> Publication | None:
    """The last publication of a board, if there is one."""
    row = connection.execute(select(publications).where(publications.c.board == board)).mappings().one_or_none()
    return None if row is None else Publication(**row)


def open_publications(connection: Connection) -> tuple[Publication, ...]:
    """Publications that are not finished, the oldest first."""
    query = select(publications).where(publications.c.state.in_(OPEN)).order_by(publications.c.asked)
    return tuple(Publication(**row) for row in connection.execute(query).mappings())


def old_publications(connection: Connection, before: float) -> dict[str, int]:
    """Boards whose archives were made before a time, with their sizes."""
    query = select(publications.c.board, publications.c.size)
    return {
        str(board): int(size)
        for board, size in connection.execute(
            query.where(publications.c.state == "ready", publications.c.changed < before)
        )
    }


def begin(connection: Connection, board: str, wanted: Mapping[str, Any], *, actor: str, now: float) -> None:
    """Ask for the files of a board, in the place of those before."""
    remove(connection, board)
    values: dict[str, Any] = {"board": board, "state": "waiting", "actor": actor, "wanted": dict(wanted)}
    counts: dict[str, Any] = {"done": 0, "total": 0, "seconds": None, "size": 0, "reason": None}
    connection.execute(insert(publications).values(**values, **counts, asked=now, changed=now))


def change(connection: Connection, board: str, asked: float, *, now: float, **values: Any) -> bool:
    """Write down how far a publication is; False where another one has been asked for since."""
    same = (publications.c.board == board, publications.c.asked == asked)
    return connection.execute(update(publications).where(*same).values(**values, changed=now)).rowcount == 1


def remove(connection: Connection, board: str) -> None:
    connection.execute(delete(publications).where(publications.c.board == board))
