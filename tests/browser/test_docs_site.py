"""The documentation as a site: it builds without a warning, and is searched from disk in a browser."""

from __future__ import annotations

import subprocess
import sys
from importlib import util
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

pytest.importorskip("mkdocs", reason="the documentation's builder is not installed: pip install 'billboards[docs]'")
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.long
def test_every_page_is_in_the_menu_and_every_link_leads_somewhere(built: Path) -> None:
    """mkdocs fails for a page outside the menu, a dead link and a dead anchor; files outside docs/ are copied."""
    pages = {page.relative_to(ROOT / "docs").with_suffix(".html") for page in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages if not (built / page).is_file()} == set()
    assert (built / "project" / "CHANGELOG.html").is_file()
    assert (built / "files" / "deploy" / "nginx.conf.txt").is_file()


@pytest.mark.long
def test_the_site_is_searched_from_disk(built: Path, chromium: Browser) -> None:
    page = chromium.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((built / "index.html").as_uri())
    field = page.locator("[data-md-component=search-query]")
    field.click()
    field.press_sequentially("overrating")
    expect(page.locator(".md-search-result__meta")).to_contain_text("matching documents")
    page.locator(".md-search-result__link", has_text="Overrating").first.click()
    expect(page.locator("article")).to_contain_text("verrating")
    page.close()
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def test_the_glossary_has_the_sites_own_sentences() -> None:
    spec = util.spec_from_file_location("docs_site", ROOT / "tools" / "docs_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    assert written == module.glossary(), "run: python tools/docs_site.py"
