"""Leases: who is working on what, for how long, and how often it was tried.

A lease is a row that expires. It is taken by whoever is first to find it free or expired, renewed by heartbeats, and
gone when the work is done; a worker that dies just stops renewing. `taken` counts how often a job changed hands without
being finished, so that one which kills its workers can be told from one that was unlucky. Whoever writes a job's
result first asks, in the same transaction, whether it still holds the lease.

Leases are taken beside other writers: on PostgreSQL a claim locks the one row it is about and passes over rows that
somebody else has locked, so that many workers ask at once and none waits for another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, Connection, and_, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from billboards.site.database.schema import leases

#: A lease on no job: its holder is there to work. And who holds a job that nobody may have yet.
WORKER, NOBODY = "worker", "nobody"
#: What stands in the place of a board where a worker declares a graphics card; no board is called so.
GPU = "/gpu"
#: Seconds by which machines' clocks may differ before a lease is held to have begun in the future.
CLOCKS_APART = 5.0


@dataclass(frozen=True, kw_only=True)
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
    """The lease, if it is free or expired; needs a claiming or a writing transaction."""
    job = {"board": board, "kind": kind, "subject": subject}
    first = Lease(board=board, kind=kind, subject=subject, worker=worker, expires=now + seconds, taken=1)
    insert_new = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    new = insert_new(leases).values(**job, **_values(first, now)).on_conflict_do_nothing().returning(leases.c.taken)
    if connection.execute(new).one_or_none() is not None:
        return first
    free = select(leases.c.taken).where(_job(board, kind, subject), leases.c.expires <= now)
    expired = connection.execute(free.with_for_update(skip_locked=True)).one_or_none()
    if expired is None:
        return None
    lease = replace(first, taken=expired.taken + 1)
    connection.execute(update(leases).where(_job(board, kind, subject)).values(**_values(lease, now)))
    return lease


def _values(lease: Lease, now: float) -> dict[str, object]:
    return {"worker": lease.worker, "acquired": now, "expires": lease.expires, "taken": lease.taken}


def holds(connection: Connection, lease: Lease) -> bool:
    """Whether nobody else has taken the job since; in a writing transaction this stays true until its end."""
    mine = select(leases.c.worker).where(_mine(lease))
    if connection.get_execution_options().get("writing"):
        # Claims don't wait for writers, so the row is locked until what rests on it is written.
        mine = mine.with_for_update()
    return connection.execute(mine).one_or_none() is not None


def renew(connection: Connection, lease: Lease, *, now: float, seconds: float) -> bool:
    """Keep the lease for longer; False where somebody else has it by now."""
    return connection.execute(update(leases).where(_mine(lease)).values(expires=now + seconds)).rowcount == 1


def release(connection: Connection, lease: Lease) -> None:
    """Give the lease back: the job is done, or for somebody else to do."""
    connection.execute(delete(leases).where(_mine(lease)))


def put_off(connection: Connection, lease: Lease, *, until: float, anew: bool = True) -> None:
    """Let nobody have the job before a time: it was tried in vain. Then count anew, or go on counting."""
    taken = 0 if anew else lease.taken
    connection.execute(update(leases).where(_mine(lease)).values(worker=NOBODY, expires=until, taken=taken))


def held(connection: Connection, board: str, *, now: float) -> frozenset[tuple[str, str]]:
    """The jobs of a board that somebody is working on, as kind and subject."""
    query = select(leases.c.kind, leases.c.subject).where(leases.c.board == board, leases.c.expires > now)
    return frozenset((kind, subject) for kind, subject in connection.execute(query))


def note_alive(connection: Connection, worker: str, *, now: float, seconds: float, gpu: bool = False) -> None:
    """Say that a worker is there, for a while; what was said of workers that are gone is forgotten."""
    over = leases.c.expires <= now
    connection.execute(delete(leases).where(leases.c.kind == WORKER, (leases.c.subject == worker) | over))
    job = {"board": GPU if gpu else "", "kind": WORKER, "subject": worker}
    values = _values(Lease(**job, worker=worker, expires=now + seconds, taken=1), now)
    connection.execute(insert(leases).values(**job, **values))


def clamp(connection: Connection, *, now: float, seconds: float) -> None:
    """Let no worker's lease end later than one that is taken now: whose clock is ahead would keep it for days.

    A worker that lives renews it; a job that was put off is nobody's, and waits as long as was said.
    """
    late = and_(leases.c.worker != NOBODY, leases.c.kind != WORKER, leases.c.expires > now + seconds + CLOCKS_APART)
    rows = select(leases.c.board, leases.c.kind, leases.c.subject).where(late).with_for_update(skip_locked=True)
    for job in connection.execute(rows).all():
        connection.execute(update(leases).where(_job(*job)).values(expires=now + seconds))


def has_gpu_worker(connection: Connection, *, now: float) -> bool:
    """Whether a worker that is there has declared a graphics card."""
    query = select(leases.c.worker).where(leases.c.kind == WORKER, leases.c.board == GPU, leases.c.expires > now)
    return connection.execute(query.limit(1)).one_or_none() is not None


def count_held(connection: Connection, *, now: float) -> dict[str, int]:
    """How many jobs of each kind somebody is working on."""
    query = select(leases.c.kind, func.count()).where(_alive(now), leases.c.kind != WORKER)
    return {str(kind): int(count) for kind, count in connection.execute(query.group_by(leases.c.kind))}


def count_workers(connection: Connection, *, now: float) -> int:
    """How many workers have said that they are there, or work on something."""
    return connection.execute(select(func.count(leases.c.worker.distinct())).where(_alive(now))).scalar() or 0


def _alive(now: float) -> ColumnElement[bool]:
    return and_(leases.c.expires > now, leases.c.worker != NOBODY)


def _job(board: str, kind: str, subject: str) -> ColumnElement[bool]:
    return and_(leases.c.board == board, leases.c.kind == kind, leases.c.subject == subject)


def _mine(lease: Lease) -> ColumnElement[bool]:
    return and_(
        _job(lease.board, lease.kind, lease.subject),
        leases.c.worker == lease.worker,
        leases.c.taken == lease.taken,
    )
