"""METEOR as nltk computes it (Banerjee and Lavie 2005; parameters of Lavie and Agarwal 2007), with WordNet's synonyms.

Words of output and reference are aligned in three stages: equal words, then equal stems, then synonyms; each stage
takes the last words first. The score is a mean of precision and recall that leans to recall, less a penalty for matches
that lie in many chunks. nltk before release 3.6.3 offered words matched by stem again to the synonym stage, and looked
further for base forms; the released scores of wmt20-zh-en were made so, and `early_nltk=True` reproduces them.
`tokenizer=nltk` cuts texts as Hugging Face's `evaluate` does before it asks nltk.

Synonyms are English, and so are Porter's stems. Another `language`, which a board's chooses, has the stems of
Snowball's rules where nltk has them, else equal words alone, and no synonyms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import ClassVar

import numpy as np

from billboards.errors import InvalidInput, UnknownName
from billboards.metrics.base import LATER, Batch, Floats, Metric, MetricCard
from billboards.metrics.kernels.alignment import Counts, Vocabulary, align
from billboards.metrics.kernels.items import items_of
from billboards.metrics.kernels.pairs import Pairs, pairs_of
from billboards.metrics.kernels.texts import Words, offsets_of
from billboards.metrics.languages import Language
from billboards.metrics.nltk_words import nltk_words, punkt_version
from billboards.metrics.wordnet import synonyms, wordnet
from billboards.metrics.words import (
    STEMMED,
    Tokenizer,
    split,
    stem,
    tokenizer,
    tokenizer_for,
    uncut,
    unicode_characters,
    unicode_words,
)

TOKENIZERS: dict[str, Tokenizer] = {
    "split": split,
    "unicode": unicode_words,
    "characters": unicode_characters,
    "nltk": nltk_words,
}
_ENGLISH = "en"
#: What a score with several references is: against the one where it is highest, or the mean over them.
SEVERAL = ("best", "mean")
#: Weight of precision against recall, and the penalty's steepness and weight.
ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5


@dataclass(frozen=True)
class METEOR(Metric):
    """Aligned words, weighed against the number of chunks they lie in."""

    tokenizer: str = "split"
    early_nltk: bool = False
    language: str = field(default="en", metadata=LATER)
    references: str = field(default="best", metadata=LATER)

    card: ClassVar[MetricCard] = MetricCard(
        name="METEOR",
        summary="Mean of precision and recall of words aligned by form, stem or WordNet synonym, less a penalty for "
        "broken order; best over references, or with references=mean their mean",
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
        "alignment is greedy, so that chunks may be more than need be. With early_nltk=True a score may pass 1. In "
        "other languages than English (language=de) words match by form and Snowball stem, or by form alone, never by "
        "synonym.",
    )

    def __post_init__(self) -> None:
        tokenizer("METEOR", self.tokenizer, TOKENIZERS)
        if self.references not in SEVERAL:
            raise UnknownName("way of METEOR with several references", self.references, SEVERAL)
        if not (self.language.isascii() and self.language.isalpha() and self.language.islower()):
            raise InvalidInput(f"METEOR: language={self.language!r} must be a code, as in language=de")

    @property
    def takes_best_reference(self) -> bool:
        return self.references == "best"

    def language_options(self, language: Language) -> dict[str, object]:
        """Stems of the language and no synonyms; scores of an early nltk were English whatever the texts were."""
        if language.code == _ENGLISH or self.early_nltk:
            return {}
        return {"language": language.code, **tokenizer_for(language)}

    def language_doubt(self, language: Language) -> str | None:
        if language.code == _ENGLISH:
            return None
        if self.language != language.code:
            return f"matches stems and synonyms of {self.language}, not of {language.code}"
        how = "form and stem" if language.code in STEMMED else "form alone"
        return uncut(language, self.tokenizer) or f"matches words of {language.code} by {how}, without synonyms"

    def versions(self) -> dict[str, str]:
        punkt = {"punkt": punkt_version()} if self.tokenizer == "nltk" else {}
        uses_nltk = self.language == _ENGLISH or self.language in STEMMED or self.tokenizer == "nltk"
        lexicon = {"wordnet": wordnet().digest} if self.language == _ENGLISH else {}
        return {**({"nltk": version("nltk")} if uses_nltk else {}), **lexicon, **punkt}

    def score_batch(self, batch: Batch) -> Floats:
        items = items_of(batch)
        pairs = pairs_of(items)
        words, vocabulary = self._numbered(items.texts)
        matches, chunks = align(words, vocabulary, pairs, twice=self.early_nltk)
        scores = _mean(matches, np.diff(words.offsets), pairs)
        penalty = GAMMA * (chunks / np.maximum(matches, 1)) ** BETA
        single: Floats = (1 - penalty) * scores
        of_item = single[pairs.best(single)] if self.references == "best" else pairs.mean(single)
        return of_item[items.places]

    def _numbered(self, texts: Sequence[str]) -> tuple[Words, Vocabulary]:
        """Words as numbers, with the stem and the synonyms of each."""
        cut = tokenizer("METEOR", self.tokenizer, TOKENIZERS)
        numbers: dict[str, int] = {}
        tokens = [[word.lower() for word in cut(text)] for text in texts]
        ids = np.array([numbers.setdefault(word, len(numbers)) for words in tokens for word in words], np.int32)
        stems = np.array([numbers.setdefault(self._stem(word), len(numbers)) for word in list(numbers)], np.int32)
        # A stem is met only as a stem, never as a word, so that its own stem is never asked for.
        stems = np.concatenate([stems, np.arange(len(stems), len(numbers), dtype=np.int32)])
        meant = [[numbers[other] for other in self._synonyms(word) if other in numbers] for word in numbers]
        words = Words(ids, offsets_of([len(words) for words in tokens]), len(numbers))
        flat = np.array([number for alike in meant for number in alike], np.int32)
        return words, Vocabulary(stems, offsets_of([len(alike) for alike in meant]), flat)

    def _stem(self, word: str) -> str:
        return stem(word, self.language) if self.language == _ENGLISH or self.language in STEMMED else word

    def _synonyms(self, word: str) -> Iterable[str]:
        return synonyms(wordnet(), word, deep=self.early_nltk) if self.language == _ENGLISH else ()


def _mean(matches: Counts, lengths: Counts, pairs: Pairs) -> Floats:
    """The weighted harmonic mean of precision and recall; 0 without a match."""
    precision = matches / np.maximum(lengths[pairs.outputs], 1)
    recall = matches / np.maximum(lengths[pairs.references], 1)
    mean: Floats = precision * recall / np.where(matches > 0, ALPHA * precision + (1 - ALPHA) * recall, 1.0)
    return mean


METRICS = {"METEOR": METEOR}
