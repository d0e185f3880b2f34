"""Boards quoted elsewhere: frames, previews, badges and citations, each with what a visitor may see."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from page_sites import ODD, PageSite, page_site

BOARD = "/boards/harbour"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> PageSite:
    home = tmp_path_factory.mktemp("site")
    made = page_site(home)
    made.site.settings = made.site.settings.model_copy(update={"base_url": "https://boards.example.org"})
    made.work()
    return made


def test_only_the_embeddable_table_may_be_framed(site: PageSite) -> None:
    policy = site.get(f"/embed{BOARD}").headers["content-security-policy"]
    assert "frame-ancestors *" in policy
    assert "script-src 'none'" in policy
    assert "form-action 'none'" in policy
    assert "unsafe" not in policy
    for path in ("/", BOARD, f"{BOARD}/metrics", "/login", "/embed/boards/nowhere"):
        assert "frame-ancestors 'none'" in site.get(path).headers["content-security-policy"], path


def test_a_frame_shows_so_many_rows_of_a_side_in_a_theme(site: PageSite) -> None:
    page = site.get(f"/embed{BOARD}?rows=2&theme=dark").text
    assert page.count("<tr>") == 3
    assert '<html lang="en" data-theme="dark">' in page
    assert "The first 2 of 4." in page
    assert "<script" not in page
    assert "<form" not in page
    metrics = site.get(f"/embed{BOARD}?side=metrics").text
    assert metrics.count("<tr>") == 4
    assert "ROUGE-1" in metrics


@pytest.mark.parametrize("query", ["rows=0", "rows=101", "rows=many", "side=people", "theme=red"])
def test_a_frame_that_asks_for_what_is_not_there_is_told_so(site: PageSite, query: str) -> None:
    assert site.get(f"/embed{BOARD}?{query}").status_code == 422


def test_an_owner_sees_in_a_frame_what_everybody_does(tmp_path: Path) -> None:
    site = page_site(tmp_path)
    site.settle(hidden_judgments=True)
    site.work()
    shown = site.get(f"/embed{BOARD}", "owner").text
    assert shown == site.get(f"/embed{BOARD}").text
    assert '<th scope="col">people</th>' not in shown
    assert '<th scope="col" class="left">generator</th>' in shown


def test_every_page_says_what_a_link_to_it_shows(site: PageSite) -> None:
    for path in ("/", "/help", BOARD, f"{BOARD}/generators/Cleo", f"{BOARD}/metrics/chrF"):
        page = site.get(path).text
        for name in ("og:title", "og:description", "og:url"):
            assert re.search(rf'<meta property="{name}" content="[^"]+">', page), (path, name)
    page = site.get(BOARD).text
    assert 'content="https://boards.example.org/boards/harbour/preview.png"' in page
    assert 'name="twitter:card" content="summary_large_image"' in page


def test_the_preview_is_a_picture_of_1200_by_630(site: PageSite) -> None:
    answer = site.get(f"{BOARD}/preview.png")
    assert answer.headers["content-type"] == "image/png"
    width, height = (int.from_bytes(answer.content[k : k + 4], "big") for k in (16, 20))
    assert (width, height) == (1200, 630)


def test_metrics_and_rankings_have_badges(site: PageSite) -> None:
    assert re.search(r"#\d=? of 3, 0\.\d{3}", site.get(f"{BOARD}/badges/metrics/chrF.svg").text)
    assert "ranking 1" in site.get(f"{BOARD}/badges/rankings/1.svg").text
    assert site.get(f"{BOARD}/badges/metrics/none.svg").status_code == 404
    assert site.get(f"{BOARD}/badges/rankings/none.svg").status_code == 404


@pytest.mark.parametrize("path", [f"{BOARD}/generators/Cleo", f"{BOARD}/metrics/chrF", BOARD, f"{BOARD}/rankings/1"])
def test_generators_metrics_and_rankings_say_how_to_cite_them(site: PageSite, path: str) -> None:
    page = site.get(path).text
    assert "@misc{billboards-harbour-" in page
    assert r"Harbour \&amp; pier" in page
    assert r"howpublished = {\url{https://boards.example.org/boards/harbour/" in page


def test_a_badge_of_an_odd_name_can_not_break_out_of_its_picture(site: PageSite) -> None:
    assert ODD not in site.get(f"{BOARD}/generators/{'%3Cb%3E%22A%26B%22%3C%2Fb%3E'}").text
