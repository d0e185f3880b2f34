"""The errors that a judge marked, span by span, from the answers that are kept; nothing is asked for them.

A judge that marks errors (judge-MQM, judge-ESA, a prompt whose answer is errors) keeps how many there are of each
severity as parts of its score. The spans themselves are read anew from its answers, word for word, with their place in
the output where they stand there.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from billboards.metrics.base import Batch, Item
from billboards.metrics.judges.answers import Answers, question_key
from billboards.metrics.judges.asking import Question, read_answer, request_of
from billboards.metrics.judges.judge import Judge, quotable
from billboards.metrics.judges.parsing import Unreadable, read_error_list
from billboards.metrics.judges.settings import Settings

Errors = list[dict[str, str]]


@dataclass(frozen=True, kw_only=True)
class JudgedSpan:
    """A part of an output that a judge holds to be wrong, from character `start` up to `end`.

    Both are None where the text, as the judge quotes it, doesn't stand in the output: an omission, or misquoted.
    """

    start: int | None
    end: int | None
    text: str
    severity: str
    category: str


class MarksErrors(Judge):
    """A judge whose answers are errors."""

    @abstractmethod
    def _error_question(self, item: Item) -> Question[Errors]:
        """The question whose answer is a list of errors."""

    def error_spans(self, batch: Batch) -> list[tuple[JudgedSpan, ...] | None]:
        """What the judge marked in each output that it was asked about before; None where it has no say.

        Score first; this asks nothing and costs nothing.

            judge = bb.metric("judge-MQM")
            judge.score(outputs, sources=sources)
            judge.error_spans(bb.Batch(outputs, (), sources))
        """
        answers, url, parameters = Answers(Settings.from_environment().cache), self.used_endpoint, self._parameters()
        items = [self._texts(item) for item in batch.items()]
        return [_kept_spans(item.output, self._error_question(item), answers, url, parameters) for item in items]


def error_question(question: Question[Any], item: Item) -> Question[Errors]:
    """The same question, its answer read as a list of errors."""
    return replace(question, read=lambda answer: read_error_list(answer.text, quotable(item)))


def _kept_spans(
    output: str, question: Question[Errors], answers: Answers, url: str, parameters: Mapping[str, Any]
) -> tuple[JudgedSpan, ...] | None:
    key = question_key(url, request_of(parameters, question, question.messages), question.number)
    for answer in answers.find(key):
        try:
            errors: Errors = read_answer(question, answer)
        except Unreadable:
            continue
        return placed(output, errors)
    return None


def placed(output: str, errors: Sequence[Mapping[str, str]]) -> tuple[JudgedSpan, ...]:
    """Errors with their places; what is marked twice is looked for once more after its first place."""
    after: dict[str, int] = {}
    spans = []
    for error in errors:
        text = error["span"]
        start = output.find(text, after.get(text, 0)) if text else -1
        start = output.find(text) if text and start < 0 else start
        if start >= 0:
            after[text] = start + 1
        spans.append(
            JudgedSpan(
                start=start if start >= 0 else None,
                end=start + len(text) if start >= 0 else None,
                text=text,
                severity=error["severity"],
                category=error["category"],
            )
        )
    return tuple(spans)
