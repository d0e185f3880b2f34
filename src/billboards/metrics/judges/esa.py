"""Errors first, then a score that knows them: the two steps of GEMBA-ESA, after ESA (Kocmi et al. 2024).

The first question is that of judge-MQM, word for word, so that whoever has asked one has paid for half of the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from billboards.metrics.base import Item, MetricCard
from billboards.metrics.judges import templates
from billboards.metrics.judges.asking import Asking, Parts, Question
from billboards.metrics.judges.judge import COMMON, FAILURES, TemplateJudge, quotable
from billboards.metrics.judges.parsing import COSTS, cost_of
from billboards.metrics.judges.spans import Errors, MarksErrors, error_question
from billboards.metrics.judges.templates import Template


@dataclass(frozen=True)
class ESA(TemplateJudge, MarksErrors):
    """A score from 0 to 100, given the errors that were marked before."""

    references: bool = False

    steps: ClassVar[int] = 2
    usual_tokens: ClassVar[int] = 100
    card: ClassVar[MetricCard] = replace(
        COMMON,
        name="judge-ESA",
        summary="A language model's score of an output from 0 to 100 after it marked the errors in it, whose number is "
        "kept by severity",
        needs_references=False,
        range=(0.0, 100.0),
        parts=("score", *COSTS),
        turned_parts=tuple(COSTS),
        paper="Kocmi et al. 2024, Error Span Annotation: A Balanced Approach for Human Evaluation of Machine "
        "Translation, WMT; the two steps are those of GEMBA-ESA, the prompts are our own",
        failures=f"{FAILURES} A wrong error in the first step misleads the second.",
    )

    @property
    def digest(self) -> str:
        return templates.digest_of(self.template.digest, self._second.digest)

    @property
    def _second(self) -> Template:
        return templates.after_errors(self.kind, references=self.references, source=self.input)

    def _template(self, kind: str, *, references: bool, source: bool) -> Template:
        return templates.errors(kind, references=references, source=source)

    def _judge(self, item: Item, asking: Asking) -> Parts:
        second = self._second
        texts, quoted = templates.shown(item, references=self.references, source=self.input), quotable(item)
        errors = asking.ask(self._error_question(item))
        score = asking.ask(
            Question(
                about=item.output,
                messages=second.messages({**texts, "errors": errors}),
                form=second.form,
                read=lambda answer: second.read(answer.text, quoted),
            )
        )
        return {**cost_of(errors), "score": score[""]}

    def _error_question(self, item: Item) -> Question[Errors]:
        return error_question(self._question(self.template, item), item)


METRICS = {"judge-ESA": ESA}
