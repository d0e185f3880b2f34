"""Texts for kernels: words as Python and as sacreBLEU's tokenizers find them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from billboards.metrics.base import Batch
from billboards.metrics.kernels.items import items_of
from billboards.metrics.kernels.texts import Splitting, number_words, pack, remove_spaces, split_words

pieces = st.sampled_from(
    [*".,-!?:;'\"()[]&<>/ \n\t09aé猫", "-\n", "&amp;", "&quot;", "&lt;", "<skipped>", "\u3000", "1,5"]
)
written = st.lists(pieces, max_size=25).map("".join) | st.text(max_size=20)


def assert_split(texts: list[str], how: Splitting, expected: list[list[str]]) -> None:
    """The words are the expected ones: as many, and equal numbers for equal words and no others."""
    found, wanted = split_words(pack(texts), how), number_words(expected)
    assert found.offsets.tolist() == wanted.offsets.tolist()
    assert found.distinct == wanted.distinct
    pairs = set(zip(found.ids.tolist(), wanted.ids.tolist(), strict=True))
    assert len(pairs) == found.distinct


def test_every_character_that_python_takes_for_white_space_splits_and_no_other() -> None:
    every = [chr(code) for code in range(0x110000)]
    found = split_words(pack(every))
    assert np.diff(found.offsets).tolist() == [len(text.split()) for text in every]
    assert len(remove_spaces(pack(every)).codes) == found.distinct == 0x110000 - 29


@settings(max_examples=100, deadline=None)
@given(st.lists(written, max_size=4))
def test_words_are_those_of_python_and_of_sacrebleus_tokenizers(texts: list[str]) -> None:
    tokenize, part = BLEU().tokenizer, CHRF(word_order=2)._remove_punctuation
    assert_split(texts, "spaces", [text.split() for text in texts])
    assert_split(texts, "13a", [tokenize(text.rstrip()).split() for text in texts])
    assert_split(texts, "parted", [part(text) for text in texts])
    left = remove_spaces(pack(texts))
    assert left.codes.tolist() == [ord(letter) for text in texts for letter in "".join(text.split())]


def test_13a_treats_every_character_as_sacrebleu_does() -> None:
    tokenize = BLEU().tokenizer
    texts = [f"1{letter}.{letter}a" for letter in map(chr, range(0x3100))]
    assert_split(texts, "13a", [tokenize(text.rstrip()).split() for text in texts])


def test_many_distinct_words_get_numbers_of_their_own() -> None:
    texts = [" ".join(f"{k % 7919}x{k % 13}" for k in range(start, start + 500)) for start in range(0, 20_000, 500)]
    assert_split(texts, "spaces", [text.split() for text in texts])


@pytest.mark.parametrize("text", ["\ud800", "a\udfff", "\ud83d\ude00"])
def test_half_surrogates_stay_what_they_are(text: str) -> None:
    assert pack([text, "b"]).codes.tolist() == [*map(ord, text), ord("b")]


def test_each_text_and_each_item_is_there_once() -> None:
    items = items_of(Batch(["x", "y", "x", "x"], [["r", "y"], ["r"], ["r", "y"], ["y", "r"]]))
    assert items.texts == ["x", "r", "y"]
    assert items.outputs.tolist() == [0, 2, 0]
    assert items.references.tolist() == [1, 2, 1, 2, 1]
    assert items.bounds.tolist() == [0, 2, 3, 5]
    assert items.places.tolist() == [0, 1, 0, 2]
