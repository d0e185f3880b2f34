"""Problems in the order in which one reads."""

from __future__ import annotations

import itertools

import pytest

from billboards.errors import Problem

IN_ORDER = [
    Problem("a.jsonl", None, "is empty"),
    Problem("a.jsonl", None, "is old", "warning"),
    Problem("a.jsonl", 2, "holds a tab"),
    Problem("a.jsonl", 2, "holds a tab", "warning"),
    Problem("a.jsonl", 10, "holds a tab"),
    Problem("b.jsonl", None, "is empty"),
]


def test_problems_sort_by_file_then_line_and_those_of_a_whole_file_come_first() -> None:
    shuffled = [IN_ORDER[k] for k in (3, 0, 5, 1, 4, 2)]
    assert sorted(shuffled) == IN_ORDER


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(IN_ORDER, 2)))
def test_any_two_problems_have_an_order(one: Problem, other: Problem) -> None:
    assert one < other
    assert other > one
    assert one <= other
    assert not one >= other


def test_a_problem_has_no_order_with_anything_else() -> None:
    with pytest.raises(TypeError):
        assert IN_ORDER[0] < ("a.jsonl", 1)
