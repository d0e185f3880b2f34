"""A suite of the site's own boards in a browser: choose a view, read the tables, send to all boards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from browser_pages import OpenPage, watched_pages
from playwright.sync_api import Browser, expect
from served_sites import Served, serving
from suite_sites import OVERLAP, send_metric, suite_site

from billboards.site.site import open_site

PAGES = ["/suites", "/suites/ports", "/suites/ports?block=one&digits=3", "/suites/ports?ranking=1"]
PAGES += ["/suites/ports/submit/metric", "/suites/ports/submit/generator"]


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The suite, ranked twice, on a site that only this machine can reach."""
    home = tmp_path_factory.mktemp("ports")
    small = suite_site(home)
    small.work()
    assert send_metric(small).status_code == 201
    small.work()
    site = replace(open_site(small.site.data), login_required=False)
    with serving(site) as found:
        yield found
    site.close()


@pytest.fixture
def open_suite_page(chromium: Browser, ports: Served) -> Iterator[OpenPage]:
    with watched_pages(chromium, ports.address, viewport={"width": 1280, "height": 900}) as make:
        yield make


@pytest.mark.long
@pytest.mark.parametrize("path", PAGES)
def test_a_suite_keeps_nobody_out_in_light_or_dark(open_suite_page: OpenPage, path: str) -> None:
    page = open_suite_page(path)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page).response["violations"]
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        assert [(scheme, one["id"], [node["html"][:200] for node in one["nodes"]]) for one in serious] == []


@pytest.mark.parametrize("path", PAGES)
def test_a_suite_fits_a_phone(open_suite_page: OpenPage, path: str) -> None:
    page = open_suite_page(path, viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_view_is_chosen_and_stays_in_the_address(open_suite_page: OpenPage) -> None:
    page = open_suite_page("/suites/ports")
    page.get_by_label("Task").select_option("letters")
    page.get_by_label("Digits").fill("3")
    page.get_by_role("button", name="Show").click()
    expect(
        page.get_by_text("share the first place over Two").or_(page.get_by_text("with people over Two"))
    ).to_be_visible()
    assert "task=letters" in page.url
    expect(page.get_by_label("Task")).to_have_value("letters")
    page.get_by_role("link", name="Reset").click()
    expect(page.get_by_label("Task")).to_have_value("")


@pytest.mark.long
def test_a_metric_is_sent_to_all_boards_by_form(open_suite_page: OpenPage, tmp_path: Path) -> None:
    page = open_suite_page("/suites/ports")
    page.get_by_role("link", name="Submit a metric to all boards").click()
    page.get_by_label("Name").fill("again")
    file = tmp_path / "again.py"
    file.write_text(OVERLAP)
    page.get_by_label("File (.py, .zip, .tar.gz)").set_input_files(str(file))
    page.get_by_label("Training data").fill("none")
    page.get_by_role("button", name="Submit to all boards").click()
    expect(page.get_by_text("again was taken by 3 of 3 boards")).to_be_visible()
