"""Leases: one holder at a time, given back by time, and worthless once lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from postgres import PostgresServer

from billboards.site.boards import registry
from billboards.site.database.engine import Database
from billboards.site.work import leases
from billboards.site.work.leases import Lease


def take(database: Database, worker: str, now: float, seconds: float = 10.0) -> Lease | None:
    with database.claiming() as connection:
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


def test_of_many_who_ask_at_once_one_gets_each_job(database: Database) -> None:
    def claim(worker: int) -> list[str]:
        got = []
        for k in range(20):
            with database.claiming() as connection:
                if leases.acquire(connection, "ferry", "cell", f"c{k}", f"w{worker}", now=1.0, seconds=10.0):
                    got.append(f"c{k}")
        return got

    with ThreadPoolExecutor(6) as pool:
        claimed = [one for got in pool.map(claim, range(6)) for one in got]
    assert sorted(claimed) == sorted(f"c{k}" for k in range(20))


@pytest.mark.long
def test_a_claim_passes_over_a_lease_whose_result_is_being_written(postgres: PostgresServer) -> None:
    database = Database(postgres.new_database())
    database.upgrade()
    with database.writing() as connection:
        registry.add_board(connection, "ferry", "somewhere", "f", now=1.0)
    first = take(database, "one", 100.0)
    assert first is not None
    with database.writing() as connection:
        assert leases.holds(connection, first)
        # The lease has expired; yet who holds it is writing at this moment, and nobody may take it now.
        assert take(database, "two", 200.0) is None
        leases.release(connection, first)
    assert take(database, "two", 200.0) is not None
    database.close()
