"""Errors about files say the first mistake in one line, and how many more there are."""

from __future__ import annotations

import pytest

from billboards.errors import InvalidSubmission, InvalidTemplate, Problem

FIRST, SECOND = Problem("a.toml", 3, "no name"), Problem("a.toml", 4, "no version")


@pytest.mark.parametrize(
    ("kind", "problems", "words"),
    [
        (InvalidTemplate, [FIRST], "a.toml: no name"),
        (InvalidTemplate, [FIRST, SECOND, SECOND], "a.toml: no name (and 2 more mistakes)"),
        (InvalidSubmission, [FIRST], "a.toml:3: no name"),
        (InvalidSubmission, [FIRST, SECOND], "a.toml:3: no name (and 1 more)"),
    ],
)
def test_the_first_mistake_is_said_and_the_others_are_counted(
    kind: type[InvalidTemplate | InvalidSubmission], problems: list[Problem], words: str
) -> None:
    error = kind(problems)
    assert str(error) == words
    assert error.problems == tuple(problems)
