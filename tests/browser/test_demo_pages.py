"""The demo board as newcomers see it first: light and dark, wide and narrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from browser_pages import OpenPage, watched_pages
from playwright.sync_api import Browser, Page, expect
from served_sites import serving

from billboards.board.writing import write_board
from billboards.demo import build_board
from billboards.site.site import open_site
from billboards.site.work.jobs import run_job
from billboards.site.work.worklist import next_job

Picture = Callable[[Page, str], None]

pytestmark = pytest.mark.long
BOARD = "/boards/demo-summeval"
PHONE = {"width": 390, "height": 844}
WIDTHS = {1440: 900, 1280: 800, 390: 844}
#: The pages that most readers come to, by the names of their pictures in docs/screenshots/pages.
MAIN = {
    "home": "/",
    "generators": BOARD,
    "metrics": f"{BOARD}/metrics",
    "generator": f"{BOARD}/generators/Pegasus-huge-news",
    "metric": f"{BOARD}/metrics/ROUGE-1",
    "compare": f"{BOARD}/compare?first=Pegasus-huge-news&second=T5",
    "instances": f"{BOARD}/instances",
    "instance": f"{BOARD}/instances/dm-test-8764fb95bfad8ee849274873a92fb8d6b400eee2",
    "chart": f"{BOARD}/charts/scatter",
    "organise": f"{BOARD}/organise",
}


@pytest.fixture(scope="module")
def open_demo(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenPage]:
    """Opens pages of a site on the demo board, scored and ranked."""
    home = tmp_path_factory.mktemp("demo")
    write_board(build_board(), home / "boards" / "demo")
    site = open_site(home)
    while (job := next_job(site, "before")) is not None:
        run_job(site, job)
    with (
        serving(site) as served,
        watched_pages(chromium, served.address, viewport={"width": 1280, "height": 900}) as make,
    ):
        yield make
    site.close()


def test_the_first_page_says_what_the_board_says_before_the_table(open_demo: OpenPage, picture: Picture) -> None:
    page = open_demo("/")
    picture(page, "boards")
    page.get_by_role("link", name="SummEval: summaries of news").click()
    says = page.locator(".says li")
    expect(says).to_have_count(5)
    for finding in says.all():
        expect(finding).to_be_in_viewport()
    expect(page.locator("#board thead th").first).to_be_in_viewport()
    picture(page, "board")
    dark = open_demo(BOARD, color_scheme="dark")
    dark.evaluate("document.querySelector('.finding').scrollIntoView({behavior: 'instant'})")
    picture(dark, "board-dark")
    dark.evaluate("document.querySelector('#charts').scrollIntoView({behavior: 'instant'})")
    picture(dark, "board-charts")


def test_nothing_is_wider_than_a_phone(open_demo: OpenPage, picture: Picture) -> None:
    phone = open_demo(BOARD, viewport=PHONE, is_mobile=True)
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    picture(phone, "board-phone")


@pytest.mark.parametrize("name", MAIN)
def test_the_main_pages_fit_three_widths_in_both_themes(open_demo: OpenPage, picture: Picture, name: str) -> None:
    page = open_demo(MAIN[name])
    for width, height in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": height})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            for figure in page.locator("figure[data-chart]").all():
                if page.evaluate(
                    "(one) => one.getBoundingClientRect().top < innerHeight - 100", figure.element_handle()
                ):
                    expect(figure).to_have_attribute("data-drawn", scheme)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            picture(page, f"pages/{name}-{width}-{scheme}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_keeps_people_out(open_demo: OpenPage, scheme: str) -> None:
    found = Axe().run(open_demo(BOARD, color_scheme=scheme)).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
