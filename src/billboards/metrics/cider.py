"""CIDEr and CIDEr-D (Vedantam et al. 2015): how like the references' n-grams an output's are, rare ones weighing more.

Every text is four vectors, of its 1- to 4-grams, weighted by how rare an n-gram is among the references of the corpus;
a score is the mean cosine with the references over the four, times 10. CIDEr-D clips repeated n-grams and punishes a
difference in length; it is what the COCO evaluation prints under the name CIDEr, and equals pycocoevalcap's numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from billboards.metrics.base import Batch, Floats, Metric, MetricCard
from billboards.metrics.kernels.items import Items, items_of
from billboards.metrics.kernels.pairs import Pairs, pairs_of
from billboards.metrics.kernels.texts import Words, number_words
from billboards.metrics.languages import Language
from billboards.metrics.words import (
    Tokenizer,
    caption_words,
    split,
    tokenizer,
    tokenizer_for,
    uncut,
    unicode_characters,
    unicode_words,
)

Ints = NDArray[np.int64]

TOKENIZERS: dict[str, Tokenizer] = {
    "captions": caption_words,
    "split": split,
    "unicode": unicode_words,
    "characters": unicode_characters,
}
ORDERS = (1, 2, 3, 4)
#: CIDEr-D's tolerance for a difference in length, in words.
SIGMA = 6.0
#: Pairs that are compared at a time; bounds the memory for large corpora.
_AT_ONCE = 1 << 15


@dataclass(frozen=True)
class Vectors:
    """For n-grams of one order: which a text has, sorted by text and n-gram; `keys` is text · n-grams + n-gram."""

    keys: Ints
    counts: Ints
    bounds: Ints
    distinct: int
    #: For each n-gram the number of the one without its last word; all 0 for single words.
    shorter: Ints

    @property
    def grams(self) -> Ints:
        return self.keys % self.distinct

    def entries(self, texts: NDArray[np.int32]) -> tuple[Ints, Ints]:
        """The entries of these texts one after the other, and for each the position in `texts` it belongs to."""
        starts, sizes = self.bounds[texts], self.bounds[texts + 1] - self.bounds[texts]
        owners = np.repeat(np.arange(len(texts)), sizes)
        first = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
        return first + np.arange(len(owners)), owners


def vectors(words: Words, orders: Sequence[int] = ORDERS) -> Iterator[Vectors]:
    """The n-grams of every text, order by order; an n-gram is numbered by the one before it and its last word.

    words: the texts.
    orders: the orders, from 1 on without a gap.
    """
    text_of = np.repeat(np.arange(len(words)), np.diff(words.offsets))
    last = words.offsets[text_of + 1]
    at, ids, distinct = np.arange(len(words.ids)), words.ids.astype(np.int64), max(words.distinct, 1)
    shorter = np.zeros(distinct, np.int64)
    for n in orders:
        if n > 1:
            inside = at + n <= last[at]
            longer = ids[inside] * max(words.distinct, 1) + words.ids[at[inside] + n - 1]
            at = at[inside]
            gram_keys, ids = np.unique(longer, return_inverse=True)
            distinct, shorter = max(len(gram_keys), 1), gram_keys // max(words.distinct, 1)
        keys, counts = np.unique(text_of[at] * distinct + ids, return_counts=True)
        bounds = np.searchsorted(keys, np.arange(len(words) + 1) * distinct)
        yield Vectors(keys, counts, bounds, distinct, shorter)


@dataclass(frozen=True)
class ConsensusMetric(Metric):
    """What CIDEr and CIDEr-D share."""

    tokenizer: str = "captions"

    multiple_references: ClassVar[Literal["own", "best"]] = "own"
    needs_corpus: ClassVar[bool] = True
    clipped: ClassVar[bool]

    def __post_init__(self) -> None:
        tokenizer("CIDEr", self.tokenizer, TOKENIZERS)

    def language_options(self, language: Language) -> dict[str, object]:
        return tokenizer_for(language)

    def language_doubt(self, language: Language) -> str | None:
        return uncut(language, self.tokenizer) or super().language_doubt(language)

    def versions(self) -> dict[str, str]:
        return {"revision": "1"}

    def score_batch(self, batch: Batch) -> Floats:
        items = items_of(batch)
        pairs = pairs_of(items)
        cut = tokenizer("CIDEr", self.tokenizer, TOKENIZERS)
        words = number_words([cut(text) for text in items.texts])
        likeness = np.zeros(len(pairs))
        for grams in vectors(words):
            likeness += self._cosines(grams, _rarity(grams, items), pairs)
        if self.clipped:
            # The number of pairs of words stands for the length, as in the authors' code.
            lengths = np.maximum(np.diff(words.offsets) - 1, 0)
            apart = (lengths[pairs.outputs] - lengths[pairs.references]).astype(np.float64)
            likeness *= np.exp(-(apart**2) / (2 * SIGMA**2))
        return pairs.mean(10.0 * likeness / len(ORDERS))[items.places]

    def _cosines(self, grams: Vectors, rarity: Floats, pairs: Pairs) -> Floats:
        weights = grams.counts * rarity[grams.grams]
        norms = np.sqrt(np.bincount(grams.keys // grams.distinct, weights**2, len(grams.bounds) - 1))
        scores = np.empty(len(pairs))
        for start in range(0, len(pairs), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            scores[part] = self._products(grams, weights, pairs.outputs[part], pairs.references[part])
        both = norms[pairs.outputs] * norms[pairs.references]
        cosines: Floats = scores / np.where(both > 0, both, 1.0)
        return cosines

    def _products(
        self, grams: Vectors, weights: Floats, outputs: NDArray[np.int32], references: NDArray[np.int32]
    ) -> Floats:
        """Inner products of output and reference, pair by pair."""
        entries, pair = grams.entries(outputs)
        wanted = references[pair].astype(np.int64) * grams.distinct + grams.grams[entries]
        place = np.minimum(np.searchsorted(grams.keys, wanted), max(len(grams.keys) - 1, 0))
        is_gram = grams.keys[place] == wanted if len(grams.keys) else np.zeros(0, bool)
        ours, theirs = weights[entries[is_gram]], weights[place[is_gram]]
        products = (np.minimum(ours, theirs) if self.clipped else ours) * theirs
        summed: Floats = np.bincount(pair[is_gram], products, len(outputs)).astype(np.float64)
        return summed


def _rarity(grams: Vectors, items: Items) -> Floats:
    """log of the number of instances over the number of those whose references have the n-gram (at least 1).

    Instances count as often as they stand in the batch, whether or not their outputs are equal.
    """
    times = np.bincount(items.places, minlength=len(items))
    owners = np.repeat(np.arange(len(items)), np.diff(items.bounds))
    entries, position = grams.entries(items.references)
    seen = np.unique(owners[position] * grams.distinct + grams.grams[entries])
    instances = np.bincount(seen % grams.distinct, times[seen // grams.distinct], grams.distinct)
    rarity: Floats = np.log(max(float(len(items.places)), 1.0)) - np.log(np.maximum(instances, 1.0))
    return rarity


def _card(name: str, summary: str, failures: str, *, licence: str) -> MetricCard:
    return MetricCard(
        name=name,
        summary=summary,
        range=(0.0, 10.0),
        training_data="none; n-grams are weighed by the references of the board",
        licence=licence,
        paper="Vedantam, Zitnick and Parikh 2015, CIDEr: Consensus-based Image Description Evaluation, CVPR",
        failures=f"{failures} Scores depend on the other instances through the weights, so those of different boards "
        "don't compare, and a board of one instance scores 0. Made for five and more references; with one it is noisy. "
        "The tokenizer drops punctuation and case, much as the Stanford tokenizer of the COCO evaluation does; for "
        "numbers equal to the last digit give texts cut by that tokenizer and set tokenizer=split.",
    )


@dataclass(frozen=True)
class CIDEr(ConsensusMetric):
    """The paper's definition: cosines, without the guards against gaming."""

    clipped: ClassVar[bool] = False
    card: ClassVar[MetricCard] = _card(
        "CIDEr",
        "Mean cosine of the tf-idf vectors of 1- to 4-grams with those of the references, times 10",
        "Not what COCO's evaluation prints as CIDEr: that is CIDEr-D. Rewards repeating confident words and sentences "
        "of any length.",
        licence="Apache-2.0 (own code)",
    )


@dataclass(frozen=True)
class CIDErD(ConsensusMetric):
    """CIDEr with clipped counts and a penalty for another length: what COCO's evaluation prints as CIDEr."""

    clipped: ClassVar[bool] = True
    card: ClassVar[MetricCard] = _card(
        "CIDEr-D",
        "CIDEr with repeated n-grams clipped and differences in length punished; COCO's evaluation calls it CIDEr",
        "Rare n-grams of a single reference dominate; order beyond four words goes unseen.",
        licence="Apache-2.0 (own code; the numbers are pycocoevalcap's)",
    )


METRICS = {"CIDEr": CIDEr, "CIDEr-D": CIDErD}
