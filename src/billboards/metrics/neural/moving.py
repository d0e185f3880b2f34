"""Texts as heaps of weighted words, and how far one heap lies from another (MoverScore, §3.1).

A word is a token's embedding with a weight from a table; n neighbours can be joined into one. Punctuation, and all but
the first piece of a word, may be left out. What lies between two heaps is the least cost of moving one onto the other.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.metrics.base import Floats
from billboards.metrics.kernels.transport import Transport
from billboards.metrics.neural.tokens import Tokenizer
from billboards.metrics.neural.windows import TokenWindow

#: One weight per token of the vocabulary.
Table = NDArray[np.float32]
#: Words or n-grams × width, and their weights.
Grams = tuple[Floats, Floats]


def left_out_tokens(tokenizer: Tokenizer) -> NDArray[np.bool_]:
    """For each token of the vocabulary, whether it is punctuation or the rest of a word that was cut into pieces."""
    pieces = tokenizer.inner.convert_ids_to_tokens(list(range(tokenizer.vocabulary)))
    return np.array([piece.startswith("##") or piece.lstrip("▁Ġ") in set(string.punctuation) for piece in pieces])


@dataclass(frozen=True)
class Heaps:
    """The texts of a window as heaps of words: text k's embeddings lie in `values` from `starts[k]` on."""

    window: TokenWindow
    values: NDArray[np.float32]
    starts: NDArray[np.int64]
    #: For each token of the vocabulary, whether it is left out.
    left_out: NDArray[np.bool_]
    #: The tokens that every text gets.
    around: Sequence[int]

    def words(self, text: int, table: Table) -> Grams:
        """A text's words with their weights in a table, those without weight among them."""
        ids, start = self.window.tokens.of(text), int(self.starts[text])
        weights, kept = table[ids].astype(np.float64), ~self.left_out[ids]
        if not weights[kept].any():
            weights, kept = self._alike(text, ids)
        return self.values[start : start + len(ids)][kept].astype(np.float64), weights[kept]

    def _alike(self, text: int, ids: NDArray[np.int32]) -> tuple[Floats, NDArray[np.bool_]]:
        """Where nothing that is kept has a weight, all of a text's own words count alike, or else its other tokens."""
        own = ~np.isin(ids, self.around) & ~self.window.tokens.empty[text]
        words = own & ~self.left_out[ids]
        return np.ones(len(ids)), words if words.any() else own


def join_grams(values: Floats, weights: Floats, n: int) -> Grams:
    """Every n neighbours as their weighted mean, of length 1, with the sum of their weights; fewer than n are one.

    What has no weight is nobody's cargo and is dropped, but only now: a neighbour without weight is a neighbour.
    """
    size = min(n, len(weights))
    if not size:
        return values, weights
    runs = np.lib.stride_tricks.sliding_window_view(np.arange(len(weights)), size)
    runs = runs[weights[runs].sum(1) > 0]
    sums = weights[runs].sum(1)
    means = (weights[runs][..., None] * values[runs]).sum(1) / sums[:, None]
    return unit(means), sums


def unit(values: Floats) -> Floats:
    """Vectors of length 1."""
    scaled: Floats = values / np.linalg.norm(values, axis=1, keepdims=True).clip(1e-12)
    return scaled


def moving(written: Grams, wanted: Grams, *, squared: bool = False) -> Transport:
    """The problem of moving one heap onto another; an empty one is at a right angle to everything."""
    (values, supply), (others, demand) = written, wanted
    if not (len(supply) and len(demand)):
        return Transport(distances(np.zeros((1, 1)), squared=squared), np.ones(1), np.ones(1))
    return Transport(distances(values @ others.T, squared=squared), supply, demand)


def distances(cosines: Floats, *, squared: bool) -> Floats:
    """Euclidean distances between unit vectors, or their squares."""
    squares: Floats = np.clip(2 - 2 * cosines, 0.0, 4.0)
    return squares if squared else np.sqrt(squares)
