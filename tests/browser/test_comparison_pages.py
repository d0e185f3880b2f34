"""Comparisons in a real browser: a campaign of pairs is planned with a schedule, and its strengths are read."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from browser_pages import watched_pages
from playwright.sync_api import Browser, expect
from served_sites import Served, serving
from small_campaigns import distinct_board, people, small_campaign
from small_sites import Clock, Harbour

from billboards.board.writing import write_board
from billboards.site.accounts.access import local_viewer
from billboards.site.campaigns.campaign import get_campaign
from billboards.site.campaigns.lifecycle import close_campaign
from billboards.site.campaigns.shown_items import Shown
from billboards.site.site import open_site
from billboards.site.submissions.sending import change_settings
from billboards.site.work.jobs import run_job
from billboards.site.work.worklist import next_job

SIZES = {"wide": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 800}}


def prefer(shown: Shown, chance: random.Random) -> int:
    """Mostly the output with fewer wrong words."""
    first, second = (text.split().count("wrong") for text in shown.outputs)
    return chance.randrange(5) if chance.random() < 0.3 else 2 + max(-2, min(2, first - second))


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A board with an open campaign of pairs, and one that is closed."""
    home = tmp_path_factory.mktemp("comparisons")
    board = distinct_board(instances=24, generators=5)
    write_board(board, home / "boards" / "ferry")
    site = open_site(home)
    owner = local_viewer(site)
    change_settings(site, owner, "ferry", {"draws": 10})
    harbour = Harbour(site, Clock(), owner, board)
    for name in ("spring", "autumn"):
        campaign = small_campaign(
            harbour, name, template="pairwise", schedule="balanced", instances=24, positive=0.0, negative=0.0
        )
        for k, person in enumerate(people(harbour, campaign, prefer, prefer, prefer)):
            person.chance = random.Random(f"{name} {k}")
            person.answer_all(14)
    close_campaign(site, owner, get_campaign(site, "spring").id)
    while (job := next_job(site, "before")) is not None:
        run_job(site, job)
    with serving(site) as running:
        yield running
    site.close()


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_strengths_are_read_on_the_campaign_and_on_the_board(
    chromium: Browser, ferry: Served, size: str, scheme: str
) -> None:
    with watched_pages(chromium, ferry.address, viewport=SIZES[size], color_scheme=scheme) as visit:
        page = visit("/boards/ferry/campaigns")
        page.get_by_role("link", name="autumn").first.click()
        page.get_by_role("link", name="Results").click()
        expect(page.get_by_role("heading", name="By strength in comparisons")).to_be_visible()
        table = page.get_by_role("region", name="Generators by strength")
        expect(table.get_by_role("row")).to_have_count(6)
        page.get_by_text("Who beat whom").click()
        expect(page.get_by_role("region", name="Who beat whom")).to_be_visible()
        assert not Axe().run(page).response["violations"]
        asked = visit("/boards/ferry/analyses/arena?aggregate=pairwise")
        expect(asked.get_by_text("depend on the order of the comparisons").first).to_be_visible()
        expect(asked.get_by_role("table").first).to_contain_text("g0")
        assert not Axe().run(asked).response["violations"]
        assert asked.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.long
def test_a_schedule_is_chosen_on_the_form(chromium: Browser, ferry: Served) -> None:
    with watched_pages(chromium, ferry.address, viewport=SIZES["wide"]) as visit:
        page = visit("/boards/ferry/campaigns/new")
        page.get_by_label("Name").fill("winter")
        page.get_by_label("Template").select_option("pairwise")
        page.get_by_label("Instances", exact=True).fill("6")
        page.get_by_label("Who is compared with whom").select_option("adaptive")
        page.get_by_role("button", name="Plan it").click()
        expect(page.get_by_text("adaptive").first).to_be_visible()
