"""How single values are put into words."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billboards.show.words import interval_text, linear_combination, listed, one_line, p_text, rank_texts, value_text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.5514, 3, "0.551"),
        (78.8528, 2, "78.85"),
        (-0.001, 2, "0.00"),
        (16000, None, "16,000"),
        (7.65, None, "7.65"),
        (None, 3, "–"),
        (math.nan, 3, "–"),
        (math.inf, None, "–"),
        (True, None, "yes"),
        (("Human-A", "Human-B"), None, "Human-A, Human-B"),
        ((), None, "none"),
        ("", None, "–"),
    ],
)
def test_a_value_reads_as_a_person_would_write_it(value: object, digits: int | None, text: str) -> None:
    assert value_text(value, digits) == text


@given(st.floats(), st.one_of(st.none(), st.integers(0, 6)))
def test_no_number_is_ever_shown_as_nan_or_as_minus_nothing(value: float, digits: int | None) -> None:
    text = value_text(value, digits)
    assert "nan" not in text
    assert "inf" not in text
    if digits is not None:
        assert not (text.startswith("-") and float(text) == 0)


@pytest.mark.parametrize(("p", "text"), [(0.00004, "<0.0001"), (0.0001, "0.0001"), (1.0, "1.0000"), (None, "–")])
def test_a_p_value_is_never_0(p: float | None, text: str) -> None:
    assert p_text(p) == text


def test_tied_ranks_are_marked_on_each_of_them_and_unranked_ones_have_a_dash() -> None:
    assert rank_texts([1, 2, 2, 4, None, None]) == ["1", "2=", "2=", "4", "–", "–"]


def test_an_interval_with_a_missing_end_is_missing() -> None:
    assert interval_text((0.5, 0.6), 2) == "0.50 to 0.60"
    assert interval_text((0.5, math.nan), 2) == "–"
    assert interval_text(None) == "–"


def test_an_ensemble_reads_as_in_the_paper_heaviest_first() -> None:
    weights = {"BLEURT": 1.2132, "COMET": 1.4823, "COMET-QE": 1.7178}
    assert linear_combination(weights) == "1.72·COMET-QE + 1.48·COMET + 1.21·BLEURT"
    assert linear_combination({"A": 1.0, "B": -0.25}) == "1.00·A - 0.25·B"


def test_a_name_cannot_move_the_cursor_break_the_line_or_turn_the_writing_direction() -> None:
    assert one_line("\x1b[31mred") == "\N{REPLACEMENT CHARACTER}[31mred"
    assert one_line("two\nlines\tand\r\n more") == "two lines and more"
    assert one_line("a\u202eb\ud800") == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}"


def test_letters_of_every_script_stay_as_they_are() -> None:
    assert one_line("翻译  فارسی\u200cزبان") == "翻译  فارسی\u200cزبان"


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["A"], "A"),
        (["A", "B"], "A and B"),
        (list("ABCD"), "A, B, C and D"),
        (list("ABCDE"), "A, B, C and 2 more"),
    ],
)
def test_names_are_listed_as_a_sentence_holds_them(names: list[str], text: str) -> None:
    assert listed(names) == text
