"""A data folder opened: boards found and registered once, settings checked, and nothing of the owner's written."""

from __future__ import annotations

import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from small_sites import Harbour, make_board

from billboards.board.writing import write_board
from billboards.errors import InvalidBoard, InvalidInput, InvalidSettings, StoreFailed, UnknownName
from billboards.site.boards.live import live_board
from billboards.site.settings import SiteSettings, read_site_settings
from billboards.site.site import open_site
from billboards.site.work.worker import work_until_done
from billboards.site.work.worklist import plan_board


def test_boards_inside_and_elsewhere_are_registered_and_remembered(tmp_path: Path) -> None:
    write_board(make_board(), tmp_path / "elsewhere")
    site = open_site(tmp_path / "data", boards=[tmp_path / "elsewhere"])
    assert [board.name for board in site.boards()] == ["ferry"]
    site.close()
    again = open_site(tmp_path / "data")
    assert live_board(again, "ferry").board.instances == make_board().instances
    again.close()


def test_two_boards_cannot_share_a_name_but_one_may_move(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_board(make_board(), tmp_path / name)
    site = open_site(tmp_path / "data", boards=[tmp_path / "one"])
    site.close()
    with pytest.raises(InvalidInput, match=r"there is a board ferry already, in .*one; give one of them another name"):
        open_site(tmp_path / "data", boards=[tmp_path / "two"])
    shutil.rmtree(tmp_path / "one")
    moved = open_site(tmp_path / "data", boards=[tmp_path / "two"])
    assert live_board(moved, "ferry").board.name == "ferry"
    moved.close()


def test_a_board_with_mistakes_is_refused_with_them(tmp_path: Path) -> None:
    folder = write_board(make_board(), tmp_path / "broken")
    (folder / "instances.jsonl").write_text('{"id": 7}\n')
    with pytest.raises(InvalidBoard, match='"id" must be text in quotes'):
        open_site(tmp_path / "data", boards=[folder])


def test_an_unknown_board_is_named_with_those_there_are(harbour: Harbour) -> None:
    with pytest.raises(UnknownName, match="no board named 'fery'; did you mean ferry"):
        live_board(harbour.site, "fery")


def test_the_site_writes_nothing_into_a_board_folder(harbour: Harbour) -> None:
    folder = harbour.site.data / "boards" / "ferry"
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    work_until_done(harbour.site)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_live_board_is_built_once_for_each_change(harbour: Harbour) -> None:
    first = live_board(harbour.site, "ferry")
    assert live_board(harbour.site, "ferry") is first
    work_until_done(harbour.site)
    assert live_board(harbour.site, "ferry").generation > first.generation


@pytest.mark.parametrize("names", [("plan", "public"), ("folder", "owners"), ("standing", "scores")])
def test_boards_may_have_any_names(tmp_path: Path, names: tuple[str, str]) -> None:
    for name in names:
        write_board(replace(make_board(4, 3, metrics=("chrF",)), name=name), tmp_path / "data" / "boards" / name)
    with closing(open_site(tmp_path / "data")) as site:
        work_until_done(site)
        for name in names:
            assert plan_board(site, name).board.name == name
            for audience in ("public", "owners"):
                live = live_board(site, name, audience=audience)
                assert (live.name, live.audience) == (name, audience)
                assert live.snapshot is not None


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("in the way")
    with pytest.raises(StoreFailed, match="can't be made"):
        open_site(tmp_path / "data")


def test_site_settings_have_defaults_and_wrong_ones_are_named(tmp_path: Path) -> None:
    assert read_site_settings(tmp_path) == SiteSettings()
    for text, says in (
        ("lease_second = 3", "site.toml: lease_second is no setting; did you mean .*lease_seconds"),
        ('attempts = "many"', "attempts must be a whole number; found 'many'"),
        ('[mail]\nhost = "x"', r"\[mail\]: sender is missing"),
        ('[mail]\nhost = "x"\nsender = "y"\nport = 0', r"\[mail\]: port must be 1 or more; found 0"),
        ('[mail]\nhost = "x"\nsender = "y"\nports = 1', r"\[mail\]: ports is no setting; did you mean port"),
        ('[oidc]\nissuer = "x"\nclient_id = "y"\nrole = "king"', "role must be 'owner', 'submitter' or 'annotator'"),
        ("mail = 3", "mail must be a table of settings"),
        ("pages_at_once = 0", "pages_at_once must be 1 or more; found 0"),
        ("attempts = 0", "attempts must be 1 or more; found 0"),
        ("attempts = true", "attempts must be a whole number; found True"),
        ("reads_per_minute = 0", "reads_per_minute must be 1 or more; found 0"),
        ("lease_seconds = 0", "lease_seconds must be more than 0; found 0"),
        ("poll_seconds = inf", "poll_seconds must be a finite number; found inf"),
        ("suites = [1]", "suites 1 must be a text; found 1"),
        ('suites = "all"', "suites must be a list; found 'all'"),
        ('logs = "xml"', "logs must be 'text' or 'json'; found 'xml'"),
        ("not toml", "can't be read"),
    ):
        (tmp_path / "site.toml").write_text(text)
        with pytest.raises(InvalidInput, match=says):
            read_site_settings(tmp_path)
    (tmp_path / "site.toml").write_text("attempts = 0\nlogs = 3\n[mail]\nport = 70000\n")
    with pytest.raises(InvalidSettings) as refused:
        read_site_settings(tmp_path)
    assert refused.value.problems == (
        "attempts must be 1 or more; found 0",
        "logs must be 'text' or 'json'; found 3",
        "[mail]: host is missing",
        "[mail]: sender is missing",
        "[mail]: port must be at most 65535; found 70000",
    )
    assert all(mistake in str(refused.value) for mistake in refused.value.problems)
    (tmp_path / "site.toml").write_text('[oidc]\nissuer = "https://id.example.org"\nclient_id = "c"\n')
    settings = read_site_settings(tmp_path)
    assert settings.oidc[0].role == "submitter"
