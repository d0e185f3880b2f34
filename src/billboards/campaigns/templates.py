"""A template: what annotators are asked, in which order, and what their answers are worth (GENIE, §7.1).

A template is data. Its dimensions are questions of five kinds; its stages say what is shown when, so that fluency can
be judged before the article is seen. Its digest is made of everything an annotator reads, and every answer carries it:
a changed word is another template.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal

from billboards.board import Dimension, digest
from billboards.errors import UnknownName

QuestionKind = Literal["scale", "slider", "preference", "spans", "best-worst"]
Compares = Literal["none", "reference", "generators"]
Direction = Literal["ltr", "rtl", "auto"]

#: What a stage may show.
SHOWN = ("outputs", "input", "reference", "context", "image")


@dataclass(frozen=True)
class Severity:
    """How bad an error is, and what it takes off."""

    name: str
    weight: float


@dataclass(frozen=True)
class Question:
    """One dimension: what is asked, how it is answered, and the range its numbers have."""

    name: str
    kind: QuestionKind
    question: str
    help: str = ""
    range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    #: Options of a scale or preference, or anchors of a slider.
    labels: tuple[str, ...] = ()
    #: What each option is worth, within the range.
    values: tuple[float, ...] = ()
    step: float = 1.0
    severities: tuple[Severity, ...] = ()
    categories: tuple[str, ...] = ()
    allows_missing: bool = False

    @property
    def is_comparison(self) -> bool:
        """Whether an answer says which of several outputs is better."""
        return self.kind in ("preference", "best-worst")

    def share(self, value: float) -> float:
        """A value on 0-1, higher is better."""
        low, high = self.range
        found = (value - low) / (high - low)
        return found if self.higher_is_better else 1.0 - found


@dataclass(frozen=True)
class Stage:
    """One step of a page: what is visible from here on, and what is asked; earlier stages stay visible."""

    shows: tuple[str, ...]
    dimensions: tuple[str, ...]
    instructions: str = ""


@dataclass(frozen=True)
class Example:
    """A worked example: what was shown, what should be answered, and why."""

    outputs: tuple[str, ...]
    answers: Mapping[str, Any]
    why: str
    input: str | None = None
    reference: str | None = None
    context: str | None = None


@dataclass(frozen=True)
class TestRule:
    """When a test question is answered right: a good output is at least so good, a bad one is below (on 0-1)."""

    __test__ = False  # pytest takes classes of this name for its own

    dimension: str
    good_at_least: float = 0.5
    bad_below: float = 0.5

    def is_right(self, kind: str, share: float) -> bool:
        return share >= self.good_at_least if kind == "positive" else share < self.bad_below


@dataclass(frozen=True)
class Template:
    """Everything an annotator is told, shown and asked."""

    name: str
    version: int
    title: str
    task: str
    instructions: str
    stages: tuple[Stage, ...]
    dimensions: tuple[Question, ...]
    tests: TestRule
    overall: str
    compares: Compares = "none"
    outputs: int = 1
    output_names: tuple[str, ...] = ("Output",)
    language: str = "en"
    direction: Direction = "auto"
    examples: tuple[Example, ...] = field(default=())

    @cached_property
    def digest(self) -> str:
        """A short name of all that the template says."""
        return digest((json.dumps(asdict(self), sort_keys=True, ensure_ascii=False),))

    @property
    def signature(self) -> str:
        """The name, version and digest that every answer carries."""
        return f"{self.name}@{self.version}:{self.digest}"

    def dimension(self, name: str) -> Question:
        for question in self.dimensions:
            if question.name == name:
                return question
        raise UnknownName("dimension", name, (question.name for question in self.dimensions))

    def shows(self, word: str) -> bool:
        """Whether any stage shows this."""
        return any(word in stage.shows for stage in self.stages)

    def visible(self, stage: int) -> frozenset[str]:
        """All that is to be seen in a stage, what earlier ones showed among it."""
        return frozenset(word for one in self.stages[: stage + 1] for word in one.shows)

    def board_dimension(self, question: Question) -> Dimension:
        """A question as a dimension of a board, under a name that no other template uses."""
        name = f"{self.name}.{question.name}"
        return Dimension(
            name, range=question.range, higher_is_better=question.higher_is_better, definition=question.question
        )
