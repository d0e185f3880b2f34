"""What generators and metrics cost, on the pages of a board: as columns that can be chosen, and as an axis."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_sites import ODD, SLASHED, PageSite, page_board, page_site

from billboards.board import Board
from billboards.board.costs import amount_text

BOARD = "/boards/harbour"
STATED: dict[str, dict[str, Any]] = {ODD: {"latency": 0.25, "parameters": 7_000_000_000}, SLASHED: {"latency": 0.05}}


def costly_board() -> Board:
    board = page_board()
    rows = [
        replace(row, generator=replace(row.generator, **STATED.get(row.name, {})))
        for row in board.rows
        if row.generator is not None
    ]
    return replace(board, rows=tuple(rows))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> PageSite:
    site = page_site(tmp_path_factory.mktemp("costs"), board=costly_board())
    site.work()
    return site


def table(page: str) -> list[list[str]]:
    """The rows of the board's table as plain cells."""
    body = re.search(r'<table[^>]*id="board".*?<tbody>(.*?)</tbody>', page, re.S)
    assert body is not None
    rows = re.findall(r"<tr\b.*?</tr>", body[1], re.S)
    cells = [re.findall(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", row, re.S) for row in rows]
    return [[" ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split()) for text in row] for row in cells]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *(
            (0.25, "0.25"),
            (0.0, "0"),
            (1500.0, "1,500"),
            (7e9, "7B"),
            (1.25e6, "1.25M"),
            (15e12, "15T"),
            (123.4, "123"),
        ),
        *(
            (999.4, "999"),
            (999.6, "1,000"),
            (999_999.0, "999,999"),
            (1e6, "1M"),
            (999_600_000.0, "1,000M"),
            (1e9, "1B"),
        ),
        *((1e12, "1T"), (1.5e15, "1,500T")),
    ],
)
def test_a_cost_is_short_to_read(value: float, text: str) -> None:
    assert amount_text(value) == text


def test_stated_costs_are_columns_that_can_be_hidden_and_the_cheapest_stand_first(small: PageSite) -> None:
    page = small.get(f"{BOARD}?sort=latency+%28s%29").text
    assert "latency (s) ↓" in page
    assert "energy (Wh)" not in page, "nobody stated it"
    rows = table(page)
    assert [row[-2:] for row in rows] == [["0.05", "–"], ["0.25", "7B"], ["–", "–"], ["–", "–"]]
    assert SLASHED in rows[0][1]
    assert re.search(r'<input type="checkbox" name="hide" value="latency \(s\)"', page)
    hidden = small.get(f"{BOARD}?hide=latency+%28s%29").text
    assert "latency (s) ↓" not in hidden
    assert [row[-1] for row in table(hidden)].count("7B") == 1


def test_a_board_without_costs_has_no_such_columns_and_no_such_axis(tmp_path: Path) -> None:
    plain = page_site(tmp_path)
    plain.work()
    assert "latency" not in plain.get(BOARD).text
    assert "cost: latency" not in plain.get(f"{BOARD}/charts/scatter").text


def test_a_score_against_a_cost_has_a_point_for_each_generator_that_states_it(small: PageSite) -> None:
    points = small.get(f"{BOARD}/charts/scatter.data.json?x=cost:+latency&y=chrF").json()
    assert {point["generator"]: point["cost"] for point in points} == {ODD: 0.25, SLASHED: 0.05}
    scores = [json.loads(line) for line in small.get(f"{BOARD}/downloads/scores.jsonl").text.splitlines()]
    for point in points:
        own = [score["chrF"] for score in scores if score["generator"] == point["generator"]]
        assert point["quality"] == pytest.approx(float(np.mean(own)))
    turned = small.get(f"{BOARD}/charts/scatter.data.json?y=cost:+latency&x=chrF").json()
    assert turned == points, "a cost stands across"


def test_the_page_of_the_scatter_plot_offers_costs_and_says_what_a_point_is(small: PageSite) -> None:
    page = small.get(f"{BOARD}/charts/scatter?x=cost:+latency&y=people").text
    assert "<option selected>cost: latency</option>" in page
    assert "cost: parameters" not in page, "one generator alone states them"
    assert "each point is a generator" in page
    assert 'name="draw"' not in page
    refused = small.get(f"{BOARD}/charts/scatter?x=cost:+latency&y=cost:+latency")
    assert (refused.status_code, "Both axes are costs" in refused.text) == (422, True)
    assert small.get(f"{BOARD}/charts/scatter?x=cost:+latency&y=ensemble").status_code == 422
