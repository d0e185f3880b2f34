"""Which of two texts is better: an output against each of its references, in both orders.

A score may not depend on the company a generator keeps, so an output is never compared with those of other generators
but with what stands among the references: people's texts, or a baseline's that a board lists there (`--references NAME`
chooses). Each pair is shown in both orders. How often the text that is shown first wins is the judge's position bias:
.5 where there is none. Equal texts are a tie and not asked about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, ClassVar

from billboards.metrics.base import Item, MetricCard
from billboards.metrics.judges import templates
from billboards.metrics.judges.asking import Asking, Parts, Question
from billboards.metrics.judges.judge import COMMON, FAILURES, Judge, quotable
from billboards.metrics.judges.templates import Template


@dataclass(frozen=True)
class Pair(Judge):
    """The share of comparisons with its references that an output wins, a tie counting half."""

    kind: str = "text"
    input: bool = True

    card: ClassVar[MetricCard] = replace(
        COMMON,
        name="judge-pair",
        summary="The share of comparisons with its references that an output wins under a language model, shown in "
        "both orders, a tie counting half; how often the first text wins, and whether both orders agree, are kept too",
        range=(0.0, 1.0),
        parts=("won", "first", "agreed"),
        paper="Zheng et al. 2023, Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena, NeurIPS (pairwise "
        "comparison, position bias); the prompt is our own",
        failures=f"{FAILURES} The score says how an output compares with its references: where they are weak it is "
        "high. Two orders cancel a preference for the first or second text in the score, at the price of ties.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        templates.checked_kind(self.card.name, self.kind)
        object.__setattr__(self, "card", replace(type(self).card, needs_input=self.input))

    @property
    def template(self) -> Template:
        """The question."""
        return templates.pair(self.kind, source=self.input)

    @property
    def digest(self) -> str:
        return self.template.digest

    def _judge(self, item: Item, asking: Asking) -> Parts:
        won, first, agreed = list[float](), list[float](), list[float]()
        for reference in self._others(item):
            leading, following = (asking.ask(question)[""] for question in self._orders(item, reference))
            won.append((leading + 1 - following) / 2)
            first.append((leading + following) / 2)
            agreed.append(float(leading == 1 - following))
        ties = len(item.references) - len(won)
        return {
            "won": fmean([*won, *[0.5] * ties]),
            "first": fmean([*first, *[0.5] * ties]),
            "agreed": fmean([*agreed, *[1.0] * ties]),
        }

    def _openings(self, item: Item) -> Sequence[Question[Any]]:
        return [question for reference in self._others(item) for question in self._orders(item, reference)]

    def _others(self, item: Item) -> tuple[str, ...]:
        """The references that differ from the output."""
        return tuple(reference for reference in item.references if reference != item.output)

    def _orders(self, item: Item, reference: str) -> Iterator[Question[Parts]]:
        """The question in both orders, the output first and then the reference first."""
        template, quoted = self.template, quotable(item)
        for first, second in ((item.output, reference), (reference, item.output)):
            given = {"input": item.input} if self.input else {}
            yield Question(
                about=item.output,
                messages=template.messages({**given, "first": first, "second": second}),
                form=template.form,
                read=lambda answer: template.read(answer.text, quoted),
            )


METRICS = {"judge-pair": Pair}
