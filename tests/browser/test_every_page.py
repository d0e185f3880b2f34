"""Every page at three widths, in light and dark: nothing that keeps people out, nothing wider than the window.

Pages are asked as the owner, who has all of them. What only a site with a suite, with mail or without a server has is
looked at the same way in `test_suite_pages.py`, `test_coming_in.py` and `test_published.py`. Both widths and both
schemes are looked at by default, each once; every width in every scheme where BILLBOARDS_LOOKS asks for all.
"""

from __future__ import annotations

import os
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from browser_pages import OpenPage
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.long
BOARD = "/boards/bulletins"
PAGES = [
    "/",
    "/submissions",
    "/nowhere",
    BOARD,
    f"{BOARD}?domain=weather&show=ranks&pin=chrF",
    "/help",
    f"{BOARD}/metrics",
    f"{BOARD}/metrics/chrF",
    f"{BOARD}/metrics/BLEU?firm=yes",
    f"{BOARD}/generators/Cleo",
    f"{BOARD}/instances",
    f"{BOARD}/instances/weather-01",
    f"{BOARD}/compare",
    f"{BOARD}/compare?first=Crier&second=Almanac",
    f"{BOARD}/compare?first=chrF&second=BLEU",
    f"{BOARD}/ensembles",
    f"{BOARD}/rankings",
    f"{BOARD}/rankings/1",
    f"{BOARD}/submissions",
    f"{BOARD}/submit",
    f"{BOARD}/submit/generator",
    f"{BOARD}/submit/metric",
    f"{BOARD}/downloads",
    f"{BOARD}/card",
    f"{BOARD}/compare?of=Crier&of=Almanac&of=Cleo",
    f"{BOARD}/compare?first=Crier&second=Almanac&instance=weather-01",
    f"{BOARD}/analyses",
    f"{BOARD}/analyses/efficiency",
    f"{BOARD}/analyses/overrating",
    f"{BOARD}/charts/scatter",
    f"{BOARD}/charts/correlations",
    f"{BOARD}/campaigns",
    f"{BOARD}/campaigns/new",
    f"{BOARD}/message",
    f"{BOARD}/organise",
    f"{BOARD}/organise/about",
    f"{BOARD}/organise/settings",
    f"{BOARD}/organise/audit",
    f"/embed{BOARD}",
    f"/embed{BOARD}?side=metrics&rows=3",
    "/advice",
    "/suites",
    "/templates",
    "/organise",
    "/organise/new",
    "/organise/new/table",
    "/organise/audit",
    "/people",
    "/account",
    "/login",
    "/sign-up",
]
#: The style sheet's last change of layout is at 1,024 pixels, so that axe finds the same at 1,280 and 1,440.
WIDTHS = (1440, 1280, 390)
Look = tuple[int, Literal["light", "dark"]]
LOOKS: tuple[Look, ...] = ((1280, "light"), (390, "dark"))
if os.environ.get("BILLBOARDS_LOOKS") == "all":
    LOOKS = (*LOOKS, (1280, "dark"), (390, "light"))


def looked_at(open_page: OpenPage, path: str, **kind: object) -> Page:
    """A page; one that is not there complains on the console, as it should, so it is asked for by its address alone."""
    if path != "/nowhere":
        return open_page(path, **kind)
    page = open_page("/", **kind)
    page.set_content(page.request.get(path).text())
    return page


@pytest.mark.parametrize("path", PAGES)
def test_nothing_keeps_people_out_in_light_or_dark(open_page: OpenPage, path: str) -> None:
    page = looked_at(open_page, path)
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        assert (width, scheme, complaints(page)) == (width, scheme, [])


def complaints(page: Page) -> list[tuple[str, list[str]]]:
    """What axe finds serious, and where."""
    found = Axe().run(page).response["violations"]
    serious = (one for one in found if one["impact"] in ("serious", "critical"))
    return [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in serious]


@pytest.mark.parametrize("path", PAGES)
def test_no_page_is_wider_than_its_window(open_page: OpenPage, path: str) -> None:
    page = looked_at(open_page, path, has_touch=True)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        clipped = page.evaluate(
            """() => [...document.querySelectorAll('main *')].filter((one) => !one.closest('.scroll, .tabs, .unseen'))
            .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
            .map((one) => one.outerHTML.slice(0, 120))"""
        )
        assert (width, clipped) == (width, [])


def test_the_board_is_dark_in_the_dark(open_page: OpenPage) -> None:
    dark = open_page(BOARD, color_scheme="dark")
    assert dark.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 21, 24)"


def test_a_reader_may_choose_the_colours_and_they_stay(open_page: OpenPage) -> None:
    page = open_page("/", color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    button = page.locator("#theme")
    for theme, colour in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(18, 21, 24)")):
        button.click()
        expect(button).to_have_attribute("data-theme", theme)
        assert page.evaluate(ground) == colour
    page.goto(BOARD)
    expect(button).to_have_attribute("data-theme", "dark")
    assert page.evaluate(ground) == "rgb(18, 21, 24)"
    sources = page.locator("source[data-dark]").evaluate_all("all => all.map((one) => one.media)")
    assert set(sources) == {"all"}
    button.click()
    assert page.evaluate(ground) == "rgb(255, 255, 255)", "as the system has it"
