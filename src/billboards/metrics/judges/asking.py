"""Many questions to one judge: from the kept answers where they are there, else from the endpoint, several at once.

An answer that can't be read is asked for once more, with the reason; if that can't be read either, its output fails and
with it the metric, with the raw answer in the message. From then on no new question is sent; every answer that did come
is kept, so that scoring again asks only for the rest.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

from billboards.errors import BillboardsError, MetricFailed
from billboards.metrics.judges.answers import Answers, question_key
from billboards.metrics.judges.counting import Tally
from billboards.metrics.judges.endpoint import Answer, Endpoint
from billboards.metrics.judges.parsing import Unreadable
from billboards.metrics.judges.templates import Messages, Template

Parts = Mapping[str, float]


@dataclass(frozen=True)
class Question:
    """One output with what is shown beside it, as messages; `about` names it to people."""

    about: str
    messages: Messages


@dataclass(frozen=True)
class Asking:
    """A judge: who is asked, what about, where answers are kept, and what ends all waiting."""

    endpoint: Endpoint
    template: Template
    parameters: Mapping[str, Any]
    answers: Answers
    tally: Tally
    stop: threading.Event

    def ask_all(self, questions: Sequence[Question], at_once: int) -> list[Parts]:
        """The scores of every question, in order; the first that fails ends it."""
        with ThreadPoolExecutor(at_once, "judge") as pool:
            futures = [pool.submit(self._ask_unless_stopped, question) for question in questions]
            try:
                for future in as_completed(futures):
                    future.result()
            finally:
                self.stop.set()
        return [answer for future in futures if (answer := future.result()) is not None]

    def _ask_unless_stopped(self, question: Question) -> Parts | None:
        """One question's scores; None where another failed before, whose failure is the one to be told."""
        if self.stop.is_set():
            return None
        try:
            return self.ask(question)
        except BillboardsError:
            if self.stop.is_set():
                return None
            self.stop.set()
            raise

    def ask(self, question: Question) -> Parts:
        """One question's scores."""
        key = question_key(self.endpoint.url, self._request(question.messages))
        kept = self.answers.find(key)
        try:
            if kept is not None:
                scores = self._read(kept)
                self.tally.add_kept()
                return scores
        except Unreadable:
            pass  # asked anew: what could not be read then counts as not given
        return self._ask_twice(key, question)

    def _ask_twice(self, key: str, question: Question) -> Parts:
        first = self._send(key, question.messages)
        try:
            return self._read(first)
        except Unreadable as unreadable:
            reason = str(unreadable)
        second = self._send(key, self.template.again(question.messages, first.text, reason))
        try:
            return self._read(second)
        except Unreadable as unreadable:
            raise MetricFailed(
                f"{self.parameters['model']} was asked twice about {question.about[:60]!r} and gave no answer that can "
                f"be read ({unreadable}): {second.text[:1000]!r}"
            ) from unreadable

    def _send(self, key: str, messages: Messages) -> Answer:
        """Ask, and keep what is said under the first question's key."""
        request = self._request(messages)
        answer = self.endpoint.ask(request)
        self.answers.keep(key, self.endpoint.url, request, answer)
        self.tally.add_answer(answer)
        return answer

    def _read(self, answer: Answer) -> Parts:
        if answer.is_cut:
            raise Unreadable("it was cut short at the number of tokens it may have")
        return self.template.read(answer.text)

    def _request(self, messages: Messages) -> dict[str, Any]:
        return {**self.parameters, "messages": messages}
