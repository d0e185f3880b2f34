"""The demo board's first page says what a board is for: who disagrees with people, and experts against the crowd."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pytest
from page_sites import PageSite, page_site

from billboards.demo import build_board

BOARD = "/boards/demo-summeval"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> PageSite:
    board = replace(build_board(), metrics=("ROUGE-1", "BLEU", "length"))
    opened = page_site(tmp_path_factory.mktemp("site"), board=board)
    opened.work()
    return opened


def words(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


@pytest.mark.long
def test_the_first_page_holds_metrics_and_the_crowd_against_experts(demo: PageSite) -> None:
    page = demo.get(BOARD).text
    says = words(page.partition('id="says"')[2].partition("</section>")[0])
    assert "ROUGE-1 agrees best with people: its Pearson correlation with the human judgments (expert) is 0.239" in says
    assert "An ensemble of 2 metrics" in says
    assert "less than ROUGE-1 alone" in says
    assert "BanditSum (place 2 by ROUGE-1, 9 by people)" in says
    assert (
        "The judgments crowd and expert correlate by 0.068 over 1,600 outputs and by 0.176 over 16 generators" in says
    )
    assert page.index('id="says"') < page.index('id="board"')
    assert f'href="{BOARD}/analyses/agreement"' in page
    assert "9: crowd2 … crowd10" in words(page)


@pytest.mark.long
def test_metrics_stand_before_single_dimensions(demo: PageSite) -> None:
    keys = re.findall(r'class="metric[^>]*data-key="([^"]+)"', demo.get(BOARD).text)
    qualities = [f"people:{name}" for name in ("coherence", "consistency", "fluency", "relevance")]
    assert keys == ["people", "ensemble", "ROUGE-1", "BLEU", "length", *qualities]


def test_a_part_of_the_board_and_hidden_judgments_have_no_second_source(demo: PageSite) -> None:
    assert "crowd against expert" not in words(demo.get(f"{BOARD}?domain=CNN").text)
    demo.settle(hidden_judgments=True)
    demo.work()
    assert "crowd and expert" not in words(demo.get(BOARD).text)
    assert "crowd against expert" in words(demo.get(BOARD, "owner").text)
