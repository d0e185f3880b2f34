"""G-Eval (Liu et al. 2023): one aspect at a time, by steps, and the score an expectation over what the model might say.

The expectation is the mean over several sampled answers, or, where the endpoint gives log-probabilities, the mean of
the scale's numbers weighed by the probability of their tokens. How far the answers spread is kept: a judge that doesn't
agree with itself is not to be trusted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, pstdev
from typing import Any, ClassVar

from billboards.errors import InvalidInput, MetricFailed
from billboards.metrics.base import Item, MetricCard
from billboards.metrics.judges import templates
from billboards.metrics.judges.asking import Abstained, Asking, Parts, Question
from billboards.metrics.judges.judge import COMMON, FAILURES, Judge
from billboards.metrics.judges.parsing import HIGHEST, LOWEST, Unreadable, read_number
from billboards.metrics.judges.responses import Answer
from billboards.metrics.judges.templates import AGAIN_NUMBER
from billboards.reading import decimal_number

#: Tokens whose probability is asked for at each place; more is refused by most endpoints.
LISTED = 20
SPREAD = "spread"


@dataclass(frozen=True)
class GEval(Judge):
    """Aspects from 1 to 5, each an expectation.

    `samples` answers are drawn for each aspect at `temperature`; `logprobs` asks for one answer and its tokens'
    probabilities instead.
    """

    temperature: float = 1.0
    kind: str = "text"
    aspects: str = "coherence"
    input: bool = True
    references: bool = False
    samples: int = 5
    logprobs: bool = False

    usual_tokens: ClassVar[int] = 5
    card: ClassVar[MetricCard] = replace(
        COMMON,
        name="judge-GEval",
        summary="Aspects that a language model rates from 1 to 5 by steps, each an expectation over sampled answers or "
        "over the probabilities of the numbers, and how far the answers spread",
        needs_references=False,
        range=(float(LOWEST), float(HIGHEST)),
        turned_parts=(SPREAD,),
        paper="Liu et al. 2023, G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment, EMNLP; aspects of "
        "Fabbri et al. 2021, SummEval, TACL; aspects' steps are our own, not written by the model",
        failures=f"{FAILURES} Few samples leave noise: the paper draws 20, here 5 are drawn by default.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        templates.checked_kind(self.card.name, self.kind)
        templates.checked_aspects(self.aspects)
        if self.samples < 1:
            raise InvalidInput(f"{self.card.name}: samples must be 1 or more, found {self.samples}")
        card = replace(type(self).card, needs_input=self.input, needs_references=self.references)
        object.__setattr__(self, "card", card)

    @property
    def parts(self) -> tuple[str, ...]:
        return ("mean", *templates.checked_aspects(self.aspects), SPREAD)

    @property
    def digest(self) -> str:
        return templates.digest_of(*map(self._instructions, templates.checked_aspects(self.aspects)), AGAIN_NUMBER)

    def _instructions(self, aspect: str) -> str:
        return templates.by_steps(self.kind, aspect, references=self.references, source=self.input)

    def _judge(self, item: Item, asking: Asking) -> Parts:
        ratings = {aspect: self._rated(aspect, item, asking) for aspect in templates.checked_aspects(self.aspects)}
        means = {aspect: mean for aspect, (mean, _) in ratings.items()}
        return {"mean": fmean(means.values()), **means, SPREAD: fmean(spread for _, spread in ratings.values())}

    def _rated(self, aspect: str, item: Item, asking: Asking) -> tuple[float, float]:
        """An aspect's expectation, and how far the answers spread."""
        drawn, abstained = list[tuple[float, float]](), list[Abstained]()
        for question in self._questions(aspect, item):
            try:
                drawn.append(asking.ask(question))
            except Abstained as nothing:
                abstained.append(nothing)
        if not drawn:
            raise abstained[0]
        means = [mean for mean, _ in drawn]
        return fmean(means), drawn[0][1] if self.logprobs else pstdev(means)

    def _openings(self, item: Item) -> Sequence[Question[Any]]:
        return [q for aspect in templates.checked_aspects(self.aspects) for q in self._questions(aspect, item)]

    def _questions(self, aspect: str, item: Item) -> list[Question[tuple[float, float]]]:
        system, shown = self._instructions(aspect), templates.shown(item, references=self.references, source=self.input)
        return [
            Question(
                about=item.output,
                messages=templates.as_messages(system, shown),
                form=f"a whole number from {LOWEST} to {HIGHEST}",
                again=AGAIN_NUMBER,
                read=_expected if self.logprobs else _drawn,
                number=number,
                parameters={"logprobs": True, "top_logprobs": LISTED} if self.logprobs else {},
                is_json=False,
            )
            for number in range(1 if self.logprobs else self.samples)
        ]


def _drawn(answer: Answer) -> tuple[float, float]:
    return read_number(answer.text, LOWEST, HIGHEST), 0.0


def _expected(answer: Answer) -> tuple[float, float]:
    """The mean and the spread of the scale's numbers, weighed by their probability where the model wrote its number."""
    rating = read_number(answer.text, LOWEST, HIGHEST)
    if answer.numbers is None:
        raise MetricFailed(
            "judge-GEval: the endpoint gives no log-probabilities with its answers; sample instead, as in "
            "judge-GEval(samples=20)"
        )
    places = [place for place in answer.numbers if any(decimal_number(token) == rating for token in place)]
    if not places:
        raise Unreadable("no token of it is the number that it says")
    weights = dict[int, float]()
    for token, logprob in places[-1].items():
        value = decimal_number(token)
        if value is not None and value == int(value) and LOWEST <= value <= HIGHEST:
            weights[int(value)] = weights.get(int(value), 0.0) + math.exp(min(logprob, 0.0))
    total = sum(weights.values())
    if not total:
        raise Unreadable("no number on the scale has a probability")
    mean = sum(value * weight for value, weight in weights.items()) / total
    variance = sum((value - mean) ** 2 * weight for value, weight in weights.items()) / total
    return mean, math.sqrt(variance)


METRICS = {"judge-GEval": GEval}
