"""Tokenizers: tables of texts and their words."""

from __future__ import annotations

import pytest

from billboards.metrics.words import caption_words, stem, unicode_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # As Stanford's tokenizer cuts them, with the marks that COCO's evaluation drops dropped.
        ("A girl's dog isn't black-and-white .", "a girl 's dog is n't black-and-white"),
        ("They CANNOT swim; they’ll sink...", "they can not swim they 'll sink"),
        ("jersey ( # 7 ) & 20 % of $1,000.50", "jersey -lrb- # 7 -rrb- & 20 % of $ 1,000.50"),
        ("John F. Kennedy, Jr. in Washington D.C.", "john f. kennedy jr. in washington d.c."),
        ("the slip n 'slide at 8:10", "the slip n slide at 8:10"),
        ("\"Stop!\" -- he said: 'no'?", "stop he said no"),
        ("", ""),
        ("...", ""),
    ],
)
def test_captions_are_cut_as_for_coco(text: str, words: str) -> None:
    assert caption_words(text) == words.split()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Naïve Ça-va? 3.5", ["naïve", "ça", "va", "3", "5"]),
        ("猫坐on垫", ["猫", "坐", "on", "垫"]),
        ("カタひら", ["カ", "タ", "ひ", "ら"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("שָׁלוֹם עולם!", ["שָׁלוֹם", "עולם"]),
        ("e\u0301te\u0301", ["e\u0301te\u0301"]),
        ("😀 \x00", []),
    ],
)
def test_words_of_any_script_are_found(text: str, words: list[str]) -> None:
    assert unicode_words(text) == words


def test_stems_are_porters() -> None:
    assert [stem(word) for word in ("running", "flies", "relational", "猫", "")] == ["run", "fli", "relat", "猫", ""]
