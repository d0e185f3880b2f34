"""A template as an annotator will meet it, in plain text: what is told, and stage by stage what is shown and asked."""

from __future__ import annotations

from collections.abc import Iterator

from billboards.campaigns.questions import Question
from billboards.campaigns.templates import Example, Template, When

_WORDS = {"input": "Input", "reference": "Reference", "context": "Context", "image": "Image"}


def preview(template: Template) -> str:
    """The whole template, with its first example standing for an item."""
    example = template.examples[0] if template.examples else None
    lines = [template.title, "=" * len(template.title), "", template.instructions, ""]
    lines += ["To accept first", "---------------", template.consent, ""] if template.consent else []
    lines += _about_people(template, "before")
    for k, stage in enumerate(template.stages):
        heading = f"Stage {k + 1} of {len(template.stages)}"
        lines += [heading, "-" * len(heading)]
        lines += [stage.instructions] if stage.instructions else []
        lines += [line for word in stage.shows for line in _shown(template, word, example)]
        lines += [line for name in stage.dimensions for line in _asked(template.dimension(name))]
        lines.append("")
    lines += _about_people(template, "after")
    lines += [line for k, worked in enumerate(template.examples, 1) for line in _example(template, k, worked)]
    return "\n".join(lines).rstrip() + "\n"


def _about_people(template: Template, when: When) -> list[str]:
    """The questions of a survey page."""
    asked = template.asked_of_people(when)
    if not asked:
        return []
    heading = f"About yourself, {when} the items"
    return [heading, "-" * len(heading), *(line for survey in asked for line in _asked(survey.question)), ""]


def _shown(template: Template, word: str, example: Example | None) -> Iterator[str]:
    if word == "outputs":
        texts = [f"(output {k + 1})" for k in range(template.outputs)] if example is None else example.outputs
        yield from (f"  {name}: {text}" for name, text in zip(template.output_names, texts, strict=True))
        return
    fields = {} if example is None else {"input": example.input, "reference": example.reference}
    yield f"  {_WORDS[word]}: {fields.get(word) or f'(the {word}, where there is one)'}"


def _asked(question: Question) -> Iterator[str]:
    yield f"  ? {question.question}"
    if question.help:
        yield f"    {question.help}"
    yield from (f"    {line}" for line in question.preview())


def _example(template: Template, k: int, example: Example) -> Iterator[str]:
    answers = (f"{name}: {words}" for name, words in template.answers_in_words(example).items())
    yield f"Example {k}"
    yield from (f"  {name}: {text}" for name, text in zip(template.output_names, example.outputs, strict=True))
    yield f"  answer: {'; '.join(answers)}"
    yield f"  why: {example.why}"
