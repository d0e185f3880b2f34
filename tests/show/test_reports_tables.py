"""Neutral tables: values as words and as records."""

from __future__ import annotations

from dataclasses import replace

import pytest
from examples_of_results import RANKING

from billboards.analyses.rank import generator_table, metric_table
from billboards.show.table import Table, TableColumn, mean_digits, records, shown


@pytest.mark.parametrize(
    ("values", "digits"), [([78.85], 2), ([0.452, -0.1], 4), ([123.4], 1), ([31000.0], 0), ([None], 4), ([0.00012], 4)]
)
def test_decimals_follow_the_largest_value(values: list[float | None], digits: int) -> None:
    assert mean_digits(values) == digits


def test_records_hold_plain_values_of_every_column_and_both_ends_of_an_interval() -> None:
    first, *_, last = records(metric_table(RANKING))
    assert first["interval_low"] == 0.5
    assert first["interval_high"] == 0.6
    assert first["references"] == "Human-A;Human-B"
    assert first["name"] == "COMET"
    assert first["signature"] == "imported:11"
    assert last["correlation"] is None
    assert last["reason"] == "no scores"


def test_many_that_share_a_reason_share_a_line() -> None:
    people = tuple(replace(RANKING.generators[4], name=f"Human-{letter}") for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    table = generator_table(replace(RANKING, generators=people))
    (note,) = (note for note in table.notes if note.startswith("No rank for"))
    assert note.startswith("No rank for Human-A, Human-B, Human-C, ")
    assert note.endswith("Human-T and 6 more: is a reference")


def test_a_change_has_a_plus_where_it_is_above_zero_as_it_is_shown() -> None:
    columns = (TableColumn("change", "change", digits=2, kind="change"),)
    values = (0.01, 0.004, -0.004, 0.0, -0.01, float("inf"), None)
    table = Table("changes", columns, tuple({"change": value} for value in values))
    assert [row[0] for row in shown(table)] == ["+0.01", "0.00", "0.00", "0.00", "-0.01", "–", "–"]
