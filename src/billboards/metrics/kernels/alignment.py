"""METEOR's alignment of words, by compiled code on all cores: how many words match, and in how many chunks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.metrics.kernels.calling import I32, I64, Kernel
from billboards.metrics.kernels.pairs import Pairs
from billboards.metrics.kernels.texts import Words
from billboards.metrics.kernels.threads import in_parts

Counts = NDArray[np.int64]

_align = Kernel("_alignment", "align_words", (I32, I64, I32, I64, I32, I32, I32, I64, I64, int, int, int))


@dataclass(frozen=True)
class Vocabulary:
    """For each number of a word: the number of its stem, and those of its synonyms, in one array cut by offsets."""

    stems: NDArray[np.int32]
    synonym_offsets: NDArray[np.int64]
    synonyms: NDArray[np.int32]


def align(words: Words, vocabulary: Vocabulary, pairs: Pairs, *, twice: bool) -> tuple[Counts, Counts]:
    """The number of matches and of chunks of every pair; `twice` offers words matched by stem to the last stage too."""
    matches, chunks = np.empty(len(pairs), np.int64), np.empty(len(pairs), np.int64)
    words_known = (vocabulary.stems, vocabulary.synonym_offsets, vocabulary.synonyms)
    given = (words.ids, words.offsets, *words_known, pairs.outputs, pairs.references, matches, chunks, int(twice))
    in_parts(lambda start, stop: _align(*given, start, stop), len(pairs))
    return matches, chunks
