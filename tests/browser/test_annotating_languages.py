"""An annotator in a real browser, from right to left: consent, a survey, a text of one's own, another language."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from browser_pages import OpenPage, watched_pages
from playwright.sync_api import Browser, Page, expect
from served_sites import Served, serving
from small_campaigns import distinct_board

from billboards.board.writing import write_board
from billboards.campaigns.plan import CampaignPlan
from billboards.campaigns.template_files import SentTemplate
from billboards.site.accounts.access import local_viewer
from billboards.site.campaigns.annotators import invite
from billboards.site.campaigns.lifecycle import create_campaign, open_campaign
from billboards.site.campaigns.results import campaign_answers
from billboards.site.campaigns.words import words_of
from billboards.site.site import open_site

TEMPLATE = """
name = "spoken"
version = 1
title = "Good or bad"
task = "good"
instructions = "Say whether it is good."
consent = "We keep what you judge."
[[stages]]
shows = ["outputs"]
dimensions = ["good", "why"]
[[dimensions]]
name = "good"
kind = "scale"
question = "Is it good?"
labels = ["bad", "good"]
[[dimensions]]
name = "why"
kind = "text"
question = "Why?"
least = 5
[[survey]]
name = "years"
kind = "slider"
question = "How old are you?"
"""
ARABIC = words_of("ar")


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str, str]]:
    """A site with a campaign of two items, its id and an annotator's link."""
    home = tmp_path_factory.mktemp("languages")
    write_board(distinct_board(instances=4, generators=1), home / "boards" / "ferry")
    site = open_site(home)
    owner = local_viewer(site)
    plan = CampaignPlan(instances=2, positive=0.0, negative=0.0)
    made = create_campaign(site, owner, "ferry", "spoken", SentTemplate("spoken.toml", TEMPLATE), plan=plan)
    (link,) = invite(site, owner, made.id, ["ann"])
    open_campaign(site, owner, made.id)
    with serving(site) as served:
        yield served, made.id, link.path
    site.close()


@pytest.fixture
def visit(chromium: Browser, spoken: tuple[Served, str, str]) -> Iterator[OpenPage]:
    usual = {"viewport": {"width": 390, "height": 800}, "locale": "ar-EG"}
    with watched_pages(chromium, spoken[0].address, **usual) as make:
        yield make


def _check(page: Page) -> None:
    """Nothing reaches beyond the screen, and nobody is shut out."""
    page.wait_for_load_state()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found = Axe().run(page).response["violations"]
    assert [(fault["id"], [node["html"] for node in fault["nodes"]]) for fault in found] == []


@pytest.mark.long
def test_an_annotator_goes_from_consent_to_the_last_answer_from_right_to_left(
    visit: OpenPage, spoken: tuple[Served, str, str]
) -> None:
    served, campaign, link = spoken
    page = visit(link)
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    expect(page.get_by_role("status")).to_contain_text(ARABIC("turn_consent"))
    _check(page)
    page.get_by_label(ARABIC("agree")).check()
    page.get_by_role("button", name=ARABIC("continue")).click()
    page.get_by_role("spinbutton").fill("44")
    _check(page)
    page.get_by_role("button", name=ARABIC("send")).click()
    expect(page.locator("textarea")).to_be_visible()
    _check(page)
    page.get_by_text("good", exact=True).last.click()
    field = page.locator("textarea")
    field.press_sequentially("Every word")
    field.press("Enter")
    with page.expect_response(lambda response: "u 1 j" in (response.request.post_data or "")):
        field.press_sequentially("u 1 j")
    expect(page.locator("#kept")).to_have_text(ARABIC("kept"))
    page.reload()
    expect(field).to_have_value("Every word\nu 1 j")
    page.locator(".languages summary").click()
    page.get_by_role("link", name="Deutsch").click()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator("html")).to_have_attribute("dir", "ltr")
    expect(field).to_have_value("Every word\nu 1 j")
    field.press("Control+Enter")
    expect(page.locator("#progress")).to_contain_text("1 erledigt")
    page.goto(link)
    expect(page.locator("html")).to_have_attribute("lang", "de")
    (line,) = campaign_answers(served.site, local_viewer(served.site), campaign)
    assert line.answers == {"good": 1, "why": "Every word\nu 1 j"}
