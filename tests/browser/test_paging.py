"""A board of several pages in a real browser: by keyboard, with its search, and nothing that keeps people out."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from browser_pages import OpenPage, watched_pages
from large_boards import large_board
from playwright.sync_api import Browser, Page, expect
from served_sites import serving

from billboards.board.writing import write_board
from billboards.site.accounts.access import local_viewer
from billboards.site.site import open_site
from billboards.site.submissions.sending import change_settings
from billboards.site.work.worker import work_until_done

BOARD = "/boards/crowded"


@pytest.fixture(scope="module")
def open_crowded(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenPage]:
    """Opens pages of a board of 230 generators."""
    home = tmp_path_factory.mktemp("crowded")
    write_board(large_board(230), home / "boards" / "crowded")
    site = open_site(home)
    change_settings(site, local_viewer(site), "crowded", {"draws": 50})
    work_until_done(site)
    usual = {"viewport": {"width": 1280, "height": 900}}
    with serving(site) as served, watched_pages(chromium, served.address, **usual) as make:
        yield make
    site.close()


def generators(page: Page) -> list[str]:
    found: list[str] = page.locator("#board tbody tr").evaluate_all("(rows) => rows.map((row) => row.dataset.name)")
    return found


def press_until(page: Page, selector: str, most: int = 60) -> None:
    """Move the focus until it is on what is wanted, as somebody without a mouse does."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement?.matches(selector) ?? false", selector):
            return
    raise AssertionError(f"{selector} can't be reached")


def barriers(page: Page) -> list[str]:
    """What keeps people out of the links to pages; the table itself is looked at on the board of bulletins."""
    found = Axe().run(page, context=".rows").response["violations"]
    return [one["id"] for one in found if one["impact"] in ("serious", "critical")]


@pytest.mark.long
def test_two_pages_are_read_and_sorted_with_the_keyboard_alone(open_crowded: OpenPage) -> None:
    page = open_crowded(BOARD)
    first = generators(page)
    press_until(page, "#pages a[rel=next]")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").first).to_have_text("Generators 101–200 of 230")
    second = generators(page)
    assert not set(first) & set(second)
    # The address leads to the pages, so the next link is one of theirs, not the first of the document.
    press_until(page, "#pages a[rel=next]", most=4)
    press_until(page, "th[data-key=TER] .sort")
    page.keyboard.press("Enter")
    expect(page.locator("th[data-key=TER]")).to_have_attribute("aria-sort", "descending")
    expect(page.get_by_role("status").first).to_have_text("Generators 1–100 of 230")
    assert set(generators(page)) & set(second)


@pytest.mark.long
def test_a_search_asks_the_server_for_who_is_on_another_page(open_crowded: OpenPage) -> None:
    page = open_crowded(BOARD)
    box = page.get_by_role("searchbox", name="Find a generator")
    box.fill("system-22")
    assert len(generators(page)) == 100
    box.press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("10 of 230 generators have “system-22” in their name")
    assert sorted(generators(page)) == [f"system-{k}" for k in range(220, 230)]
    page.get_by_role("link", name="All generators").click()
    expect(page.get_by_role("status").first).to_have_text("Generators 1–100 of 230")


@pytest.mark.long
def test_pages_keep_nobody_out_in_light_dark_or_on_a_phone(
    open_crowded: OpenPage, picture: Callable[[Page, str], None]
) -> None:
    page = open_crowded(f"{BOARD}?page=2")
    assert barriers(page) == []
    picture(page, "board-pages")
    page.emulate_media(color_scheme="dark")
    assert barriers(page) == []
    phone = open_crowded(f"{BOARD}?page=2", viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    heights = phone.evaluate("[...document.querySelectorAll('.pager a')].map((a) => a.getBoundingClientRect().height)")
    assert min(heights) >= 36
