"""Leases: one holder at a time, given back by time, and worthless once lost."""

from __future__ import annotations

from billboards.store import leases
from billboards.store.database import Database
from billboards.store.leases import Lease


def take(database: Database, worker: str, now: float, seconds: float = 10.0) -> Lease | None:
    with database.writing() as connection:
        return leases.acquire(connection, "ferry", "cell", "a", worker, now=now, seconds=seconds)


def test_a_job_has_one_holder_until_the_lease_expires(database: Database) -> None:
    assert take(database, "one", 100.0) is not None
    assert take(database, "two", 109.9) is None
    second = take(database, "two", 110.0)
    assert second is not None
    assert second.taken == 2


def test_a_heartbeat_keeps_it(database: Database) -> None:
    first = take(database, "one", 100.0)
    assert first is not None
    with database.writing() as connection:
        assert leases.renew(connection, first, now=109.0, seconds=10.0)
        assert leases.held(connection, "ferry", now=115.0) == {("cell", "a")}
    assert take(database, "two", 115.0) is None


def test_who_lost_the_lease_can_neither_renew_nor_write(database: Database) -> None:
    first = take(database, "one", 100.0)
    assert first is not None
    assert take(database, "two", 111.0) is not None
    with database.writing() as connection:
        assert not leases.holds(connection, first)
        assert not leases.renew(connection, first, now=111.0, seconds=10.0)
        leases.release(connection, first)
        assert leases.held(connection, "ferry", now=112.0) == {("cell", "a")}


def test_the_same_worker_taking_a_job_again_has_another_lease(database: Database) -> None:
    first, again = take(database, "one", 100.0), take(database, "one", 120.0)
    assert first is not None
    assert again is not None
    with database.writing() as connection:
        assert not leases.holds(connection, first)
        assert leases.holds(connection, again)


def test_a_job_given_back_is_counted_from_the_beginning(database: Database) -> None:
    first = take(database, "one", 100.0)
    assert first is not None
    with database.writing() as connection:
        leases.release(connection, first)
    again = take(database, "two", 101.0)
    assert again is not None
    assert again.taken == 1
