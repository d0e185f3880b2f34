"""A template as an annotator will meet it, in plain text: what is told, and stage by stage what is shown and asked."""

from __future__ import annotations

from collections.abc import Iterator

from billboards.campaigns.templates import Example, Question, Template

_WORDS = {"input": "Input", "reference": "Reference", "context": "Context", "image": "Image"}


def preview(template: Template) -> str:
    """The whole template, with its first example standing for an item."""
    example = template.examples[0] if template.examples else None
    lines = [template.title, "=" * len(template.title), "", template.instructions, ""]
    for k, stage in enumerate(template.stages):
        heading = f"Stage {k + 1} of {len(template.stages)}"
        lines += [heading, "-" * len(heading)]
        lines += [stage.instructions] if stage.instructions else []
        lines += [line for word in stage.shows for line in _shown(template, word, example)]
        lines += [line for name in stage.dimensions for line in _asked(template.dimension(name))]
        lines.append("")
    lines += [line for k, one in enumerate(template.examples, 1) for line in _example(template, k, one)]
    return "\n".join(lines).rstrip() + "\n"


def _shown(template: Template, word: str, example: Example | None) -> Iterator[str]:
    if word == "outputs":
        texts = [f"(output {k + 1})" for k in range(template.outputs)] if example is None else example.outputs
        yield from (f"  {name}: {text}" for name, text in zip(template.output_names, texts, strict=True))
        return
    said = {} if example is None else {"input": example.input, "reference": example.reference}
    yield f"  {_WORDS[word]}: {said.get(word) or f'(the {word}, where there is one)'}"


def _asked(question: Question) -> Iterator[str]:
    yield f"  ? {question.question}"
    if question.help:
        yield f"    {question.help}"
    if question.kind in ("scale", "preference"):
        worth = zip(question.labels, question.values, strict=True)
        yield "    " + "   ".join(f"[{k + 1}] {label} ({value:g})" for k, (label, value) in enumerate(worth))
    elif question.kind == "slider":
        yield f"    {question.range[0]:g} ---- {question.range[1]:g}   {' · '.join(question.labels)}"
    elif question.kind == "spans":
        yield "    mark spans: " + ", ".join(f"{one.name} (-{one.weight:g})" for one in question.severities)
        yield from ([f"    as: {', '.join(question.categories)}"] if question.categories else [])
    else:
        yield "    choose the best and the worst"


def _example(template: Template, k: int, example: Example) -> Iterator[str]:
    said = []
    for name, raw in example.answers.items():
        question = template.dimension(name)
        said.append(f"{name}: {question.labels[raw] if question.kind in ('scale', 'preference') else raw}")
    yield f"Example {k}"
    yield from (f"  {name}: {text}" for name, text in zip(template.output_names, example.outputs, strict=True))
    yield f"  answer: {'; '.join(said)}"
    yield f"  why: {example.why}"
