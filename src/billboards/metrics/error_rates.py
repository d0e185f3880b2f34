"""Error rates: edits that turn the output into the reference, per word or character of it.

The edits of WER and CER are Levenshtein's, without shifts. PER ignores the order of words, and CDER lets a block of
words be taken from anywhere in the output for the cost of one edit. With several references the one with the lowest
rate counts; the rate of a corpus is the sum of those edits over the sum of those references' lengths.
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
from billboards.metrics.kernels.items import Items, check_lengths
from billboards.metrics.kernels.overlap import shared_ngrams
from billboards.metrics.kernels.pairs import pairs_of
from billboards.metrics.kernels.texts import Texts, Words, pack, remove_spaces, split_words
from billboards.metrics.kernels.threads import in_parts
from billboards.metrics.languages import Language
from billboards.metrics.summed import Rows, SummedMetric, edit_rates
from billboards.metrics.words import spaced_characters, uncut

_statistics = Kernel("_edits", "error_statistics", (U32, I64, I32, I32, I64, int, int, int, F64))
_jump_statistics = Kernel("_jumps", "jump_statistics", (U32, I64, I32, I32, I64, int, int, int, F64))
TOKENIZERS = ("spaces", "characters")
#: One more than the highest code point.
CODES = 0x110000
#: The most that the lengths of an output and a reference may multiply to, for distances that take a 64th as many steps.
MOST_CELLS = 160_000_000_000


@dataclass(frozen=True)
class ErrorRate(SummedMetric):
    """Edits per symbol of the reference; a subclass says what the symbols are."""

    lowercase: bool = False

    #: What counts the edits, and what symbols are.
    kernel: ClassVar[Kernel] = _statistics
    unit: ClassVar[str] = "words"

    def versions(self) -> dict[str, str]:
        return {"kernel": "1"}

    @abstractmethod
    def symbols(self, texts: Sequence[str]) -> tuple[Texts, int]:
        """The texts as symbols, and a number that all symbols are below."""

    def statistics(self, items: Items) -> Rows:
        symbols, distinct = self.symbols([text.lower() for text in items.texts] if self.lowercase else items.texts)
        check_lengths(self.name, np.diff(symbols.offsets), items, MOST_CELLS, self.unit)
        rows = np.empty((len(items), 2), np.float64)
        given = (symbols.codes, symbols.offsets, items.outputs, items.references, items.bounds)
        in_parts(lambda start, stop: self.kernel(*given, start, stop, distinct, rows), len(items))
        return rows

    def scores_of(self, rows: Rows) -> Floats:
        """Edits per symbol, times 100; with no symbol in the reference, 100 for any edit at all."""
        return edit_rates(rows)


@dataclass(frozen=True)
class OfWords(ErrorRate):
    """An error rate of words; `tokenizer=characters` cuts scripts without spaces into their characters."""

    tokenizer: str = field(default="spaces", metadata=LATER)

    def __post_init__(self) -> None:
        if self.tokenizer not in TOKENIZERS:
            raise UnknownName(f"tokenizer of {self.card.name}", self.tokenizer, TOKENIZERS)

    def language_options(self, language: Language) -> dict[str, object]:
        return {"tokenizer": "characters"} if language.unspaced else {}

    def language_doubt(self, language: Language) -> str | None:
        return uncut(language, self.tokenizer) or super().language_doubt(language)

    def words(self, texts: Sequence[str]) -> Words:
        """The words of texts, numbered."""
        return split_words(pack(texts if self.tokenizer == "spaces" else [spaced_characters(text) for text in texts]))

    def symbols(self, texts: Sequence[str]) -> tuple[Texts, int]:
        words = self.words(texts)
        return Texts(words.ids.view(np.uint32), words.offsets), words.distinct


_SPLITTING = (
    "Splits at white space only: punctuation sticks to words, and scripts without spaces have whole sentences for "
    "words, unless tokenizer=characters, which a board in such a language gets."
)


@dataclass(frozen=True)
class WordErrorRate(OfWords):
    """Edits of words; `tokenizer=characters` cuts scripts without spaces into their characters."""

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
        failures=f"A phrase in another place costs all of its words twice. {_SPLITTING} Above 100 for long outputs.",
    )


@dataclass(frozen=True)
class PositionIndependentErrorRate(OfWords):
    """Words that are wrong, missing or too many, whatever their order."""

    card: ClassVar[MetricCard] = MetricCard(
        name="PER",
        summary="Words by which output and nearest reference differ as bags of words, per word of the reference, times "
        "100: those of the longer text that the other doesn't have",
        higher_is_better=False,
        range=(0.0, None),
        training_data="none",
        licence="Apache-2.0 (own code, from the definition)",
        paper="Tillmann et al. 1997, Accelerated DP Based Search for Statistical Translation, Eurospeech",
        failures=f"Blind to order: any permutation of the reference is perfect. {_SPLITTING} Above 100 for long "
        "outputs.",
    )

    def statistics(self, items: Items) -> Rows:
        """The words of the longer text less those in common, and the words of the reference."""
        words = self.words([text.lower() for text in items.texts] if self.lowercase else items.texts)
        pairs, lengths = pairs_of(items), np.diff(words.offsets)
        of_output, of_reference = lengths[pairs.outputs], lengths[pairs.references]
        errors = np.maximum(of_output, of_reference) - shared_ngrams(words, pairs, 1)
        rows = np.column_stack((errors, of_reference)).astype(np.float64)
        return rows[pairs.best(-edit_rates(rows))]


@dataclass(frozen=True)
class CoverDisjointErrorRate(OfWords):
    """Edits of words, and jumps to other places of the output."""

    kernel: ClassVar[Kernel] = _jump_statistics
    card: ClassVar[MetricCard] = MetricCard(
        name="CDER",
        summary="Insertions, deletions and substitutions of words, and jumps to other places of the output, that it "
        "takes to cover the nearest reference, per word of it, times 100",
        higher_is_better=False,
        range=(0.0, None),
        training_data="none",
        licence="Apache-2.0 (own code, from the paper's definition)",
        paper="Leusch, Ueffing and Ney 2006, CDER: Efficient MT Evaluation Using Block Movements, EACL",
        failures="Words of the output may be passed over or used twice for the price of one jump, so that outputs "
        f"which are too long or repeat themselves lose little. {_SPLITTING} The paper's miscoverage penalty, for words "
        "used more or less than once, is not part of it.",
    )


@dataclass(frozen=True)
class CharacterErrorRate(ErrorRate):
    """Edits of characters."""

    whitespace: bool = True

    unit: ClassVar[str] = "characters"
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
        "with a combining mark counts as two, and equals its composed form only after normalisation. Texts whose "
        "lengths multiply to more than 160,000 million (400,000 characters each) are refused.",
    )

    def symbols(self, texts: Sequence[str]) -> tuple[Texts, int]:
        packed = pack([text.strip() for text in texts])
        return (packed if self.whitespace else remove_spaces(packed)), CODES


METRICS = {
    "WER": WordErrorRate,
    "CER": CharacterErrorRate,
    "PER": PositionIndependentErrorRate,
    "CDER": CoverDisjointErrorRate,
}
