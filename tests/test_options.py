"""A signature becomes options: types, defaults, sentences, limits, choices and other names."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from annotated_types import Ge, Le

from billboards.errors import InvalidInput, UnknownName
from billboards.options import Named, check_options, options_of


def study(
    view: str,
    metric: Annotated[str, "the metric"] = "BLEU",
    *,
    draws: Annotated[int, Ge(0), "bootstrap draws"] = 1000,
    lam: Annotated[float | None, Named(name="lambda", metavar="X"), Ge(0), Le(1), "the penalty"] = None,
    kind: Annotated[Literal["all", "human"], "whose"] = "all",
    columns: Annotated[tuple[str, ...], "columns"] = (),
    folder: Annotated[Path | None, "a folder"] = None,
    both: Annotated[bool, "both of them"] = False,
    must: Annotated[str, "what is needed"],
    **rest: Any,
) -> None:
    """A question."""


OPTIONS = {option.name: option for option in options_of(study)}


def test_a_signature_declares_its_options_in_order() -> None:
    assert list(OPTIONS) == ["metric", "draws", "lam", "kind", "columns", "folder", "both", "must"]
    assert OPTIONS["draws"].help == "bootstrap draws"
    assert OPTIONS["draws"].default == 1000
    assert OPTIONS["metric"].positional
    assert not OPTIONS["draws"].positional
    assert OPTIONS["must"].required
    assert not OPTIONS["kind"].required


def test_types_say_whether_there_are_several_values_and_which() -> None:
    assert OPTIONS["columns"].many
    assert OPTIONS["columns"].type is str
    assert OPTIONS["folder"].type is Path
    assert OPTIONS["kind"].choices == ("all", "human")
    assert OPTIONS["both"].is_flag


def test_an_option_may_have_another_name_outside() -> None:
    assert OPTIONS["lam"].flag == "--lambda"
    assert OPTIONS["lam"].metavar == "X"
    assert options_of(lambda view, *, language_pair=None: None)[0].flag == "--language-pair"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("draws", "12", 12),
        ("lam", "0.5", 0.5),
        ("kind", "human", "human"),
        ("folder", "a/b", Path("a/b")),
        ("both", "yes", True),
        ("both", "off", False),
        ("metric", "chrF", "chrF"),
        ("columns", "a", "a"),
    ],
)
def test_texts_become_values(name: str, text: str, value: object) -> None:
    assert OPTIONS[name].parse(text) == value


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("draws", "1.5", "draws must be a whole number; found '1.5'"),
        ("draws", "-1", "draws must be at least 0; found -1"),
        ("lam", "x", "lambda must be a number; found 'x'"),
        ("lam", "2", "lambda must be at most 1; found 2.0"),
        ("kind", "cats", "kind must be one of all, human; found 'cats'"),
        ("both", "perhaps", "both must be true or false; found 'perhaps'"),
    ],
)
def test_texts_that_are_no_values_are_refused(name: str, text: str, message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        OPTIONS[name].parse(text)
    assert str(refused.value) == message


def test_values_of_python_are_checked_alike() -> None:
    options = options_of(study)
    given = {"must": "x", "columns": ["a", "b"], "folder": "data", "lam": 1, "kind": "human"}
    checked = check_options("study", options, given)
    assert checked == {"must": "x", "columns": ("a", "b"), "folder": Path("data"), "lam": 1, "kind": "human"}
    refused_values: list[tuple[dict[str, Any], str]] = [
        ({"must": "x", "lam": 3}, "lambda must be at most 1; found 3"),
        ({"must": "x", "kind": "cats"}, "kind must be one of all, human; found 'cats'"),
        ({"must": "x", "columns": "ab"}, "columns must be a list of values; found 'ab'"),
        ({}, "study needs must: what is needed"),
    ]
    for wrong, message in refused_values:
        with pytest.raises(InvalidInput) as refused:
            check_options("study", options, wrong)
        assert str(refused.value) == message
    with pytest.raises(UnknownName, match="no option of study named 'colums'; did you mean columns"):
        check_options("study", options, {"must": "x", "colums": []})


def test_a_number_in_python_is_no_text() -> None:
    (digits,) = options_of(counted)
    assert digits.check(3) == 3
    assert digits.check(np.int64(3)) == 3
    wrong: tuple[Any, ...] = ("two", [2], {})
    for value in wrong:
        with pytest.raises(InvalidInput, match="digits must be a whole number; found"):
            digits.check(value)


def counted(view: object, digits: Annotated[int, Ge(0), "decimals"] = 2) -> None:
    """Something with decimals."""
