"""Numbers as texts write them: what Python would take and people don't mean is none."""

from __future__ import annotations

import json
import math

import pytest

from billboards.errors import InvalidInput
from billboards.reading import decimal_number, json_value, shown, signed_number, whole_number

#: What int() or float() takes, or isdigit() lets through, and nobody writes who means a number.
ODD = (
    "²",
    "١٢",
    "１",
    "1_000",
    " 1",
    "1 ",
    "1\n",
    "",
    "+",
    "-",
    "0x10",
    "1e",
    "nan",
    "inf",
    "-inf",
    "Infinity",
    "१",
    "½",
)


@pytest.mark.parametrize("text", ODD)
def test_what_people_do_not_write_is_no_number(text: str) -> None:
    assert whole_number(text) is None
    assert signed_number(text) is None
    assert decimal_number(text) is None


def test_numbers_are_read_as_they_are_written() -> None:
    assert [whole_number(text) for text in ("0", "007", "9" * 18, "9" * 19, "-1", "1.0")] == [0, 7, 10**18 - 1] + [
        None
    ] * 3
    assert [signed_number(text) for text in ("-3", "+3", "3", "--3")] == [-3, 3, 3, None]
    assert [decimal_number(text) for text in ("1", "-.5", "2.", "1e3", "+1.5E-2")] == [1.0, -0.5, 2.0, 1000.0, 0.015]
    assert decimal_number("1e999") is None
    assert decimal_number("1" * 401) is None


def test_json_that_can_not_be_followed_is_a_mistake_of_its_text() -> None:
    assert json_value(b'{"a": [1]}') == {"a": [1]}
    for text in ("[" * 100_000, "9" * 5000, "{", b"\xff"):
        with pytest.raises(ValueError):  # noqa: PT011 - its readers say the rest
            json_value(text)


def test_a_value_is_shown_in_a_line_however_deep_it_is() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert len(shown(deep)) < 200
    assert len(shown("x" * 10**6)) < 200
    assert shown(math.pi) == "3.141592653589793"
    assert json.loads(shown(5)) == 5


def test_an_annotator_model_has_a_count_in_digits() -> None:
    from billboards.stats.annotators import AnnotatorModel

    assert AnnotatorModel.named("class/learned/3").components == 3
    for components in ("²", "١", "1_0"):
        with pytest.raises(InvalidInput, match="no annotator model"):
            AnnotatorModel.named(f"class/learned/{components}")
