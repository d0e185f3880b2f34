"""What operators live through: stores that are away or lose files, newer tables, broken folders, logs moved away."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from api_sites import SmallSite, small_site
from fastapi.testclient import TestClient
from outbox import list_deliveries
from small_sites import Harbour, MakeHarbour
from sqlalchemy import select, text

from billboards.cli.main import main
from billboards.errors import FileLost, OtherSchema, StoreFailed
from billboards.site.admin import deliveries, operations
from billboards.site.admin.operations import look_at, verify_files
from billboards.site.boards import registry
from billboards.site.boards.last_good import FOLDER, KEPT, copy_of
from billboards.site.boards.live import live_board
from billboards.site.database import trail
from billboards.site.database.engine import Database
from billboards.site.database.schema import REVISION, accounts, audit
from billboards.site.site import Site, notice_changes, open_site
from billboards.site.submissions import sending as submitting
from billboards.site.submissions.blobs import Blobs
from billboards.site.web.app import create_app
from billboards.site.work import leases
from billboards.site.work.worker import work_until_done

#: What no answer to a stranger may hold.
PLACES = re.compile(r"/tmp/|sqlite|postgres|s3://|site\.toml|blobs/")


def here(site: Site) -> TestClient:
    """A program on the server's own machine."""
    app = create_app(site)
    return TestClient(app, "http://127.0.0.1", client=("127.0.0.1", 50_000), raise_server_exceptions=False)


def gauge(metrics: str, start: str) -> float:
    (line,) = [line for line in metrics.splitlines() if line.startswith(f"{start} ")]
    return float(line.rpartition(" ")[2])


def until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)


def file_of(site: Site, blob: str) -> Path:
    return Blobs(site.data / "blobs").path(blob)


@pytest.fixture
def small(tmp_path: Path) -> SmallSite:
    return small_site(tmp_path)


def test_an_answer_about_an_absent_database_names_no_place_and_the_log_does(
    small: SmallSite, caplog: pytest.LogCaptureFixture
) -> None:
    small.site.database.close()
    for path in small.site.data.glob("site.sqlite*"):
        path.unlink()
    (small.site.data / "site.sqlite").mkdir()
    for page in ("/", "/boards/small", "/api/v1/boards"):
        answer = small.client.get(page, headers={"x-request-id": "morning-7"})
        assert answer.status_code == 503
        assert not PLACES.search(answer.text), answer.text
        assert "request id morning-7" in answer.text
        assert answer.headers["retry-after"] == "5"
    logged = [record.getMessage() for record in caplog.records if "request morning-7" in record.getMessage()]
    assert len(logged) == 3
    assert all("site.sqlite" in line for line in logged)


def test_a_lost_file_is_an_error_in_the_log_and_no_path_for_its_team(
    small: SmallSite, caplog: pytest.LogCaptureFixture
) -> None:
    sent = small.submit().json()
    blobs = [path for path in (small.site.data / "blobs").rglob("*") if path.is_file()]
    for path in blobs:
        path.unlink()
    small.work()
    answer = small.ask("team", "GET", f"/submissions/{sent['id']}").json()
    assert (answer["state"], answer["reason"]) == ("failed", f"the platform failed: {FileLost.public_words}")
    log = small.ask("team", "GET", f"/submissions/{sent['id']}/log").text
    assert not PLACES.search(log), log
    errors = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert any(blobs[0].name in line and "No such file" in line for line in errors)


def test_a_site_without_its_files_is_not_ready_and_a_gauge_says_so(
    small: SmallSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "BELIEVED", 0.0)
    client = here(small.site)
    assert client.get("/ready").status_code == 200
    small.submit()
    assert gauge(client.get("/metrics").text, "billboards_files_up") == 1
    (folder,) = small.site.data.glob("blobs/??")
    folder.rename(small.site.data / "away")
    answer = client.get("/ready")
    assert (answer.status_code, answer.json()["obstacles"]) == (503, ["submitted files are missing"])
    assert gauge(client.get("/metrics").text, "billboards_files_up") == 0
    (small.site.data / "away").rename(folder)
    assert client.get("/ready").status_code == 200
    folder.parent.rename(small.site.data / "gone")
    folder.parent.write_text("in the way")
    assert client.get("/ready").json()["obstacles"] == ["the store of submitted files can't be reached"]


def test_a_file_store_that_does_not_answer_makes_no_one_wait_for_it(
    small: SmallSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "ANSWER", 0.05)
    asked = []

    class Slow(Blobs):
        def is_up(self) -> bool:
            asked.append(1)
            time.sleep(1.0)
            return True

    slow = replace(small.site, blobs=Slow(small.site.data / "blobs"))
    client = here(slow)
    for _ in range(3):
        assert client.get("/ready").json()["obstacles"] == ["the store of submitted files does not answer"]
    assert len(asked) == 1


def test_verify_lists_every_missing_and_damaged_file(harbour: Harbour, capsys: pytest.CaptureFixture[str]) -> None:
    site = harbour.site
    sent = [
        submitting.submit_generator(site, harbour.owner, "ferry", f"tug{k}", harbour.outputs(k)).submission
        for k in range(4)
    ]
    assert main(["verify", str(site.data)]) == 0
    assert "4 submitted files and 1 boards, 0 lost" in " ".join(capsys.readouterr().out.split())
    file_of(site, sent[0].blob).unlink()
    file_of(site, sent[2].blob).write_bytes(b"other")
    (site.data / "boards" / "ferry" / "instances.jsonl").write_text('{"id": 7}\n')
    assert main(["verify", str(site.data), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["files"], document["boards"]) == (4, 1)
    states = {entry["file"]: entry["state"] for entry in document["lost"]}
    folder = str(site.data / "boards" / "ferry")
    assert states == {sent[0].blob: "missing", sent[2].blob: "damaged", folder: "unreadable"}
    assert f"tug0, version 1, on board ferry ({sent[0].id})" in document["lost"][0]["needed_by"]
    assert main(["backup", str(site.data), str(site.data.parent / "b.tar.gz")]) == 1
    assert f"`billboards verify {site.data}` lists every file that is lost" in capsys.readouterr().err


def test_lost_files_are_errors_in_the_log_when_a_site_is_verified(
    harbour: Harbour, caplog: pytest.LogCaptureFixture
) -> None:
    sent = submitting.submit_generator(harbour.site, harbour.owner, "ferry", "tug", harbour.outputs()).submission
    file_of(harbour.site, sent.blob).unlink()
    assert [lost.state for lost in verify_files(harbour.site).lost] == ["missing"]
    assert [record.levelname for record in caplog.records if sent.blob in record.getMessage()] == ["ERROR"]


def set_revision(database: Database, revision: str) -> None:
    with database.writing(any_schema=True) as connection:
        connection.execute(text("update alembic_version set version_num = :revision"), {"revision": revision})


def test_nothing_is_written_to_tables_of_another_version(small: SmallSite) -> None:
    set_revision(small.site.database, "0099")
    answer = small.submit()
    assert answer.status_code == 503
    assert OtherSchema.public_words in answer.json()["detail"]
    for transaction in (small.site.database.writing, small.site.database.claiming):
        with pytest.raises(OtherSchema, match=f"of version 0099, this program's of {REVISION}: nothing is written"):
            transaction().__enter__()
    set_revision(small.site.database, REVISION)
    assert small.submit().status_code == 201


def test_a_worker_leaves_tables_of_another_version_alone(harbour: Harbour) -> None:
    set_revision(harbour.site.database, "0099")
    with pytest.raises(OtherSchema):
        work_until_done(harbour.site)
    with harbour.site.database.reading() as connection:
        assert leases.count_held(connection, now=harbour.clock()) == {}


def test_a_migration_is_announced_before_and_after(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    database = Database(f"sqlite:///{tmp_path / 'site.sqlite'}")
    database.upgrade()
    assert caplog.messages == [], "nobody needs to know of a new database"
    from alembic import command

    from billboards.site.database.migrations import alembic_config

    with database.writing() as connection:
        command.downgrade(alembic_config(connection), "0003")
    database.upgrade()
    database.close()
    ours = [record.getMessage() for record in caplog.records if record.name == "billboards.site.database"]
    assert [line.partition(": ")[2] for line in ours] == [
        f"the tables are brought from version 0003 to {REVISION}",
        f"the tables are of version {REVISION} now; older programs can't write to them",
    ]


def break_board(site: Site) -> Path:
    """One bad line of judgments; returns the file, whose first lines are right."""
    (judged,) = (site.data / "boards" / "ferry" / "judgments").glob("*.jsonl")
    with judged.open("a") as file:
        file.write('{"instance": "no such"}\n')
    return judged


def test_a_board_that_is_broken_at_a_restart_shows_its_last_good_state(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour()
    work_until_done(harbour.site)
    before = live_board(harbour.site, "ferry")
    judged = break_board(harbour.site)
    with closing(open_site(harbour.site.data)) as site:
        client = here(site)
        for path in ("/", "/boards/ferry", "/boards/ferry/instances", "/api/v1/boards/ferry/ranking"):
            answer = client.get(path)
            assert answer.status_code == 200, path
        assert "you see it as it was before" in client.get("/boards/ferry").text
        live = live_board(site, "ferry")
        assert live.is_copy
        assert live.snapshot == before.snapshot
        assert len(live.board.judgments.instance) == len(before.board.judgments.instance)
        lines = judged.read_text().splitlines()
        judged.write_text("\n".join(lines[:-1]) + "\n")
        assert notice_changes(site) == ["ferry"]
        assert not live_board(site, "ferry").is_copy
        assert "as it was before" not in client.get("/boards/ferry").text


def test_owners_are_told_once_that_a_folder_is_broken_and_the_trail_when_it_is_mended(
    harbour: Harbour, caplog: pytest.LogCaptureFixture
) -> None:
    site = harbour.site
    harbour.person("ada", "owner", email="ada@example.org")
    harbour.person("bob", "submitter", email="bob@example.org")
    work_until_done(site)
    judged = Path(site.data / "boards" / "ferry" / "judgments")
    (file,) = judged.glob("*.jsonl")
    content, status = file.read_bytes(), file.stat()
    break_board(site)
    for _ in range(3):
        assert notice_changes(site) == []
    with closing(open_site(site.data)) as other:
        assert notice_changes(other) == []
    with site.database.reading() as connection:
        waiting = list_deliveries(connection)
        notes = connection.execute(select(audit.c.detail).where(audit.c.action == registry.UNREADABLE)).scalars().all()
    assert [(notice.event, notice.target) for notice in waiting if notice.event == registry.UNREADABLE] == [
        ("board.unreadable", "mailto:ada@example.org")
    ]
    assert len(notes) == 1
    assert "no such" in notes[0]["mistakes"][0]
    assert len([line for line in caplog.messages if "can't be read (" in line]) == 1
    assert look_at(site).unreadable_boards == 1
    file.write_bytes(content)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert notice_changes(site) == []
    assert look_at(site).unreadable_boards == 0


def test_a_board_without_a_good_state_takes_nothing_else_down(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour()
    work_until_done(harbour.site)
    shutil.rmtree(harbour.site.data / FOLDER)
    shutil.rmtree(harbour.site.data / "boards" / "ferry")
    (harbour.site.data / "boards" / "new").mkdir()
    (harbour.site.data / "boards" / "new" / "board.toml").write_text("this is no board")
    with closing(open_site(harbour.site.data)) as site:
        client = here(site)
        assert "can’t be read now" in client.get("/").text
        answer = client.get("/boards/ferry")
        assert answer.status_code == 503
        assert not PLACES.search(answer.text)
        work_until_done(site)


def test_copies_of_a_board_are_kept_for_two_states_alone(harbour: Harbour) -> None:
    site, judged = harbour.site, next((harbour.site.data / "boards" / "ferry" / "judgments").glob("*.jsonl"))
    for k in range(3):
        lines = judged.read_text().splitlines()
        judged.write_text("\n".join(lines[:-1]) + "\n")
        assert notice_changes(site) == ["ferry"], k
    (registered,) = site.boards()
    copy = copy_of(site.data, "ferry", registered.fingerprint)
    assert (copy / "judgments" / judged.name).read_bytes() == judged.read_bytes()
    assert len(list(copy.parent.iterdir())) == KEPT
    assert not (copy / ".billboards").exists()


def test_what_an_operator_asks_for_is_measured(harbour: Harbour) -> None:
    site, clock = harbour.site, harbour.clock
    work_until_done(site)
    first = look_at(site)
    assert (first.oldest_waiting, first.unranked, first.last_backup, first.waiting) == (0.0, 0.0, 0.0, 0)
    assert first.jobs == {"check": 0, "trial": 0, "cell": 0, "refresh": 0, "tidying": 0}
    with site.database.writing() as connection:
        registry.change_board(connection, "ferry", "settings", actor="t", now=clock(), settings={"quiet": 20})
    submitting.submit_generator(site, harbour.person("ann", email="ann@example.org"), "ferry", "tug", harbour.outputs())
    clock.now += 90.0
    assert (look_at(site).oldest_waiting, look_at(site).waiting) == (90.0, 1)
    work_until_done(site)
    clock.now += 30.0
    scored = look_at(site)
    assert (scored.waiting, scored.oldest_waiting, scored.unranked) == (0, 0.0, 30.0)
    assert scored.time_to_rank is None, "the ranking is older than the submission"
    assert (scored.notices["waiting"], scored.oldest_notice) == (2, 120.0), "of receipt, and of how it ended"
    work_until_done(site)
    assert (look_at(site).unranked, look_at(site).time_to_rank) == (0.0, 30.0)
    operations.note_backup(site, 7)
    assert look_at(site).last_backup == clock.now
    with site.database.writing() as connection:
        trail.note(connection, "ann", operations.BACKED_UP, "something else", now=clock.now + 5)
    assert look_at(site).last_backup == clock.now


def test_a_backup_at_the_command_line_is_the_last_backup(harbour: Harbour, tmp_path: Path) -> None:
    assert main(["backup", str(harbour.site.data), str(tmp_path / "site.tar.gz")]) == 0
    assert time.time() - look_at(harbour.site).last_backup < 600


def test_metrics_tell_memory_disk_connections_and_version(small: SmallSite) -> None:
    found = here(small.site).get("/metrics").text
    assert gauge(found, 'billboards_memory_bytes{process="web"}') > 2**20
    assert gauge(found, "billboards_disk_free_bytes") > 0
    assert gauge(found, "billboards_database_connections") == 0, "none is in use between two requests"
    assert 'billboards_info{version="' in found
    assert gauge(found, 'billboards_jobs_running{kind="cell"}') == 0
    assert gauge(found, 'billboards_cells_failed{fault="platform"}') == 0


@pytest.mark.long
def test_a_moved_log_is_left_behind_on_sighup_and_nobody_ends(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour(settings='poll_seconds = 0.05\nlogs = "json"\nlog_file = "logs/site.log"\n')
    site = harbour.site
    assert site.log_file is not None
    command = [sys.executable, "-m", "billboards.site.work.processes", str(site.data), "--workers", "2"]
    tree = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        # The signal comes while children begin: it must not end them.
        until(site.log_file.exists)
        tree.send_signal(signal.SIGHUP)
        first = submitting.submit_generator(site, harbour.owner, "ferry", "tug", harbour.outputs()).submission
        until(lambda: harbour.now(first).state == "scored")
        old = site.log_file.with_suffix(".1")
        site.log_file.rename(old)
        tree.send_signal(signal.SIGHUP)
        until(site.log_file.exists)
        time.sleep(0.3)
        size = old.stat().st_size
        second = submitting.submit_generator(site, harbour.owner, "ferry", "boat", harbour.outputs(1)).submission
        until(lambda: harbour.now(second).state == "scored")
        assert old.stat().st_size == size, "what was moved away is not written to"
        lines = [json.loads(line) for line in site.log_file.read_text().splitlines()]
        assert any("boat" in line["message"] for line in lines)
        assert "starting it again" not in old.read_text() + site.log_file.read_text()
        assert tree.poll() is None
    finally:
        tree.terminate()
        _, errors = tree.communicate(timeout=30)
    assert tree.returncode == 0
    assert errors == b""


def test_a_log_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    from billboards.site.admin.logs import append_to

    (tmp_path / "in the way").write_text("")
    with pytest.raises(StoreFailed, match=r"the log can't be written: .*; change log_file"):
        append_to(tmp_path / "in the way" / "site.log")


def test_owners_alone_hear_of_boards(harbour: Harbour) -> None:
    with harbour.site.database.writing() as connection:
        owners = connection.execute(select(accounts.c.name).where(accounts.c.role == "owner")).scalars().all()
        hook = deliveries.add_webhook(connection, 1, "https://a.example/x", "s", board=None, now=1.0)
        deliveries.announce_to_owners(connection, "board.unreadable", {"board": "ferry"}, now=2.0)
        told = [(notice.target, notice.webhook_id) for notice in list_deliveries(connection)]
    assert owners
    assert told == [("https://a.example/x", hook.id)]
