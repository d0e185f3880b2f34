"""What pairs of texts share, counted by compiled code on all cores: n-grams, and common subsequences.

A pair is an output and a reference, as numbers of texts that are cut into words once. Time for a
subsequence is m * n / 64 steps, and no table of m * n is ever made (see `_overlap.c` for the bound).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from billboards.metrics.kernels.calling import I32, I64, Kernel
from billboards.metrics.kernels.pairs import Pairs
from billboards.metrics.kernels.texts import Words
from billboards.metrics.kernels.threads import in_parts

Counts = NDArray[np.int64]

_WORDS, _PAIRS, _RANGE = (I32, I64), (int, I32, I32, I64), (int, int)
_shared_ngrams = Kernel("_overlap", "count_shared_ngrams", (*_WORDS, *_PAIRS, int, *_RANGE))
_subsequences = Kernel("_overlap", "measure_subsequences", (*_WORDS, *_PAIRS, *_RANGE))
_union_hits = Kernel("_overlap", "count_union_hits", (*_WORDS, I64, *_PAIRS, *_RANGE))


def shared_ngrams(words: Words, pairs: Pairs, n: int) -> Counts:
    """How many n-grams output and reference share, each counted as often as both have it."""
    shared = np.empty(len(pairs), np.int64)
    given = (words.ids, words.offsets, words.distinct, pairs.outputs, pairs.references, shared, n)
    in_parts(lambda start, stop: _shared_ngrams(*given, start, stop), len(pairs))
    return shared


def subsequence_lengths(words: Words, pairs: Pairs) -> Counts:
    """The length of the longest common subsequence of words."""
    shared = np.empty(len(pairs), np.int64)
    given = (words.ids, words.offsets, words.distinct, pairs.outputs, pairs.references, shared)
    in_parts(lambda start, stop: _subsequences(*given, start, stop), len(pairs))
    return shared


def union_hits(sentences: Words, sentence_offsets: Counts, pairs: Pairs) -> Counts:
    """Words of the reference's sentences in the union of common subsequences with the output's sentences.

    Text t is the sentences from `sentence_offsets[t]` to before `sentence_offsets[t + 1]`; a word counts at most as
    often as both texts have it.
    """
    lengths = np.empty(len(pairs), np.int64)
    texts = (sentences.ids, sentences.offsets, sentence_offsets, sentences.distinct)
    given = (*texts, pairs.outputs, pairs.references, lengths)
    in_parts(lambda start, stop: _union_hits(*given, start, stop), len(pairs))
    return lengths
