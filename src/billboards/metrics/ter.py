"""Translation edit rate (Snover et al. 2006), by sentence and by corpus.

Edits and shifts are found in a compiled kernel, with the heuristics and limits of sacreBLEU's TER (those of Tercom):
phrases of up to 10 words, moved by up to 50, 1,000 candidates, and a band of 25 words around the diagonal. So the time
for one output grows with its length, and not with the length's square.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from billboards.metrics.base import Floats, MetricCard
from billboards.metrics.kernels.calling import F64, I32, I64, Kernel
from billboards.metrics.kernels.items import Items
from billboards.metrics.kernels.texts import pack, split_words
from billboards.metrics.kernels.threads import in_parts
from billboards.metrics.languages import HAN, Language
from billboards.metrics.sacre import SacreMetric
from billboards.metrics.summed import Rows, edit_rates

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as Scorer

_statistics = Kernel("_ter", "ter_statistics", (I32, I64, I32, I32, I64, int, int, F64))


@dataclass(frozen=True)
class TER(SacreMetric):
    """Edits (with shifts of whole phrases) that turn the output into the reference, per reference word."""

    normalized: bool = False
    no_punct: bool = False
    asian_support: bool = False
    case_sensitive: bool = False

    multiple_references: ClassVar[Literal["own", "best"]] = "own"
    card: ClassVar[MetricCard] = MetricCard(
        name="TER",
        summary="Insertions, deletions, substitutions and shifts of phrases needed to reach the nearest reference, "
        "per word of the references' mean length, times 100",
        higher_is_better=False,
        range=(0.0, None),
        training_data="none",
        licence="Apache-2.0 (own code; definition and normalisation of sacreBLEU, Apache-2.0)",
        paper="Snover et al. 2006, A Study of Translation Edit Rate with Targeted Human Annotation, AMTA; "
        "definition of Post 2018, WMT",
        failures="Without bound where an output is much longer than its reference. Splits at spaces only, so that "
        "punctuation sticks to words, unless normalized=True (and asian_support=True, which boards in Chinese or "
        "Japanese get). Shifts are found greedily, so the number of edits is not always the least.",
    )

    def language_options(self, language: Language) -> dict[str, object]:
        return {"normalized": True, "asian_support": True} if language.script in HAN else {}

    def language_doubt(self, language: Language) -> str | None:
        if language.unspaced and not (language.script in HAN and self.normalized and self.asian_support):
            return f"takes whole sentences in {language.code} for words: any difference at all costs nearly everything"
        return super().language_doubt(language)

    def scorer(self) -> Scorer:
        from sacrebleu.metrics import ter

        return ter.TER(self.normalized, self.no_punct, self.asian_support, self.case_sensitive)

    def statistics(self, items: Items) -> Rows:
        prepare = self._preparation()
        texts, references = [prepare(text) for text in items.texts], items.references
        if self.normalized or self.no_punct:
            # sacreBLEU prepares references twice, and outputs once: "1970's, so" loses its comma first, its 's then.
            references = (references + len(texts)).astype(np.int32)
            texts += [prepare(text) for text in texts]
        words = split_words(pack(texts))
        rows = np.empty((len(items), 2), np.float64)
        given = (words.ids, words.offsets, items.outputs, references, items.bounds)
        in_parts(lambda start, stop: _statistics(*given, start, stop, rows), len(items), smallest=8)
        return rows

    def scores_of(self, rows: Rows) -> Floats:
        """Edits per reference word; with no word in the references, 100 for any edit at all."""
        return edit_rates(rows)

    def _preparation(self) -> Callable[[str], str]:
        if not (self.normalized or self.no_punct):
            return str if self.case_sensitive else str.lower
        normalize = _normalizer(self.normalized, self.no_punct, self.asian_support, self.case_sensitive)
        return lambda text: normalize(text.rstrip())


@cache
def _normalizer(normalized: bool, no_punct: bool, asian_support: bool, case_sensitive: bool) -> Callable[[str], str]:
    """sacreBLEU's tokenizer for TER, the same object every time, because each remembers the texts it has seen."""
    from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

    tokenize: Callable[[str], str] = TercomTokenizer(normalized, no_punct, asian_support, case_sensitive)
    return tokenize


METRICS = {"TER": TER}
