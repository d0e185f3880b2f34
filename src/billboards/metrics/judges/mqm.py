"""Errors with severities, after GEMBA-MQM (Kocmi and Federmann 2023): what they cost together is the score."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from billboards.metrics.base import Item, MetricCard
from billboards.metrics.judges import templates
from billboards.metrics.judges.asking import Question
from billboards.metrics.judges.judge import COMMON, FAILURES, TemplateJudge
from billboards.metrics.judges.parsing import COSTS, MOST
from billboards.metrics.judges.spans import Errors, MarksErrors, error_question
from billboards.metrics.judges.templates import Template


@dataclass(frozen=True)
class MQM(TemplateJudge, MarksErrors):
    """Errors with severities: critical 25, major 5, minor 1, together at most 25, negated."""

    references: bool = False

    usual_tokens: ClassVar[int] = 150
    card: ClassVar[MetricCard] = replace(
        COMMON,
        name="judge-MQM",
        summary="Errors that a language model finds in an output, weighed by severity (critical 25, major 5, minor 1) "
        "up to 25 and negated; how many there are of each severity is kept too",
        needs_references=False,
        range=(-MOST, 0.0),
        parts=("score", *COSTS),
        turned_parts=tuple(COSTS),
        paper="Kocmi and Federmann 2023, GEMBA-MQM: Detecting Translation Quality Error Spans with GPT-4, WMT; weights "
        "of Freitag et al. 2021, TACL; the prompt is our own",
        failures=f"{FAILURES} Spans are taken as the model quotes them; long outputs reach -25 soon.",
    )

    def _template(self, kind: str, *, references: bool, source: bool) -> Template:
        return templates.errors(kind, references=references, source=source)

    def _error_question(self, item: Item) -> Question[Errors]:
        return error_question(self._question(self.template, item), item)


METRICS = {"judge-MQM": MQM}
