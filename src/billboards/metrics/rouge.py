"""ROUGE-1 to -9, -L and -Lsum: the numbers of rouge-score 0.1.2, from compiled counts.

A score is the F measure of what output and reference share, against the reference where it is highest (or the mean over
references); precision and recall come along as parts. Each distinct text of a batch is cut into words once. The default
tokenizer is rouge-score's, which knows only a-z and 0-9; `tokenizer=unicode` reads every script, and `characters` cuts
those without spaces. A board in another script than Latin gets one of these two.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

import numpy as np

from billboards.errors import UnknownName
from billboards.metrics.base import Batch, Floats, Metric, MetricCard
from billboards.metrics.kernels.items import items_of
from billboards.metrics.kernels.overlap import Counts, shared_ngrams, subsequence_lengths, union_hits
from billboards.metrics.kernels.pairs import Pairs, pairs_of
from billboards.metrics.kernels.texts import Texts, Words, number_words, offsets_of, split_words
from billboards.metrics.languages import HAN, Language
from billboards.metrics.words import stem, tokenizer_for, unicode_characters, unicode_words

#: The release whose numbers these are.
RELEASE = "0.1.2"
TOKENIZERS = ("rouge-score", "unicode", "characters")
SEVERAL = ("best", "mean")
#: rouge-score stems only words that are longer.
_SHORT = 3


@dataclass(frozen=True)
class Rouge(Metric):
    """What the members of the family share; a subclass says what is counted."""

    stemmer: bool = False
    tokenizer: str = "rouge-score"
    references: str = "best"

    def __post_init__(self) -> None:
        if self.tokenizer not in TOKENIZERS:
            raise UnknownName("ROUGE tokenizer", self.tokenizer, TOKENIZERS)
        if self.references not in SEVERAL:
            raise UnknownName("way of ROUGE with several references", self.references, SEVERAL)

    def language_options(self, language: Language) -> dict[str, object]:
        """Words of any script, where rouge-score's would be empty; languages in Latin letters keep its numbers."""
        return {} if language.script == "Latn" else {"tokenizer": "unicode", **tokenizer_for(language)}

    def language_doubt(self, language: Language) -> str | None:
        if language.script != "Latn" and self.tokenizer == "rouge-score":
            return f"knows only a-z and 0-9 (tokenizer=rouge-score), so that texts in {language.code} score 0"
        if language.unspaced and language.script not in HAN and self.tokenizer == "unicode":
            return f"takes whole sentences in {language.code} for words (tokenizer=unicode)"
        return super().language_doubt(language)

    @property
    def takes_best_reference(self) -> bool:
        return self.references == "best"

    def versions(self) -> dict[str, str]:
        from importlib.metadata import version

        return {"rouge-score": RELEASE, **({"nltk": version("nltk")} if self.stemmer else {})}

    def score_batch(self, batch: Batch) -> dict[str, Floats]:
        items = items_of(batch)
        pairs = pairs_of(items)
        hits, totals = self._count(items.texts, pairs)
        precision = hits / np.maximum(totals[pairs.outputs], 1)
        recall = hits / np.maximum(totals[pairs.references], 1)
        f = 2 * precision * recall / np.where(hits > 0, precision + recall, 1.0)
        parts = {"fmeasure": f, "precision": precision, "recall": recall}
        best = pairs.best(f)
        of_item = {part: s[best] if self.takes_best_reference else pairs.mean(s) for part, s in parts.items()}
        return {part: scores[items.places] for part, scores in of_item.items()}

    @abstractmethod
    def _count(self, texts: Sequence[str], pairs: Pairs) -> tuple[Counts, Counts]:
        """What each pair shares, and how much of it each text has."""

    def _words(self, texts: Sequence[str]) -> Words:
        if self.tokenizer == "unicode":
            words = [unicode_words(text) for text in texts]
        elif self.tokenizer == "characters":
            words = [unicode_characters(text) for text in texts]
        elif self.stemmer:
            words = [_latin(text.lower()).decode("ascii").split() for text in texts]
        else:
            lowered = [text.lower() for text in texts]
            codes = np.frombuffer(_latin("".join(lowered)), np.uint8).astype(np.uint32)
            return split_words(Texts(codes, offsets_of([len(text) for text in lowered])))
        return _stemmed(words) if self.stemmer else number_words(words)


#: Every byte but a-z and 0-9 as a blank.
_BLANKED = bytes(c if chr(c).isascii() and chr(c).isalnum() and not chr(c).isupper() else ord(" ") for c in range(256))


def _latin(lowered: str) -> bytes:
    """A text in lower case, one byte a character: a-z and 0-9 as they are, all else blank, as for rouge-score."""
    return lowered.encode("latin-1", "replace").translate(_BLANKED)


def _stemmed(tokenized: Sequence[Sequence[str]]) -> Words:
    """Words by the numbers of their stems; each distinct word is stemmed once."""
    numbers: dict[str, int] = {}
    ids = [numbers.setdefault(word, len(numbers)) for words in tokenized for word in words]
    stems: dict[str, int] = {}
    of_word = [stems.setdefault(stem(word) if len(word) > _SHORT else word, len(stems)) for word in numbers]
    numbered = np.array(of_word, np.int32)[np.array(ids, np.intp)]
    return Words(numbered, offsets_of([len(words) for words in tokenized]), len(stems))


@dataclass(frozen=True)
class RougeN(Rouge):
    """F measure of n-grams of words."""

    n: ClassVar[int]

    def _count(self, texts: Sequence[str], pairs: Pairs) -> tuple[Counts, Counts]:
        words = self._words(texts)
        totals = np.maximum(np.diff(words.offsets) - self.n + 1, 0)
        return shared_ngrams(words, pairs, self.n), totals


def _card(name: str, counted: str) -> MetricCard:
    return MetricCard(
        name=name,
        summary=f"F measure of {counted} that output and reference share; best over references",
        range=(0.0, 1.0),
        parts=("fmeasure", "precision", "recall"),
        training_data="none",
        licence="Apache-2.0 (own code; the numbers are rouge-score's)",
        paper="Lin 2004, ROUGE: A Package for Automatic Evaluation of Summaries, Text Summarization Branches Out",
        failures="Words are runs of a-z and 0-9 after lowercasing: letters with accents split words, and texts in "
        "Cyrillic, Chinese, Arabic and other scripts are blanked, so that every output scores 0. A board in such a "
        "script gets tokenizer=unicode (words; Chinese and Japanese by character) or characters (Thai and others "
        "without spaces); where no language is stated, set it. Gives no credit for synonyms and can't see negation. An "
        "output too short to hold what is counted scores 0.",
    )


@dataclass(frozen=True)
class Rouge1(RougeN):
    n: ClassVar[int] = 1
    card: ClassVar[MetricCard] = _card("ROUGE-1", "the words")


@dataclass(frozen=True)
class Rouge2(RougeN):
    n: ClassVar[int] = 2
    card: ClassVar[MetricCard] = _card("ROUGE-2", "the pairs of words")


@dataclass(frozen=True)
class Rouge3(RougeN):
    n: ClassVar[int] = 3
    card: ClassVar[MetricCard] = _card("ROUGE-3", "the triples of words")


@dataclass(frozen=True)
class Rouge4(RougeN):
    n: ClassVar[int] = 4
    card: ClassVar[MetricCard] = _card("ROUGE-4", "the runs of 4 words")


@dataclass(frozen=True)
class Rouge5(RougeN):
    n: ClassVar[int] = 5
    card: ClassVar[MetricCard] = _card("ROUGE-5", "the runs of 5 words")


@dataclass(frozen=True)
class Rouge6(RougeN):
    n: ClassVar[int] = 6
    card: ClassVar[MetricCard] = _card("ROUGE-6", "the runs of 6 words")


@dataclass(frozen=True)
class Rouge7(RougeN):
    n: ClassVar[int] = 7
    card: ClassVar[MetricCard] = _card("ROUGE-7", "the runs of 7 words")


@dataclass(frozen=True)
class Rouge8(RougeN):
    n: ClassVar[int] = 8
    card: ClassVar[MetricCard] = _card("ROUGE-8", "the runs of 8 words")


@dataclass(frozen=True)
class Rouge9(RougeN):
    n: ClassVar[int] = 9
    card: ClassVar[MetricCard] = _card("ROUGE-9", "the runs of 9 words")


@dataclass(frozen=True)
class RougeL(Rouge):
    """F measure of the longest common subsequence of words."""

    card: ClassVar[MetricCard] = _card(
        "ROUGE-L", "the longest subsequence of words, the whole text taken as one sentence,"
    )

    def _count(self, texts: Sequence[str], pairs: Pairs) -> tuple[Counts, Counts]:
        words = self._words(texts)
        return subsequence_lengths(words, pairs), np.diff(words.offsets)


@dataclass(frozen=True)
class RougeLsum(Rouge):
    """F measure of the union of the longest common subsequences of sentences; a line is a sentence."""

    card: ClassVar[MetricCard] = _card(
        "ROUGE-Lsum", "the words in the union of the longest subsequences of sentences (one sentence a line)"
    )

    def _count(self, texts: Sequence[str], pairs: Pairs) -> tuple[Counts, Counts]:
        sentences = [[line for line in text.split("\n") if line] for text in texts]
        words = self._words(list(chain.from_iterable(sentences)))
        offsets = offsets_of([len(lines) for lines in sentences])
        return union_hits(words, offsets, pairs), np.diff(words.offsets[offsets])


METRICS = {
    "ROUGE-1": Rouge1,
    "ROUGE-2": Rouge2,
    "ROUGE-3": Rouge3,
    "ROUGE-4": Rouge4,
    "ROUGE-5": Rouge5,
    "ROUGE-6": Rouge6,
    "ROUGE-7": Rouge7,
    "ROUGE-8": Rouge8,
    "ROUGE-9": Rouge9,
    "ROUGE-L": RougeL,
    "ROUGE-Lsum": RougeLsum,
}
