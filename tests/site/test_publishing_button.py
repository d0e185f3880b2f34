"""Publishing by a button: an owner asks, a worker writes one archive of what a visitor sees, which is kept a week."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from api_sites import ASKERS, SmallSite, small_site
from published_files import broken_links
from small_boards import small_board

from billboards.board.writing import write_board
from billboards.site.admin.expiry import tidy
from billboards.site.database import trail
from billboards.site.publishing import publications
from billboards.site.site import register_board
from billboards.site.work.jobs import run_job
from billboards.site.work.leases import Lease
from billboards.site.work.worker import work_until_done
from billboards.site.work.worklist import Job, next_job

FEW = {"analyses": False, "parts": False, "pairs": 1, "most_instances": 2}
FILES = "/boards/small/files"


@pytest.fixture
def small(tmp_path: Path) -> Iterator[SmallSite]:
    made = small_site(tmp_path)
    work_until_done(made.site)
    yield made
    made.site.close()


def unpacked(raw: bytes, folder: Path) -> Path:
    zipfile.ZipFile(io.BytesIO(raw)).extractall(folder)
    return folder / "small"


def actions(small: SmallSite) -> list[str]:
    with small.site.database.reading() as connection:
        return [entry.action for entry in trail.entries(connection, board="small", action="files")][::-1]


@pytest.mark.long
def test_an_owner_asks_a_worker_writes_and_the_archive_is_fetched(small: SmallSite, tmp_path: Path) -> None:
    assert small.ask("owner", "GET", FILES).status_code == 410
    asked = small.ask("owner", "POST", FILES, json=FEW)
    assert (asked.status_code, asked.json()["state"]) == (202, "waiting")
    assert small.ask("owner", "GET", f"{FILES}/archive").status_code == 409
    assert work_until_done(small.site) == 1
    facts = small.ask("owner", "GET", FILES).json()
    assert facts["state"] == "ready"
    assert facts["wanted"]["most_instances"] == 2
    sent = small.ask("owner", "GET", f"{FILES}/archive")
    assert (sent.headers["content-type"], len(sent.content)) == ("application/zip", facts["size"])
    folder = unpacked(sent.content, tmp_path / "files")
    assert facts["done"] == facts["total"] == len(list(folder.rglob("*.html")))
    assert list(broken_links(folder)) == []
    assert len(list((folder / "boards" / "small" / "instances").glob("*.html"))) == 2
    assert actions(small) == ["files.asked", "files.written"]
    assert next_job(small.site, "idle") is None


@pytest.mark.long
def test_the_files_hold_what_a_visitor_sees_and_one_board_alone(small: SmallSite, tmp_path: Path) -> None:
    other = write_board(replace(small_board(), name="harbour-log", metrics=("length",)), tmp_path / "harbour-log")
    register_board(small.site, other)
    small.ask("owner", "PATCH", "/boards/small/settings", json={"phases": [{"name": "test", "blind": True}]})
    small.submit(name="secret-entry", raw=small.outputs(word="zebra"))
    hidden = {"hidden_references": True, "about": {"rules": "Be fair."}}
    small.ask("owner", "PATCH", "/boards/small/settings", json=hidden)
    small.work()
    owned = small.client.get("/boards/small", headers={"authorization": f"Bearer {small.tokens['owner']}"}).text
    assert "secret-entry" in owned
    small.ask("owner", "POST", FILES, json=FEW)
    small.work()
    folder = unpacked(small.ask("owner", "GET", f"{FILES}/archive").content, tmp_path / "files")
    texts = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for word in (b"secret-entry", b"zebra", b"harbour-log", b"/organise", str(small.site.data).encode()):
        found = [name for name, content in texts.items() if word in content and not name.startswith("static")]
        assert found == [], word
    assert b"Be fair." in texts["boards/small/about.html"]
    assert "harbour-log" in small.client.get("/").text
    assert {name.split("/")[1] for name in texts if name.startswith("boards/")} == {"small"}


@pytest.mark.long
def test_the_site_that_runs_is_not_changed_by_it(small: SmallSite) -> None:
    before = small.site.settings
    wanted = {**FEW, "base_url": "https://example.org/board", "submit_to": "https://example.org/hand-in"}
    small.ask("owner", "POST", FILES, json=wanted)
    small.work()
    assert small.ask("owner", "GET", FILES).json()["state"] == "ready"
    assert small.site.settings is before
    assert small.site.published is None


def test_another_wish_takes_the_place_of_the_one_that_is_written(small: SmallSite) -> None:
    small.ask("owner", "POST", FILES, json=FEW)
    job = next_job(small.site, "one")
    assert job is not None
    assert job.kind == "publish"
    seconds, looks = count(small.site.clock()), count()

    def changes_its_mind() -> bool:
        if next(looks) == 2:
            small.ask("owner", "POST", FILES, json={**FEW, "most_instances": 1})
        return False

    small.site.clock = lambda: next(seconds)
    run_job(small.site, job, cancelled=changes_its_mind)
    facts = small.ask("owner", "GET", FILES).json()
    assert (facts["state"], facts["wanted"]["most_instances"], facts["done"]) == ("waiting", 1, 0)
    assert list((small.site.data / "published").iterdir()) == []


@pytest.mark.long
def test_what_was_asked_can_be_stopped_and_thrown_away(small: SmallSite) -> None:
    small.ask("owner", "POST", FILES, json=FEW)
    assert small.ask("owner", "DELETE", FILES).status_code == 204
    assert next_job(small.site, "idle") is None
    small.ask("owner", "POST", FILES, json=FEW)
    work_until_done(small.site)
    assert small.ask("owner", "DELETE", FILES).status_code == 204
    assert small.ask("owner", "GET", f"{FILES}/archive").status_code == 410
    assert list((small.site.data / "published").iterdir()) == []


@pytest.mark.long
def test_an_archive_is_thrown_away_after_a_week(small: SmallSite) -> None:
    small.ask("owner", "POST", FILES, json=FEW)
    work_until_done(small.site)
    tidy(small.site, actor="owner")
    assert small.ask("owner", "GET", FILES).status_code == 200
    now = small.site.clock()
    small.site.clock = lambda: now + publications.KEPT + 60
    went = tidy(small.site, actor="owner")
    assert went.amounts["archives of published files, after a week"].count == 1  # type: ignore[union-attr]
    assert small.ask("owner", "GET", FILES).status_code == 410
    assert list((small.site.data / "published").iterdir()) == []


def test_what_kills_its_workers_or_finds_no_room_fails_and_says_so(small: SmallSite) -> None:
    small.ask("owner", "POST", FILES, json=FEW)
    lease = Lease(board="small", kind="publish", subject="files", worker="dead", expires=0.0, taken=9)
    run_job(small.site, Job(kind="publish", board="small", subject="files", lease=lease))
    facts = small.ask("owner", "GET", FILES).json()
    assert (facts["state"], facts["reason"]) == ("failed", "8 workers died at this; the platform gives up")
    (small.site.data / "published").write_text("no folder")
    small.ask("owner", "POST", FILES, json=FEW)
    work_until_done(small.site)
    facts = small.ask("owner", "GET", FILES).json()
    assert (facts["state"], facts["reason"]) == ("failed", "File exists")
    assert actions(small)[-1] == "files.failed"


@pytest.mark.long
@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"instances": "some"}, "instances"),
        ({"pairs": -1}, "must be 0 or more"),
        ({"base_url": "javascript:alert(1)"}, "must begin with https:// or http://"),
        ({"hidden": True}, "hidden"),
    ],
)
def test_what_is_asked_is_checked_alike_at_both_doors(small: SmallSite, sent: dict[str, object], words: str) -> None:
    refused = small.ask("owner", "POST", FILES, json=sent)
    assert refused.status_code == 422
    assert words in refused.text
    if "hidden" not in sent:
        headers = {"authorization": f"Bearer {small.tokens['owner']}"}
        form = {"instances": "all", "pairs": "150", "act": "publish", **{k: str(v) for k, v in sent.items()}}
        page = small.client.post("/boards/small/organise/files", headers=headers, data=form)
        assert page.status_code == 422
        assert words in page.text
    assert actions(small) == []


@pytest.mark.long
def test_only_owners_publish(small: SmallSite) -> None:
    small.ask("owner", "POST", FILES, json=FEW)
    work_until_done(small.site)
    for asker in ASKERS[:-1]:
        headers = {} if asker == "visitor" else {"authorization": f"Bearer {small.tokens[asker]}"}
        wanted = {401} if asker == "visitor" else {403}
        page = "/boards/small/organise/files"
        assert {small.client.get(path, headers=headers).status_code for path in (page, f"{page}/archive")} == wanted
        assert {small.client.post(page, headers=headers, data={"act": "publish"}).status_code} == wanted
    assert small.ask("owner", "GET", FILES).json()["state"] == "ready"
