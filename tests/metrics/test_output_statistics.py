"""Length, repetition-n and abstractness-n, counted by hand."""

from __future__ import annotations

import unicodedata

import pytest

from billboards.metrics.base import Batch, score_checked
from billboards.metrics.discovery import metric
from billboards.metrics.statistics import ngrams, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat sat.", ["The", "cat", "sat", "."]),
        ("don't (stop)!", ["don", "'", "t", "(", "stop", ")", "!"]),
        ("snake_case 3,5", ["snake_case", "3", ",", "5"]),
        ("Größe naïve", ["Größe", "naïve"]),
        ("猫坐在 iPhone 12 上。", ["猫", "坐", "在", "iPhone", "12", "上", "。"]),
        ("ねこはマット", ["ね", "こ", "は", "マ", "ッ", "ト"]),
        ("고양이가 앉았다", ["고양이가", "앉았다"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("🙂🙂", ["🙂", "🙂"]),
        (" \n\t\u3000", []),
    ],
)
def test_a_token_is_a_word_a_mark_or_a_character_of_chinese_or_japanese(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def test_an_accent_written_apart_is_the_same_word() -> None:
    assert tokens(unicodedata.normalize("NFD", "naïve Größe")) == ["naïve", "Größe"]


def test_n_grams_are_compared_without_case() -> None:
    assert ngrams("The cat THE", 2) == [("the", "cat"), ("cat", "the")]
    assert ngrams("STRASSE", 1) == ngrams("Straße", 1)


@pytest.mark.parametrize(
    ("name", "output", "expected"),
    [
        ("length", "The cat sat.", 4.0),
        ("length", "猫坐。", 3.0),
        ("length", "", 0.0),
        ("length", "  ", 0.0),
        # a b a b a: three of five words came before
        ("repetition-1", "a b a b a", 3 / 5),
        # ab ba ab ba: two of four
        ("repetition-2", "a b a b a", 2 / 4),
        # aba bab aba: one of three
        ("repetition-3", "a b a b a", 1 / 3),
        ("repetition-1", "The the", 1 / 2),
        ("repetition-1", "all words differ", 0.0),
        ("repetition-1", "", 0.0),
        ("repetition-3", "a b", 0.0),
        ("repetition-1", "猫猫狗", 1 / 3),
    ],
)
def test_length_and_repetition_are_those_counted_by_hand(name: str, output: str, expected: float) -> None:
    assert list(score_checked(metric(name), Batch([output]))[""]) == [expected]


@pytest.mark.parametrize(
    ("name", "output", "given", "expected"),
    [
        # dog and ran are new, of four words
        ("abstractness-1", "The dog ran fast", "the cat is fast", 2 / 4),
        # the dog, dog ran, ran fast: all three new
        ("abstractness-2", "The dog ran fast", "the cat is fast", 1.0),
        # a new word counts as often as it is said
        ("abstractness-1", "new new old", "old", 2 / 3),
        ("abstractness-2", "a b c", "x a b c", 0.0),
        ("abstractness-3", "a b c d", "a b c", 1 / 2),
        ("abstractness-1", "猫狗", "猫", 1 / 2),
        ("abstractness-1", "", "input", 0.0),
        ("abstractness-3", "a b", "input", 0.0),
        ("abstractness-1", "word", "", 1.0),
    ],
)
def test_abstractness_is_that_counted_by_hand(name: str, output: str, given: str, expected: float) -> None:
    assert list(score_checked(metric(name), Batch([output], inputs=[given]))[""]) == [expected]


@pytest.mark.parametrize("name", ["length", "repetition-1", "abstractness-2"])
def test_a_statistic_needs_no_reference_and_says_that_it_is_one(name: str) -> None:
    card = metric(name).card
    assert card.is_statistic
    assert not card.needs_references
    assert card.needs_input == name.startswith("abstractness")
    assert card.higher_is_better == (not name.startswith("repetition"))
