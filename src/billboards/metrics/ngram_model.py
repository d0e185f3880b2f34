"""Perplexity under an n-gram model of the board's own inputs: the smallest language model that can be a metric.

It asks how much an output sounds like the inputs, and so shows what any likelihood shows: copying pays. Probabilities
are interpolated down to single tokens and to a word never seen (Witten and Bell 1991), so every text has one. The
model is made of all inputs of the batch, each counted once.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from billboards.errors import InvalidInput
from billboards.metrics.base import Batch, Floats, MetricCard
from billboards.metrics.statistics import LICENCE, Statistic, tokens

BEGIN, END = "<s>", "</s>"


class NgramModel:
    """Counts of every n-gram up to a length, and the probability of a token after those before it."""

    def __init__(self, texts: Iterable[str], n: int) -> None:
        self.n = n
        self.counts: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for text in texts:
            words = self._padded(text)
            for k in range(n - 1, len(words)):
                for length in range(n):
                    self.counts[tuple(words[k - length : k])][words[k]] += 1
        self.totals = {history: following.total() for history, following in self.counts.items()}
        self.once = cache(self._probability)

    def perplexity(self, text: str) -> float:
        """exp of the mean surprise at each token and at the end."""
        words, before = self._padded(text), self.n - 1
        surprise = [-math.log(self.once(tuple(words[k - before : k]), words[k])) for k in range(before, len(words))]
        return math.exp(sum(surprise) / len(surprise))

    def _padded(self, text: str) -> list[str]:
        return [BEGIN] * (self.n - 1) + tokens(text.casefold()) + [END]

    def _probability(self, history: Sequence[str], word: str) -> float:
        """Interpolated with the shorter history; the more kinds of tokens follow a history, the less it is trusted."""
        following = self.counts.get(tuple(history))
        shorter = self.once(tuple(history[1:]), word) if history else 1 / (1 + len(self.counts.get((), ())))
        if not following:
            return shorter
        kinds = len(following)
        return (following[word] + kinds * shorter) / (self.totals[tuple(history)] + kinds)


@dataclass(frozen=True)
class NgramPerplexity(Statistic):
    """How much an output surprises an n-gram model of the inputs."""

    n: int = 3
    needs_corpus: ClassVar[bool] = True
    card: ClassVar[MetricCard] = MetricCard(
        name="ngram-perplexity",
        summary="Perplexity of the output under an n-gram model of all inputs of the board",
        needs_references=False,
        needs_input=True,
        higher_is_better=False,
        range=(1.0, None),
        training_data="the board's own inputs",
        licence=LICENCE,
        paper="Witten and Bell 1991, The Zero-Frequency Problem, IEEE Transactions on Information Theory 37(4)",
        failures="Best for what is copied from an input, whichever it is. Without meaning where input and output are "
        "in different languages, or where the input is an image. A few rare words dominate a mean over outputs.",
        is_statistic=True,
    )

    def score_batch(self, batch: Batch) -> Floats:
        if self.n < 1:
            raise InvalidInput(f"{self.card.name}: n-grams have 1 token or more, not {self.n}")
        model = NgramModel(sorted(set(batch.inputs)), self.n)
        once = cache(model.perplexity)
        return np.array([once(output) for output in batch.outputs], np.float64)


METRICS = {"ngram-perplexity": NgramPerplexity}
