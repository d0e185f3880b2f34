"""METEOR as nltk computes it (Banerjee and Lavie 2005; parameters of Lavie and Agarwal 2007), with WordNet's synonyms.

Words of output and reference are aligned in three stages: equal words, then equal stems, then synonyms; each stage
takes the last words first. The score is a mean of precision and recall that leans to recall, less a penalty for matches
that lie in many chunks. nltk before release 3.6.3 offered words matched by stem again to the synonym stage, and looked
further for base forms; the released scores of wmt20-zh-en were made so, and `early_nltk=True` reproduces them.
`tokenizer=nltk` cuts texts as Hugging Face's `evaluate` does before it asks nltk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import ClassVar

import numpy as np

from billboards.metrics.base import Batch, Floats, Metric, MetricCard
from billboards.metrics.kernels.alignment import Counts, Vocabulary, align
from billboards.metrics.kernels.items import items_of
from billboards.metrics.kernels.pairs import Pairs, pairs_of
from billboards.metrics.kernels.texts import Words, offsets_of
from billboards.metrics.nltk_words import nltk_words, punkt_version
from billboards.metrics.wordnet import synonyms, wordnet
from billboards.metrics.words import Tokenizer, split, stem, tokenizer, unicode_words

TOKENIZERS: dict[str, Tokenizer] = {"split": split, "unicode": unicode_words, "nltk": nltk_words}
#: Weight of precision against recall, and the penalty's steepness and weight.
ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5


@dataclass(frozen=True)
class METEOR(Metric):
    """Aligned words, weighed against the number of chunks they lie in."""

    tokenizer: str = "split"
    early_nltk: bool = False

    card: ClassVar[MetricCard] = MetricCard(
        name="METEOR",
        summary="Mean of precision and recall of words aligned by form, stem or WordNet synonym, less a penalty for "
        "broken order; best over references",
        needs_part="WordNet's files (Debian: wordnet-base), in /usr/share/wordnet or where BILLBOARDS_WORDNET says",
        range=(0.0, 1.0),
        languages=("en",),
        training_data="none; synonyms from WordNet (Princeton), parameters tuned on translations into English",
        licence="Apache-2.0 (own code; the numbers are nltk's); WordNet licence for WordNet's files",
        paper="Banerjee and Lavie 2005, METEOR: An Automatic Metric for MT Evaluation with Improved Correlation with "
        "Human Judgments, ACL workshop; parameters of Lavie and Agarwal 2007, WMT",
        failures="Not METEOR 1.5 (Denkowski and Lavie 2014), which has paraphrases, function words and other "
        "parameters: numbers of the two don't compare. Splits at white space, so that punctuation sticks to words, "
        "unless tokenizer=unicode, or tokenizer=nltk, which is nltk's word_tokenize, as in Hugging Face's evaluate; "
        "where nltk's Punkt data are absent (punkt:none in the signature), full stops inside a text of several "
        "sentences stick to their words. Synonyms are looked up by stem, as in nltk: larg, the stem of large, has "
        "none. They ignore the sense and part of speech in the sentence; antonyms and negation go unseen. The "
        "alignment is greedy, so that chunks may be more than need be. With early_nltk=True a score may pass 1.",
    )

    def __post_init__(self) -> None:
        tokenizer("METEOR", self.tokenizer, TOKENIZERS)

    def versions(self) -> dict[str, str]:
        punkt = {"punkt": punkt_version()} if self.tokenizer == "nltk" else {}
        return {"nltk": version("nltk"), "wordnet": wordnet().digest, **punkt}

    def score(self, batch: Batch) -> Floats:
        items = items_of(batch)
        pairs = pairs_of(items)
        words, vocabulary = self._numbered(items.texts)
        matches, chunks = align(words, vocabulary, pairs, twice=self.early_nltk)
        scores = _mean(matches, np.diff(words.offsets), pairs)
        penalty = GAMMA * (chunks / np.maximum(matches, 1)) ** BETA
        single: Floats = (1 - penalty) * scores
        return single[pairs.best(single)][items.places]

    def _numbered(self, texts: Sequence[str]) -> tuple[Words, Vocabulary]:
        """Words as numbers, with the stem and the synonyms of each."""
        cut, lexicon = tokenizer("METEOR", self.tokenizer, TOKENIZERS), wordnet()
        numbers: dict[str, int] = {}
        tokens = [[word.lower() for word in cut(text)] for text in texts]
        ids = np.array([numbers.setdefault(word, len(numbers)) for words in tokens for word in words], np.int32)
        stems = np.array([numbers.setdefault(stem(word), len(numbers)) for word in list(numbers)], np.int32)
        # A stem is met only as a stem, never as a word, so that its own stem is never asked for.
        stems = np.concatenate([stems, np.arange(len(stems), len(numbers), dtype=np.int32)])
        meant = [
            [numbers[other] for other in synonyms(lexicon, word, deep=self.early_nltk) if other in numbers]
            for word in numbers
        ]
        words = Words(ids, offsets_of([len(words) for words in tokens]), len(numbers))
        flat = np.array([number for alike in meant for number in alike], np.int32)
        return words, Vocabulary(stems, offsets_of([len(alike) for alike in meant]), flat)


def _mean(matches: Counts, lengths: Counts, pairs: Pairs) -> Floats:
    """The weighted harmonic mean of precision and recall; 0 without a match."""
    precision = matches / np.maximum(lengths[pairs.outputs], 1)
    recall = matches / np.maximum(lengths[pairs.references], 1)
    mean: Floats = precision * recall / np.where(matches > 0, ALPHA * precision + (1 - ALPHA) * recall, 1.0)
    return mean


METRICS = {"METEOR": METEOR}
