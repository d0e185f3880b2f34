"""Quality against cost, from stated and measured numbers; what nobody stated stays missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from small_boards import small_board

import billboards as bb
from billboards.board import Board
from billboards.errors import InvalidInput, NotEnoughData


def priced_board(prices: dict[str, float]) -> Board:
    board = replace(small_board(), metrics=("chrF", "length"))
    rows = tuple(
        replace(row, generator=None if row.generator is None else replace(row.generator, price=prices.get(row.name)))
        for row in board.rows
    )
    return replace(board, rows=rows)


def test_the_front_is_who_nobody_beats_and_a_missing_price_is_not_zero() -> None:
    board = small_board()
    names = [row.name for row in board.rows][:2]
    result = bb.efficiency(priced_board({names[0]: 2.0, names[1]: 1.0})).value
    known = {entry.name: entry.costs for entry in result.entries}
    assert known[names[0]] == {"price": 2.0}
    assert all(not costs for name, costs in known.items() if name not in names)
    assert names[1] in [entry.name for entry in result.front]
    assert all(entry.name in names for entry in result.front)


def test_without_two_costs_it_says_where_to_state_them() -> None:
    with pytest.raises(NotEnoughData, match=r"board.toml"):
        bb.efficiency(small_board())


def test_metrics_that_ran_here_have_a_measured_latency(tmp_path: Path) -> None:
    home = bb.save(priced_board({}), tmp_path / "board")
    bb.score(home)
    result = bb.efficiency(home, side="metrics").value
    assert {entry.name for entry in result.entries if "latency" in entry.measured} == {"chrF", "length"}
    assert (result.by, result.cost) == ("correlation with people", "latency")
    with pytest.raises(InvalidInput, match="leave out --by"):
        bb.efficiency(home, side="metrics", by="chrF")


def test_a_folder_keeps_what_was_stated_and_refuses_a_negative_price(tmp_path: Path) -> None:
    name = small_board().rows[0].name
    home = tmp_path / "board"
    bb.save(priced_board({name: 0.25}), home)
    reopened = bb.open(home).row(name).generator
    assert reopened is not None
    assert reopened.price == 0.25
    settings = (home / "board.toml").read_text()
    (home / "board.toml").write_text(settings.replace("price = 0.25", "price = -1"))
    with pytest.raises(InvalidInput, match="a number of 0 or more"):
        bb.open(home)


def test_the_chart_names_the_front_in_its_title() -> None:
    names = [row.name for row in small_board().rows][:2]
    chart = bb.efficiency(priced_board({names[0]: 1.0, names[1]: 2.0})).chart()
    title = " ".join(chart.to_dict()["title"]["text"])
    assert title.startswith("Nothing beats ")
    assert title.endswith("and price")
