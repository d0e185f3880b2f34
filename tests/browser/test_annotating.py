"""Annotators at work in a real browser: by keyboard, on a phone, through a crash, and found to answer at random."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from browser_pages import OpenPage, watched_pages
from playwright.sync_api import Browser, Locator, Page, Position, Route, expect
from served_sites import Served, serving
from small_sites import make_board

from billboards.board.writing import write_board
from billboards.campaigns.plan import CampaignPlan
from billboards.site.accounts.access import local_viewer
from billboards.site.boards.live import live_board
from billboards.site.campaigns.annotators import annotator_lines, invite
from billboards.site.campaigns.lifecycle import close_campaign, create_campaign, open_campaign
from billboards.site.campaigns.results import campaign_answers
from billboards.site.site import open_site

PHONE = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A small board of its own, because closing a campaign changes its ranking."""
    home = tmp_path_factory.mktemp("annotating")
    write_board(make_board(instances=12, generators=3), home / "boards" / "ferry")
    site = open_site(home)
    with serving(site) as found:
        yield found
    site.close()


Start = Callable[..., tuple[str, list[str]]]


@pytest.fixture
def start(harbour: Served) -> Start:
    """Begin a campaign; returns its id and a link for each annotator."""

    def begin(
        name: str, template: str, *, people: int = 1, generators: tuple[str, ...] = ("g0",), **plan: object
    ) -> tuple[str, list[str]]:
        site = harbour.site
        owner = local_viewer(site)
        chosen = {"instances": 4, **plan}
        campaign = create_campaign(
            site,
            owner,
            "ferry",
            name,
            template,
            generators=generators,
            plan=CampaignPlan(**chosen),  # type: ignore[arg-type]
        )
        open_campaign(site, owner, campaign.id)
        return campaign.id, [one.path for one in invite(site, owner, campaign.id, people)]

    return begin


@pytest.fixture
def page(chromium: Browser, harbour: Served) -> Iterator[OpenPage]:
    """Opens an annotator's page."""
    with watched_pages(chromium, harbour.address) as make:
        yield make


def _answers(served: Served, campaign: str) -> list[dict[str, object]]:
    found = campaign_answers(served.site, local_viewer(served.site), campaign)
    return [dict(one.answers) for one in found if one.state == "valid"]


def _done(opened: Page) -> int:
    return int(opened.locator("#progress").inner_text().split()[0])


@pytest.mark.long
def test_a_whole_campaign_by_keyboard_changes_the_ranking_when_it_closes(
    harbour: Served, start: Start, page: OpenPage, picture: Callable[[Page, str], None]
) -> None:
    campaign, (link,) = start("keys", "genie-summarisation", positive=0.0, negative=0.0)
    opened = page(link)
    expect(opened.get_by_text("You see two summaries")).to_be_visible()
    assert opened.get_by_role("heading", name="Input").count() == 0, "the article comes later"
    for k in range(4):
        expect(opened.locator("#progress")).to_contain_text(f"{k} done")
        opened.keyboard.press("1")
        opened.keyboard.press("2")
        opened.keyboard.press("Enter")
        expect(opened.get_by_role("heading", name="Input")).to_be_visible()
        if k == 0:
            picture(opened, "annotating")
        for key in "345":
            opened.keyboard.press(key)
        opened.keyboard.press("Enter")
        expect(opened.get_by_role("heading", name="Input")).to_have_count(0)
    expect(opened.get_by_text("nothing left for you to judge")).to_be_visible()
    given = {"fluency": 0, "conciseness": 1, "no-hallucination": 2, "informativeness": 3, "overall": 4}
    assert _answers(harbour, campaign) == [given] * 4
    before = live_board(harbour.site, "ferry", audience="owners")
    close_campaign(harbour.site, local_viewer(harbour.site), campaign)
    live = live_board(harbour.site, "ferry", audience="owners")
    assert live.generation > before.generation
    assert "keys" in live.board.judgments.campaigns
    _wait_for_ranking(harbour, 0 if before.snapshot is None else before.snapshot.number)
    opened.goto("/boards/ferry")
    expect(opened.get_by_role("table").first).to_be_visible()


def _wait_for_ranking(served: Served, before: int) -> None:
    """Wait until the worker has ranked the board anew."""
    for _ in range(600):
        found = live_board(served.site, "ferry", audience="owners").snapshot
        if found is not None and found.number > before:
            return
        time.sleep(0.1)
    raise AssertionError("the board was not ranked anew")


@pytest.mark.long
def test_undo_by_key_opens_the_last_item_with_its_answers(harbour: Served, start: Start, page: OpenPage) -> None:
    campaign, (link,) = start("undo", "genie-translation", positive=0.0, negative=0.0)
    opened = page(link)
    opened.keyboard.press("2")
    opened.keyboard.press("Enter")
    expect(opened.locator("#progress")).to_contain_text("1 done")
    opened.keyboard.press("u")
    expect(opened.locator("#progress")).to_contain_text("0 done")
    expect(opened.locator("input[type=radio]").nth(1)).to_be_checked()
    opened.keyboard.press("5")
    opened.keyboard.press("Enter")
    expect(opened.locator("#progress")).to_contain_text("1 done")
    (dimension,) = _answers(harbour, campaign)[0].values()
    assert dimension == 4
    assert len(_answers(harbour, campaign)) == 1


def test_a_campaign_on_a_phone_by_touch(harbour: Served, start: Start, page: OpenPage) -> None:
    campaign, (link,) = start("phone", "direct-assessment", positive=0.0, negative=0.0)
    opened = page(link, **PHONE)
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing may stick out"
    for k in range(4):
        expect(opened.locator("#progress")).to_contain_text(f"{k} done")
        opened.locator("input[type=range]").evaluate(
            "(one, k) => { one.value = 50 + k; one.dispatchEvent(new Event('input', {bubbles: true}));"
            " one.dispatchEvent(new Event('change', {bubbles: true})); }",
            k,
        )
        expect(opened.locator("#kept")).to_have_text("Kept.")
        opened.get_by_role("button", name="Submit").tap()
    expect(opened.get_by_text("nothing left for you to judge")).to_be_visible()
    scores = {value for one in _answers(harbour, campaign) for value in one.values()}
    assert scores == {50.0, 51.0, 52.0, 53.0}


def test_what_was_answered_before_a_crash_is_there_again(harbour: Served, start: Start, page: OpenPage) -> None:
    _, (link,) = start("crash", "genie-summarisation", positive=0.0, negative=0.0)
    opened = page(link)
    opened.keyboard.press("3")
    expect(opened.locator("#kept")).to_have_text("Kept.")
    shown = opened.locator("[data-output='0']").inner_text()
    # The page dies without a word, as in a crash; another browser goes on by the same link.
    opened.close(run_before_unload=False)
    again = page(link)
    expect(again.locator("fieldset[data-name=fluency] input").nth(2)).to_be_checked()
    assert again.locator("[data-output='0']").inner_text() == shown


@pytest.mark.long
def test_without_a_connection_nothing_is_lost_and_it_is_said(start: Start, page: OpenPage) -> None:
    _, (link,) = start("offline", "genie-translation", positive=0.0, negative=0.0)
    opened = page(link)
    opened.route("**/draft*", lambda route: route.abort())
    opened.keyboard.press("2")
    expect(opened.locator("#kept")).to_contain_text("no connection")
    opened.unroute("**/draft*")
    expect(opened.locator("#kept")).to_have_text("Kept.")


def test_answers_are_sent_behind_a_draft_that_is_on_its_way(start: Start, page: OpenPage) -> None:
    """A draft that came last would take an answer back: one given in the same second as the page is sent."""
    _, (link,) = start("slow", "genie-summarisation", positive=0.0, negative=0.0)
    opened = page(link)
    held: list[Route] = []
    posted: list[str] = []

    def hold(route: Route) -> None:
        held.append(route)

    opened.route("**/draft*", hold)
    opened.on("request", lambda one: posted.append(one.url) if one.method == "POST" else None)
    for key in ("1", "2", "Enter"):
        opened.keyboard.press(key)
    opened.wait_for_timeout(300)
    assert ["/draft" in url for url in posted] == [True], "the page waits for the draft"
    held[0].continue_()
    expect(opened.get_by_role("heading", name="Input")).to_be_visible()
    assert "/draft" not in posted[-1]


@pytest.mark.long
def test_who_fails_the_test_questions_is_excluded_and_told_so(harbour: Served, start: Start, page: OpenPage) -> None:
    tests = {"positive": 0.25, "negative": 0.25}
    campaign, (link,) = start("random", "binary", instances=12, early=0, exclusion="model", **tests)
    opened = page(link)
    owner = local_viewer(harbour.site)
    for k in range(24):
        expect(opened.locator("#progress")).to_contain_text(f"{k} done")
        if not opened.locator("input[type=radio]").count():
            break
        # Always "good": wrong on every question whose output belongs to another instance.
        opened.keyboard.press("2")
        opened.keyboard.press("Enter")
    (line,) = annotator_lines(harbour.site, owner, campaign)
    assert line.state == "excluded", line
    expect(opened.get_by_text("You no longer take part")).to_be_visible()
    assert _answers(harbour, campaign) == [], "their answers count no longer"


def _middle_of_word(text: Locator, place: int) -> Position:
    """Where a word of a text is shown, whatever the typeface."""
    x, y = text.evaluate(
        """(text, place) => {
          const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
          const words = [];
          while (walker.nextNode())
            for (const found of walker.currentNode.data.matchAll(/\\S+/g)) words.push([walker.currentNode, found]);
          const [node, found] = words[place];
          const range = document.createRange();
          range.setStart(node, found.index);
          range.setEnd(node, found.index + found[0].length);
          const box = range.getBoundingClientRect(), around = text.getBoundingClientRect();
          return [(box.left + box.right) / 2 - around.left, (box.top + box.bottom) / 2 - around.top];
        }""",
        place,
    )
    return {"x": x, "y": y}


def test_errors_are_marked_by_mouse_and_by_keyboard(harbour: Served, start: Start, page: OpenPage) -> None:
    campaign, (link,) = start("spans", "esa", positive=0.0, negative=0.0)
    opened = page(link)
    text = opened.locator("[data-output='0']")
    written = text.inner_text()
    words = written.split()
    text.focus()
    opened.keyboard.press("ArrowRight")
    opened.keyboard.press("Shift+ArrowRight")
    opened.keyboard.press("2")
    expect(opened.locator(".marks li")).to_contain_text(f"“{words[0]} {words[1]}”: major")
    text.dblclick(position=_middle_of_word(text, 3))
    opened.get_by_role("button", name="minor").click()
    expect(opened.locator(".marks li")).to_have_count(2)
    opened.get_by_role("button", name="Continue").click()
    opened.get_by_label("Score from 0 to 100").fill("61")
    opened.keyboard.press("Enter")
    expect(opened.locator("#progress")).to_contain_text("1 done")
    (given,) = _answers(harbour, campaign)
    assert given["score"] == 61.0
    spans = given["errors"]
    assert isinstance(spans, list)
    assert (spans[0]["start"], spans[0]["end"], spans[0]["severity"]) == (0, len(f"{words[0]} {words[1]}"), "major")
    assert written[spans[1]["start"] : spans[1]["end"]].strip() in words


def test_scripts_blocked_a_stage_is_one_form(harbour: Served, start: Start, page: OpenPage) -> None:
    campaign, (link,) = start("plain", "genie-summarisation", positive=0.0, negative=0.0)
    opened = page(link, java_script_enabled=False)
    for stage in (("fluency", "conciseness"), ("no-hallucination", "informativeness", "overall")):
        for name in stage:
            opened.locator(f"fieldset[data-name='{name}'] label").nth(2).click()
        opened.locator("form#answer button[type=submit]").click()
    expect(opened.locator("#progress")).to_contain_text("1 done")
    assert set(_answers(harbour, campaign)[0].values()) == {2}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("template", ["genie-summarisation", "esa", "best-worst"])
def test_the_pages_are_accessible(start: Start, page: OpenPage, template: str, scheme: str) -> None:
    some = ("g0", "g1", "g2", "Ben") if template == "best-worst" else ("g0",)
    _, (link,) = start(f"axe-{template}-{scheme}", template, generators=some, positive=0.0, negative=0.0)
    opened = page(link, color_scheme=scheme)
    found = Axe().run(opened)
    assert found.violations_count == 0, found.generate_report()
