"""chrF and chrF++ (Popović 2015, 2017), by sentence and by corpus.

N-grams of letters, and for chrF++ of words, are counted in a compiled kernel by exact comparison; the reference with
the best score counts, as in sacreBLEU.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from billboards.errors import InvalidInput
from billboards.metrics.base import Floats, MetricCard
from billboards.metrics.kernels.calling import F64, I32, I64, U32, Kernel
from billboards.metrics.kernels.items import Items
from billboards.metrics.kernels.texts import Words, pack, remove_spaces, split_words
from billboards.metrics.kernels.threads import in_parts
from billboards.metrics.sacre import SacreMetric
from billboards.metrics.summed import Rows

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as Scorer

_statistics = Kernel(
    "_ngrams", "chrf_statistics", (U32, I64, U32, I64, I32, I32, I64, int, int, int, int, float, int, I64)
)
_scores = Kernel("_ngrams", "chrf_scores", (I64, int, float, int, F64))


@dataclass(frozen=True)
class ChrF(SacreMetric):
    """F-score of character n-grams."""

    char_order: int = 6
    beta: int = 2
    lowercase: bool = False
    whitespace: bool = False
    eps_smoothing: bool = False
    word_order: int = 0

    card: ClassVar[MetricCard] = MetricCard(
        name="chrF",
        summary="F-score of character n-grams up to 6, recall counting twice as much as precision",
        range=(0.0, 100.0),
        training_data="none",
        licence="Apache-2.0 (own code; definition of sacreBLEU, Apache-2.0)",
        paper="Popović 2015, chrF: character n-gram F-score for automatic MT evaluation, WMT; "
        "definition of Post 2018, WMT",
        failures="Blind to the order of words beyond a few characters, and to negation. Favours outputs that are too "
        "long over those that are too short. A word that merely shares letters with the reference earns credit.",
    )

    def scorer(self) -> Scorer:
        from sacrebleu.metrics import chrf

        self._check()
        return chrf.CHRF(
            self.char_order, self.word_order, self.beta, self.lowercase, self.whitespace, self.eps_smoothing
        )

    def statistics(self, items: Items) -> Rows:
        self._check()
        texts = pack([text.lower() for text in items.texts] if self.lowercase else items.texts)
        letters = texts if self.whitespace else remove_spaces(texts)
        words = split_words(texts, "parted") if self.word_order else _no_words(len(texts))
        rows = np.empty((len(items), 3 * (self.char_order + self.word_order)), np.int64)
        given = (letters.codes, letters.offsets, words.ids.view(np.uint32), words.offsets)
        asked = (items.outputs, items.references, items.bounds)
        how = (self.char_order, self.word_order, float(self.beta), int(self.eps_smoothing))
        in_parts(lambda start, stop: _statistics(*given, *asked, start, stop, *how, rows), len(items))
        return rows

    def scores_of(self, rows: Rows) -> Floats:
        scores = np.empty(len(rows))
        how = (self.char_order + self.word_order, float(self.beta), int(self.eps_smoothing))
        _scores(np.ascontiguousarray(rows, np.int64), *how, scores)
        return scores

    def _check(self) -> None:
        if not 1 <= self.char_order <= 1000 or not 0 <= self.word_order <= 1000 or self.beta < 0:
            raise InvalidInput(
                f"{self.name}: char_order must be at least 1, word_order and beta at least 0, and no order above 1000"
            )


@dataclass(frozen=True)
class ChrFPlusPlus(ChrF):
    """F-score of character n-grams and of single words and pairs of words."""

    word_order: int = 2

    card: ClassVar[MetricCard] = replace(
        ChrF.card,
        name="chrF++",
        summary="chrF with words and pairs of words beside the character n-grams",
        paper="Popović 2017, chrF++: words helping character n-grams, WMT; definition of Post 2018, WMT",
        failures="Blind to the order of words beyond pairs, and to negation. Favours outputs that are too long over "
        "those that are too short. Words are split at spaces: scripts without spaces have whole sentences for words.",
    )


def _no_words(texts: int) -> Words:
    return Words(np.empty(0, np.int32), np.zeros(texts + 1, np.int64), 0)


METRICS = {"chrF": ChrF, "chrF++": ChrFPlusPlus}
