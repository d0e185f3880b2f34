"""Declared options on the command line: what is offered, what is given on, and what is refused in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge, Le

from billboards.cli._arguments import LateParser, add_options, given_options
from billboards.cli.main import OneLineParser
from billboards.errors import InvalidInput, MissingPart
from billboards.options import Named, options_of


def study(
    view: object,
    *,
    draws: Annotated[int, Ge(0), "bootstrap draws, 95% of them"] = 1000,
    lam: Annotated[float | None, Named(name="lambda", metavar="X"), Le(1), "the penalty"] = None,
    kind: Annotated[Literal["all", "human"], "whose"] = "all",
    column: Annotated[tuple[str, ...], "a column"] = (),
    folder: Annotated[Path | None, "a folder"] = None,
    both: Annotated[bool, "both of them"] = False,
    sorted_rows: Annotated[bool, "keep the file's order"] = True,
    must: Annotated[str, "what is needed"],
) -> None:
    """A question."""


OPTIONS = options_of(study)


def parsed(*arguments: str) -> dict[str, Any]:
    parser = OneLineParser("study")
    add_options(parser, OPTIONS)
    return given_options(parser.parse_args(arguments), OPTIONS)


def test_only_what_was_given_is_given_on() -> None:
    assert parsed("--must", "x") == {"must": "x"}
    given = parsed("--must", "x", "--draws", "5", "--lambda", "0.5", "--kind", "human", "--folder", "a/b", "--both")
    assert given == {"must": "x", "draws": 5, "lam": 0.5, "kind": "human", "folder": Path("a/b"), "both": True}


def test_what_may_be_repeated_is_a_list_and_a_flag_that_is_on_can_be_put_out() -> None:
    given = parsed("--must", "x", "--column", "a", "--column", "b", "--no-sorted-rows")
    assert given == {"must": "x", "column": ["a", "b"], "sorted_rows": False}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--must", "x", "--draws", "-1"], "argument --draws: must be at least 0; found -1"),
        (["--must", "x", "--draws", "ten"], "argument --draws: must be a whole number; found 'ten'"),
        (["--must", "x", "--lambda", "2"], "argument --lambda: must be at most 1; found 2.0"),
        (["--must", "x", "--kind", "cats"], "argument --kind: must be one of all, human; found 'cats'"),
        ([], "the following arguments are required: --must"),
    ],
)
def test_a_value_that_is_not_allowed_ends_in_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        parsed(*arguments)
    assert capsys.readouterr().err == f"study: {message}; `study --help` explains\n"


def test_help_shows_names_choices_and_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        parsed("--help")
    printed = " ".join(capsys.readouterr().out.split())
    assert "--draws DRAWS bootstrap draws, 95% of them" in printed
    assert "--lambda X the penalty" in printed
    assert "--kind {all,human} whose" in printed
    assert "--no-sorted-rows don't " in printed


@pytest.mark.parametrize(("error", "code"), [(InvalidInput("it is wrong"), 2), (MissingPart("it is absent"), 1)])
def test_a_late_parser_is_completed_once_and_says_what_is_broken(
    error: Exception, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    completed: list[object] = []
    parser = LateParser("late", complete=completed.append)
    assert completed == []
    parser.parse_args([])
    parser.parse_args([])
    assert completed == [parser]

    def fail(_: object) -> None:
        raise error

    with pytest.raises(SystemExit, match=str(code)):
        LateParser("late", complete=fail).parse_args([])
    assert capsys.readouterr().err == f"billboards: {error}\n"
