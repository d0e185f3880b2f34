"""ROUGE-1, -2, -3 and -L: the F measure that rouge-score computes, against the reference where it is highest.

Only the F measure is kept, because a board ranks by one number per output. Each distinct text of a batch is tokenised
once, which matters where an output meets ten references or the stemmer is on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from types import SimpleNamespace
from typing import ClassVar

from billboards.domain import MetricCard
from billboards.metrics.base import Batch, Floats, Metric, score_each


@dataclass(frozen=True)
class Rouge(Metric):
    """What the members of the family share; a subclass says what is counted."""

    stemmer: bool = False

    #: What is counted, in rouge-score's words.
    counted: ClassVar[str]

    def versions(self) -> dict[str, str]:
        packages = ("rouge-score", "nltk") if self.stemmer else ("rouge-score",)
        return {package: version(package) for package in packages}

    def score(self, batch: Batch) -> Floats:
        from rouge_score.rouge_scorer import RougeScorer
        from rouge_score.tokenizers import DefaultTokenizer

        tokenizer = SimpleNamespace(tokenize=cache(DefaultTokenizer(self.stemmer).tokenize))
        scorer = RougeScorer([self.counted], tokenizer=tokenizer)
        return score_each(batch, lambda item: scorer.score_multi(item.references, item.output)[self.counted].fmeasure)


@dataclass(frozen=True)
class Rouge1(Rouge):
    """F measure of single words."""

    counted: ClassVar[str] = "rouge1"
    card: ClassVar[MetricCard] = MetricCard(
        name="ROUGE-1",
        summary="F measure of the words that output and reference share; best over references",
        range=(0.0, 1.0),
        training_data="none",
        licence="Apache-2.0 (rouge-score)",
        paper="Lin 2004, ROUGE: A Package for Automatic Evaluation of Summaries, Text Summarization Branches Out",
        failures="Words are runs of a-z and 0-9 after lowercasing: letters with accents split words, and texts in "
        "Cyrillic, Chinese, Arabic and other scripts are blanked, so that every output scores 0. Gives no credit for "
        "synonyms and can't see negation. An output too short to hold what is counted scores 0.",
    )


@dataclass(frozen=True)
class Rouge2(Rouge):
    """F measure of pairs of words."""

    counted: ClassVar[str] = "rouge2"
    card: ClassVar[MetricCard] = replace(
        Rouge1.card,
        name="ROUGE-2",
        summary="F measure of the pairs of words that output and reference share; best over references",
    )


@dataclass(frozen=True)
class Rouge3(Rouge):
    """F measure of triples of words."""

    counted: ClassVar[str] = "rouge3"
    card: ClassVar[MetricCard] = replace(
        Rouge1.card,
        name="ROUGE-3",
        summary="F measure of the triples of words that output and reference share; best over references",
    )


@dataclass(frozen=True)
class RougeL(Rouge):
    """F measure of the longest common subsequence of words."""

    counted: ClassVar[str] = "rougeL"
    card: ClassVar[MetricCard] = replace(
        Rouge1.card,
        name="ROUGE-L",
        summary="F measure of the longest common subsequence of words, the whole text taken as one sentence; "
        "best over references",
    )
