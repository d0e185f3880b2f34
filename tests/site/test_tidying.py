"""A site tidied: what its owner said goes, exactly that, and the board says what it said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from postgres import PostgresServer
from small_campaigns import by_reference, distinct_board, people, small_campaign
from small_sites import DECLARED, SHARED_WORDS, Clock, Harbour, MakeHarbour, all_cells, make_board
from sqlalchemy import insert

from billboards.board.writing import write_board
from billboards.cli.main import main
from billboards.errors import InvalidInput, StoreAway
from billboards.site.accounts import access
from billboards.site.accounts.access import local_viewer
from billboards.site.admin import expiry
from billboards.site.admin.backup import back_up, restore
from billboards.site.admin.erasure import forget, plan_forgetting
from billboards.site.admin.expiry import Tidied, list_chores, plan_tidying, tidy, tidy_if_due
from billboards.site.boards import snapshots
from billboards.site.boards.live import live_board
from billboards.site.campaigns import annotator_records as annotators
from billboards.site.campaigns.lifecycle import close_campaign
from billboards.site.campaigns.study_records import set_study
from billboards.site.database import retention, trail
from billboards.site.database.retention import DAY
from billboards.site.database.row_lines import line_of, read_rows
from billboards.site.database.schema import metadata, studies
from billboards.site.settings import DATABASE, RetentionSettings, read_site_settings
from billboards.site.site import Site, open_site
from billboards.site.submissions import records as submissions
from billboards.site.submissions import sending as submitting
from billboards.site.submissions.blobs import Blobs, name_of
from billboards.site.submissions.metric_folders import program_folder
from billboards.site.work import leases
from billboards.site.work.worker import work_until_done, working_site

FILES = "files of withdrawn and rejected submissions"
ORPHANS, FOLDERS, HALF = (
    "files that no submission names",
    "unused folders of metrics and environments",
    "files left half made",
)
RANKINGS = "rankings, but the last of each day"
SETTINGS = """
[retention]
log_days = 30
trail_days = 60
notice_days = 7
ranking_days = 30
withdrawn_days = 10
orphan_days = 2
"""


@pytest.fixture
def harbour(make_harbour: MakeHarbour) -> Harbour:
    return make_harbour(make_board(6, 2, metrics=("chrF", "length")))


@pytest.fixture(params=["sqlite", "postgresql"])
def on_either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state of a test's site, in a file or on a server."""
    if request.param == "postgresql":
        server: PostgresServer = request.getfixturevalue("postgres")
        monkeypatch.setenv(DATABASE, server.new_database())


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of a site that has lived for seventy days."""
    home, board, clock = tmp_path_factory.mktemp("lived"), make_board(6, 2, metrics=("chrF", "length")), Clock()
    write_board(board, home / "data" / "boards" / board.name)
    with closing(open_site(home / "data", clock=clock)) as site:
        live_long(Harbour(site, clock, local_viewer(site), board))
        back_up(site, home / "site.tar.gz")
    return home / "site.tar.gz"


@pytest.fixture
def lived(saved: Path, tmp_path: Path) -> Iterator[Harbour]:
    """That site, under settings that name everything; its files were put there three days ago."""
    restore(saved, tmp_path / "data")
    (tmp_path / "data" / "site.toml").write_text(SETTINGS)
    clock = Clock(Clock.now + 70 * DAY)
    with closing(open_site(tmp_path / "data", clock=clock)) as site:
        grow_old(site, 3)
        yield Harbour(site, clock, local_viewer(site), make_board(6, 2, metrics=("chrF", "length")))


def live_long(harbour: Harbour) -> None:
    """Two generators on the first day, of which one is withdrawn; one after forty days, and one today, thirty later."""
    site = harbour.site
    submitting.change_settings(site, harbour.owner, "ferry", {"draws": 0})
    boats = [submitting.submit_generator(site, harbour.owner, "ferry", f"b{k}", harbour.outputs(k)) for k in range(2)]
    work_until_done(site)
    submitting.withdraw(site, harbour.owner, boats[1].submission.id)
    work_until_done(site)
    for k, days in ((2, 40), (3, 30)):
        harbour.clock.now += days * DAY
        submitting.submit_generator(site, harbour.owner, "ferry", f"b{k}", harbour.outputs(k))
        work_until_done(site)


def grow_old(site: Site, days: float) -> None:
    """As if every file had been put there days ago."""
    for name in ("blobs", "metrics", "environments"):
        for path in (site.data / name).rglob("*"):
            age(path, days)


def age(path: Path, days: float) -> None:
    os.utime(path, (time.time() - days * DAY,) * 2)


def everything(site: Site) -> list[str]:
    with site.database.reading() as connection:
        return [line_of(table, row) for table in metadata.sorted_tables for row in read_rows(connection, table)]


def retained(harbour: Harbour, **days: int) -> Site:
    """The same site under other settings."""
    said = RetentionSettings(**days)  # type: ignore[arg-type]
    return replace(harbour.site, settings=harbour.site.settings.model_copy(update={"retention": said}))


def counts(found: Tidied) -> dict[str, int]:
    return {what: amount.count for what, amount in found.amounts.items() if amount is not None and amount.count}


def spoken(site: Site) -> tuple[list[int], str]:
    """The numbers of the rankings that are kept, and what the last one says."""
    with site.database.reading() as connection:
        kept = snapshots.list_snapshots(connection, "ferry")
        return [one.number for one in kept], snapshots.document_text(connection, kept[0])


@pytest.mark.usefixtures("on_either")
def test_what_was_set_goes_and_the_board_stays_bit_for_bit(lived: Harbour) -> None:
    site = lived.site
    cells, (numbers, last), board = all_cells(site), spoken(site), live_board(site, "ferry").board.version
    assert numbers == [6, 5, 4, 3, 2, 1]
    planned = counts(plan_tidying(site))
    assert planned == {"log lines": 4, "audit entries": 19, RANKINGS: 3, FILES: 1}
    assert spoken(site) == (numbers, last)
    assert counts(tidy(site, actor="owner")) == planned
    assert counts(tidy(site, actor="owner")) == {}
    assert work_until_done(site) == 0, "there is nothing to compute or rank anew"
    assert all_cells(site) == cells
    assert spoken(site) == ([6, 5, 4], last)
    assert live_board(site, "ferry").board.version == board
    assert [row.texts for row in live_board(site, "ferry").board.rows]
    with site.database.reading() as connection:
        entry = trail.entries(connection, limit=1)[0]
        left = {one.name: len(trail.read_log(connection, one.id)) for one in submissions.find(connection)}
    assert (entry.actor, entry.action, entry.detail) == ("owner", "site.tidied", planned)
    assert left == {"b0": 0, "b1": 0, "b2": 2, "b3": 2}, "b2's are thirty days old, and not yet older"


def test_nothing_goes_without_settings_but_log_ins_and_leases_that_expired(lived: Harbour) -> None:
    site = retained(lived)
    orphan = site.blobs.put(b"nobody's")
    grow_old(site, 999)
    lived.clock.now += 999 * DAY
    before, files = everything(site), sorted(site.data.rglob("*"))
    assert counts(tidy(site, actor="owner")) == {}
    assert everything(site) == before
    assert sorted(site.data.rglob("*")) == files
    assert site.blobs.touched(orphan)
    owner = lived.owner.account
    assert owner is not None
    access.begin_session(site, owner)
    with site.database.writing() as connection:
        leases.acquire(connection, "ferry", "cell", "x", "worker", now=site.clock(), seconds=60)
    lived.clock.now += 14 * DAY
    assert counts(tidy(site, actor="owner")) == {"expired log-ins": 1, "expired leases": 1}
    (said,) = set(everything(site)) - set(before)
    assert '{"expired log-ins":1,"expired leases":1}' in said
    assert len(everything(site)) == len(before) + 1


def test_the_last_ranking_stays_however_old_it_is(lived: Harbour) -> None:
    _, last = spoken(lived.site)
    lived.clock.now += 9999 * DAY
    tidy(retained(lived, ranking_days=1), actor="owner")
    assert spoken(lived.site) == ([6, 5, 4], last)


TIDY = """
import sys, time
from billboards.site.admin import expiry
from billboards.site.site import open_site
from billboards.site.admin.expiry import tidy
expiry.ROWS = 1
now, most = float(sys.argv[2]), int(sys.argv[3])
steps = iter(range(10**9))
def go_on():
    if next(steps) < most:
        return True
    print("here", flush=True)
    time.sleep(600)
tidied = tidy(open_site(sys.argv[1], clock=lambda: now), actor="x", go_on=go_on)
print(sum(amount.count for amount in tidied.amounts.values() if amount))
"""


def begin(harbour: Harbour, most: int = 10**9) -> subprocess.Popen[str]:
    """Another process that tidies the site one thing at a time and stops, still open, after so many."""
    command = [sys.executable, "-c", TIDY, str(harbour.site.data), repr(harbour.clock.now), str(most)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> str:
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return said


@pytest.mark.usefixtures("on_either")
def test_two_processes_at_once_delete_everything_once(lived: Harbour) -> None:
    cells, (_, last) = all_cells(lived.site), spoken(lived.site)
    both = [begin(lived), begin(lived)]
    assert sum(int(finish(one)) for one in both) == 4 + 19 + 3 + 1
    assert (all_cells(lived.site), spoken(lived.site)[1]) == (cells, last)
    assert counts(plan_tidying(lived.site)) == {}


def test_a_kill_in_the_middle_leaves_the_rest_for_the_next(lived: Harbour) -> None:
    cells, (_, last) = all_cells(lived.site), spoken(lived.site)
    # A chore asks before each step, and once more before it finds that it is done; the first five have nothing to do.
    for steps, left in ((5 + 3, 27 - 3), (5 + (1 + 1) + (19 + 1) + 1 + 2, 27 - 4 - 19 - 2)):
        process = begin(lived, steps)
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        process.kill()
        process.communicate(timeout=60)
        assert sum(counts(plan_tidying(lived.site)).values()) == left
    assert counts(tidy(lived.site, actor="owner")) == {RANKINGS: 1, FILES: 1}
    assert (all_cells(lived.site), spoken(lived.site)) == (cells, ([6, 5, 4], last))
    assert work_until_done(lived.site) == 0


def test_one_worker_tidies_once_a_day_and_another_where_it_died(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour(make_board(6, 2, metrics=("chrF",)), settings=SETTINGS)
    site = harbour.site
    assert tidy_if_due(site, "first") is not None
    assert tidy_if_due(site, "second") is None
    harbour.clock.now += DAY - 1
    assert tidy_if_due(site, "second") is None
    harbour.clock.now += 1
    with site.database.claiming() as connection:
        dies = leases.acquire(connection, "", "tidying", "site", "third", now=site.clock(), seconds=60)
    assert dies is not None
    assert tidy_if_due(site, "second") is None
    harbour.clock.now += 60
    assert tidy_if_due(site, "second") is not None
    with site.database.reading() as connection:
        assert leases.count_held(connection, now=site.clock()) == {}


def test_a_worker_tidies_its_site_by_itself(lived: Harbour, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiry, "FIRST_LOOK", 0.01)
    (lived.site.data / "site.toml").write_text("[retention]\norphan_days = 2\n")
    orphan = lived.site.blobs.put(b"nobody's")
    grow_old(lived.site, 3)
    with working_site(lived.site.data, threading.Event()):
        for _ in range(1500):
            if lived.site.blobs.touched(orphan):
                time.sleep(0.02)
    with lived.site.database.reading() as connection:
        entry = trail.entries(connection, limit=1)[0]
    assert (entry.actor, entry.detail) == ("site", {ORPHANS: 1})


def test_a_withdrawn_file_goes_with_what_was_unpacked_and_its_owner_can_still_be_forgotten(
    make_harbour: MakeHarbour, tmp_path: Path
) -> None:
    harbour = make_harbour(distinct_board())
    site, ann = harbour.site, harbour.person("ann")
    raw = b"\n".join([b"secret output"] * 12)
    boat = submitting.submit_generator(site, ann, "ferry", "tug", raw).submission
    metric = submitting.submit_metric(site, ann, "ferry", SHARED_WORDS.encode(), name="words", manifest=DECLARED)
    folder = program_folder(site, metric.submission)
    submitting.withdraw(site, ann, metric.submission.id)
    work_until_done(site)
    campaign = small_campaign(harbour)
    close_campaign(site, harbour.owner, campaign.id)
    submitting.withdraw(site, ann, boat.id)
    work_until_done(site)
    harbour.clock.now += 10 * DAY
    grow_old(site, 2)
    assert counts(tidy(retained(harbour, withdrawn_days=10), actor="owner")) == {}, "not before, but after ten days"
    harbour.clock.now += 1
    assert counts(tidy(retained(harbour, withdrawn_days=10), actor="owner")) == {FILES: 2}
    assert (site.blobs.touched(boat.blob), folder.exists()) == (0.0, False)
    assert list((site.data / "metrics").iterdir()) == []
    back_up(site, tmp_path / "a.tar.gz")
    restore(tmp_path / "a.tar.gz", tmp_path / "new")
    assert "secret output" in "".join(everything(site)), "a campaign showed it"
    forget(site, "ann", actor="owner")
    assert "secret output" not in "".join(everything(site))


@pytest.mark.usefixtures("on_either")
def test_annotators_names_go_after_their_last_campaign_and_their_answers_stay(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour(distinct_board())
    site = retained(harbour, annotator_days=30)
    campaign = small_campaign(harbour)
    (eve,) = people(harbour, campaign, by_reference)
    eve.answer_all(most=5)
    pseudonym = eve.participant.annotator.pseudonym
    harbour.clock.now += 99 * DAY
    assert counts(plan_tidying(site)) == {}, "the campaign is open"
    close_campaign(site, harbour.owner, campaign.id)
    work_until_done(site)
    version = live_board(site, "ferry").board.version
    harbour.clock.now += 30 * DAY
    assert counts(plan_tidying(site)) == {}, "for thirty days"
    harbour.clock.now += 1
    study: dict[str, Any] = {
        "id": "s",
        "campaign_id": campaign.id,
        "platform": "p",
        "platform_id": "x",
        "code": "c",
        "quote": {},
    }
    study |= {"items_per_place": 1, "state": "published", "created": 1.0, "changed": 1.0}
    with site.database.writing() as connection:
        connection.execute(insert(studies).values(**study))
    assert counts(plan_tidying(site)) == {}, "somebody may still have to be paid"
    with site.database.writing() as connection:
        set_study(connection, "s", "ended", now=site.clock())
    assert counts(tidy(site, actor="owner")) == {"annotators' names": 1}
    assert counts(plan_tidying(site)) == {}
    left = "".join(everything(site))
    assert ("person 0" in left, pseudonym in left) == (False, True)
    assert work_until_done(site) == 0
    assert live_board(site, "ferry").board.version == version
    assert plan_forgetting(site, "person 0").annotators == 1
    with site.database.writing() as connection:
        back = annotators.annotator_of(connection, "person 0", now=site.clock())
    assert (back.name, back.pseudonym) == ("person 0", pseudonym), "who comes back is known again"


def test_files_that_nobody_names_go_after_days_and_never_where_the_database_knows_none(harbour: Harbour) -> None:
    site = retained(harbour, orphan_days=2)
    old, fresh = site.blobs.put(b"nobody's"), site.blobs.put(b"on its way")
    age(Blobs(site.data / "blobs").path(old), 2.1)
    found = plan_tidying(site)
    assert (counts(found), len(found.notes)) == ({}, 1)
    assert "names none of the 2 submitted files" in found.notes[0]
    sent = submitting.submit_generator(site, harbour.owner, "ferry", "tug", harbour.outputs(0)).submission
    age(Blobs(site.data / "blobs").path(sent.blob), 2.1)
    (site.data / "blobs" / "notes.txt").write_text("the owner's own")
    half = Blobs(site.data / "blobs").path(old).with_name(".x.part")
    half.write_bytes(b"half")
    age(half, 2.1)
    found = tidy(site, actor="owner")
    assert (counts(found), found.notes) == ({ORPHANS: 1, HALF: 1}, ())
    assert found.amounts[ORPHANS] == retention.Amount(1, len(b"nobody's"))
    assert [bool(site.blobs.touched(name)) for name in (old, fresh, sent.blob)] == [False, True, True]
    assert (site.data / "blobs" / "notes.txt").exists()


class TidiedBetween(Blobs):
    """A folder from which each file is tidied away once, right after it was put there."""

    def put(self, content: bytes) -> str:
        name = super().put(content)
        marker = self.root / f"tidied-{name}"
        if not marker.exists():
            marker.touch()
            self.remove(name)
        return name


def test_a_file_that_is_tidied_away_before_its_row_is_there_is_put_back(harbour: Harbour) -> None:
    site = harbour.site
    site.blobs = TidiedBetween(site.data / "blobs")
    sent = submitting.submit_generator(site, harbour.owner, "ferry", "tug", harbour.outputs(0)).submission
    metric = submitting.submit_metric(
        site, harbour.owner, "ferry", SHARED_WORDS.encode(), name="words", manifest=DECLARED
    )
    assert site.blobs.read(sent.blob)
    assert site.blobs.read(metric.submission.blob) == SHARED_WORDS.encode()


def test_folders_of_metrics_and_environments_go_when_no_metric_needs_them(
    harbour: Harbour, metric_zip: Callable[..., bytes]
) -> None:
    site = retained(harbour, orphan_days=2)
    raw = metric_zip({"metric.py": SHARED_WORDS, "requirements.txt": "NumPy == 2.1.0\n"})
    sent = submitting.submit_metric(site, harbour.owner, "ferry", raw, name="words", manifest=DECLARED).submission
    used, orphan = program_folder(site, sent), site.data / "metrics" / name_of(b"gone")
    orphan.mkdir()
    (orphan / "metric.py").write_text("x" * 7)
    made = {"used": ["numpy==2.1.0"], "unused": ["scipy==1.14.0"], "unknown": None, "fresh": ["torch==2.0"]}
    for name, asked in made.items():
        (site.data / "environments" / name).mkdir(parents=True)
        said = {} if asked is None else {"asked": asked}
        (site.data / "environments" / name / "environment.json").write_text(json.dumps(said))
    for folder in (used, orphan, *(site.data / "environments" / name for name in ("used", "unused", "unknown"))):
        age(folder, 3)
    harbour.clock.now += 1
    found = tidy(site, actor="owner")
    assert counts(found) == {FOLDERS: 2}
    assert found.amounts[FOLDERS] == retention.Amount(2, 7 + len('{"asked": ["scipy==1.14.0"]}'))
    assert {path.name for path in (site.data / "environments").iterdir()} == {"used", "unknown", "fresh"}
    assert list((site.data / "metrics").iterdir()) == [used]


class DeletedMeanwhile(Blobs):
    """A folder whose withdrawn files are tidied away when a backup begins to read."""

    site: Site

    def read(self, name: str) -> bytes:
        tidy(self.site, actor="owner")
        return super().read(name)


def test_a_backup_begins_anew_where_a_file_was_deleted_meanwhile(lived: Harbour, tmp_path: Path) -> None:
    site = lived.site
    site.blobs = blobs = DeletedMeanwhile(site.data / "blobs")
    object.__setattr__(blobs, "site", site)
    assert back_up(site, tmp_path / "a.tar.gz").blobs == 3
    restore(tmp_path / "a.tar.gz", tmp_path / "new")
    with closing(open_site(tmp_path / "new", clock=lived.clock)) as restored:
        assert spoken(restored) == spoken(site)


class DeletedOneByOne(Blobs):
    """A folder of which every file that a backup is about to read is withdrawn and tidied away."""

    harbour: Harbour

    def read(self, name: str) -> bytes:
        site, owner = self.harbour.site, self.harbour.owner
        with site.database.reading() as connection:
            (named,) = (submission for submission in submissions.find(connection) if submission.blob == name)
        submitting.withdraw(site, owner, named.id)
        self.harbour.clock.now += 11 * DAY
        grow_old(site, 2)
        tidy(retained(self.harbour, withdrawn_days=10), actor="owner")
        return super().read(name)


def test_a_backup_gives_up_where_files_go_away_again_and_again(harbour: Harbour, tmp_path: Path) -> None:
    site = harbour.site
    for k in range(5):
        submitting.submit_generator(site, harbour.owner, "ferry", f"b{k}", harbour.outputs(k))
    site.blobs = blobs = DeletedOneByOne(site.data / "blobs")
    object.__setattr__(blobs, "harbour", harbour)
    with pytest.raises(StoreAway, match=r"files of .* are being deleted; take the backup again in a while"):
        back_up(site, tmp_path / "a.tar.gz")
    assert not (tmp_path / "a.tar.gz").exists()
    assert back_up(site, tmp_path / "b.tar.gz").blobs == 0


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("log_days = 0", r"\[retention\]: log_days must be a whole number of days, 1 or more; found 0"),
        ("trail_days = 1.5", "whole number of days, 1 or more; found 1.5"),
        ("notice_days = true", "found True"),
        ('ranking_days = "30"', "found '30'"),
        ("cited = [1]", "cited 1 must be a text; found 1"),
        ("log_day = 3", "did you mean log_days"),
    ],
)
def test_what_can_not_be_kept_to_is_named(tmp_path: Path, line: str, words: str) -> None:
    (tmp_path / "site.toml").write_text(f"[retention]\n{line}\n")
    with pytest.raises(InvalidInput, match=words):
        read_site_settings(tmp_path)


def test_the_command_only_says_what_would_go_until_it_is_confirmed(
    lived: Harbour, capsys: pytest.CaptureFixture[str]
) -> None:
    data = lived.site.data
    # The command has a clock of its own, which is months before that of the test.
    (data / "site.toml").write_text("[retention]\norphan_days = 2\n")
    orphan = Blobs(data / "blobs").put(b"nobody's")
    age(Blobs(data / "blobs").path(orphan), 3)
    assert main(["tidy", str(data)]) == 0
    shown = capsys.readouterr()
    assert "Would be deleted" in shown.out
    assert "--confirm" in shown.err
    assert lived.site.blobs.touched(orphan)
    assert main(["tidy", str(data), "--confirm", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    rows = {row["what"]: (row["setting"], row["days"], row["count"], row["bytes"]) for row in said["kinds"]}
    assert (said["done"], rows[ORPHANS]) == (True, ("orphan_days", 2, 1, 8))
    assert rows["log lines"] == ("log_days", None, None, None)
    assert not lived.site.blobs.touched(orphan)
    assert main(["tidy", str(data / "none")]) == 2


def test_every_chore_has_a_name_of_its_own_and_a_setting_there_is(harbour: Harbour) -> None:
    chores = list_chores(harbour.site)
    assert len({chore.what for chore in chores}) == len(chores)
    assert {chore.setting for chore in chores} - {None} == {
        name for name in vars(RetentionSettings()) if name.endswith("_days")
    }


def test_a_folder_that_is_gone_meanwhile_is_as_new_as_can_be(tmp_path: Path) -> None:
    assert expiry._changed(tmp_path / "gone") > time.time() + 10**9
    assert expiry._changed(tmp_path) <= time.time() + 1
