"""Sites moved to the other database, saved while they run, and made again: the same boards, nothing half."""

from __future__ import annotations

import json
import tarfile
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from postgres import PostgresServer
from small_campaigns import by_reference, distinct_board, people, small_campaign
from small_sites import Harbour, MakeHarbour, make_board
from sqlalchemy import select

from billboards.cli.main import main
from billboards.errors import InvalidInput, StoreFailed
from billboards.site.admin.backup import back_up, restore, without_addresses
from billboards.site.boards.live import live_board
from billboards.site.database.schema import answers, submissions
from billboards.site.settings import DATABASE
from billboards.site.site import Site, notice_changes, open_site
from billboards.site.submissions import sending as submitting
from billboards.site.work.worker import work_until_done


def said(site: Site) -> Any:
    """What a site's board says to owners, with the texts of what was sent in."""
    live = live_board(site, "ferry", audience="owners")
    assert live.snapshot is not None
    texts = {row.name: row.texts for row in live.board.rows}
    return live.snapshot.id, live.generation, json.dumps(live.document, sort_keys=True), texts


@pytest.fixture
def lively(make_harbour: MakeHarbour) -> Harbour:
    """A site with a generator sent in and ranked."""
    harbour = make_harbour(make_board(6, 2, metrics=("chrF", "length")), settings='title = "Harbour"\n')
    submitting.submit_generator(harbour.site, harbour.person("ann"), "ferry", "tug", harbour.outputs(0))
    work_until_done(harbour.site)
    return harbour


def test_a_site_on_postgresql_says_what_it_said_on_sqlite_and_goes_on(
    lively: Harbour,
    tmp_path: Path,
    postgres: PostgresServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    data, before, address = lively.site.data, said(lively.site), postgres.new_database()
    lively.site.close()
    assert main(["backup", str(data), str(tmp_path / "a.tar.gz")]) == 0
    assert main(["restore", str(tmp_path / "a.tar.gz"), str(tmp_path / "on-postgresql"), "--to", address]) == 0
    assert "BILLBOARDS_DATABASE" in capsys.readouterr().err
    monkeypatch.setenv(DATABASE, address)
    with closing(open_site(tmp_path / "on-postgresql", clock=lively.clock)) as moved:
        assert said(moved) == before
        assert notice_changes(moved) == []
        submitting.submit_generator(moved, lively.person("ann"), "ferry", "barge", lively.outputs(1))
        work_until_done(moved)
        after = said(moved)
    assert main(["backup", str(tmp_path / "on-postgresql"), str(tmp_path / "b.tar.gz")]) == 0
    monkeypatch.delenv(DATABASE)
    sqlite = f"sqlite:///{tmp_path / 'elsewhere.sqlite'}"
    assert main(["restore", str(tmp_path / "b.tar.gz"), str(tmp_path / "back"), "--to", sqlite]) == 0
    monkeypatch.setenv(DATABASE, sqlite)
    with closing(open_site(tmp_path / "back", clock=lively.clock)) as back:
        assert said(back) == after
        assert "barge" in after[3]


def test_a_folder_without_a_site_or_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert main(["restore", str(tmp_path / "none"), str(tmp_path / "new")]) == 2
    assert main(["backup", str(tmp_path / "none"), str(tmp_path / "a.tar.gz")]) == 2


def test_a_restored_site_says_what_the_old_one_said_and_leaves_it_alone(lively: Harbour, tmp_path: Path) -> None:
    before, file = said(lively.site), tmp_path / "a.tar.gz"
    assert main(["backup", str(lively.site.data), str(file)]) == 0
    assert main(["restore", str(file), str(tmp_path / "new")]) == 0
    with closing(open_site(tmp_path / "new", clock=lively.clock)) as restored:
        assert said(restored) == before
        assert restored.settings.title == "Harbour"
        assert restored.boards()[0].folder == str(tmp_path / "new" / "boards" / "ferry")
        assert notice_changes(restored) == []
        submitting.submit_generator(restored, lively.person("ann"), "ferry", "barge", lively.outputs(1))
        work_until_done(restored)
        assert said(restored) != before
    assert said(lively.site) == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_backup_of_one_database_is_restored_on_the_other(
    lively: Harbour, tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, before = postgres.new_database(), said(lively.site)
    back_up(lively.site, tmp_path / "a.tar.gz")
    restore(tmp_path / "a.tar.gz", tmp_path / "on-postgresql", database=address)
    with pytest.raises(InvalidInput, match="is not empty"):
        restore(tmp_path / "a.tar.gz", tmp_path / "again", database=address)
    monkeypatch.setenv(DATABASE, address)
    with closing(open_site(tmp_path / "on-postgresql", clock=lively.clock)) as site:
        assert said(site) == before
        back_up(site, tmp_path / "b.tar.gz")
    monkeypatch.delenv(DATABASE)
    restore(tmp_path / "b.tar.gz", tmp_path / "on-sqlite")
    with closing(open_site(tmp_path / "on-sqlite", clock=lively.clock)) as site:
        assert said(site) == before


def test_a_backup_taken_while_submissions_and_answers_come_in_is_one_moment_of_them(
    make_harbour: MakeHarbour, tmp_path: Path
) -> None:
    harbour = make_harbour(distinct_board())
    site, ann = harbour.site, harbour.person("ann")
    campaign = small_campaign(harbour)
    (eve,) = people(harbour, campaign, by_reference)
    over, sent = threading.Event(), list[str]()

    def submit_and_answer() -> None:
        for k in range(30):
            found = submitting.submit_generator(site, ann, "ferry", f"boat-{k}", harbour.outputs(k))
            sent.append(found.submission.id)
            eve.answer()
            if over.is_set():
                return

    sender = threading.Thread(target=submit_and_answer)
    sender.start()
    while len(eve.sent) < 2:
        time.sleep(0.01)
    marks = []
    for k in range(2):
        least = (len(sent), len(eve.sent))
        back_up(site, tmp_path / f"{k}.tar.gz")
        marks.append((least, (len(sent), len(eve.sent))))
    over.set()
    sender.join()
    for k, (least, most) in enumerate(marks):
        restore(tmp_path / f"{k}.tar.gz", tmp_path / str(k))
        with closing(open_site(tmp_path / str(k), clock=harbour.clock)) as restored:
            with restored.database.reading() as connection:
                found = connection.execute(select(submissions.c.id, submissions.c.blob)).all()
                given = connection.execute(select(answers.c.answer_id).order_by(answers.c.id)).scalars().all()
            assert least[0] <= len(found) <= most[0] + 1
            assert least[1] <= len(given) <= most[1] + 1
            assert {one.id for one in found} == set(sent[: len(found)]), "a beginning of what was sent, without gaps"
            assert given == eve.sent[: len(given)]
            assert len(given) in (len(found), len(found) - 1), "of one moment: each answer came after its submission"
            assert all(restored.blobs.read(one.blob) for one in found)


def test_a_damaged_or_foreign_file_and_a_folder_in_use_are_refused(harbour: Harbour, tmp_path: Path) -> None:
    file, new = tmp_path / "a.tar.gz", tmp_path / "new"
    submitting.submit_generator(harbour.site, harbour.person("ann"), "ferry", "tug", harbour.outputs(0))
    back_up(harbour.site, file)
    with pytest.raises(InvalidInput, match="is there already"):
        back_up(harbour.site, file)
    with pytest.raises(InvalidInput, match="not empty"):
        restore(file, harbour.site.data)
    whole = file.read_bytes()
    (tmp_path / "cut.tar.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "bent.tar.gz").write_bytes(_with_another_blob(file))
    (tmp_path / "text.tar.gz").write_text("no archive")
    for name, words in (("cut", "can't be restored"), ("bent", "is damaged"), ("text", "can't be restored")):
        with pytest.raises(InvalidInput, match=words):
            restore(tmp_path / f"{name}.tar.gz", new)
        assert not new.exists()


def _with_another_blob(file: Path) -> bytes:
    """The archive with the first byte of a submitted file changed."""
    changed = file.with_name("changed.tar.gz")
    with tarfile.open(file) as old, tarfile.open(changed, "w:gz") as new:
        for member in old:
            content = old.extractfile(member)
            assert content is not None
            if member.name.startswith("blobs/"):
                text = bytearray(content.read())
                text[0] ^= 1
                changed.with_suffix(".part").write_bytes(text)
                content = changed.with_suffix(".part").open("rb")
            new.addfile(member, content)
            content.close()
    return changed.read_bytes()


def test_a_place_where_nothing_can_be_written_is_named(harbour: Harbour) -> None:
    with pytest.raises(StoreFailed, match="can't be written"):
        back_up(harbour.site, Path("/proc/a.tar.gz"))


def test_a_restored_site_forgets_where_the_old_ones_state_is_and_nothing_else() -> None:
    settings = 'title = "x"\ndatabase = "postgresql://old/site"\nblobs="s3://b"\n\n[mail]\nhost = "database = 3"\n'
    assert without_addresses(settings) == 'title = "x"\n\n[mail]\nhost = "database = 3"\n'
