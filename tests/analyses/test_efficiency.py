"""Quality against cost, from stated and measured numbers; what nobody stated stays missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from small_boards import small_board

import billboards as bb
from billboards.analyses.efficiency import seconds_per_output
from billboards.board import Board, Generator, row_of
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


def test_under_a_metric_that_is_better_when_lower_the_front_is_low_and_cheap(tmp_path: Path) -> None:
    board = replace(priced_board({"g0": 8.0, "g1": 2.0, "g2": 4.0, "g3": 1.0}), metrics=("TER",))
    made = row_of(
        Generator("made", kind="optimised", optimised_by="TER", price=0.5), board.instances, board.rows[0].texts
    )
    home = bb.save(replace(board, rows=(*board.rows, made)), tmp_path / "board")
    bb.score(home)
    result = bb.efficiency(home, by="TER")
    rows = [(e.name, e.quality and round(e.quality, 1), e.n, e.on_front) for e in result.value.entries]
    assert rows == [
        ("g0", 0.0, 12, True),
        ("g1", 29.8, 12, True),
        ("g2", 40.5, 12, False),
        ("g3", 61.9, 12, True),
        ("A", None, 0, False),
        ("B", None, 0, False),
    ], "what was made to score high takes no part"
    assert result.words == (
        "Of 4 generators with a stated or measured price, 3 are on the Pareto front: g3, g1 and g0.",
        "g0 costs 8.0 times as much as g3 and is 61.905 better (TER).",
        "No price is known of A and B.",
    )
    people = bb.efficiency(home).value
    assert (people.by, people.cost, people.entries[0].name) == ("people", "price", "g0")


def test_the_measured_latency_of_a_metric_is_the_seconds_of_a_cell_over_its_outputs() -> None:
    class Clocked:
        def seconds_per_cell(self, signatures: Iterable[str]) -> dict[str, float]:
            return {"chrF|1": 6.0, "length|1": 0.0} if set(signatures) == {"chrF|1", "length|1", "new|1"} else {}

    own = {"chrF": "chrF|1", "length": "length|1", "new": "new|1"}
    assert seconds_per_output(Clocked(), own, 12) == {"chrF": 0.5}, "no time is not a time of zero"
    assert seconds_per_output(Clocked(), own, 0) == {}
    assert seconds_per_output(object(), own, 12) == {}, "a store that keeps no times"


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
