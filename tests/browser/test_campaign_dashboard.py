"""An owner and a campaign in a real browser: planned by form, opened, watched while somebody annotates, closed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from browser_pages import OpenPage, watched_pages
from playwright.sync_api import Browser, Page, expect
from served_sites import Served, serving
from small_campaigns import by_reference, carelessly, distinct_board, people, small_campaign
from small_sites import Clock, Harbour

from billboards.board.writing import write_board
from billboards.site.accounts.access import local_viewer
from billboards.site.campaigns.annotators import exclude
from billboards.site.site import open_site
from billboards.site.submissions.sending import change_settings
from billboards.site.work.jobs import run_job
from billboards.site.work.worklist import next_job

Picture = Callable[[Page, str], None]
PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}
#: What the dark can change.
COLOURS: dict[str, object] = {"runOnly": ["color-contrast"]}
#: Pages that the documentation shows.
PICTURED = ("campaign-progress", "campaign-annotators", "campaign-results", "template-esa")
WIDE = {"viewport": {"width": 1280, "height": 900}}


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A scored board with a campaign in which two are honest and one, who was careless, is excluded."""
    home = tmp_path_factory.mktemp("dashboard")
    board = distinct_board(instances=9, generators=2)
    write_board(board, home / "boards" / "ferry")
    site = open_site(home)
    owner = local_viewer(site)
    change_settings(site, owner, "ferry", {"draws": 50})
    while (job := next_job(site, "before")) is not None:
        run_job(site, job)
    harbour = Harbour(site, Clock(), owner, board)
    plan: dict[str, Any] = {"labels": 2, "pay": 0.1, "positive": 0.1, "negative": 0.1, "seconds_per_item": 20.0}
    campaign = small_campaign(harbour, "autumn", **plan, early=0, exclusion="model")
    honest, other, careless = people(harbour, campaign, by_reference, by_reference, carelessly)
    for one in (honest, careless, other):
        one.answer_all(18)
    exclude(site, owner, campaign.id, careless.participant.annotator.pseudonym, "chose the first answer 15 times")
    other.answer_all(6)
    with serving(site) as found:
        yield found
    site.close()


@pytest.fixture
def visit(chromium: Browser, ferry: Served) -> Iterator[OpenPage]:
    """Opens pages of the campaign's site."""
    with watched_pages(chromium, ferry.address, **WIDE) as make:
        yield make


@pytest.mark.long
def test_a_campaign_from_the_form_to_its_results(visit: OpenPage, picture: Picture) -> None:
    owner = visit("/boards/ferry")
    owner.get_by_role("link", name="Campaigns").click()
    owner.get_by_role("link", name="New campaign").click()
    owner.get_by_label("Name").fill("by-form")
    owner.get_by_label("Template").select_option("genie-translation")
    owner.get_by_label("Generators, one a line").fill("g0")
    owner.get_by_label("Instances", exact=True).fill("3")
    for kind in ("Positive", "Negative"):
        owner.get_by_label(f"{kind} test questions").fill("0")
    owner.get_by_label("Pay for one answer").fill("0.25")
    owner.get_by_label("Seconds an item takes").fill("30")
    picture(owner, "campaign-new")
    owner.get_by_role("button", name="Plan it").click()

    expect(owner.get_by_text("This is a draft")).to_be_visible()
    expect(owner.get_by_text("0.75 USD").first).to_be_visible()
    owner.get_by_role("checkbox", name="Spend up to 0.75 USD").check()
    owner.get_by_role("button", name="Open the campaign").click()
    expect(owner.locator("[data-fact=labels]")).to_have_text("0 of 3")
    progress = owner.url

    owner.get_by_role("link", name="Annotators", exact=True).first.click()
    owner.get_by_label("Names or e-mail addresses").fill("ann@example.org")
    owner.get_by_role("button", name="Make links").click()
    link = owner.locator("a[data-link]").first.inner_text()
    assert link.startswith("http://127.0.0.1"), "it can be copied as it stands"
    owner.goto(progress)

    annotator = visit(link)
    annotator.keyboard.press("5")
    annotator.keyboard.press("Enter")
    expect(owner.locator("[data-fact=labels]")).to_have_text("1 of 3")
    expect(owner.locator("[data-fact=spent]")).to_have_text("0.25 USD")

    owner.get_by_role("link", name="Results").click()
    expect(owner.get_by_role("row", name="adequacy g0 1 1 1 1 100.0")).to_be_visible()
    owner.get_by_role("link", name="Annotators", exact=True).first.click()
    owner.get_by_text("Exclude").first.click()
    owner.get_by_label("Why, for the record").fill("left the room")
    owner.get_by_role("button", name="Exclude").click()
    expect(owner.get_by_role("region", name="Decisions")).to_contain_text("left the room")
    annotator.reload()
    expect(annotator.get_by_text("You no longer take part")).to_be_visible()

    owner.goto(progress)
    expect(owner.locator("[data-fact=labels]")).to_have_text("0 of 3")
    owner.get_by_text("Close the campaign").click()
    owner.get_by_role("checkbox", name="You can’t undo this").check()
    owner.get_by_role("button", name="Close for good").click()
    expect(owner.locator(".lead .tag").first).to_have_text("closed")
    owner.get_by_role("link", name="Results").click()
    row = owner.get_by_role("row", name="adequacy g0")
    assert row.locator("td").all_inner_texts()[5:7] == ["–", "–"], "the only answer was an excluded annotator's"
    expect(row).to_contain_text("100.0")


@pytest.mark.long
def test_a_template_of_ones_own_is_looked_at_mended_and_asked(visit: OpenPage, picture: Picture) -> None:
    owner = visit("/templates")
    with owner.expect_download() as download:
        owner.get_by_role("link", name="its file binary.toml").click()
    text = download.value.path().read_text("utf-8").replace('name = "binary"', 'name = "harbour-words"')
    text = text.replace('title = "', 'title = "<b>Harbour</b> ')

    owner.goto("/boards/ferry/campaigns/new")
    owner.get_by_label("Name").fill("own-words")
    owner.get_by_label("Generators, one a line").fill("g0")
    owner.get_by_label("Template", exact=True).select_option("own")
    owner.get_by_text("Your own template", exact=True).click()
    wrong = text.replace("version = 1", "version = 0\ncolour = 3")
    owner.get_by_label("File").set_input_files({"name": "mine.toml", "mimeType": "", "buffer": wrong.encode()})
    owner.get_by_role("button", name="Plan it").click()
    expect(owner.get_by_role("alert")).to_contain_text("2 things are wrong")
    expect(owner.get_by_role("alert").get_by_role("listitem")).to_have_count(2)
    assert violations(owner, None) == []
    picture(owner, "campaign-own-template")

    owner.get_by_label("or paste it").fill(text)
    with owner.expect_popup() as opened:
        owner.get_by_role("button", name="Look at the template first").click()
    shown = opened.value
    expect(shown.get_by_role("heading", level=1)).to_contain_text("<b>Harbour</b>")
    expect(shown.get_by_role("heading", name="As an annotator sees it")).to_be_visible()
    owner.get_by_role("button", name="Plan it").click()
    expect(owner.get_by_text("This is a draft")).to_be_visible()
    expect(owner.get_by_role("link", name="harbour-words")).to_be_visible()


@pytest.mark.long
def test_every_page_of_a_campaign_is_accessible_and_fits_a_phone(visit: OpenPage, picture: Picture) -> None:
    wide, phone = visit("/boards/ferry/campaigns"), visit("/boards/ferry/campaigns", **PHONE)
    home = wide.get_by_role("link", name="autumn").get_attribute("href")
    assert home is not None
    paths = {"campaigns": "/boards/ferry/campaigns", "campaign-plan": "/boards/ferry/campaigns/new"}
    paths |= {"campaign-progress": home, "template-esa": "/templates/esa"}
    paths |= {f"campaign-{part}": f"{home}/{part}" for part in ("annotators", "agreement", "results", "protocol")}
    for name, path in paths.items():
        wide.goto(path)
        if name in PICTURED:
            picture(wide, name)
        wide.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        assert violations(wide, None) == [], path
        phone.goto(path)
        assert phone.evaluate("document.documentElement.scrollWidth") <= 390, path
        if name == "campaign-progress":
            picture(phone, f"{name}-phone")
    wide.emulate_media(color_scheme="dark")
    for name in ("campaign-annotators", "campaign-agreement"):
        wide.goto(paths[name])
        assert violations(wide, COLOURS) == [], name
    picture(wide, "campaign-agreement-dark")


def violations(page: Page, options: dict[str, object] | None) -> list[tuple[str, list[str]]]:
    """What keeps people out of a page."""
    found = Axe().run(page, options=options).response["violations"]
    return [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found]


@pytest.mark.long
def test_without_scripts_the_page_says_the_same_when_it_is_loaded_again(visit: OpenPage) -> None:
    plain = visit("/boards/ferry/campaigns", java_script_enabled=False)
    plain.get_by_role("link", name="autumn").click()
    expect(plain.locator("[data-fact=answers]")).to_contain_text("to test questions")
    plain.get_by_role("button", name="Pause").click()
    expect(plain.locator(".lead .tag").first).to_have_text("paused")
    plain.get_by_role("checkbox", name="Spend up to").check()
    plain.get_by_role("button", name="Resume").click()
    expect(plain.locator(".lead .tag").first).to_have_text("open")
