"""An annotator's page as plain values: what is shown in this stage, what is asked, and what was answered so far.

Only the stages up to the one at hand are put on the page, so an article that must not be read before the first answers
is not in its source either. Fields carry the names under which `answers_of` reads them back from a form.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from billboards.campaigns.templates import Example, Question, Template
from billboards.errors import InvalidInput
from billboards.site.campaigns.shown_items import Shown

#: What a field's name begins with.
FIELD = "answer:"
#: Languages written from right to left, by the code a board names them with.
RIGHT_TO_LEFT = frozenset({"ar", "arc", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})


@dataclass(frozen=True)
class Asked:
    """A question with its field and the answer it has; `digits` says whether keys 1-9 choose."""

    name: str
    field: str
    kind: str
    question: str
    help: str
    labels: tuple[str, ...]
    answer: Any
    low: float
    high: float
    step: float
    severities: tuple[str, ...]
    categories: tuple[str, ...]
    allows_missing: bool
    outputs: tuple[str, ...]

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


@dataclass(frozen=True)
class Step:
    """One stage: its instructions, what it asks, and whether it was answered before."""

    instructions: tuple[str, ...]
    questions: tuple[Asked, ...]
    is_done: bool


@dataclass(frozen=True)
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
    marks: bool

    @property
    def is_last(self) -> bool:
        return self.stage == self.stages - 1


def view_item(shown: Shown, *, reopened: int | None = None) -> ItemView:
    """The page of an item at its stage, or at an earlier one that somebody went back to."""
    stage = shown.stage if reopened is None else min(reopened, shown.stage)
    visible = shown.visible(stage)
    template = shown.template
    outputs = tuple(
        _text(name, text, shown.output_language, template)
        for name, text in zip(_names(template, len(shown.outputs)), shown.outputs, strict=True)
    )
    steps = tuple(
        Step(
            paragraphs(one.instructions),
            tuple(_asked(template.dimension(name), shown) for name in one.dimensions),
            k < stage,
        )
        for k, one in enumerate(template.stages[: stage + 1])
    )
    kinds = {asked.kind for step in steps for asked in step.questions}
    return ItemView(
        shown.assignment,
        template.title,
        tuple(_texts(shown, visible)),
        outputs if "outputs" in visible else (),
        shown.image if "image" in visible else None,
        steps,
        stage,
        len(template.stages),
        shown.seconds,
        shown.qualifying,
        "spans" in kinds,
    )


def _names(template: Template, count: int) -> tuple[str, ...]:
    given = template.output_names[:count]
    return (*given, *(f"Output {k + 1}" for k in range(len(given), count)))


def _texts(shown: Shown, visible: frozenset[str]) -> list[Text]:
    found = []
    if "context" in visible and shown.context:
        found.append(_text("Before this", "\n".join(shown.context), shown.input_language, shown.template))
    if "input" in visible and shown.input is not None:
        found.append(_text("Input", shown.input, shown.input_language, shown.template))
    if "reference" in visible:
        found += [_text("Reference", one, shown.output_language, shown.template) for one in shown.references]
    return found


def _text(heading: str, text: str, language: str | None, template: Template) -> Text:
    direction = template.direction
    if direction == "auto" and language is not None:
        direction = "rtl" if language.split("-")[0] in RIGHT_TO_LEFT else "ltr"
    return Text(heading, text, language, direction)


def _asked(question: Question, shown: Shown) -> Asked:
    low, high = question.range
    return Asked(
        question.name,
        f"{FIELD}{question.name}",
        question.kind,
        question.question,
        question.help,
        question.labels,
        shown.answers.get(question.name),
        low,
        high,
        question.step,
        tuple(severity.name for severity in question.severities),
        question.categories,
        question.allows_missing,
        _names(shown.template, len(shown.outputs)),
    )


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of instructions, or a list."""

    text: str
    points: tuple[str, ...]


def paragraphs(text: str) -> tuple[Any, ...]:
    """Instructions as paragraphs and lists, from plain text."""
    found = []
    for block in text.strip().split("\n\n"):
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        points = tuple(line.removeprefix("- ") for line in lines if line.startswith("- "))
        words = " ".join(line for line in lines if not line.startswith("- "))
        if words or points:
            found.append(Paragraph(words, points))
    return tuple(found)


@dataclass(frozen=True)
class ExampleView:
    """A worked example, its answers in words."""

    texts: tuple[tuple[str, str], ...]
    answers: tuple[tuple[str, str], ...]
    why: str


def view_examples(template: Template) -> tuple[ExampleView, ...]:
    """The template's examples as they are read."""
    return tuple(_example(template, one) for one in template.examples)


def _example(template: Template, example: Example) -> ExampleView:
    texts = [("Before this", example.context), ("Input", example.input), ("Reference", example.reference)]
    texts += list(zip(_names(template, len(example.outputs)), example.outputs, strict=True))
    answers = tuple(
        (question.question, _in_words(question, example, template))
        for question in template.dimensions
        if question.name in example.answers
    )
    return ExampleView(tuple((name, text) for name, text in texts if text), answers, example.why)


def _in_words(question: Question, example: Example, template: Template) -> str:
    answer: Any = example.answers[question.name]
    if question.kind in ("scale", "preference"):
        return str(question.labels[answer])
    if question.kind == "best-worst":
        names = _names(template, len(example.outputs))
        return f"best: {names[answer['best']]}, worst: {names[answer['worst']]}"
    if question.kind == "spans":
        marked = [f"“{example.outputs[s['output']][s['start'] : s['end']]}” ({s['severity']})" for s in answer]
        return ", ".join(marked) or "no error"
    return f"{answer:g}"


def answers_of(template: Template, sent: Mapping[str, str]) -> dict[str, Any]:
    """Raw answers from a form's fields; what is left empty is not answered."""
    found: dict[str, Any] = {}
    for question in template.dimensions:
        field = f"{FIELD}{question.name}"
        if question.kind == "best-worst":
            places = {word: sent.get(f"{field}:{word}", "") for word in ("best", "worst")}
            if all(places.values()):
                found[question.name] = {word: _read(question, text) for word, text in places.items()}
        elif sent.get(field, "").strip():
            found[question.name] = _read(question, sent[field])
    return found


def _read(question: Question, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{question.name}: {text[:40]!r} is no answer; choose one on the page") from error
