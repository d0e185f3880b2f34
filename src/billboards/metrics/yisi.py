"""YiSi-0 (Lo 2019): n-grams of words matched by their letters, the cheap member of the family of YiSi.

Two words are as alike as their longest common run of letters says. Each n-gram of the output is matched with the most
similar one of the reference, and the other way round; rare words weigh more, by their rarity among the references.
The means are precision and recall, of which recall counts four times as much (`alpha` .8). Of several references each
of the two is the best. YiSi-1, with a model's embeddings in the place of letters, is in `neural.yisi_contextual`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import ClassVar, Literal

import numpy as np

from billboards.errors import InvalidInput
from billboards.metrics.base import Batch, Floats, Metric, MetricCard
from billboards.metrics.bleu import left_uncut, tokenize_for, tokenizer
from billboards.metrics.kernels.calling import F64, I32, I64, U32, Kernel
from billboards.metrics.kernels.items import Items, check_lengths, items_of
from billboards.metrics.kernels.texts import Words, number_words, pack
from billboards.metrics.kernels.threads import in_parts
from billboards.metrics.languages import Language

_parts = Kernel("_yisi", "yisi_parts", (U32, I64, F64, U32, I64, I32, I32, I64, int, int, int, F64))

#: The most that an output's letters times a reference's may be: every two letters are compared.
LETTERS = 500_000_000


@dataclass(frozen=True)
class YiSi0(Metric):
    """The weighted F measure of n-grams matched by letters; `n` is the longest, `alpha` the share of recall.

    `tokenize` is a tokenizer of BLEU's; `none` takes texts that are tokenised, as the authors' program does.
    """

    tokenize: str = "13a"
    n: int = 3
    alpha: float = 0.8

    multiple_references: ClassVar[Literal["own", "best"]] = "own"
    needs_corpus: ClassVar[bool] = True
    card: ClassVar[MetricCard] = MetricCard(
        name="YiSi-0",
        summary="Weighted F measure of 3-grams of words, each matched with the one whose words share the longest runs "
        "of letters; rare words weigh more",
        range=(0.0, 1.0),
        parts=("YiSi-0", "precision", "recall"),
        training_data="none; words are weighed by the references of the board",
        licence="Apache-2.0 (own code, from the definition; tokenizers other than 13a of sacreBLEU, Apache-2.0)",
        paper="Lo 2019, YiSi - a Unified Semantic MT Quality Evaluation and Estimation Metric for Languages with "
        "Different Levels of Available Resources, WMT",
        failures="Words that merely share letters count as alike, synonyms don't; negation goes unseen. Scores depend "
        "on the other instances through the weights, so those of different boards don't compare. Every two letters of "
        "output and reference are compared: texts whose lengths in letters multiply to more than 500 million "
        "(22,000 letters each) are refused.",
    )

    def language_options(self, language: Language) -> dict[str, object]:
        return tokenize_for(language)

    def language_doubt(self, language: Language) -> str | None:
        return left_uncut(language, self.tokenize) or super().language_doubt(language)

    def versions(self) -> dict[str, str]:
        return {"kernel": "1"}

    def score_batch(self, batch: Batch) -> Mapping[str, Floats]:
        check_measure(self, self.n, self.alpha)
        items = items_of(batch)
        cut = tokenizer(self.tokenize)
        tokenized = [cut(text.rstrip()).split() for text in items.texts]
        letters = np.array([sum(map(len, text)) for text in tokenized], np.int64)
        check_lengths(self.name, letters, items, LETTERS, "letters")
        parts = self._parts(tokenized, items)[items.places]
        precision, recall = parts[:, 0], parts[:, 1]
        return {"YiSi-0": f_measure(precision, recall, self.alpha), "precision": precision, "recall": recall}

    def _parts(self, tokenized: Sequence[Sequence[str]], items: Items) -> Floats:
        words, vocabulary = number_words(tokenized), list(dict.fromkeys(word for text in tokenized for word in text))
        letters, weights = pack(vocabulary), self._weights(words, vocabulary, items)
        given = (letters.codes, letters.offsets, weights, words.ids.view(np.uint32), words.offsets)
        asked = (items.outputs, items.references, items.bounds)
        parts = np.empty((len(items), 2))
        in_parts(lambda start, stop: _parts(*given, *asked, start, stop, self.n, parts), len(items), smallest=16)
        return parts

    def _weights(self, words: Words, vocabulary: Sequence[str], items: Items) -> Floats:
        """The weight of each word; one that no reference has weighs as much as its form in lower case."""
        times = np.repeat(np.bincount(items.places, minlength=len(items)), np.diff(items.bounds))
        seen: Counter[int] = Counter()
        for text, count in zip(items.references.tolist(), times.tolist(), strict=True):
            own = words.ids[words.offsets[text] : words.offsets[text + 1]]
            seen.update(dict.fromkeys(np.unique(own).tolist(), count))
        counts = {vocabulary[word]: count for word, count in seen.items()}
        total = int(times.sum())
        return np.array([rarity(counts.get(word, counts.get(word.lower(), 0)), total) for word in vocabulary])


def rarity(count: int, total: int) -> float:
    """The weight of a word or token that so many of all references have."""
    return log2(1 + (total + 1) / (count + 1))


def f_measure(precision: Floats, recall: Floats, alpha: float) -> Floats:
    """The weighted harmonic mean of precision and recall; 0 where either is."""
    both = (precision > 0) & (recall > 0)
    below = np.where(both, alpha * precision + (1 - alpha) * recall, 1.0)
    measure: Floats = np.where(both, precision * recall / below, 0.0)
    return measure


def check_measure(metric: Metric, n: int, alpha: float) -> None:
    """Refuse n-grams of no length, and shares that are none."""
    if not 1 <= n <= 100 or not 0 <= alpha <= 1:
        raise InvalidInput(f"{metric.name}: n must lie between 1 and 100, alpha between 0 and 1")


METRICS = {"YiSi-0": YiSi0}
