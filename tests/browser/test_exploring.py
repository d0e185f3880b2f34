"""Exploring and comparing in a real browser: by keyboard, by search, on a phone, and a new board on its way."""

from __future__ import annotations

from dataclasses import replace

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from browser_pages import OpenPage, watched_pages
from bulletins.build import build_board
from playwright.sync_api import Browser, Page, expect
from served_sites import Served, serving

from billboards.board.writing import write_board
from billboards.site.accounts.access import local_viewer
from billboards.site.site import open_site
from billboards.site.submissions.sending import change_settings
from billboards.site.work.jobs import run_job
from billboards.site.work.worklist import next_job

BOARD = "/boards/bulletins"
COMPARED = f"{BOARD}/compare?of=Crier&of=Almanac&of=Stumbler"


def chosen(page: Page) -> str:
    """The address of the entry that the keyboard has chosen."""
    address: str = page.evaluate("document.activeElement?.getAttribute('href') ?? ''")
    return address


def off_screen(page: Page) -> list[str]:
    """What lies to the right of the window, so that a reader on a phone must search for it."""
    script = """() => [...document.querySelectorAll("main *")].filter((one) => {
        const box = one.getBoundingClientRect();
        const hidden = one.closest(".unseen, .tabs, .scroll, dialog, thead, [hidden]") !== null;
        return !hidden && box.width > 1 && box.right > innerWidth + 1;
    }).map((one) => `${one.tagName}.${one.className}: ${one.textContent.slice(0, 40)}`)"""
    found: list[str] = page.evaluate(script)
    return found


@pytest.mark.long
def test_outputs_are_gone_through_with_the_keyboard(open_page: OpenPage) -> None:
    page = open_page(f"{BOARD}/instances")
    entries = page.locator("[data-entry]").evaluate_all("(links) => links.map((one) => one.getAttribute('href'))")
    page.keyboard.press("j")
    assert chosen(page) == entries[0]
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    assert chosen(page) == entries[2]
    page.keyboard.press("k")
    assert chosen(page) == entries[1]
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{entries[1].partition('?')[0]}**")
    first = page.locator("h1").inner_text()
    page.keyboard.press("j")
    expect(page.locator("h1")).not_to_have_text(first)


def test_words_without_a_blank_do_not_make_the_page_wider(open_page: OpenPage) -> None:
    page = open_page(f"{BOARD}/instances")
    for place in ("td.words", "td.left:not(.words)", "th[scope=row]"):
        page.locator(f".explorer tbody {place}").first.evaluate("cell => cell.append('x'.repeat(900))")
    for width in (1440, 1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_slash_goes_to_the_search_and_a_question_mark_shows_the_keys(open_page: OpenPage) -> None:
    page = open_page(f"{BOARD}/instances")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    page.keyboard.press("/")
    page.keyboard.type("harbour")
    page.keyboard.press("Enter")
    page.wait_for_url("**text=harbour**")
    expect(page.get_by_role("status").first).to_contain_text("with “harbour”")
    assert "text=harbour" in page.url


def test_search_and_filters_work_without_scripts_and_stand_in_the_address(chromium: Browser, served: Served) -> None:
    with watched_pages(chromium, served.address, java_script_enabled=False) as make:
        page = make(f"{BOARD}/instances")
        page.locator("summary", has_text="More filters").click()
        page.get_by_label("disagreement with").select_option("chrF")
        page.get_by_label("metric", exact=True).select_option("BLEU")
        page.get_by_label("order").select_option("best")
        page.get_by_role("button", name="Find").click()
        assert "versus=chrF" in page.url
        assert "metric=BLEU" in page.url
        expect(page.get_by_text("Disagreement is BLEU minus chrF")).to_be_visible()


@pytest.mark.parametrize("address", [COMPARED, f"{BOARD}/compare?of=chrF&of=BLEU", f"{BOARD}/instances"])
def test_on_a_phone_nothing_is_off_the_screen(chromium: Browser, served: Served, address: str) -> None:
    with watched_pages(chromium, served.address, viewport={"width": 390, "height": 800}) as make:
        page = make(address)
        assert off_screen(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        if "compare" in address:
            numbers = page.locator("table.stacked tbody tr").first.locator("td").last
            box = numbers.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("address", [COMPARED, f"{BOARD}/instances?text=a&judgment=judged"])
def test_nothing_keeps_people_out(chromium: Browser, served: Served, address: str, scheme: str) -> None:
    with watched_pages(chromium, served.address, color_scheme=scheme) as make:
        page = make(address)
        found = Axe().run(page).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []


@pytest.mark.long
def test_a_new_board_shows_its_progress_and_then_its_ranking_by_itself(
    chromium: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("new")
    write_board(replace(build_board(), metrics=("chrF", "ROUGE-1")), home / "boards" / "bulletins")
    site = open_site(home)
    change_settings(site, local_viewer(site), "bulletins", {"draws": 50})
    with serving(site, working=False) as served, watched_pages(chromium, served.address) as make:
        page = make(BOARD)
        expect(page.get_by_role("status").first).to_contain_text("0 of ")
        for _ in range(3):
            job = next_job(site, "by hand")
            assert job is not None
            run_job(site, job)
        expect(page.get_by_role("status").first).to_contain_text("3 of ")
        while (job := next_job(site, "by hand")) is not None:
            run_job(site, job)
        expect(page.locator("#board")).to_be_visible()
    site.close()
