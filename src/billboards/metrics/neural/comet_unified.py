"""COMETKiwi (Rei et al. 2022, 2023) and UniTE (Wan et al. 2022): output and input, reference or both are read as one.

COMETKiwi reads the output with its input. UniTE reads it with the input, with the reference and with both, and its
score is the mean of the three, which are kept as parts; with several references the best counts. The weights are
checkpoints as Unbabel publishes them; those that judge words, too, give error spans.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.metrics.base import Batch, Floats, Item, MetricCard
from billboards.metrics.neural.comet import NEEDS, CometMetric
from billboards.metrics.neural.comet_checkpoint import Kind, Segment
from billboards.metrics.neural.comet_joined import JoinedReader, Reading, Sequenced, Words
from billboards.metrics.neural.learned import checked_precision, split_rows, warn_of_cut_texts
from billboards.metrics.neural.sentences import parts_of

#: How much the probabilities of a word count that come from the input, the reference and both (unbabel-comet 2.2.7).
WORD_WEIGHTS = np.array([0.1667, 0.3333, 0.5], np.float32)


@dataclass(frozen=True, kw_only=True)
class ErrorSpan:
    """A part of an output that is held to be wrong, from character `start` up to `end`, with its tokens as text."""

    start: int
    end: int
    text: str
    severity: str
    #: The mean probability of its tokens' labels.
    confidence: float


@dataclass(frozen=True)
class TokenSpan:
    """An error span by its tokens, the last one excluded; its severity is that of the first."""

    first: int
    last: int
    severity: str
    confidence: float


@dataclass(frozen=True)
class Judged:
    """Outputs with each of their references, read: a row for each pair, a column for each way in which it was read.

    `words` holds the probabilities of each pair's output's tokens, all ways together; none where words aren't judged.
    """

    scores: Floats
    words: Sequence[Words]
    labels: Sequence[str]

    def spans(self) -> list[list[TokenSpan]]:
        """The error spans of each pair."""
        return [token_spans(words, self.labels) for words in self.words]


@dataclass(frozen=True)
class JoinedMetric(CometMetric):
    """A metric of a checkpoint that reads several texts as one."""

    #: Whether a score depends on what is said of words.
    scores_words: ClassVar[bool] = False

    def score_batch(self, batch: Batch) -> Floats | Mapping[str, Floats]:
        return self.score_rows([batch])[0]

    def score_rows(self, batches: Sequence[Batch]) -> Sequence[Floats | Mapping[str, Floats]]:
        items = [item for batch in batches for item in batch.items()]
        scores = {part: np.empty(len(items)) for part in self.parts or ("",)}
        reader = self._reader(words=self.scores_words)
        for part in parts_of(items):
            owners, judged = self._judge(reader, [items[k] for k in part])
            measured = self.measure(judged)
            best = best_pairs(owners, next(iter(measured.values())))
            for name, values in measured.items():
                scores[name][part] = values[best]
        self._warn_of_cuts(reader)
        rows = {name: split_rows(values, batches) for name, values in scores.items()}
        if not self.parts:
            return rows[""]
        return [{name: rows[name][k] for name in rows} for k in range(len(batches))]

    def error_spans(self, batch: Batch) -> list[tuple[ErrorSpan, ...]]:
        """What is wrong in each output, beside its best reference where there are several.

        batch: outputs with their inputs, and with references unless the metric needs none.

        Example:

            metric = bb.metric("XCOMET(model=Unbabel/XCOMET-XL)")
            for output, spans in zip(outputs, metric.error_spans(bb.Batch(outputs, references, sources))):
                print(output, [(span.text, span.severity) for span in spans])
        """
        reader, items = self._reader(words=True), list(batch.items())
        if not items:
            return []
        owners, judged = self._judge(reader, items)
        best, spans = best_pairs(owners, next(iter(self.measure(judged).values()))), judged.spans()
        self._warn_of_cuts(reader)
        return [_placed(reader, item.output, spans[pair]) for item, pair in zip(items, best, strict=True)]

    @abstractmethod
    def measure(self, judged: Judged) -> dict[str, Floats]:
        """The metric's parts for each pair, the primary one first."""

    def _reader(self, *, words: bool) -> JoinedReader:
        checkpoint, precision = self.weights(), checked_precision(self, self.precision)
        if words and checkpoint.word_layer is None:
            raise InvalidInput(f"{checkpoint.name} judges no words, so it has no error spans; XCOMET's models do")
        return JoinedReader(checkpoint if words else checkpoint.without_words(), precision)

    def _judge(self, reader: JoinedReader, items: Sequence[Item]) -> tuple[list[int], Judged]:
        """The place of each pair's output among the items, and what was read."""
        owners = [k for k, item in enumerate(items) for _ in range(self._pairs(item))]
        ways = [way for item in items for pair in self._ways(item) for way in pair]
        reading = reader.read(ways)
        scores = reading.scores.reshape(len(owners), -1)
        return owners, Judged(scores, _together(reading, scores.shape[1]), reader.checkpoint.labels)

    def _pairs(self, item: Item) -> int:
        return len(item.references) if self.card.needs_references else 1

    def _ways(self, item: Item) -> list[tuple[Sequenced, ...]]:
        """The sequences that are read for an output, once for each of its references."""
        output, given = item.output, item.input
        if given is None:
            raise InvalidInput(f"{self.name} needs the input of every output; {output[:60]!r} has none")
        if not self.card.needs_references:
            return [((output, given),)]
        if not item.references:
            raise InvalidInput(f"{self.name} needs a reference for every output; {output[:60]!r} has none")
        return [((output, given), (output, text), (output, given, text)) for text in item.references]

    def _warn_of_cuts(self, reader: JoinedReader) -> None:
        tally = reader.engine.tally
        warn_of_cut_texts(self, tally.cut, tally.texts, reader.limit)


def _together(reading: Reading, ways: int) -> list[Words]:
    """The probabilities of words, over all ways in which a pair was read."""
    if ways == 1:
        return list(reading.words)
    rows = [reading.words[k : k + ways] for k in range(0, len(reading.words), ways)]
    return [sum((weight * words for weight, words in zip(WORD_WEIGHTS, row, strict=True)), row[0] * 0) for row in rows]


def token_spans(words: Words, labels: Sequence[str]) -> list[TokenSpan]:
    """Runs of tokens whose likeliest label is an error; as in unbabel-comet, one that the end doesn't close is none."""
    likeliest, probability = words.argmax(1), words.max(1)
    wrong = np.concatenate(([False], likeliest > 0, [False]))
    ends: NDArray[np.intp] = np.flatnonzero(wrong[1:] != wrong[:-1])
    return [
        TokenSpan(int(first), int(last), labels[likeliest[first] - 1], float(probability[first:last].mean()))
        for first, last in ends.reshape(-1, 2)
        if last < len(words)
    ]


def _placed(reader: JoinedReader, output: str, spans: Sequence[TokenSpan]) -> tuple[ErrorSpan, ...]:
    """Error spans by their places in the text."""
    offsets = reader.offsets(output) if spans else []
    return tuple(
        ErrorSpan(
            start=offsets[span.first][0],
            end=offsets[span.last - 1][1],
            text=reader.text_of(output, span.first, span.last),
            severity=span.severity,
            confidence=span.confidence,
        )
        for span in spans
    )


def best_pairs(owners: Sequence[int], scores: Floats) -> list[int]:
    """For each output the pair with the best score, the first of equals; owners are in order."""
    best: dict[int, int] = {}
    for pair, owner in enumerate(owners):
        if owner not in best or scores[pair] > scores[best[owner]]:
            best[owner] = pair
    return list(best.values())


@dataclass(frozen=True)
class CometKiwi(JoinedMetric):
    """COMETKiwi: output and input as one text."""

    kind: ClassVar[Kind] = "unified_metric"
    segments: ClassVar[tuple[Segment, ...]] = ("mt", "src")
    example: ClassVar[str] = "Unbabel/wmt22-cometkiwi-da"
    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="COMETKiwi",
        summary="Human rating of a translation as a network predicts it that reads output and input as one text, "
        "without a reference",
        needs_references=False,
        needs_input=True,
        needs_part=NEEDS,
        range=(None, None),
        training_data="that of the checkpoint: human ratings of translations (for Unbabel/wmt22-cometkiwi-da WMT's "
        "direct assessment of 2017 to 2020 and MLQE-PE, as its model card says). A board made of the same ratings "
        "flatters it",
        licence="Apache-2.0 (this code); the published checkpoints CC-BY-NC-SA-4.0",
        paper="Rei et al. 2022, CometKiwi: IST-Unbabel 2022 Submission for the Quality Estimation Shared Task, WMT",
        failures="Like COMET-QE it rates a copied input and fluent text with wrong numbers or names too high. Scores "
        "of different checkpoints have different scales: compare only equal signatures. Output and input together "
        "are cut where the model's input ends, so of a long pair the input's end is not read.",
        slow=True,
    )

    def measure(self, judged: Judged) -> dict[str, Floats]:
        return {"": judged.scores[:, 0]}


@dataclass(frozen=True)
class UniTE(JoinedMetric):
    """UniTE: the output read with input, reference and both."""

    kind: ClassVar[Kind] = "unified_metric"
    segments: ClassVar[tuple[Segment, ...]] = ("mt", "src", "ref")
    example: ClassVar[str] = "Unbabel/unite-mup"
    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="UniTE",
        summary="Human rating of a translation as a network predicts it that reads the output with the input, with the "
        "reference and with both as one text: the mean of the three",
        needs_input=True,
        needs_part=NEEDS,
        range=(None, None),
        parts=("score", "src", "ref", "unified"),
        training_data="that of the checkpoint: human ratings of translations (WMT direct assessment) after a stage of "
        "synthetic pairs (Wan et al. 2022, §4). A board made of the same ratings flatters it",
        licence="Apache-2.0 (this code); each checkpoint has its own",
        paper="Wan et al. 2022, UniTE: Unified Translation Evaluation, ACL",
        failures="Scores of different checkpoints have different scales: compare only equal signatures. Texts that "
        "are read as one are cut where the model's input ends, so of a long triple the reference's end is not read.",
        slow=True,
    )

    def measure(self, judged: Judged) -> dict[str, Floats]:
        src, ref, unified = judged.scores.T
        return {"score": judged.scores.mean(1), "src": src, "ref": ref, "unified": unified}


METRICS = {"COMETKiwi": CometKiwi, "UniTE": UniTE}
