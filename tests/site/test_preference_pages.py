"""A board whose people compared outputs on the site: metrics compared on pairs, each pair with both of its texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from compared_boards import LONGER, compared_board
from page_sites import PageSite, page_site


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageSite]:
    home = tmp_path_factory.mktemp("compared")
    found = page_site(home, board=replace(compared_board(home), name="ferry", metrics=("BLEU", "length")))
    found.work()
    yield found
    found.site.close()


def test_two_metrics_are_compared_on_pairs(ferry: PageSite) -> None:
    page = ferry.get("/boards/ferry/compare?first=BLEU&second=length").text
    assert "Kendall of BLEU" in page
    assert "preferred to" in page
    assert LONGER in page.replace("<ins>", "").replace("</ins>", ""), "the output that people did not prefer"


def test_two_generators_are_compared_by_the_comparisons_they_won(ferry: PageSite) -> None:
    page = ferry.get("/boards/ferry/compare?first=A&second=B").text
    assert "83.333" in page
    assert "the share of comparisons between the two that each won" in page


def test_the_board_says_under_which_conditions_metrics_keep_their_place(ferry: PageSite) -> None:
    assert ferry.get("/boards/ferry/metrics/BLEU").status_code == 200
    assert ferry.get("/boards/ferry").status_code == 200
