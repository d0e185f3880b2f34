"""NIST (Doddington 2002): n-grams in common with the references, rare ones weighing more.

An n-gram's information is log2 of how often the references have it without its last word over how often they have it.
What the output shares with its references is summed order by order, per n-gram of the output, and the sum over the
orders is multiplied by a factor for outputs that are too short. Information comes from all references of the corpus,
so an output's score depends on the references of the others.

`mteval` is the definition of the evaluation program of NIST (mteval-v13a): an n-gram counts as often as the reference
has it that has it most often, and the length is compared with the mean of the references' lengths. `nltk` is that of
nltk's `corpus_nist`, which Hugging Face's `nist_mt` reports: for each order it takes one reference, the one that shares
the most information, and adds that one's length. With one reference for each output the two are equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.metrics.base import Batch, Floats, MetricCard
from billboards.metrics.bleu import left_uncut, tokenize_for, tokenizer, words_of
from billboards.metrics.cider import Vectors, vectors
from billboards.metrics.kernels.items import Items
from billboards.metrics.kernels.texts import Words
from billboards.metrics.languages import Language
from billboards.metrics.sacre import check_choice
from billboards.metrics.summed import Rows, SummedMetric

DEFINITIONS = ("mteval", "nltk")
#: The factor is one half where the output has two thirds of the reference's words.
BETA = log(0.5) / log(1.5) ** 2


@dataclass(frozen=True)
class NIST(SummedMetric):
    """Information of the n-grams that an output shares with its references, up to `n` words, per n-gram.

    `tokenize` is a tokenizer of BLEU's. `definition` is mteval or nltk, which differ with several references.
    `lowercase` is off, as with mteval's option -c; without that option mteval ignores the case.
    """

    tokenize: str = "13a"
    lowercase: bool = False
    n: int = 5
    definition: str = "mteval"

    multiple_references: ClassVar[Literal["own", "best"]] = "own"
    needs_corpus: ClassVar[bool] = True
    card: ClassVar[MetricCard] = MetricCard(
        name="NIST",
        summary="Sum over 1- to 5-grams of the information that the output's n-grams share with the references, per "
        "n-gram, times a factor for short outputs",
        range=(0.0, None),
        training_data="none; n-grams are weighed by the references of the board",
        licence="Apache-2.0 (own code, from the definitions; tokenizers other than 13a of sacreBLEU, Apache-2.0)",
        paper="Doddington 2002, Automatic Evaluation of Machine Translation Quality Using N-gram Co-Occurrence "
        "Statistics, HLT; definition of the program mteval-v13a",
        failures="Single words make up most of the score, so that order goes nearly unseen. Gives no credit for "
        "synonyms and can't see negation. Scores have no upper bound and grow with the size of the test set, through "
        "the information: numbers of different test sets don't compare. With a single short instance it says nothing.",
    )

    def language_options(self, language: Language) -> dict[str, object]:
        return tokenize_for(language)

    def language_doubt(self, language: Language) -> str | None:
        return left_uncut(language, self.tokenize) or super().language_doubt(language)

    def versions(self) -> dict[str, str]:
        return {"revision": "1"}

    def statistics(self, items: Items) -> Rows:
        """Shared information and n-grams of the output, order by order; the reference's words, and the output's."""
        self._check()
        words = words_of([text.lower() for text in items.texts] if self.lowercase else items.texts, self.tokenize)
        shared, counts = np.zeros((2, len(items), self.n))
        lengths, size = _References.of(items, words), np.diff(words.offsets)[items.outputs]
        wanted, given = np.zeros(len(items)), size * (1.0 if self.definition == "mteval" else float(self.n))
        before = np.array([lengths.words])
        for order, grams in enumerate(vectors(words, range(1, self.n + 1))):
            times = lengths.occurrences(grams)
            with np.errstate(divide="ignore", invalid="ignore"):
                information = np.where(times > 0, np.log2(before[grams.shorter] / times), 0.0)
            before, counts[:, order] = times, np.maximum(size - order, 0)
            if self.definition == "mteval":
                shared[:, order] = _shared_with_all(grams, items, information)
            else:
                shared[:, order], taken = _shared_with_best(grams, items, information, lengths.each)
                wanted += taken
        if self.definition == "mteval":
            wanted = np.add.reduceat(lengths.each, items.bounds[:-1]) / np.diff(items.bounds) if len(items) else wanted
        return np.column_stack((shared, counts, wanted, given))

    def scores_of(self, rows: Rows) -> Floats:
        shared, counts, wanted, given = np.split(rows, (self.n, 2 * self.n, 2 * self.n + 1), axis=1)
        score: Floats = (shared / np.maximum(counts, 1.0)).sum(axis=1) * _brevity(given[:, 0], wanted[:, 0])
        return score

    def _slices(self, batch: Batch) -> Iterator[tuple[Rows, NDArray[np.intp]]]:
        """All outputs at once, because information comes from all references."""
        items = self.items(batch)
        yield self.statistics(items), items.places

    def _check(self) -> None:
        tokenizer(self.tokenize)
        check_choice("definition of NIST", self.definition, DEFINITIONS)
        if not 1 <= self.n <= 100:
            raise InvalidInput(f"{self.name}: n must lie between 1 and 100")


@dataclass(frozen=True)
class _References:
    """The references of all outputs: which text each is, its words, and how often it stands in the batch."""

    texts: NDArray[np.int32]
    each: Floats
    times: Floats

    @staticmethod
    def of(items: Items, words: Words) -> _References:
        times = np.bincount(items.places, minlength=len(items)).astype(np.float64)
        each = np.diff(words.offsets)[items.references].astype(np.float64)
        return _References(items.references, each, np.repeat(times, np.diff(items.bounds)))

    @property
    def words(self) -> float:
        return float(self.each @ self.times)

    def occurrences(self, grams: Vectors) -> Floats:
        """How often all references together have each n-gram."""
        entries, place = grams.entries(self.texts)
        times: Floats = np.bincount(
            grams.grams[entries], grams.counts[entries] * self.times[place], grams.distinct
        ).astype(np.float64)
        return times


def _shared_with_all(grams: Vectors, items: Items, information: Floats) -> Floats:
    """The information of n-grams that an item shares with its references, clipped by the most that one of them has."""
    entries, place = grams.entries(items.references)
    owners = np.repeat(np.arange(len(items)), np.diff(items.bounds))[place]
    keys = owners * grams.distinct + grams.grams[entries]
    order = np.lexsort((-grams.counts[entries], keys))
    keys, first = np.unique(keys[order], return_index=True)
    most = grams.counts[entries][order][first]
    return _overlap(grams, items.outputs, np.arange(len(items)), (keys, most), information)


def _shared_with_best(grams: Vectors, items: Items, information: Floats, lengths: Floats) -> tuple[Floats, Floats]:
    """The most information that an item shares with one reference, and that one's words; of equal ones the longest."""
    pairs = np.arange(len(items.references))
    entries, place = grams.entries(items.references)
    table = (place * grams.distinct + grams.grams[entries], grams.counts[entries])
    owners = np.repeat(np.arange(len(items)), np.diff(items.bounds))
    shared = _overlap(grams, items.outputs[owners], pairs, table, information)
    # Sums that are equal may differ in their last digit.
    best = np.lexsort((lengths, shared.round(9), owners))[items.bounds[1:] - 1]
    return shared[best], lengths[best]


def _overlap(
    grams: Vectors,
    outputs: NDArray[np.int32],
    owners: NDArray[np.intp],
    table: tuple[NDArray[np.int64], NDArray[np.int64]],
    information: Floats,
) -> Floats:
    """For each output the information of its n-grams, each as often as both it and the owner's sorted table have it."""
    keys, counts = table
    entries, place = grams.entries(outputs)
    wanted = owners[place] * grams.distinct + grams.grams[entries]
    where = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    is_shared = keys[where] == wanted if len(keys) else np.zeros(0, bool)
    both = np.minimum(grams.counts[entries][is_shared], counts[where[is_shared]])
    weights = both * information[grams.grams[entries][is_shared]]
    summed: Floats = np.bincount(place[is_shared], weights, len(outputs)).astype(np.float64)
    return summed


def _brevity(given: Floats, wanted: Floats) -> Floats:
    """The factor for short outputs: 1 where there are as many words as wanted, 0 where there are none."""
    ratio = np.divide(given, wanted, out=np.ones_like(given), where=wanted > 0)
    inside = (ratio > 0) & (ratio < 1)
    factor: Floats = np.where(inside, np.exp(BETA * np.log(np.where(inside, ratio, 1.0)) ** 2), ratio >= 1)
    return factor


METRICS = {"NIST": NIST}
