"""BLEU (Papineni et al. 2002), by sentence and by corpus, with all of sacreBLEU's tokenizers and smoothings.

Words are numbered, and n-grams counted in a compiled kernel. The tokenizer `13a`, which most papers use, is compiled
too; any other is sacreBLEU's own, asked once for each text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Floats, MetricCard
from billboards.metrics.kernels.calling import F64, I32, I64, U32, Kernel
from billboards.metrics.kernels.items import Items
from billboards.metrics.kernels.texts import Texts, Words, pack, remove_spaces, split_words
from billboards.metrics.kernels.threads import in_parts
from billboards.metrics.languages import HAN, Language
from billboards.metrics.sacre import SacreMetric, check_choice
from billboards.metrics.summed import Rows

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as Scorer

_statistics = Kernel("_ngrams", "bleu_statistics", (U32, I64, I32, I32, I64, int, int, int, I64))
_scores = Kernel("_ngrams", "bleu_scores", (I64, int, int, float, int, F64))

#: What brings a tokenizer's dictionary.
_EXTRAS = {"ja-mecab": "ja", "ko-mecab": "ko"}
#: Tokenizers that find words between spaces and marks alone.
_SPACED = frozenset({"13a", "intl", "none"})
_SMOOTHINGS = {"none": 0, "floor": 1, "add-k": 2, "exp": 3}
#: What floor puts in the place of no match, and add-k adds, unless told otherwise (Chen and Cherry 2014).
_SMOOTH_VALUES = {"none": 0.0, "floor": 0.1, "add-k": 1.0, "exp": 0.0}


@dataclass(frozen=True)
class BLEU(SacreMetric):
    """BLEU; of a sentence, the orders that it is too short for don't count (effective order); of a corpus they do.

    `smooth` is none, floor, add-k or exp; the value that floor and add-k take follows in brackets: `floor[0.05]`.
    `effective_order` is that of sentences; `corpus_effective_order` that of corpora, off as in sacreBLEU.
    """

    tokenize: str = "13a"
    smooth: str = "exp"
    lowercase: bool = False
    effective_order: bool = True
    max_ngram_order: int = 4
    corpus_effective_order: bool = False

    multiple_references: ClassVar[Literal["own", "best"]] = "own"
    card: ClassVar[MetricCard] = MetricCard(
        name="BLEU",
        summary="Geometric mean of the precisions of 1- to 4-grams of words, times a penalty for short outputs",
        range=(0.0, 100.0),
        training_data="none",
        licence="Apache-2.0 (own code; definition and other tokenizers than 13a of sacreBLEU, Apache-2.0)",
        paper="Papineni et al. 2002, BLEU: a Method for Automatic Evaluation of Machine Translation, ACL; "
        "sentence smoothing after Chen and Cherry 2014, WMT; definition of Post 2018, WMT",
        failures="Gives no credit for synonyms or paraphrases and can't see negation. The tokenizer 13a doesn't split "
        "Chinese, Japanese, Thai and other scripts without spaces: set tokenize=zh, ja-mecab, ko-mecab or char there. "
        "Made for whole test sets; single short sentences are mostly smoothing.",
    )

    def language_options(self, language: Language) -> dict[str, object]:
        return tokenize_for(language)

    def language_doubt(self, language: Language) -> str | None:
        return left_uncut(language, self.tokenize) or super().language_doubt(language)

    def scorer(self) -> Scorer:
        from sacrebleu.metrics import bleu

        self._check()
        method, value = self._smoothing()
        return bleu.BLEU(
            self.lowercase,
            tokenize=self.tokenize,
            smooth_method=method,
            smooth_value=value,
            effective_order=self.effective_order,
            max_ngram_order=self.max_ngram_order,
        )

    def own_words(self) -> Iterable[str]:
        """What sacreBLEU's signature leaves out: other orders than 4, and more than two digits of a smoothing value."""
        if self.max_ngram_order != 4:
            yield f"order:{self.max_ngram_order}"
        if (value := self._smoothing()[1]) != round(value, 2):
            yield f"smooth_value:{value!r}"
        if self.corpus_effective_order:
            yield "corpus_eff:yes"

    def corpus_scorer(self) -> Scorer:
        return replace(self, effective_order=self.corpus_effective_order).scorer()

    def statistics(self, items: Items) -> Rows:
        self._check()
        words = words_of([text.lower() for text in items.texts] if self.lowercase else items.texts, self.tokenize)
        rows = np.empty((len(items), 2 + 2 * self.max_ngram_order), np.int64)
        given = (words.ids.view(np.uint32), words.offsets, items.outputs, items.references, items.bounds)
        in_parts(lambda start, stop: _statistics(*given, start, stop, self.max_ngram_order, rows), len(items))
        return rows

    def scores_of(self, rows: Rows) -> Floats:
        return self._scores_of(rows, effective_order=self.effective_order)

    def corpus_scores_of(self, rows: Rows) -> Floats:
        return self._scores_of(rows, effective_order=self.corpus_effective_order)

    def _scores_of(self, rows: Rows, *, effective_order: bool) -> Floats:
        scores = np.empty(len(rows))
        method, value = self._smoothing()
        how = (_SMOOTHINGS[method], value, int(effective_order))
        _scores(np.ascontiguousarray(rows, np.int64), self.max_ngram_order, *how, scores)
        return scores

    def _check(self) -> None:
        tokenizer(self.tokenize)
        self._smoothing()
        if not 1 <= self.max_ngram_order <= 1000:
            raise InvalidInput(f"{self.name}: max_ngram_order must lie between 1 and 1000")

    def _smoothing(self) -> tuple[str, float]:
        """The method and its value."""
        method, bracket, written = self.smooth.partition("[")
        check_choice("BLEU smoothing", method, _SMOOTHINGS)
        if not bracket:
            return method, _SMOOTH_VALUES[method]
        try:
            value = float(written.removesuffix("]"))
        except ValueError:
            value = -1.0
        if method not in ("floor", "add-k") or not written.endswith("]") or not 0 <= value < float("inf"):
            raise InvalidInput(f"BLEU: smooth={self.smooth} is neither floor[value] nor add-k[value], as in floor[0.1]")
        return method, value


def tokenize_for(language: Language) -> dict[str, object]:
    """sacreBLEU's own choice for a target language, as an option; characters for other scripts without spaces."""
    if language.code == "ko" and language.script != "Latn":
        return {"tokenize": "ko-mecab"}
    if language.script in HAN:
        return {"tokenize": "ja-mecab" if language.code == "ja" else "zh"}
    return {"tokenize": "char"} if language.unspaced else {}


def left_uncut(language: Language, tokenize: str) -> str | None:
    """What is wrong where a tokenizer leaves a script without spaces in one piece."""
    if language.unspaced and tokenize in _SPACED:
        return f"leaves texts in {language.code} uncut (tokenize={tokenize}), so that nearly every score is 0"
    return None


def words_of(texts: Sequence[str], tokenize: str) -> Words:
    """The words of texts, numbered, by the tokenizer of this name."""
    if tokenize == "13a":
        return split_words(pack(texts), "13a")
    if tokenize == "char":
        return _letters(remove_spaces(pack(texts)))
    cut = tokenizer(tokenize)
    return split_words(pack([cut(text.rstrip()) for text in texts]))


def _letters(texts: Texts) -> Words:
    """Letters as words; a letter's number is its code point."""
    return Words(texts.codes.view(np.int32), texts.offsets, 0x110000)


@cache
def tokenizer(name: str) -> Callable[[str], str]:
    """A tokenizer of sacreBLEU's, the same object every time, because each remembers the texts it has seen."""
    from sacrebleu.metrics import bleu

    check_choice("BLEU tokenizer", name, bleu.BLEU.TOKENIZERS)
    try:
        tokenizer: Callable[[str], str] = bleu.BLEU(tokenize=name).tokenizer
    except (ImportError, RuntimeError, OSError) as error:
        reason = " ".join(str(error).split())
        extra = _EXTRAS.get(name)
        remedy = f": pip install 'billboards[{extra}]', or choose another, as in BLEU(tokenize=char)" if extra else ""
        raise MissingPart(
            f"BLEU(tokenize={name}) needs a part that is not installed{remedy}{'; ' if extra else ': '}{reason}"
        ) from error
    return tokenizer


METRICS = {"BLEU": BLEU}
