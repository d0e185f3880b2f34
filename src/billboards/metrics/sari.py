"""SARI for text simplification (Xu et al. 2016): what an output keeps, deletes and adds, compared with the references.

For n-grams of 1 to 4 words: F measure of what is kept from the input, precision of what is deleted, F measure of what
is added; the score is their mean. An n-gram that only some references keep counts by their share. The published script
averages the recall of kept n-grams over n-grams, later implementations (tensor2tensor, Hugging Face) over their counts,
and take empty sets for success where the script takes them for failure: `definition=corrected`. There a text without
words has one, the empty word, as in Hugging Face's code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from billboards.errors import UnknownName
from billboards.metrics.base import Batch, Floats, Metric, MetricCard
from billboards.metrics.kernels.calling import F64, I32, I64, Kernel
from billboards.metrics.kernels.items import items_of
from billboards.metrics.kernels.texts import Words, number_words, offsets_of, pack, split_words
from billboards.metrics.kernels.threads import in_parts
from billboards.metrics.languages import Language
from billboards.metrics.words import tokenizer_for, uncut, unicode_characters, unicode_words

TOKENIZERS = ("13a", "split", "unicode", "characters")
DEFINITIONS = ("original", "corrected")

_scores = Kernel("_simplification", "score_simplifications", (I32, I64, I32, I32, I64, int, int, int, F64))


@dataclass(frozen=True)
class SARI(Metric):
    """The mean of the three operations' scores, times 100."""

    tokenizer: str = "13a"
    definition: str = "original"

    multiple_references: ClassVar[Literal["own", "best"]] = "own"
    card: ClassVar[MetricCard] = MetricCard(
        name="SARI",
        summary="How well an output keeps, deletes and adds words of the input, judged by the references, times 100",
        needs_input=True,
        range=(0.0, 100.0),
        parts=("SARI", "keep", "delete", "add"),
        training_data="none",
        licence="Apache-2.0 (own code)",
        paper="Xu et al. 2016, Optimizing Statistical Machine Translation for Text Simplification, TACL 4",
        failures="The input must be the text that is simplified, in the same language. Needs several references: with "
        "one, any other good simplification scores low. Copying the input earns about a third of the points it should "
        "not, and lexical changes weigh more than splitting sentences or moving clauses. Implementations differ in "
        "tokenisation and in two details (definition=corrected): compare only numbers of one signature.",
    )

    def __post_init__(self) -> None:
        if self.tokenizer not in TOKENIZERS:
            raise UnknownName("tokenizer of SARI", self.tokenizer, TOKENIZERS)
        if self.definition not in DEFINITIONS:
            raise UnknownName("definition of SARI", self.definition, DEFINITIONS)

    def language_options(self, language: Language) -> dict[str, object]:
        return tokenizer_for(language)

    def language_doubt(self, language: Language) -> str | None:
        return uncut(language, self.tokenizer) or super().language_doubt(language)

    def versions(self) -> dict[str, str]:
        return {"revision": "2" if self.definition == "corrected" else "1"}

    def score_batch(self, batch: Batch) -> dict[str, Floats]:
        inputs = (item.input or "" for item in batch.items())
        references = [(source, *texts) for source, texts in zip(inputs, batch.references, strict=True)]
        items = items_of(Batch(batch.outputs, references))
        words = words_of(items.texts, self.tokenizer)
        if self.definition == "corrected":
            words = _with_empty_words(words)
        parts = np.empty((len(items), 3))
        asked = (words.ids, words.offsets, items.outputs, items.references, items.bounds)
        corrected = int(self.definition == "corrected")
        in_parts(lambda start, stop: _scores(*asked, start, stop, corrected, parts), len(items))
        keep, delete, add = 100 * parts[items.places].T
        return {"SARI": (keep + delete + add) / 3, "keep": keep, "delete": delete, "add": add}


def words_of(texts: Sequence[str], tokenizer: str) -> Words:
    """Words in lower case, numbered."""
    if tokenizer == "unicode":
        return number_words([unicode_words(text) for text in texts])
    if tokenizer == "characters":
        return number_words([unicode_characters(text) for text in texts])
    return split_words(pack([text.lower() for text in texts]), "13a" if tokenizer == "13a" else "spaces")


def _with_empty_words(words: Words) -> Words:
    """Words of which a text without any has one, the empty word: cut at single blanks, as the programs do, it has."""
    lengths = np.diff(words.offsets)
    ids = np.insert(words.ids, words.offsets[:-1][lengths == 0], words.distinct).astype(np.int32)
    return Words(ids, offsets_of(np.maximum(lengths, 1).tolist()), words.distinct + 1)


METRICS = {"SARI": SARI}
