"""Charts that can be pointed at, zoomed, followed and saved, under the content policy; without scripts, the picture."""

from __future__ import annotations

import csv
import urllib.request
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from browser_pages import OpenPage
from playwright.sync_api import Browser, Locator, Page, expect
from served_sites import Served

BOARD = "/boards/bulletins"
SCATTER = f"{BOARD}/charts/scatter?x=people&y=chrF"


@pytest.fixture(scope="module", autouse=True)
def _drawn_before(served: Served) -> None:
    """The first chart of a process loads what draws it, which a machine that does much else takes long for."""
    for ending in ("svg", "json"):
        with urllib.request.urlopen(f"{served.address}{BOARD}/charts/people.{ending}", timeout=300) as answer:
            assert answer.status == 200


def drawn(page: Page, number: int = 0) -> Locator:
    """A chart after it came into view and to life."""
    figure = page.locator("figure[data-chart]").nth(number)
    figure.scroll_into_view_if_needed()
    expect(figure).to_have_attribute("data-drawn", "light")
    return figure


@pytest.mark.long
def test_libraries_are_fetched_when_a_chart_comes_into_view_and_not_before(open_page: OpenPage) -> None:
    page = open_page("/help")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size({"width": 1280, "height": 300})
    page.goto(BOARD)
    page.wait_for_load_state("networkidle")
    assert not [address for address in asked if "vega" in address]
    drawn(page)
    assert len([address for address in asked if "vega" in address]) == 3
    drawn(page, 1)
    assert len([address for address in asked if "vega" in address]) == 3


def test_pointing_at_a_bar_says_metric_correlation_and_interval_and_a_click_opens_it(open_page: OpenPage) -> None:
    page = open_page(f"{BOARD}/charts/correlations")
    figure = drawn(page)
    expect(figure.locator("picture")).to_be_hidden()
    bar = figure.locator(".mark-rect path").first
    assert bar.get_attribute("fill") not in (None, "", "transparent")
    bar.hover()
    tip = page.locator(".chart-tip")
    expect(tip).to_contain_text("correlation 0.")
    expect(tip).to_contain_text("95% interval")
    name = tip.locator("strong").inner_text()
    bar.click()
    expect(page.locator("h1")).to_have_text(name.rstrip(" †§*°"))


def test_a_scatter_plot_zooms_by_buttons_and_a_point_leads_to_its_instance(open_page: OpenPage) -> None:
    page = open_page(SCATTER)
    figure = drawn(page)
    ticks = figure.locator(".mark-text.role-axis-label").first.locator("text")
    before = sorted(ticks.all_text_contents())
    figure.get_by_role("button", name="Zoom in").click()
    expect(ticks.filter(has_text="100")).to_have_count(0)
    figure.get_by_role("button", name="Reset the zoom").click()
    expect(ticks.filter(has_text="100")).to_have_count(1)
    assert sorted(ticks.all_text_contents()) == before
    point = figure.locator(".mark-symbol path").nth(3)
    point.hover(force=True)
    expect(page.locator(".chart-tip")).to_contain_text("instance")
    point.click(force=True)
    page.wait_for_url("**/instances/**")


@pytest.mark.long
def test_axes_colour_and_density_are_chosen_in_a_form_and_said_in_words(open_page: OpenPage) -> None:
    page = open_page(SCATTER)
    page.get_by_label("Up").select_option("ROUGE-L")
    page.get_by_label("Across").select_option("BLEU")
    page.get_by_label("Draw").select_option("density")
    page.get_by_role("button", name="Draw").click()
    expect(page.locator("figcaption strong")).to_contain_text("ROUGE-L and BLEU go together")
    assert "counted in squares" in str(drawn(page).locator("img").get_attribute("alt"))
    page.get_by_label("Draw").select_option("points")
    page.get_by_label("Colour", exact=True).select_option("generator")
    page.get_by_role("button", name="Draw").click()
    expect(drawn(page).locator(".mark-group.role-legend")).to_have_count(1)


@pytest.mark.long
def test_a_chart_is_saved_as_picture_and_as_data(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page(f"{BOARD}/charts/correlations")
    starts = {"SVG": b"<svg", "PNG": b"\x89PNG", "CSV": b"name,", "JSON": b"[{"}
    for words, start in starts.items():
        with page.expect_download() as waiting:
            page.get_by_role("link", name=words, exact=True).click()
        path = tmp_path / words
        waiting.value.save_as(path)
        assert path.read_bytes().startswith(start), words
    rows = list(csv.DictReader((tmp_path / "CSV").read_text().splitlines()))
    assert {"chrF", "BLEU"} <= {row["metric"] for row in rows}
    shown = page.locator("main table tbody tr")
    expect(shown).to_have_count(len(rows))


def test_a_chart_follows_the_colours_that_a_reader_chooses(open_page: OpenPage) -> None:
    page = open_page(f"{BOARD}/charts/people")
    figure = drawn(page)
    page.locator("#theme").click()
    page.locator("#theme").click()
    expect(figure).to_have_attribute("data-drawn", "dark")


@pytest.mark.long
def test_without_scripts_the_picture_and_its_data_are_there(chromium: Browser, served: Served) -> None:
    context = chromium.new_context(base_url=served.address, java_script_enabled=False)
    page = context.new_page()
    page.goto(SCATTER)
    expect(page.locator("figure picture img")).to_be_visible()
    expect(page.locator("figure .plot")).to_have_count(0)
    expect(page.locator("main table tbody tr").first.get_by_role("link")).to_be_visible()
    context.close()


@pytest.mark.long
def test_a_page_with_a_living_chart_keeps_nobody_out_and_is_no_wider_than_a_phone(open_page: OpenPage) -> None:
    page = open_page(SCATTER, viewport={"width": 390, "height": 844}, is_mobile=True)
    drawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    found = Axe().run(page).response["violations"]
    assert [violation["id"] for violation in found if violation["impact"] in ("serious", "critical")] == []
