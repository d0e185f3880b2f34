"""An annotator's page as plain values: what is shown in this stage, what is asked, and what was answered so far.

Only the stages up to the one at hand are put on the page, so an article that must not be read before the first answers
is not in its source either. Fields carry the names under which `answers_of` reads them back from a form.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from billboards.campaigns.questions import FILE, Question
from billboards.campaigns.templates import Example, Template
from billboards.site.campaigns.campaign import Campaign
from billboards.site.campaigns.shown_items import Shown
from billboards.site.campaigns.surveys import consent_digest, consent_text
from billboards.site.campaigns.turns import PageName, Segment, SegmentState

#: What a field's name begins with.
FIELD = "answer:"
#: The heading of what came before in the same document.
BEFORE = "Before this"
#: Languages written from right to left, by the code a board names them with.
RIGHT_TO_LEFT = frozenset({"ar", "arc", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question with the answer it has; `outputs` is what the outputs are called."""

    question: Question
    answer: Any
    outputs: tuple[str, ...]

    @property
    def field(self) -> str:
        """The name of the field that holds the answer, and the beginning of it where there are several."""
        return f"{FIELD}{self.question.name}"

    @property
    def template(self) -> str:
        """What the question's kind puts on the page."""
        return f"{FILE}{self.question.kind}.html.j2"

    @property
    def written(self) -> str:
        """The answer as a field holds it."""
        return "" if self.answer is None else json.dumps(self.answer)


@dataclass(frozen=True)
class Text:
    """A text to read, under its heading, in its language."""

    heading: str
    text: str
    language: str | None
    direction: str
    #: Whether it is the input, in which what was left out may be marked.
    is_source: bool = False


@dataclass(frozen=True)
class Step:
    """One stage: its instructions, what it asks, and whether it was answered before."""

    instructions: tuple[Paragraph, ...]
    questions: tuple[Asked, ...]
    is_done: bool


@dataclass(frozen=True, kw_only=True)
class ItemView:
    """Everything on the page of one item."""

    assignment: str
    title: str
    texts: tuple[Text, ...]
    outputs: tuple[Text, ...]
    image: str | None
    steps: tuple[Step, ...]
    stage: int
    stages: int
    seconds: float
    qualifying: bool
    #: Of the kinds of questions on the page, to load before the page's own.
    scripts: tuple[str, ...]

    @property
    def is_last(self) -> bool:
        return self.stage == self.stages - 1


def view_item(shown: Shown, *, reopened: int | None = None) -> ItemView:
    """The page of an item at its stage, or at an earlier one that somebody went back to."""
    stage = shown.stage if reopened is None else min(reopened, shown.stage)
    visible = shown.visible(stage)
    template = shown.template
    names = template.names_of(len(shown.outputs))
    outputs = tuple(
        _text(name, text, shown.output_language, template) for name, text in zip(names, shown.outputs, strict=True)
    )
    steps = tuple(
        Step(
            paragraphs(part.instructions),
            tuple(
                Asked(question=template.dimension(name), answer=shown.answers.get(name), outputs=names)
                for name in part.dimensions
            ),
            k < stage,
        )
        for k, part in enumerate(template.stages[: stage + 1])
    )
    asked = {question.question.kind: question.question for step in steps for question in step.questions}
    return ItemView(
        assignment=shown.assignment,
        title=template.title,
        texts=tuple(_texts(shown, visible)),
        outputs=outputs if "outputs" in visible else (),
        image=shown.image if "image" in visible else None,
        steps=steps,
        stage=stage,
        stages=len(template.stages),
        seconds=shown.seconds,
        qualifying=shown.qualifying,
        scripts=tuple(f"{FILE}{kind}.js" for kind, question in asked.items() if question.file("js") is not None),
    )


@dataclass(frozen=True, kw_only=True)
class SegmentView:
    """One segment of a document on the page, at its number from 1 on; one that is others' to judge has no number."""

    number: int | None
    state: SegmentState
    item: ItemView
    sources: tuple[Text, ...]


@dataclass(frozen=True, kw_only=True)
class DocumentView:
    """A document on the page: what came before, its segments, and how many of them are answered."""

    before: tuple[Text, ...]
    segments: tuple[SegmentView, ...]
    done: int
    total: int
    #: The number of the first segment that is left.
    first: int | None


def view_document(segments: Sequence[Segment]) -> DocumentView | None:
    """The page of a document that is judged as a whole; None where items stand by themselves."""
    if not segments:
        return None
    views: list[SegmentView] = []
    number = 0
    for segment in segments:
        item = view_item(segment.shown)
        number += segment.state != "context"
        views.append(
            SegmentView(
                number=None if segment.state == "context" else number,
                state=segment.state,
                item=item,
                sources=tuple(text for text in item.texts if text.heading != BEFORE),
            )
        )
    answered = sum(view.state == "answered" for view in views)
    return DocumentView(
        before=tuple(text for text in views[0].item.texts if text.heading == BEFORE),
        segments=tuple(views),
        done=answered,
        total=number,
        first=next((view.number for view in views if view.state == "open"), None),
    )


def _texts(shown: Shown, visible: frozenset[str]) -> list[Text]:
    texts = []
    if "context" in visible and shown.context:
        texts.append(_text(BEFORE, "\n".join(shown.context), shown.input_language, shown.template))
    if "input" in visible and shown.input is not None:
        texts.append(replace(_text("Input", shown.input, shown.input_language, shown.template), is_source=True))
    if "reference" in visible:
        texts += [_text("Reference", text, shown.output_language, shown.template) for text in shown.references]
    return texts


def _text(heading: str, text: str, language: str | None, template: Template) -> Text:
    direction = template.direction
    if direction == "auto" and language is not None:
        direction = "rtl" if language.split("-")[0] in RIGHT_TO_LEFT else "ltr"
    return Text(heading, text, language, direction)


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of instructions, or a list."""

    text: str
    points: tuple[str, ...]


def paragraphs(text: str) -> tuple[Paragraph, ...]:
    """Instructions as paragraphs and lists, from plain text."""
    blocks = []
    for block in text.strip().split("\n\n"):
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        points = tuple(line.removeprefix("- ") for line in lines if line.startswith("- "))
        words = " ".join(line for line in lines if not line.startswith("- "))
        if words or points:
            blocks.append(Paragraph(words, points))
    return tuple(blocks)


@dataclass(frozen=True)
class ExampleView:
    """A worked example, its answers in words."""

    texts: tuple[tuple[str, str], ...]
    answers: tuple[tuple[str, str], ...]
    why: str


def view_examples(template: Template) -> tuple[ExampleView, ...]:
    """The template's examples as they are read."""
    return tuple(_example(template, example) for example in template.examples)


def _example(template: Template, example: Example) -> ExampleView:
    texts = [(BEFORE, example.context), ("Input", example.input), ("Reference", example.reference)]
    texts += list(zip(template.names_of(len(example.outputs)), example.outputs, strict=True))
    words = template.answers_in_words(example)
    answers = tuple((template.dimension(name).question, answer) for name, answer in words.items())
    return ExampleView(tuple((name, text) for name, text in texts if text), answers, example.why)


def answers_of(template: Template, sent: Mapping[str, str]) -> dict[str, Any]:
    """Raw answers from a form's fields; what is left empty is not answered."""
    return sent_answers(template.dimensions, sent)


def sent_answers(questions: Sequence[Question], sent: Mapping[str, str]) -> dict[str, Any]:
    """Raw answers to some questions from a form's fields."""
    answers = {}
    for question in questions:
        field = f"{FIELD}{question.name}"
        own = {name.removeprefix(field): text for name, text in sent.items() if name.startswith(field)}
        raw = question.from_form(own)
        if raw is not None:
            answers[question.name] = raw
    return answers


@dataclass(frozen=True, kw_only=True)
class PageView:
    """A page about the annotator: the text to accept, or the questions of a survey."""

    name: PageName
    text: tuple[Paragraph, ...]
    digest: str
    questions: tuple[Asked, ...]
    optional: frozenset[str]
    scripts: tuple[str, ...]


def view_page(campaign: Campaign, name: PageName, sent: Mapping[str, str]) -> PageView:
    """The page of consent or of a survey; `sent` is what its form had in it when something was wrong with it."""
    text = consent_text(campaign) if name == "consent" else ""
    survey = () if name == "consent" else campaign.template.asked_of_people(name)
    answers = sent_answers([asked.question for asked in survey], sent)
    questions = tuple(
        Asked(question=asked.question, answer=answers.get(asked.question.name), outputs=()) for asked in survey
    )
    kinds = {asked.question.kind: asked.question for asked in survey}
    return PageView(
        name=name,
        text=paragraphs(text),
        digest=consent_digest(text) if text else "",
        questions=questions,
        optional=frozenset(asked.question.name for asked in survey if not asked.is_required),
        scripts=tuple(f"{FILE}{kind}.js" for kind, question in kinds.items() if question.file("js") is not None),
    )
