"""Many questions to one judge: from the kept answers where they are there, else from the endpoint, several at once.

An answer that can't be read is asked for once more, with the reason; if that can't be read either, the judge abstains
from that output. So it does where a filter refuses the question. Up to a stated share abstentions are missing scores;
beyond it the metric fails and shows them. From then on no new question is sent; every answer that did come is kept, so
that scoring again asks only for the rest, and once more for what was abstained from where that was too much.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Generic, TypeVar

from billboards.errors import BillboardsError, MetricFailed
from billboards.metrics.judges.answers import Abstention, Answers, question_key
from billboards.metrics.judges.budget import Budget, Estimate, estimated_tokens
from billboards.metrics.judges.endpoint import Endpoint, Filtered
from billboards.metrics.judges.parsing import Unreadable
from billboards.metrics.judges.responses import Answer
from billboards.metrics.judges.templates import AGAIN, Messages, again
from billboards.metrics.judges.usage import Tally

Parts = Mapping[str, float]
T = TypeVar("T")
#: How many abstentions a failure shows, and how much of each answer.
SHOWN, LONGEST_SHOWN = 3, 500
#: Questions that are looked up at a time.
CHUNK = 500


@dataclass(frozen=True, kw_only=True)
class Question(Generic[T]):
    """One question about an output, as messages.

    about: what names it to people
    form: the form of the answer, for the second asking
    again: the words of the second asking, with {reason} and {form}
    read: what an answer says, or `Unreadable`
    number: tells apart questions that are put several times on purpose
    parameters: of this question, beside those of the judge
    """

    about: str
    messages: Messages
    form: str
    again: str = AGAIN
    read: Callable[[Answer], T]
    number: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    is_json: bool = True


class Abstained(Exception):
    """A judge has no say about an output; caught where all outputs are gathered."""

    def __init__(self, about: str, abstention: Abstention, *, is_earlier: bool) -> None:
        super().__init__(abstention.reason)
        self.about, self.abstention, self.is_earlier = about, abstention, is_earlier

    def __str__(self) -> str:
        quoted = f", saying {self.abstention.answer[:LONGEST_SHOWN]!r}" if self.abstention.answer else ""
        return f"about {self.about[:60]!r}: {self.abstention.reason}{quoted}"


@dataclass(kw_only=True)
class Asking:
    """A judge: who is asked, where answers are kept, and what ends all waiting.

    asks_again: whether questions that the judge abstained from in an earlier run are put once more
    """

    endpoint: Endpoint
    parameters: Mapping[str, Any]
    answers: Answers
    tally: Tally
    stop: threading.Event
    budget: Budget = field(default_factory=Budget)
    #: The tokens that an answer may take, as far as one knows.
    tokens_out: int = 0
    asks_again: bool = False

    def ask_all(self, tasks: Sequence[Callable[[], T]], *, at_once: int, share: float) -> list[T | Abstained]:
        """What comes of every task, in order; abstentions up to a share of them. The first that fails ends it."""
        allowed = allowance(share, len(tasks))
        results = self._run(tasks, at_once, allowed)
        abstained = sum(isinstance(result, Abstained) for result in results)
        earlier = [k for k, result in enumerate(results) if isinstance(result, Abstained) and result.is_earlier]
        if abstained > allowed and earlier:
            self.asks_again = True
            left = allowed - (abstained - len(earlier))
            for k, result in zip(earlier, self._run([tasks[k] for k in earlier], at_once, left), strict=True):
                results[k] = result
        self.tally.abstained = sum(isinstance(result, Abstained) for result in results)
        return results

    def ask(self, question: Question[T]) -> T:
        """What a question's answer says."""
        key = question_key(self.endpoint.url, self._request(question, question.messages), question.number)
        for kept in self.answers.find(key):
            try:
                read = read_answer(question, kept)
            except Unreadable:
                continue
            self.tally.add_kept()
            return read
        abstention = self.answers.abstention(key)
        if abstention is not None and not self.asks_again:
            raise Abstained(question.about, abstention, is_earlier=True)
        try:
            read = self._ask_twice(key, question)
        except Abstained as abstained:
            model = str(self.parameters["model"])
            self.answers.keep_abstention(key, self.endpoint.url, model, abstained.abstention)
            raise
        if abstention is not None:
            self.answers.forget_abstention(key)
        return read

    def estimate(self, questions: Iterable[Question[Any]]) -> Estimate:
        """What those of some questions will take that have no answer yet, about."""
        asked = tokens_in = tokens_out = 0
        waiting = iter(questions)
        # Some at a time: on a large board all questions together would not fit into memory.
        while some := list(islice(waiting, CHUNK)):
            keys = [question_key(self.endpoint.url, self._request(q, q.messages), q.number) for q in some]
            at_hand = self.answers.answered(keys)
            missing = [q for key, q in zip(keys, some, strict=True) if key not in at_hand]
            tokens = [self.estimated(question.messages) for question in missing]
            asked += len(missing)
            tokens_in += sum(read for read, _ in tokens)
            tokens_out += sum(written for _, written in tokens)
        return Estimate(questions=asked, tokens_in=tokens_in, tokens_out=tokens_out)

    def estimated(self, messages: Messages) -> tuple[int, int]:
        """The tokens that a question and its answer take, about."""
        return sum(estimated_tokens(message["content"]) + 4 for message in messages), self.tokens_out

    def _run(self, tasks: Sequence[Callable[[], T]], at_once: int, allowed: int) -> list[T | Abstained]:
        self.stop.clear()
        fresh = list[Abstained]()
        with ThreadPoolExecutor(at_once, "judge") as pool:
            futures = [pool.submit(self._work_unless_stopped, task, fresh, allowed) for task in tasks]
            try:
                for future in as_completed(futures):
                    future.result()
            finally:
                self.stop.set()
        if len(fresh) > allowed:
            done = sum(future.result() is not None for future in futures)
            raise MetricFailed(self._too_many(fresh, done, allowed, len(tasks)))
        return [result for future in futures if (result := future.result()) is not None]

    def _work_unless_stopped(self, task: Callable[[], T], fresh: list[Abstained], allowed: int) -> T | Abstained | None:
        """What comes of a task; None where another failed before, whose failure is the one to be told."""
        if self.stop.is_set():
            return None
        try:
            return task()
        except Abstained as abstained:
            if not abstained.is_earlier:
                fresh.append(abstained)
            if len(fresh) > allowed:
                self.stop.set()
            return abstained
        except BillboardsError:
            if self.stop.is_set():
                return None
            self.stop.set()
            raise

    def _too_many(self, fresh: Sequence[Abstained], done: int, allowed: int, outputs: int) -> str:
        return (
            f"{self.parameters['model']} abstained from {len(fresh)} of {done} outputs so far, where at most {allowed} "
            f"of {outputs} may have no score; {'; '.join(map(str, fresh[:SHOWN]))}. What was answered is kept. Mend "
            "the prompt or the model and score again, or allow more, as in abstain=0.2"
        )

    def _ask_twice(self, key: str, question: Question[T]) -> T:
        first = self._send(key, question, question.messages)
        try:
            return read_answer(question, first)
        except Unreadable as unreadable:
            words = question.again.format(reason=unreadable, form=question.form)
        second = self._send(key, question, again(question.messages, first.text, words))
        try:
            return read_answer(question, second)
        except Unreadable as unreadable:
            abstention = Abstention(reason=f"its answer can't be read ({unreadable})", answer=second.text)
            raise Abstained(question.about, abstention, is_earlier=False) from unreadable

    def _send(self, key: str, question: Question[T], messages: Messages) -> Answer:
        """Ask, and keep what is said under the first question's key."""
        request = self._request(question, messages)
        reserved = self.estimated(messages)
        self.budget.reserve(*reserved)
        spent = (0, 0)
        try:
            answer = self.endpoint.ask(request, form=question.form if question.is_json else None)
            given = (answer.tokens_in, answer.tokens_out)
            spent = (reserved[0] if given[0] is None else given[0], reserved[1] if given[1] is None else given[1])
        except Filtered as filtered:
            abstention = Abstention(reason=str(filtered), answer="")
            raise Abstained(question.about, abstention, is_earlier=False) from filtered
        finally:
            self.budget.settle(reserved, spent)
        self.tokens_out = max(self.tokens_out, spent[1])
        self.answers.keep(key, self.endpoint.url, request, answer)
        self.tally.add_answer(answer)
        return answer

    def _request(self, question: Question[T], messages: Messages) -> dict[str, Any]:
        return request_of(self.parameters, question, messages)


def request_of(parameters: Mapping[str, Any], question: Question[Any], messages: Messages) -> dict[str, Any]:
    """What is sent, and found again by, for a question of a judge with these parameters."""
    return {**parameters, **question.parameters, "messages": messages}


def read_answer(question: Question[T], answer: Answer) -> T:
    """What an answer says, or `Unreadable`."""
    if answer.unusable:
        raise Unreadable(answer.unusable)
    if answer.is_cut:
        raise Unreadable("it was cut short at the number of tokens it may have")
    return question.read(answer)


def allowance(share: float, outputs: int) -> int:
    """How many of some outputs may have no score: a share of them, one in any case, but not all of them."""
    if share in (0, 1):
        return int(share) * outputs
    return min(max(1, int(share * outputs + 1e-9)), max(0, outputs - 1))
