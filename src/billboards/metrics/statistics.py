"""What can be counted in an output without a reference: length, repetition-n and abstractness-n (BEAMetrics, §4).

They describe an output and don't judge it, yet they correlate with judgments more often than one would like, so every
board should show them beside its metrics. A token is a word, a single punctuation mark, or a single character of
Chinese or Japanese; this follows from the text alone, so a signature needs no language. Case doesn't count. Where
there is no n-gram to speak of, nothing is repeated and nothing is new: 0.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, ClassVar

from billboards.errors import UnknownName
from billboards.metrics.base import LATER, Batch, Floats, Metric, MetricCard, score_each

PAPER = (
    "Scialom and Hill 2021, BEAMetrics: A Benchmark for Language Generation Evaluation, §4; the definitions are "
    "the paper's words, not the numbers of its Repet rows, which equal Length"
)
LICENCE = "Apache-2.0"


def tokens(text: str) -> list[str]:
    """Words, punctuation marks, and characters of Chinese and Japanese."""
    words: list[str] = _pattern().findall(composed(text))
    return words


def composed(text: str) -> str:
    """A text in NFC.

    Marks above and below one letter are put into order, for which Python takes time with the square of their number: an
    output of marks alone would keep a metric busy for hours. No writing has more than a few. Where there are hundreds,
    a joiner between them bounds what is sorted, as Unicode's stream-safe format does.
    """
    return unicodedata.normalize("NFC", _many_marks().sub(rf"\g<0>{JOINER}", text))


def ngrams(text: str, n: int) -> list[tuple[str, ...]]:
    """Every n-gram of a text, case aside, in order."""
    words = tokens(text.casefold())
    return [tuple(words[k : k + n]) for k in range(len(words) - n + 1)]


#: The combining grapheme joiner, which is a mark itself but stays where it is.
JOINER = "\u034f"


@cache
def _many_marks() -> Any:
    import regex

    return regex.compile(r"\p{M}{256}")


@cache
def _pattern() -> Any:
    # Unlike re, regex knows scripts and counts the vowel signs of Hindi or Thai as parts of words.
    import regex

    alone = r"[\p{Han}\p{Hiragana}\p{Katakana}]"
    return regex.compile(rf"{alone}|[[\p{{L}}\p{{M}}\p{{N}}_]--{alone}]+|\S", regex.VERSION1)


#: How statistics may be defined: as this page says, or as BEAMetrics computed them, slips included.
DEFINITIONS = ("own", "beametrics")


def _beametrics_ngrams(text: str, n: int) -> list[tuple[str, ...]]:
    """BEAMetrics' n-grams: case counts, and Chinese words are not cut."""
    words: list[str] = _beametrics_pattern().findall(text)
    return [tuple(words[k : k + n]) for k in range(len(words) - n + 1)]


@cache
def _beametrics_pattern() -> Any:
    import regex

    return regex.compile(r"[\p{L}\p{M}\p{N}_]+|\S")


@dataclass(frozen=True)
class Statistic(Metric):
    """What the statistics share: they are told apart by name, and any change of definition is a new revision."""

    def versions(self) -> dict[str, str]:
        return {"revision": "1"}


@dataclass(frozen=True)
class CountedStatistic(Statistic):
    """Statistics of BEAMetrics, by this page's definition or by that paper's.

    `definition=beametrics` gives the numbers of the paper's tables: distinct n-grams, a hair below the line, and for
    repetition the number of n-grams less one, because in a - b/(c + 1e-5) only b is divided.
    """

    definition: str = field(default="own", metadata=LATER)

    def __post_init__(self) -> None:
        if self.definition not in DEFINITIONS:
            raise UnknownName("definition of a statistic", self.definition, DEFINITIONS)


@dataclass(frozen=True)
class Length(CountedStatistic):
    """The number of tokens."""

    card: ClassVar[MetricCard] = MetricCard(
        name="length",
        summary="Number of tokens of the output: words, punctuation marks, characters of Chinese and Japanese",
        needs_references=False,
        range=(0.0, None),
        training_data="none",
        licence=LICENCE,
        paper=PAPER,
        failures="Says nothing about quality; higher is called better only because people often prefer what is more "
        "complete. Words of scripts without spaces other than Chinese and Japanese (Thai, Khmer) aren't told apart.",
        is_statistic=True,
    )
    submodular: ClassVar[bool] = True

    def score_batch(self, batch: Batch) -> Floats:
        if self.definition == "beametrics":
            return score_each(batch, lambda item: len(_beametrics_ngrams(item.output, 1)))
        return score_each(batch, lambda item: len(tokens(item.output)))


@dataclass(frozen=True)
class Repetition(CountedStatistic):
    """The share of an output's n-grams that came before in the same output."""

    n: ClassVar[int]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.definition == "beametrics":
            # A number instead of a share.
            object.__setattr__(self, "card", replace(self.card, range=(0.0, None)))

    def score_batch(self, batch: Batch) -> Floats:
        if self.definition == "beametrics":
            return score_each(batch, lambda item: self._less_one(_beametrics_ngrams(item.output, self.n)))
        return score_each(batch, lambda item: self._share(ngrams(item.output, self.n)))

    def _less_one(self, grams: list[tuple[str, ...]]) -> float:
        return len(grams) - len(set(grams)) / (len(set(grams)) + 1e-5)

    def _share(self, grams: list[tuple[str, ...]]) -> float:
        return (len(grams) - len(set(grams))) / len(grams) if grams else 0.0


@dataclass(frozen=True)
class Abstractness(CountedStatistic):
    """The share of an output's n-grams that are not in the input."""

    n: ClassVar[int]

    def score_batch(self, batch: Batch) -> Floats:
        if self.definition == "beametrics":
            ngrams_of = cache(lambda text: frozenset(_beametrics_ngrams(text, self.n)))
            return score_each(batch, lambda item: self._new(item.output, ngrams_of(item.input or "")))
        # Many outputs may share one long input.
        grams_of = cache(lambda text: frozenset(ngrams(text, self.n)))
        return score_each(batch, lambda item: self._share(ngrams(item.output, self.n), grams_of(item.input or "")))

    def _new(self, output: str, of_input: frozenset[tuple[str, ...]]) -> float:
        """Distinct n-grams that are new over distinct n-grams and a hair, so that longer outputs come first in ties."""
        grams = set(_beametrics_ngrams(output, self.n))
        return len(grams - of_input) / (len(grams) + 1e-5)

    def _share(self, grams: list[tuple[str, ...]], of_input: frozenset[tuple[str, ...]]) -> float:
        return sum(ngram not in of_input for ngram in grams) / len(grams) if grams else 0.0


def _repetition_card(n: int) -> MetricCard:
    return MetricCard(
        name=f"repetition-{n}",
        summary=f"Share of the output's {n}-grams that came before in the same output; 0 where it has none",
        needs_references=False,
        higher_is_better=False,
        range=(0.0, 1.0),
        training_data="none",
        licence=LICENCE,
        paper=PAPER,
        failures="Grows with length by itself, because function words return; an empty output has the best value.",
        is_statistic=True,
    )


def _abstractness_card(n: int) -> MetricCard:
    return MetricCard(
        name=f"abstractness-{n}",
        summary=f"Share of the output's {n}-grams that are not in the input; 0 where it has none",
        needs_references=False,
        needs_input=True,
        range=(0.0, 1.0),
        training_data="none",
        licence=LICENCE,
        paper=PAPER,
        failures="Can't tell rewording from invention. Close to 1 for every output where input and output are in "
        "different languages, and without meaning where the input is an image.",
        is_statistic=True,
    )


@dataclass(frozen=True)
class Repetition1(Repetition):
    n: ClassVar[int] = 1
    card: ClassVar[MetricCard] = _repetition_card(1)


@dataclass(frozen=True)
class Repetition2(Repetition):
    n: ClassVar[int] = 2
    card: ClassVar[MetricCard] = _repetition_card(2)


@dataclass(frozen=True)
class Repetition3(Repetition):
    n: ClassVar[int] = 3
    card: ClassVar[MetricCard] = _repetition_card(3)


@dataclass(frozen=True)
class Abstractness1(Abstractness):
    n: ClassVar[int] = 1
    card: ClassVar[MetricCard] = _abstractness_card(1)


@dataclass(frozen=True)
class Abstractness2(Abstractness):
    n: ClassVar[int] = 2
    card: ClassVar[MetricCard] = _abstractness_card(2)


@dataclass(frozen=True)
class Abstractness3(Abstractness):
    n: ClassVar[int] = 3
    card: ClassVar[MetricCard] = _abstractness_card(3)


METRICS = {
    "length": Length,
    "repetition-1": Repetition1,
    "repetition-2": Repetition2,
    "repetition-3": Repetition3,
    "abstractness-1": Abstractness1,
    "abstractness-2": Abstractness2,
    "abstractness-3": Abstractness3,
}
