"""Leases: who is working on what, for how long, and how often it was tried.

A lease is a row that expires. It is taken by whoever is first to find it free or expired, renewed by heartbeats, and
gone when the work is done; a worker that dies just stops renewing. `taken` counts how often a job changed hands without
being finished, so that one which kills its workers can be told from one that was unlucky. Whoever writes a job's
result first asks, in the same transaction, whether it still holds the lease.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, and_, delete, insert, select, update

from billboards.store.schema import leases


@dataclass(frozen=True)
class Lease:
    """The right to do one job, until it expires."""

    board: str
    kind: str
    subject: str
    worker: str
    expires: float
    #: How many workers have had this job, this one included.
    taken: int


def acquire(
    connection: Connection, board: str, kind: str, subject: str, worker: str, *, now: float, seconds: float
) -> Lease | None:
    """The lease, if it is free or expired; needs a writing transaction."""
    where = _job(board, kind, subject)
    held = connection.execute(select(leases.c.expires, leases.c.taken).where(where)).one_or_none()
    if held is not None and held.expires > now:
        return None
    lease = Lease(board, kind, subject, worker, now + seconds, 1 if held is None else held.taken + 1)
    values = {"worker": worker, "acquired": now, "expires": lease.expires, "taken": lease.taken}
    if held is None:
        connection.execute(insert(leases).values(board=board, kind=kind, subject=subject, **values))
    else:
        connection.execute(update(leases).where(where).values(**values))
    return lease


def holds(connection: Connection, lease: Lease) -> bool:
    """Whether nobody else has taken the job since; in a writing transaction this stays true until its end."""
    return connection.execute(select(leases.c.worker).where(_mine(lease))).one_or_none() is not None


def renew(connection: Connection, lease: Lease, *, now: float, seconds: float) -> bool:
    """Keep the lease for longer; False where somebody else has it by now."""
    return connection.execute(update(leases).where(_mine(lease)).values(expires=now + seconds)).rowcount == 1


def release(connection: Connection, lease: Lease) -> None:
    """Give the lease back: the job is done, or for somebody else to do."""
    connection.execute(delete(leases).where(_mine(lease)))


def put_off(connection: Connection, lease: Lease, *, until: float) -> None:
    """Let nobody have the job before a time, and then count anew: it was tried in vain."""
    connection.execute(update(leases).where(_mine(lease)).values(worker="nobody", expires=until, taken=0))


def held(connection: Connection, board: str, *, now: float) -> frozenset[tuple[str, str]]:
    """The jobs of a board that somebody is working on, as kind and subject."""
    query = select(leases.c.kind, leases.c.subject).where(leases.c.board == board, leases.c.expires > now)
    return frozenset((kind, subject) for kind, subject in connection.execute(query))


def _job(board: str, kind: str, subject: str) -> ColumnElement[bool]:
    return and_(leases.c.board == board, leases.c.kind == kind, leases.c.subject == subject)


def _mine(lease: Lease) -> ColumnElement[bool]:
    return and_(
        _job(lease.board, lease.kind, lease.subject),
        leases.c.worker == lease.worker,
        leases.c.taken == lease.taken,
    )
