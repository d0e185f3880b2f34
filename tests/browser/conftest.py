"""A real site on the invented board with a worker, and a real Chromium to look at it with.

The browser is the system's own, found by name; where there is none, these tests skip and say so, which fails where all
parts are said to be installed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from browser_pages import OpenPage, watched_pages
from bulletins.build import build_board
from playwright.sync_api import Browser, Page, expect, sync_playwright
from served_sites import SCREENSHOTS, Served, serving

from billboards.board.writing import write_board
from billboards.site.accounts.access import local_viewer
from billboards.site.site import open_site
from billboards.site.submissions.sending import change_settings
from billboards.site.work.jobs import run_job
from billboards.site.work.worklist import next_job

ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
METRICS = ("BLEU", "chrF", "ROUGE-1", "ROUGE-L", "length")


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The invented board on a free port of this machine, scored and ranked."""
    home = tmp_path_factory.mktemp("site")
    write_board(replace(build_board(), metrics=METRICS), home / "boards" / "bulletins")
    site = open_site(home)
    change_settings(site, local_viewer(site), "bulletins", {"draws": 200})
    while (job := next_job(site, "before")) is not None:
        run_job(site, job)
    with serving(site) as found:
        yield found
    site.close()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's Chromium."""
    program = os.environ.get("BILLBOARDS_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("Chromium is not installed: apt-get install chromium, or name it in BILLBOARDS_CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS.split())
        # A machine that does much else draws late; what never comes is still found out.
        expect.set_options(timeout=30_000)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Browser, served: Served) -> Iterator[OpenPage]:
    """Opens pages of the site."""
    usual = {"viewport": {"width": 1280, "height": 900}, "accept_downloads": True}
    with watched_pages(chromium, served.address, **usual) as make:
        yield make


def wait_for_pictures(page: Page) -> None:
    """Wait until the charts in sight are drawn; the content policy forbids the usual way, which evaluates a string."""
    drawn = """() => [...document.images].every((one) => (one.complete && one.naturalWidth > 0)
        || one.getBoundingClientRect().top > innerHeight || one.getBoundingClientRect().bottom < 0)"""
    for _ in range(600):
        if page.evaluate(drawn):
            return
        page.wait_for_timeout(100)
    raise AssertionError("a chart in sight was never drawn")


@pytest.fixture
def picture() -> Callable[[Page, str], None]:
    """Keeps a picture of a page for the documentation, where BILLBOARDS_SCREENSHOTS asks for it."""

    def keep(page: Page, name: str) -> None:
        if os.environ.get("BILLBOARDS_SCREENSHOTS"):
            wait_for_pictures(page)
            path = SCREENSHOTS / f"{name}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=str(path))
            _shrink(path)

    return keep


def _shrink(path: Path) -> None:
    """A picture in 256 colours, which a page has enough of: it takes half the room."""
    from PIL import Image

    with Image.open(path) as picture:
        reduced = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    reduced.save(path, optimize=True)
