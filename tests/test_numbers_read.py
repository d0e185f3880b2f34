"""Numbers in files: what is read, what is missing, and what is said of the rest."""

from __future__ import annotations

import math

import pytest

from billboards.reading import Problems, read_number


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("four", "score 'four' is not a finite number"),
        ("1_000", "score '1_000' is not a finite number"),
        ("inf", "score 'inf' is not a finite number"),
        ("4,5", "score '4,5' is not a finite number; write a point where it has a comma"),
    ],
)
def test_what_is_no_number_is_said_with_a_hint_for_commas_alone(text: str, message: str) -> None:
    problems = Problems()
    read_number(text, "score", "t.csv", 3, problems)
    assert [(problem.path, problem.line, problem.message) for problem in problems] == [("t.csv", 3, message)]


@pytest.mark.parametrize("text", ["", " ", "None", "none", "nan"])
def test_what_is_missing_is_no_mistake_and_no_zero(text: str) -> None:
    problems = Problems()
    assert math.isnan(read_number(text, "score", "t.csv", 3, problems))
    assert not problems
