"""A metric on plain texts, without a board: the outputs of one system in, their scores and one value out.

`score_outputs` is the one way from texts to numbers; `score_given` is the same for whatever shape the texts come in.
`TextScores` holds what came out, and computes intervals and tests between two systems from the counts that it keeps.
Everything is in the direction in which users know the metric (TER: lower is better).
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch, Counts, Floats, Metric, score_counted_checked
from billboards.metrics.corpus import CorpusValue, mean_values, summed_values
from billboards.metrics.summed import SummedMetric
from billboards.reading import shown
from billboards.stats.resampling import DRAWS, SEED, Resampling, Scores, Swaps, bootstrap_p, randomisation_p

#: How lists of references are nested: a list for each output, or a list for each reference.
Nesting = Literal["output", "reference"]
#: References in one nesting must share this many times as many words with the outputs as in the other to be read so.
CLEARLY = 1.5


class NestingGuessed(UserWarning):
    """References fitted both nestings, and were read as their words say."""


@dataclass(frozen=True, kw_only=True)
class PairedTests:
    """Whether two systems differ under a metric: the difference of their values, and what two tests say of it."""

    difference: float
    #: p-values of the paired bootstrap and of approximate randomisation.
    bootstrap: float
    randomisation: float


@dataclass(frozen=True, kw_only=True, repr=False)
class TextScores:
    """The scores of one system's outputs under a metric."""

    metric: Metric
    #: One score for each output, by the names of the metric's parts, the primary one first; NaN where it abstained.
    parts: Mapping[str, Floats]
    #: The value of all outputs together.
    corpus: float
    #: How many references each output has.
    references: int | Literal["var"] | None = None
    counts: Counts | None = field(default=None, repr=False)

    @property
    def sentences(self) -> Floats:
        """One score for each output."""
        return next(iter(self.parts.values()))

    @property
    def signature(self) -> str:
        """What a paper cites: for sacreBLEU's metrics its own signature."""
        return self.metric.corpus_signature(self.references)

    def interval(self, *, draws: int = DRAWS, seed: int = SEED) -> tuple[float, float]:
        """The 95% interval of the value, from resampled corpora; NaN where the metric has none."""
        value = self.value(Resampling(draws, seed))
        return value.low, value.high

    def value(self, resampling: Resampling) -> CorpusValue:
        """The value with its interval; the same resampling serves many systems and metrics."""
        scores = self.sentences[np.newaxis]
        value: CorpusValue | None = None
        if isinstance(self.metric, SummedMetric) and self.counts is not None:
            (value,) = summed_values(self.metric, [self.counts], scores, resampling)
        elif self.metric.corpus == "mean":
            (value,) = mean_values(scores, resampling)
        return value or CorpusValue(
            value=self.corpus, low=nan, high=nan, mean=nan, n=len(self.sentences), sentence_mean=nan
        )

    def tests(self, other: TextScores, resampling: Resampling, swaps: Swaps) -> PairedTests | None:
        """Whether another system's value differs from this one's; None where it comes from all outputs together.

        other: the scores of the other system's outputs, for the same inputs in the same order.
        resampling: the draws of the bootstrap.
        swaps: the trials of the randomisation; both serve many systems and metrics.
        """
        if len(self.sentences) != len(other.sentences):
            raise InvalidInput(
                f"{len(self.sentences)} outputs of one system and {len(other.sentences)} of the other; give as many"
            )
        both = ~(np.isnan(self.sentences) | np.isnan(other.sentences))
        if not both.any() or self.metric.corpus == "system":
            return None
        first, second = self._rows(both), other._rows(both)
        scores = self._scores_of(int(both.sum()))
        of_first, of_second = (float(scores(rows.sum(axis=0)[np.newaxis])[0]) for rows in (first, second))
        drawn = [scores(resampling.sums(rows).astype(rows.dtype)) for rows in (first, second)]
        difference = of_second - of_first
        return PairedTests(
            difference=difference,
            bootstrap=bootstrap_p(drawn[0], drawn[1], difference),
            randomisation=randomisation_p(first, second, scores, difference, swaps=swaps),
        )

    def _rows(self, chosen: NDArray[np.bool_]) -> Counts:
        """What is summed: the counts of outputs, or their scores."""
        if isinstance(self.metric, SummedMetric) and self.counts is not None:
            rows: Counts = self.counts[chosen]
            return rows if np.issubdtype(rows.dtype, np.floating) else rows.astype(np.int64)
        scores: Counts = self.sentences[chosen][:, np.newaxis]
        return scores

    def _scores_of(self, outputs: int) -> Scores:
        if isinstance(self.metric, SummedMetric) and self.counts is not None:
            return self.metric.corpus_scores_of
        return lambda sums: sums[:, 0] / outputs

    def to_pandas(self) -> Any:
        """The scores of the outputs as a pandas data frame, a column for each part."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingPart(
                "to_pandas needs pandas, which is not installed; install it with `pip install 'billboards[frames]'`"
            ) from error
        return pd.DataFrame({part or self.metric.name: scores for part, scores in self.parts.items()})

    def __float__(self) -> float:
        return self.corpus

    def __len__(self) -> int:
        return len(self.sentences)

    def __iter__(self) -> Iterator[float]:
        return iter(self.sentences.tolist())

    def __getitem__(self, which: int | slice | str) -> Any:
        """An output's score by its place, or all scores of a part by its name."""
        return self.parts[which] if isinstance(which, str) else self.sentences[which]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        """The outputs' scores, so that numpy takes them as they are."""
        return np.array(self.sentences, dtype or np.float64, copy=copy is not False)

    def __str__(self) -> str:
        return f"{self.metric.label} {self.corpus:.4g} ({self.signature})"

    __repr__ = __str__


def score_outputs(
    metric: Metric,
    outputs: Sequence[str],
    references: Sequence[Sequence[str]] = (),
    sources: Sequence[str] = (),
    *,
    language: str | None = None,
) -> TextScores:
    """The scores of one system's outputs.

    metric: the metric.
    outputs: one text for each input.
    references: a list of texts for each output; empty where there are none.
    sources: the input of each output; empty where there are none.
    language: the language of the outputs.
    """
    if not outputs:
        raise InvalidInput(f"{metric.name}: no output to score; give at least one")
    batch = Batch(
        outputs,
        references if metric.card.needs_references else (),
        sources if metric.card.needs_input else (),
        language,
    )
    parts, counts = score_counted_checked(metric, batch)
    if isinstance(metric, SummedMetric) and counts is not None:
        corpus = float(metric.corpus_scores_of(counts.sum(axis=0)[np.newaxis])[0])
    elif counts is not None:
        corpus = float(counts[0][0])
    else:
        scores = next(iter(parts.values()))
        corpus = float(scores[~np.isnan(scores)].mean()) if not np.isnan(scores).all() else nan
    if isnan(corpus):
        raise InvalidInput(f"{metric.name} gave none of the {len(outputs)} outputs a score")
    sizes = {len(texts) for texts in batch.references}
    each: int | Literal["var"] | None = sizes.pop() if len(sizes) == 1 else "var" if sizes else None
    return TextScores(metric=metric, parts=parts, corpus=corpus, references=each, counts=counts)


def score_given(
    metric: Metric,
    outputs: str | Iterable[str] | Batch,
    references: str | Iterable[str | Iterable[str | None] | None] | None = None,
    sources: str | Iterable[str] | None = None,
    *,
    language: str | None = None,
    nesting: Nesting | None = None,
) -> TextScores:
    """The scores of texts in whatever shape they come: one text or many, references in either nesting.

    metric: the metric.
    outputs: one text, several, or a batch, which has references and sources of its own.
    references: a text for each output, a list of texts for each output, or one for each reference.
    sources: the input of each output.
    language: the language of the outputs.
    nesting: how lists of references are nested, where that can't be seen.
    """
    if isinstance(outputs, Batch):
        if references is not None or sources is not None:
            raise InvalidInput("a batch has its own references and inputs; give them there")
        batch, language = outputs, language or outputs.language
    else:
        texts = read_texts(outputs, "output")
        batch = Batch(
            texts,
            read_references(references, texts, alone=isinstance(outputs, str), nesting=nesting),
            () if sources is None else read_texts(sources, "source"),
        )
    spoken = metric.for_language(language)
    return score_outputs(spoken, batch.outputs, batch.references, batch.inputs, language=language)


def read_texts(given: object, what: str) -> list[str]:
    """One text or several, as a list."""
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Iterable) or isinstance(given, bytes | Mapping):
        raise InvalidInput(f"{what}s are a text or a list of texts, not {shown(given)}")
    texts = list(given)
    for k, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InvalidInput(f"{what} {k} is no text: {shown(text)}")
    return texts


def read_references(
    given: object, outputs: Sequence[str], *, alone: bool = False, nesting: Nesting | None = None
) -> list[list[str]]:
    """A list of references for each output, from references in any nesting.

    given: a text; a list of texts; a list of texts for each output, or for each reference; None for no references.
    outputs: the outputs.
    alone: whether the outputs are a single text, so that a list of texts is its references.
    nesting: how lists are nested, where that can't be seen.
    """
    if nesting is not None and nesting not in get_args(Nesting):
        raise InvalidInput(f'nesting is "output" or "reference", not {shown(nesting)}')
    if given is None:
        return []
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, Iterable) or isinstance(given, bytes | Mapping):
        raise InvalidInput(f"references are a text, a list of texts, or lists of them, not {shown(given)}")
    items = [item if item is None or isinstance(item, str) else _row(item, k) for k, item in enumerate(given, 1)]
    if not any(isinstance(item, list) for item in items):
        return _flat(items, len(outputs), alone=alone)
    for k, item in enumerate(items, 1):
        if isinstance(item, str):
            raise InvalidInput(f"references are all texts or all lists of texts; number {k} is a text: {shown(item)}")
    return _nested([item if isinstance(item, list) else [] for item in items], outputs, nesting)


def _row(given: object, place: int) -> list[str | None]:
    if not isinstance(given, Iterable) or isinstance(given, bytes | Mapping):
        raise InvalidInput(f"references {place} are no list of texts: {shown(given)}")
    texts = list(given)
    for text in texts:
        if text is not None and not isinstance(text, str):
            raise InvalidInput(f"references {place} have what is no text: {shown(text)}")
    return texts


def _flat(items: Sequence[str | list[str | None] | None], outputs: int, *, alone: bool) -> list[list[str]]:
    texts = [[item] if isinstance(item, str) else [] for item in items]
    if alone and len(texts) != 1:
        return [[text for row in texts for text in row]]
    if len(texts) != outputs and texts:
        raise InvalidInput(f"{outputs} outputs and {len(texts)} references; give one for each, or lists of them")
    return texts


def _nested(rows: list[list[str | None]], outputs: Sequence[str], nesting: Nesting | None) -> list[list[str]]:
    by_output = len(rows) == len(outputs)
    by_reference = all(len(row) == len(outputs) for row in rows)
    if not by_output and not by_reference:
        sizes = sorted({len(row) for row in rows})
        raise InvalidInput(
            f"{len(outputs)} outputs and {len(rows)} lists of references, of {', '.join(map(str, sizes))} texts; give "
            f"a list for each output, or lists of {len(outputs)} texts, one list for each reference"
        )
    if nesting == "output" and not by_output:
        raise InvalidInput(f"{len(outputs)} outputs and {len(rows)} lists of references; give a list for each output")
    if nesting == "reference" and not by_reference:
        raise InvalidInput(f"{len(outputs)} outputs: each list of references must have a text for each of them")
    read_by_output = [[text for text in row if text is not None] for row in rows]
    if not by_reference or nesting == "output":
        return read_by_output
    read_by_reference = [[text for text in row if text is not None] for row in zip(*rows, strict=True)]
    if not by_output or nesting == "reference":
        return read_by_reference
    return _likelier(outputs, read_by_output, read_by_reference)


def _likelier(outputs: Sequence[str], by_output: list[list[str]], by_reference: list[list[str]]) -> list[list[str]]:
    """The reading in which the references are clearly more like their outputs."""
    if by_output == by_reference:
        return by_output
    asked = 'say nesting="output" (a list for each output) or nesting="reference" (a list for each reference)'
    count = len(outputs)
    likeness = [_shared_words(outputs, rows) for rows in (by_output, by_reference)]
    if max(likeness) < CLEARLY * min(likeness) or max(likeness) == 0:
        raise InvalidInput(f"{count} outputs and {count} lists of {count} references can be read in two ways: {asked}")
    chosen, words = (by_output, "output") if likeness[0] > likeness[1] else (by_reference, "reference")
    warnings.warn(
        f"{count} outputs and {count} lists of {count} references can be read in two ways; read as a list for each "
        f"{words}, for so they share more words with the outputs: {asked} to be sure",
        NestingGuessed,
        stacklevel=6,
    )
    return chosen


def _shared_words(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> int:
    """How many words outputs share with their references."""
    total = 0
    for output, texts in zip(outputs, references, strict=True):
        words = Counter(_units(output))
        total += sum((words & Counter(_units(text))).total() for text in texts)
    return total


def _units(text: str) -> list[str]:
    """Words where they are parted by spaces, else pairs of characters."""
    words = text.casefold().split()
    return words if len(words) > 1 else [text[k : k + 2] for k in range(len(text) - 1)] or [text]
