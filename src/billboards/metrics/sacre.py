"""BLEU, chrF, chrF++ and TER, as sacreBLEU computes them for single sentences.

Nothing is computed here: each metric sets up the sacreBLEU object that its options describe and asks it. The
signature is that object's own, in sacreBLEU's words (`BLEU|case:mixed|eff:yes|tok:13a|smooth:exp|version:2.6.0`), less
the number of references, which belongs to the column and not to the metric.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from billboards.domain import MetricCard
from billboards.errors import InvalidInput, MissingPart, UnknownName
from billboards.metrics.base import Batch, Floats, Metric, score_each

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as Scorer


class SacreMetric(Metric):
    """A metric of sacreBLEU's; a subclass says which, and with which parameters."""

    @abstractmethod
    def scorer(self) -> Scorer:
        """The sacreBLEU object that these options describe."""

    @property
    def signature(self) -> str:
        scorer = self.scorer()
        # sacreBLEU knows a signature only after a first score; its name carries what the rest leaves out (chrF's beta).
        name = scorer.sentence_score("", [""]).name
        signature = scorer.get_signature()
        signature.update("nrefs", None)
        return f"{name}|{signature.format()}"

    def score(self, batch: Batch) -> Floats:
        scorer = self.scorer()
        return score_each(batch, lambda item: float(scorer.sentence_score(item.output, item.references).score))


@dataclass(frozen=True)
class BLEU(SacreMetric):
    """Sentence BLEU; the orders that an output is too short for don't count (effective order)."""

    tokenize: str = "13a"
    smooth: str = "exp"
    lowercase: bool = False

    multiple_references: ClassVar[Literal["own", "best"]] = "own"
    card: ClassVar[MetricCard] = MetricCard(
        name="BLEU",
        summary="Geometric mean of the precisions of 1- to 4-grams of words, times a penalty for short outputs",
        range=(0.0, 100.0),
        training_data="none",
        licence="Apache-2.0 (sacreBLEU)",
        paper="Papineni et al. 2002, BLEU: a Method for Automatic Evaluation of Machine Translation, ACL; "
        "sentence smoothing after Chen and Cherry 2014, WMT; implementation of Post 2018, WMT",
        failures="Gives no credit for synonyms or paraphrases and can't see negation. The tokenizer 13a doesn't split "
        "Chinese, Japanese, Thai and other scripts without spaces: set tokenize=zh, ja-mecab, ko-mecab or char there. "
        "Made for whole test sets; single short sentences are mostly smoothing.",
    )

    def scorer(self) -> Scorer:
        from sacrebleu.metrics import bleu

        _check_choice("BLEU tokenizer", self.tokenize, bleu.BLEU.TOKENIZERS)
        _check_choice("BLEU smoothing", self.smooth, bleu.BLEU.SMOOTH_DEFAULTS)
        try:
            return bleu.BLEU(self.lowercase, tokenize=self.tokenize, smooth_method=self.smooth, effective_order=True)
        except (ImportError, RuntimeError) as error:
            reason = " ".join(str(error).split())
            raise MissingPart(f"BLEU(tokenize={self.tokenize}) needs a part that is not installed: {reason}") from error


@dataclass(frozen=True)
class ChrF(SacreMetric):
    """F-score of character n-grams."""

    char_order: int = 6
    beta: int = 2
    lowercase: bool = False
    whitespace: bool = False
    eps_smoothing: bool = False

    word_order: ClassVar[int] = 0
    card: ClassVar[MetricCard] = MetricCard(
        name="chrF",
        summary="F-score of character n-grams up to 6, recall counting twice as much as precision",
        range=(0.0, 100.0),
        training_data="none",
        licence="Apache-2.0 (sacreBLEU)",
        paper="Popović 2015, chrF: character n-gram F-score for automatic MT evaluation, WMT; "
        "implementation of Post 2018, WMT",
        failures="Blind to the order of words beyond a few characters, and to negation. Favours outputs that are too "
        "long over those that are too short. A word that merely shares letters with the reference earns credit.",
    )

    def scorer(self) -> Scorer:
        from sacrebleu.metrics import chrf

        if self.char_order < 1 or self.beta < 0:
            raise InvalidInput(f"{self.name}: char_order must be at least 1 and beta at least 0")
        return chrf.CHRF(
            self.char_order, self.word_order, self.beta, self.lowercase, self.whitespace, self.eps_smoothing
        )


@dataclass(frozen=True)
class ChrFPlusPlus(ChrF):
    """F-score of character n-grams and of single words and pairs of words."""

    word_order: ClassVar[int] = 2
    card: ClassVar[MetricCard] = replace(
        ChrF.card,
        name="chrF++",
        summary="chrF with words and pairs of words beside the character n-grams",
        paper="Popović 2017, chrF++: words helping character n-grams, WMT; implementation of Post 2018, WMT",
        failures="Blind to the order of words beyond pairs, and to negation. Favours outputs that are too long over "
        "those that are too short. Words are split at spaces: scripts without spaces have whole sentences for words.",
    )


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
        licence="Apache-2.0 (sacreBLEU)",
        paper="Snover et al. 2006, A Study of Translation Edit Rate with Targeted Human Annotation, AMTA; "
        "implementation of Post 2018, WMT",
        failures="Without bound where an output is much longer than its reference. Splits at spaces only, so that "
        "punctuation sticks to words, unless normalized=True (with asian_support=True for Chinese and Japanese). "
        "Slow: the time grows faster than the square of the length.",
        slow=True,
    )

    def scorer(self) -> Scorer:
        from sacrebleu.metrics import ter

        return ter.TER(self.normalized, self.no_punct, self.asian_support, self.case_sensitive)


def _check_choice(what: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise UnknownName(what, name, known)
