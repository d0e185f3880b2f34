"""A template: what annotators are asked, in which order, and what their answers are worth (GENIE, §7.1).

A template is data. Its dimensions are questions of some kind (`campaigns/questions`); its stages say what is shown
when, so that fluency can be judged before the article is seen. Its digest is made of everything an annotator reads,
and every answer carries it: a changed word is another template.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, Strict, field_validator

from billboards.board import Dimension, digest
from billboards.campaigns.questions import Compares, Question
from billboards.campaigns.questions._contract import Words
from billboards.errors import UnknownName

Direction = Literal["ltr", "rtl", "auto"]
#: What one annotator gets at once: one item, or all of a document's, in its order.
Unit = Literal["segment", "document"]

#: What a stage may show.
SHOWN = ("outputs", "input", "reference", "context", "image")
_STRICT = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Stage(BaseModel):
    """One step of a page: what is visible from here on, and what is asked; earlier stages stay visible."""

    model_config = _STRICT

    shows: Annotated[tuple[str, ...], Strict(False), Field(min_length=1)] = Field(
        description="a list of texts, not empty"
    )
    dimensions: Annotated[tuple[str, ...], Strict(False), Field(min_length=1)] = Field(
        description="a list of texts, not empty"
    )
    instructions: Words = Field(default="", description="a text in quotes")

    @field_validator("shows")
    @classmethod
    def _can_be_shown(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        for word in words:
            if word not in SHOWN:
                raise ValueError(f"{word!r} is none of {', '.join(SHOWN)}")
        return words


class Example(BaseModel):
    """A worked example: what was shown, what should be answered, and why."""

    model_config = _STRICT

    outputs: Annotated[tuple[str, ...], Strict(False)] = Field(default=(), description="a list of texts")
    answers: dict[str, Any] = Field(default_factory=dict, description="a table with an answer for each dimension")
    why: Words = Field(default="", description="a text in quotes")
    input: str | None = Field(default=None, description="a text in quotes")
    reference: str | None = Field(default=None, description="a text in quotes")
    context: str | None = Field(default=None, description="a text in quotes")


class TestRule(BaseModel):
    """When a test question is answered right: a good output is at least so good, a bad one is below (on 0-1)."""

    __test__ = False  # pytest takes classes of this name for its own
    model_config = _STRICT

    dimension: str = Field(description="the name of a dimension")
    # Whole numbers stay whole: digests are made of what the file says.
    good_at_least: Annotated[int | float, Field(ge=0, le=1)] = Field(default=0.5, description="a number from 0 to 1")
    bad_below: Annotated[int | float, Field(ge=0, le=1)] = Field(default=0.5, description="a number from 0 to 1")

    def is_right(self, kind: str, share: float) -> bool:
        return share >= self.good_at_least if kind == "positive" else share < self.bad_below


When = Literal["before", "after"]


@dataclass(frozen=True, kw_only=True)
class SurveyQuestion:
    """A question about the annotator, on a page before the first item or after the last."""

    when: When
    is_required: bool
    question: Question

    def document(self) -> dict[str, Any]:
        return {"when": self.when, "required": self.is_required, **self.question.document()}


@dataclass(frozen=True, kw_only=True)
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
    examples: tuple[Example, ...] = ()
    unit: Unit = "segment"
    #: What annotators must accept before their first item; empty where nothing is asked of them.
    consent: str = ""
    survey: tuple[SurveyQuestion, ...] = ()

    @cached_property
    def digest(self) -> str:
        """A short name of all that the template says."""
        document: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        document["dimensions"] = [question.document() for question in self.dimensions]
        for key in ("stages", "examples"):
            document[key] = [part.model_dump() for part in document[key]]
        document["tests"] = self.tests.model_dump()
        # Templates from before there were documents keep their digest.
        if self.unit == "segment":
            del document["unit"]
        # Templates that have neither keep the digests they had before there were any.
        survey = [asked.document() for asked in document.pop("survey")]
        document |= {"survey": survey} if survey else {}
        if not self.consent:
            del document["consent"]
        return digest((json.dumps(document, sort_keys=True, ensure_ascii=False),))

    @property
    def signature(self) -> str:
        """The name, version and digest that every answer carries."""
        return f"{self.name}@{self.version}:{self.digest}"

    def dimension(self, name: str) -> Question:
        for question in self.dimensions:
            if question.name == name:
                return question
        raise UnknownName("dimension", name, (question.name for question in self.dimensions))

    @property
    def valued(self) -> tuple[Question, ...]:
        """The questions whose answers are worth a number."""
        return tuple(question for question in self.dimensions if question.has_value)

    def asked_of_people(self, when: When) -> tuple[SurveyQuestion, ...]:
        """What a survey page asks, before the first item or after the last."""
        return tuple(asked for asked in self.survey if asked.when == when)

    def shows(self, word: str) -> bool:
        """Whether any stage shows this."""
        return any(word in stage.shows for stage in self.stages)

    def visible(self, stage: int) -> frozenset[str]:
        """All that is to be seen in a stage, what earlier ones showed among it."""
        return frozenset(word for shown in self.stages[: stage + 1] for word in shown.shows)

    def names_of(self, outputs: int) -> tuple[str, ...]:
        """What so many outputs are called on the page."""
        names = self.output_names[:outputs]
        return (*names, *(f"Output {k + 1}" for k in range(len(names), outputs)))

    def answers_in_words(self, example: Example) -> dict[str, str]:
        """An example's answers as people read them, by dimension."""
        names = self.names_of(len(example.outputs))
        return {
            question.name: question.item_in_words(example.answers[question.name], example.outputs, names, example.input)
            for question in self.dimensions
            if question.name in example.answers
        }

    def board_dimension(self, question: Question) -> Dimension:
        """A question as a dimension of a board, under a name that no other template uses."""
        name = f"{self.name}.{question.name}"
        return Dimension(
            name, range=question.range, higher_is_better=question.higher_is_better, definition=question.question
        )
