"""An organiser without a shell: makes a board of SummEval, publishes it, runs a blind phase, reads what happened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from browser_pages import OpenPage, watched_pages
from file_server import FileServer
from importer_sources import MTME_ARCHIVE, mtme_archive
from playwright.sync_api import Browser, Page, expect
from served_sites import Served, serving

from billboards.site.settings import CatalogueSettings
from billboards.site.site import open_site
from billboards.site.work.worker import work_once

Picture = Callable[[Page, str], None]
BOARD = "/boards/summeval"
#: Every page of organisers, once there is a board and a draft.
PAGES = [
    "/",
    "/organise",
    "/organise/new",
    "/organise/new/demo",
    "/organise/new/catalogue",
    "/organise/new/table",
    "/organise/new/text",
    "/organise/new/folder",
    "/organise/drafts/another",
    "/organise/audit",
    f"{BOARD}/organise",
    f"{BOARD}/organise/settings",
    f"{BOARD}/organise/about",
    f"{BOARD}/organise/files",
    f"{BOARD}/organise/audit",
    f"{BOARD}/about",
]
TABLE = "instance,system,output,reference,judgment\n" + "".join(
    f"{k},{g},the {g} boat {k},the boat {k},{1 + k % 5}\n" for k in range(5) for g in ("slow", "quick")
)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A site without a board, on a free port of this machine; nobody works, so nothing is scored."""
    site = open_site(tmp_path_factory.mktemp("organised"))
    with serving(site) as found:
        found.stop()
        yield found
    site.close()


@pytest.fixture
def open_organised(chromium: Browser, empty: Served) -> Iterator[OpenPage]:
    usual = {"viewport": {"width": 1280, "height": 900}}
    with watched_pages(chromium, empty.address, **usual) as make:
        yield make


def test_an_organiser_runs_a_board_without_a_shell(open_organised: OpenPage, picture: Picture) -> None:
    page = open_organised("/")
    page.get_by_role("link", name="New board").click()
    page.get_by_role("link", name="SummEval").click()
    page.get_by_label("Name").fill("summeval")
    page.get_by_role("button", name="Make the draft").click()
    expect(page.get_by_role("heading", name="Draft: summeval")).to_be_visible()
    expect(page.get_by_text("The data card is complete.")).to_be_visible(timeout=120_000)
    expect(page.get_by_text("relevance", exact=True)).to_be_visible()
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Organise")

    page.get_by_role("link", name="Change the settings").click()
    new = page.locator("fieldset.entry").first
    new.get_by_label("Name").fill("test")
    new.get_by_label("Opens").fill("2020-01-01T00:00")
    new.get_by_label("Closes").fill("2019-01-01T00:00")
    new.get_by_label("Blind").check()
    page.get_by_label("Submissions a day").fill("many")
    page.get_by_role("button", name="Save the settings").click()
    expect(page.get_by_role("alert")).to_contain_text("2 things are wrong")
    expect(page.get_by_label("Submissions a day")).to_have_value("many")
    expect(page.locator("#per_day-mistake")).to_contain_text("must be a whole number")
    expect(new.get_by_label("Opens")).to_have_value("2020-01-01T00:00")
    new.get_by_label("Closes").fill("2099-01-01T00:00")
    page.get_by_label("Submissions a day").fill("5")
    page.get_by_label("Hide references").check()
    page.get_by_role("button", name="Save the settings").click()
    expect(page.get_by_text("Saved.", exact=True)).to_be_visible()

    page.get_by_role("link", name="Overview").click()
    picture(page, "organise")
    page.get_by_role("button", name="a visitor").click()
    banner = page.locator(".seen-as")
    expect(banner).to_contain_text("You see this site as a visitor does.")
    expect(page.get_by_text("The references of this board are hidden.")).to_be_visible()
    expect(page.get_by_role("link", name="Organise")).to_have_count(0)
    page.get_by_role("link", name="Instances", exact=True).click()
    expect(banner).to_be_visible()
    banner.get_by_role("button", name="Back to your own view").click()
    expect(banner).to_have_count(0)
    expect(page.get_by_text("The references of this board are hidden for everybody else.")).to_be_visible()

    page.get_by_role("link", name="Organise").click()
    page.get_by_role("button", name="Reveal the results").click()
    expect(page.get_by_text("shown to everybody")).to_be_visible()
    page.get_by_role("link", name="The whole audit trail").click()
    row = page.get_by_role("row").filter(has_text="revealed")
    expect(row).to_contain_text("no → yes")
    expect(row).to_contain_text("local")
    page.get_by_label("Action").select_option("board.published")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("row")).to_have_count(2)


@pytest.mark.long
def test_an_organiser_tells_readers_of_the_board(open_organised: OpenPage) -> None:
    page = open_organised(f"{BOARD}/organise/about")
    page.get_by_label("Description").fill("For **everybody** who sums up.\n\n- one\n- two")
    page.get_by_label("Accent colour", exact=True).fill("#ffee00")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("[id='about.accent-mistake']")).to_contain_text("can't be read well on the light theme")
    page.get_by_label("Accent colour", exact=True).fill("#0f766e")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="See the About page").click()
    expect(page.locator("strong").filter(has_text="everybody")).to_be_visible()
    assert page.get_by_role("link", name="Data card").evaluate("e => getComputedStyle(e).color") == "rgb(15, 118, 110)"


def test_a_table_is_sent_and_its_card_is_asked_for(open_organised: OpenPage) -> None:
    page = open_organised("/organise/new/table")
    page.get_by_label("Name").fill("another")
    page.get_by_label("Table").set_input_files({"name": "t.csv", "mimeType": "text/csv", "buffer": TABLE.encode()})
    page.get_by_role("button", name="Make the draft").click()
    expect(page.get_by_text("below: Task, Licence")).to_be_visible(timeout=120_000)
    page.get_by_label("Task").fill("Name a boat.")
    page.get_by_role("button", name="Save the data card").click()
    expect(page.get_by_text("below: Licence, Citation")).to_be_visible(timeout=60_000)
    expect(page.get_by_label("Task")).to_have_value("Name a boat.")


@pytest.mark.long
def test_a_board_of_the_catalogue_is_fetched_while_the_page_waits(
    empty: Served, open_organised: OpenPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BILLBOARDS_CACHE", str(tmp_path / "cache"))
    before = empty.site.settings
    with FileServer() as mirror:
        mirror.files[MTME_ARCHIVE] = mtme_archive(tmp_path / "made")
        catalogue = CatalogueSettings(mirror=mirror.url)
        empty.site.settings = before.model_copy(update={"catalogue": catalogue})
        page = open_organised("/organise/new/catalogue")
        page.get_by_label("Name").fill("newest")
        page.get_by_label("Data set").fill("mtme-wmt99-en-de")
        page.get_by_role("button", name="Fetch it").click()
        expect(page.get_by_text("It waits for a worker, who fetches the files")).to_be_visible()
        # The boards that are there would take long to score.
        assert work_once(empty.site, "worker", None, lambda kind, *_: kind == "draft")
        # The page looks again by itself.
        expect(page.get_by_role("heading", name="First instances")).to_be_visible()
    empty.site.settings = before


@pytest.mark.parametrize("path", PAGES)
def test_nothing_keeps_organisers_out_and_nothing_is_wider_than_a_phone(open_organised: OpenPage, path: str) -> None:
    page = open_organised(path, viewport={"width": 390, "height": 800})
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        violations = Axe().run(page).response["violations"]
        assert [(scheme, v["id"], [node["html"][:200] for node in v["nodes"]]) for v in violations] == []
