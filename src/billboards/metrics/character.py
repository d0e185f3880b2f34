"""CharacTER (Wang et al. 2016): a character error rate after shifts of whole phrases.

Phrases of the output that the reference has elsewhere are shifted there while that lowers the edit distance in words;
then characters are compared. A shift costs the mean length of its words, and the sum is taken per character of the
output. With several references the lowest counts; a corpus's score is the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from billboards.errors import InvalidInput
from billboards.metrics.base import CorpusKind, Floats, MetricCard
from billboards.metrics.error_rates import CODES, MOST_CELLS
from billboards.metrics.kernels.calling import F64, I32, I64, U32, Kernel, TooLong
from billboards.metrics.kernels.items import Items, check_lengths
from billboards.metrics.kernels.texts import Words, offsets_of, pack
from billboards.metrics.kernels.threads import in_parts
from billboards.metrics.summed import Rows, SummedMetric

_scores = Kernel("_edits", "character_scores", (U32, I64, int, U32, I64, int, I32, I32, I64, int, int, int, F64))

#: Steps that shifts may take for an output and a reference, some ten seconds: 64 cells of a table of words, or a word.
MOST_STEPS = 2_000_000_000


@dataclass(frozen=True)
class CharacTER(SummedMetric):
    """Edits of characters after shifts of phrases, per character of the output; 1 at most, unless `capped` is off."""

    capped: bool = True

    corpus: ClassVar[CorpusKind] = "mean"
    card: ClassVar[MetricCard] = MetricCard(
        name="CharacTER",
        summary="Edits of characters, after shifts of phrases, that turn the output into the nearest reference, per "
        "character of the output",
        higher_is_better=False,
        range=(0.0, None),
        training_data="none",
        licence="Apache-2.0 (own code, from the paper's definition)",
        paper="Wang et al. 2016, CharacTer: Translation Edit Rate on Character Level, WMT",
        failures="Words are split at spaces: without spaces there are no shifts, and none of words that differ in one "
        "letter. Every phrase that both texts share may have to be tried at every place: texts of hundreds of words "
        "that have the same few words in another order are refused after 2,000 million steps, some ten seconds.",
    )

    def versions(self) -> dict[str, str]:
        return {"kernel": "1"}

    def statistics(self, items: Items) -> Rows:
        """The score of each item, and a one to count it by."""
        words, letters = _sorted_words(items.texts), pack([" ".join(text.split()) for text in items.texts])
        rows = np.ones((len(items), 2))
        scores = np.empty(len(items))
        given = (words.ids.view(np.uint32), words.offsets, words.distinct, letters.codes, letters.offsets, CODES)
        asked = (items.outputs, items.references, items.bounds)
        check_lengths(self.name, np.diff(letters.offsets), items, MOST_CELLS, "characters")
        try:
            in_parts(
                lambda start, stop: _scores(*given, *asked, start, stop, MOST_STEPS, scores), len(items), smallest=16
            )
        except TooLong as error:
            raise InvalidInput(
                f"{self.name}: a long output has so many phrases of its reference in other places that trying them all "
                "would take minutes; score shorter texts"
            ) from error
        rows[:, 0] = np.minimum(scores, 1.0) if self.capped else scores
        return rows

    def scores_of(self, rows: Rows) -> Floats:
        scores: Floats = rows[:, 0] / rows[:, 1]
        return scores


def _sorted_words(texts: Sequence[str]) -> Words:
    """Words numbered in the order of their letters: of two shifts that save the same, the later text wins."""
    split = [text.split() for text in texts]
    numbers = {word: number for number, word in enumerate(sorted({word for words in split for word in words}))}
    ids = np.array([numbers[word] for words in split for word in words], np.int32)
    return Words(ids, offsets_of([len(words) for words in split]), len(numbers))


METRICS = {"CharacTER": CharacTER}
