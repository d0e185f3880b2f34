"""Word and character error rate: edits that turn the output into the reference, per word or character of it.

The edit distance is Levenshtein's, without shifts. With several references the one with the lowest rate counts; the
rate of a corpus is the sum of those edits over the sum of those references' lengths.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from billboards.errors import UnknownName
from billboards.metrics.base import LATER, Floats, MetricCard
from billboards.metrics.kernels.calling import F64, I32, I64, U32, Kernel
from billboards.metrics.kernels.items import Items
from billboards.metrics.kernels.texts import Texts, pack, remove_spaces, split_words
from billboards.metrics.kernels.threads import in_parts
from billboards.metrics.languages import Language
from billboards.metrics.summed import Rows, SummedMetric, edit_rates
from billboards.metrics.words import spaced_characters, uncut

_statistics = Kernel("_edits", "error_statistics", (U32, I64, I32, I32, I64, int, int, int, F64))
TOKENIZERS = ("spaces", "characters")
#: One more than the highest code point.
CODES = 0x110000


@dataclass(frozen=True)
class ErrorRate(SummedMetric):
    """Edits per symbol of the reference; a subclass says what the symbols are."""

    lowercase: bool = False

    def versions(self) -> dict[str, str]:
        return {"kernel": "1"}

    @abstractmethod
    def symbols(self, texts: Sequence[str]) -> tuple[Texts, int]:
        """The texts as symbols, and a number that all symbols are below."""

    def statistics(self, items: Items) -> Rows:
        symbols, distinct = self.symbols([text.lower() for text in items.texts] if self.lowercase else items.texts)
        rows = np.empty((len(items), 2), np.float64)
        given = (symbols.codes, symbols.offsets, items.outputs, items.references, items.bounds)
        in_parts(lambda start, stop: _statistics(*given, start, stop, distinct, rows), len(items))
        return rows

    def scores_of(self, rows: Rows) -> Floats:
        """Edits per symbol, times 100; with no symbol in the reference, 100 for any edit at all."""
        return edit_rates(rows)


@dataclass(frozen=True)
class WordErrorRate(ErrorRate):
    """Edits of words; `tokenizer=characters` cuts scripts without spaces into their characters."""

    tokenizer: str = field(default="spaces", metadata=LATER)

    card: ClassVar[MetricCard] = MetricCard(
        name="WER",
        summary="Insertions, deletions and substitutions of words that turn the output into the nearest reference, "
        "per word of it, times 100",
        higher_is_better=False,
        range=(0.0, None),
        training_data="none",
        licence="Apache-2.0 (own code)",
        paper="Levenshtein 1966, Binary codes capable of correcting deletions, insertions, and reversals, Soviet "
        "Physics Doklady; for translation: Nießen et al. 2000, An Evaluation Tool for Machine Translation, LREC",
        failures="A phrase in another place costs all of its words twice. Splits at white space only: punctuation "
        "sticks to words, and scripts without spaces have whole sentences for words, unless tokenizer=characters, "
        "which a board in such a language gets. Above 100 for long outputs.",
    )

    def __post_init__(self) -> None:
        if self.tokenizer not in TOKENIZERS:
            raise UnknownName("tokenizer of WER", self.tokenizer, TOKENIZERS)

    def language_options(self, language: Language) -> dict[str, object]:
        return {"tokenizer": "characters"} if language.unspaced else {}

    def language_doubt(self, language: Language) -> str | None:
        return uncut(language, self.tokenizer) or super().language_doubt(language)

    def symbols(self, texts: Sequence[str]) -> tuple[Texts, int]:
        cut = texts if self.tokenizer == "spaces" else [spaced_characters(text) for text in texts]
        words = split_words(pack(cut))
        return Texts(words.ids.view(np.uint32), words.offsets), words.distinct


@dataclass(frozen=True)
class CharacterErrorRate(ErrorRate):
    """Edits of characters."""

    whitespace: bool = True

    card: ClassVar[MetricCard] = MetricCard(
        name="CER",
        summary="Insertions, deletions and substitutions of characters that turn the output into the nearest "
        "reference, per character of it, times 100",
        higher_is_better=False,
        range=(0.0, None),
        training_data="none",
        licence="Apache-2.0 (own code)",
        paper="Levenshtein 1966, Binary codes capable of correcting deletions, insertions, and reversals, Soviet "
        "Physics Doklady",
        failures="A phrase in another place costs all of its characters twice. Characters are code points: a letter "
        "with a combining mark counts as two, and equals its composed form only after normalisation.",
    )

    def symbols(self, texts: Sequence[str]) -> tuple[Texts, int]:
        packed = pack([text.strip() for text in texts])
        return (packed if self.whitespace else remove_spaces(packed)), CODES


METRICS = {"WER": WordErrorRate, "CER": CharacterErrorRate}
