"""Texts as kernels take them: code points of many texts in one array, words as numbers.

Texts are packed by one encoding of all of them together. Words are what `str.split` finds, and equal words get equal
numbers within one packing, by comparing their letters; numbers of different packings have nothing to do with another.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.metrics.kernels.calling import I32, I64, U32, Kernel

_CODEC = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"
_split_words = Kernel("_texts", "split_words", (U32, I64, int, I32, I64))
_remove_spaces = Kernel("_texts", "remove_spaces", (U32, I64, U32, I64))

#: How words are found: between white space; there, with marks at a word's end or beginning parted from it (chrF++); by
#: the tokenizer of mteval-v13a.
Splitting = Literal["spaces", "parted", "13a"]
_SPLITTINGS: dict[Splitting, int] = {"spaces": 0, "parted": 1, "13a": 2}


@dataclass(frozen=True)
class Texts:
    """Code points of texts laid end to end; text k is `codes[offsets[k]:offsets[k + 1]]`."""

    codes: NDArray[np.uint32]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True)
class Words:
    """Words of texts as numbers below `distinct`; those of text k are `ids[offsets[k]:offsets[k + 1]]`."""

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    distinct: int

    def __len__(self) -> int:
        return len(self.offsets) - 1


def pack(texts: Sequence[str]) -> Texts:
    """Texts as code points; half surrogates stay what they are."""
    codes = np.frombuffer("".join(texts).encode(_CODEC, "surrogatepass"), np.uint32)
    return Texts(codes, offsets_of([len(text) for text in texts]))


def offsets_of(lengths: Sequence[int]) -> NDArray[np.int64]:
    """Where parts of these lengths begin when laid end to end, and where the last one ends."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def split_words(texts: Texts, how: Splitting = "spaces") -> Words:
    """The words of texts, numbered."""
    ids = np.empty(len(texts.codes), np.int32)
    offsets = np.zeros(len(texts) + 1, np.int64)
    distinct = _split_words(texts.codes, texts.offsets, _SPLITTINGS[how], ids, offsets)
    return Words(ids[: offsets[-1]], offsets, distinct)


def remove_spaces(texts: Texts) -> Texts:
    """Texts without their white space."""
    left = np.empty(len(texts.codes), np.uint32)
    offsets = np.zeros(len(texts) + 1, np.int64)
    count = _remove_spaces(texts.codes, texts.offsets, left, offsets)
    return Texts(left[:count], offsets)


def number_words(tokenized: Sequence[Sequence[str]]) -> Words:
    """Words that were found elsewhere, numbered by their letters."""
    numbers: dict[str, int] = {}
    ids = [numbers.setdefault(word, len(numbers)) for words in tokenized for word in words]
    return Words(np.array(ids, np.int32), offsets_of([len(words) for words in tokenized]), len(numbers))
