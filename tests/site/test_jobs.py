"""Jobs under trouble: lost leases, dead workers, faults of the platform, cancelling and trying again."""

from __future__ import annotations

import errno
import shutil
import threading
from typing import Any

import pytest
from small_sites import DECLARED, SHARED_WORDS, Harbour, MakeHarbour, all_cells
from sqlalchemy import delete, select

from billboards.board.cells import MemoryCells
from billboards.board.missing_cells import score_board
from billboards.errors import FileLost, Refused, StoreAway
from billboards.metrics.discovery import metric
from billboards.metrics.executor import InProcess
from billboards.run import sandbox
from billboards.site.boards.live import live_board
from billboards.site.cache import Cache
from billboards.site.database import trail
from billboards.site.database.schema import cell_counts
from billboards.site.database.schema import leases as lease_table
from billboards.site.site import notice_changes
from billboards.site.submissions import sending as submitting
from billboards.site.submissions.blobs import Blobs
from billboards.site.submissions.records import Submission
from billboards.site.work import jobs as work
from billboards.site.work import leases
from billboards.site.work.jobs import run_job
from billboards.site.work.worker import Heartbeat, work_once, work_until_done
from billboards.site.work.worklist import Job, ids_of, next_job, plan_board, standing


def send(harbour: Harbour, name: str = "tug", seed: int = 0) -> Submission:
    return submitting.submit_generator(
        harbour.site, harbour.person("ann"), "ferry", name, harbour.outputs(seed)
    ).submission


def send_metric(harbour: Harbour, code: str = SHARED_WORDS, name: str = "words", **said: Any) -> Submission:
    return submitting.submit_metric(
        harbour.site, harbour.person("ann"), "ferry", code.encode(), name=name, manifest=DECLARED, **said
    ).submission


def take(harbour: Harbour, worker: str) -> Job:
    job = next_job(harbour.site, worker)
    assert job is not None
    return job


def test_two_workers_never_have_the_same_job(harbour: Harbour) -> None:
    jobs = [take(harbour, f"w{k}") for k in range(10)]
    assert len({(job.kind, job.subject) for job in jobs}) == 10


def test_a_dead_workers_job_is_taken_over_when_its_lease_is_over_and_not_before(harbour: Harbour) -> None:
    send(harbour)
    dead = take(harbour, "dead")
    assert dead.kind == "check"
    assert take(harbour, "other").subject != dead.subject
    harbour.clock.now += harbour.site.settings.lease_seconds
    heir = take(harbour, "heir")
    assert (heir.subject, heir.lease.taken) == (dead.subject, 2)


def test_a_worker_that_lost_its_lease_cannot_write_its_cell(harbour: Harbour) -> None:
    slow = take(harbour, "slow")
    assert slow.cell is not None
    harbour.clock.now += harbour.site.settings.lease_seconds + 1
    heir = take(harbour, "heir")
    assert heir.subject == slow.subject
    run_job(harbour.site, slow)
    assert standing(harbour.site, "ferry").is_missing(slow.cell.id)
    run_job(harbour.site, heir)
    assert not standing(harbour.site, "ferry").is_missing(slow.cell.id)


def test_a_worker_that_lost_its_lease_cannot_move_a_submission(harbour: Harbour) -> None:
    one = send(harbour)
    slow = take(harbour, "slow")
    harbour.clock.now += harbour.site.settings.lease_seconds + 1
    take(harbour, "heir")
    run_job(harbour.site, slow)
    assert harbour.now(one).state == "checking"


def test_a_heartbeat_renews_the_lease_and_hears_of_cancelling(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour(settings="lease_seconds = 0.06")
    one = send(harbour)
    job = take(harbour, "w")
    with Heartbeat(harbour.site, job) as heartbeat:
        harbour.clock.now += 0.05
        _until(lambda: _expires(harbour, job) > job.lease.expires)
        submitting.cancel(harbour.site, harbour.person("ann"), one.id)
        assert heartbeat.unwanted.wait(10)


def _expires(harbour: Harbour, job: Job) -> float:
    with harbour.site.database.reading() as connection:
        return float(
            connection.execute(select(lease_table.c.expires).where(lease_table.c.subject == job.subject)).scalar_one()
        )


def _until(true: Any) -> None:
    for _ in range(1000):
        if true():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it never came")


def test_a_check_that_kills_its_workers_ends_as_the_platforms_fault_and_costs_nothing(harbour: Harbour) -> None:
    one = send(harbour)
    for attempt in range(harbour.site.settings.attempts):
        assert take(harbour, f"w{attempt}").submission is not None
        harbour.clock.now += harbour.site.settings.lease_seconds + 1
    work_once(harbour.site, "last")
    found = harbour.now(one)
    assert (found.state, found.platform, found.refunded) == ("failed", True, True)
    assert found.reason == "3 workers died at this; the platform gives up"
    assert submitting.read_log(harbour.site, harbour.person("ann"), one.id)


def test_a_cell_that_kills_its_workers_ends_its_submission_as_the_platforms_fault(harbour: Harbour) -> None:
    work_until_done(harbour.site)
    one = send(harbour)
    work_once(harbour.site, "checker")
    deadly = min(ids_of(plan_board(harbour.site, "ferry").waits[one.id]))
    deaths = 0
    while (job := next_job(harbour.site, "w")) is not None:
        if job.cell is not None and job.cell.id == deadly and job.lease.taken <= 3:
            harbour.clock.now += harbour.site.settings.lease_seconds + 1
            deaths += 1
        else:
            run_job(harbour.site, job)
    assert deaths == 3
    found = harbour.now(one)
    assert (found.state, found.platform, found.refunded) == ("failed", True, True)
    live = live_board(harbour.site, "ferry")
    assert live.document is not None


@pytest.mark.long
def test_a_damaged_file_is_the_platforms_fault_and_can_be_retried(harbour: Harbour) -> None:
    one = send_metric(harbour)
    path = Blobs(harbour.site.data / "blobs").path(one.blob)
    kept = path.read_bytes()
    path.write_bytes(b"something else")
    work_until_done(harbour.site)
    found = harbour.now(one)
    assert (found.state, found.platform, found.refunded) == ("failed", True, True)
    assert found.reason is not None
    assert found.reason == f"the platform failed: {FileLost.public_words}"
    assert str(harbour.site.data) not in repr(found)
    path.write_bytes(kept)
    submitting.retry(harbour.site, harbour.person("ann"), one.id)
    work_until_done(harbour.site)
    assert harbour.now(one).state == "scored"


@pytest.mark.long
def test_without_a_sandbox_only_what_the_owner_trusts_runs(harbour: Harbour, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = sandbox.Availability("bubblewrap is not installed")
    monkeypatch.setattr(sandbox, "sandbox_available", lambda: missing)
    one = send_metric(harbour)
    work_until_done(harbour.site)
    found = harbour.now(one)
    assert (found.state, found.platform, found.refunded) == ("failed", True, True)
    submitting.set_trusted(harbour.site, harbour.owner, one.id, True)
    submitting.retry(harbour.site, harbour.owner, one.id)
    work_until_done(harbour.site)
    assert harbour.now(one).state == "scored"


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_a_submission_is_cancelled_at_any_stage_and_begins_again_when_retried(harbour: Harbour, steps: int) -> None:
    work_until_done(harbour.site)
    one = send(harbour)
    for _ in range(steps):
        work_once(harbour.site, "w")
    ann = harbour.person("ann")
    assert submitting.cancel(harbour.site, ann, one.id).state == "cancelled"
    work_until_done(harbour.site)
    assert harbour.now(one).state == "cancelled"
    with pytest.raises(Refused, match="is cancelled: it can't become cancelled"):
        submitting.cancel(harbour.site, ann, one.id)
    submitting.retry(harbour.site, ann, one.id)
    work_until_done(harbour.site)
    assert harbour.now(one).state == "scored"


def test_cancelling_stops_a_running_program(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour(settings="lease_seconds = 1.0")
    work_until_done(harbour.site)
    code = "import time\ndef score(outputs, references, inputs):\n    time.sleep(600)\n"
    one = send_metric(harbour, code, "sleeper")
    work_once(harbour.site, "w")
    assert harbour.now(one).state == "trial"
    worker = threading.Thread(target=work_once, args=(harbour.site, "w"))
    worker.start()
    _until(lambda: _is_held(harbour, "trial", one.id))
    submitting.cancel(harbour.site, harbour.person("ann"), one.id)
    worker.join(60)
    assert not worker.is_alive()
    assert harbour.now(one).state == "cancelled"


def _is_held(harbour: Harbour, kind: str, subject: str) -> bool:
    with harbour.site.database.reading() as connection:
        return (kind, subject) in leases.held(connection, "ferry", now=harbour.clock())


def test_a_worker_told_to_stop_gives_its_job_back_at_once(harbour: Harbour) -> None:
    work_until_done(harbour.site)
    code = "import time\ndef score(outputs, references, inputs):\n    time.sleep(600)\n"
    one = send_metric(harbour, code, "sleeper")
    work_once(harbour.site, "w")
    stop = threading.Event()
    worker = threading.Thread(target=work_once, args=(harbour.site, "w", stop))
    worker.start()
    _until(lambda: _is_held(harbour, "trial", one.id))
    stop.set()
    worker.join(60)
    assert not worker.is_alive()
    assert harbour.now(one).state == "trial"
    assert not _is_held(harbour, "trial", one.id)


def test_a_slow_metric_keeps_nobody_waiting(harbour: Harbour) -> None:
    work_until_done(harbour.site)
    metric = send_metric(harbour)
    work_once(harbour.site, "w")
    work_once(harbour.site, "w")
    assert harbour.now(metric).state == "scoring"
    one = send(harbour)
    kinds: list[str] = []
    while harbour.now(one).state != "scored" or not kinds or kinds[-1] != "refresh":
        job = take(harbour, "w")
        kinds.append(job.kind)
        run_job(harbour.site, job)
    assert harbour.now(metric).state == "scoring"
    assert "tug" in live_board(harbour.site, "ferry").board.row_position


@pytest.mark.long
def test_an_unpacked_metric_that_was_deleted_is_made_again(harbour: Harbour) -> None:
    send_metric(harbour)
    work_until_done(harbour.site)
    shutil.rmtree(harbour.site.data / "metrics")
    one = send(harbour)
    work_until_done(harbour.site)
    assert harbour.now(one).state == "scored"
    live = live_board(harbour.site, "ferry")
    assert live.document is not None
    (row,) = [g for g in live.document["ranking"]["generators"] if g["name"] == "tug"]
    assert row["scores"]["words"] is not None


def test_every_job_ends_in_the_trail(harbour: Harbour) -> None:
    one = send(harbour)
    work_until_done(harbour.site)
    with harbour.site.database.reading() as connection:
        said = trail.entries(connection, subject=one.id)
    moves = [(entry.detail["from"], entry.detail["to"]) for entry in reversed(said) if "from" in entry.detail]
    assert moves == [("received", "checking"), ("checking", "scoring"), ("scoring", "scored")]


def test_a_ranking_that_cannot_be_made_waits_and_stops_nothing_else(harbour: Harbour) -> None:
    work_until_done(harbour.site)
    send(harbour)
    deaths = 0
    while deaths < 3:
        job = take(harbour, "w")
        if job.kind == "refresh":
            harbour.clock.now += harbour.site.settings.lease_seconds + 1
            deaths += 1
        else:
            run_job(harbour.site, job)
    work_until_done(harbour.site)
    other = send(harbour, "barge", seed=3)
    work_until_done(harbour.site)
    assert harbour.now(other).state == "scored"
    assert live_board(harbour.site, "ferry").snapshot.number == 1  # type: ignore[union-attr]
    harbour.clock.now += 601
    work_until_done(harbour.site)
    assert live_board(harbour.site, "ferry").snapshot.number == 2  # type: ignore[union-attr]


def test_a_board_edited_under_a_worker_gets_no_cell_in_a_wrong_place(harbour: Harbour) -> None:
    job = take(harbour, "w")
    assert job.cell is not None
    path = harbour.site.data / "boards" / "ferry" / "instances.jsonl"
    path.write_text(path.read_text().replace("harbour", "quay"))
    assert notice_changes(harbour.site) == ["ferry"]
    run_job(harbour.site, job)
    assert all_cells(harbour.site) == {}
    work_until_done(harbour.site)
    live = live_board(harbour.site, "ferry")
    assert any("quay" in ref.text for instance in live.board.instances for ref in instance.references)
    plain = MemoryCells()
    score_board(live.board, plain, [metric(name) for name in live.board.metrics], InProcess())
    for key in plain.columns():
        theirs, ours = (store.load(key, plain.present(key)) for store in (plain, live.cells))
        assert {v: s.tobytes() for v, s in theirs.items()} == {v: s.tobytes() for v, s in ours.items()}


def test_cells_without_counts_as_version_0_1_wrote_them_are_computed_again(harbour: Harbour) -> None:
    work_until_done(harbour.site)
    live = live_board(harbour.site, "ferry")
    counted = {key: live.cells.counted(key) for key in live.cells.columns() if live.cells.counted(key)}
    before = {key: live.cells.load(key, versions) for key, versions in counted.items()}
    assert counted
    assert all(versions == live.cells.present(key) for key, versions in counted.items())
    with harbour.site.database.writing() as connection:
        connection.execute(delete(cell_counts))
    # Another process, which has not seen that they were there.
    harbour.site.cache = Cache()
    waiting = standing(harbour.site, "ferry").missing
    assert waiting == {(key.column.signature, key.context): versions for key, versions in counted.items()}
    work_until_done(harbour.site)
    for key, versions in counted.items():
        assert live.cells.counted(key) == versions
        after = live.cells.load(key, versions)
        assert {v: s.tobytes() for v, s in after.items()} == {v: s.tobytes() for v, s in before[key].items()}


def test_a_database_that_was_away_or_a_full_disk_fails_no_submission(
    harbour: Harbour, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, kept = send(harbour), Blobs.read
    faults: list[Exception] = [StoreAway("the server is gone"), OSError(errno.ENOSPC, "no room")]

    def read(blobs: Blobs, name: str) -> bytes:
        if faults:
            raise faults.pop()
        return kept(blobs, name)

    monkeypatch.setattr(Blobs, "read", read)
    for waited in (5.0, 10.0):
        work_until_done(harbour.site)
        assert harbour.now(one).state == "checking"
        harbour.clock.now += waited
    work_until_done(harbour.site)
    assert harbour.now(one).state == "scored"


def test_a_ranking_that_the_database_spoiled_is_made_when_it_is_back(
    harbour: Harbour, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise StoreAway("the server is gone")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(work, "refresh", away)
        work_until_done(harbour.site)
    assert live_board(harbour.site, "ferry").snapshot is None
    harbour.clock.now += 5.0
    assert work_until_done(harbour.site) == 1
    assert live_board(harbour.site, "ferry").snapshot is not None
