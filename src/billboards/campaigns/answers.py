"""Answers checked, and what they are worth.

What a page sends is a raw answer per dimension. It is checked here against the template, each answer by its question,
before anything is kept, and turned into numbers for each output that was judged. Where outputs were compared, the order
they were shown in decides whose number it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from billboards.campaigns.templates import Template
from billboards.errors import InvalidInput, UnknownName


def check_answers(
    template: Template, outputs: Sequence[str], raw: Mapping[str, Any], *, complete: bool, source: str | None = None
) -> dict[str, Any]:
    """The answers as they are kept; everything that is not an answer to this template is refused by name.

    source: the input that was shown, where the template shows it
    """
    names = [question.name for question in template.dimensions]
    for name in raw:
        if name not in names:
            raise UnknownName("dimension", str(name), names)
    missing = [name for name in names if name not in raw]
    if complete and missing:
        raise InvalidInput(f"{', '.join(missing)} is not answered yet; answer every question and send again")
    return {
        question.name: question.check_item(raw[question.name], outputs, source)
        for question in template.dimensions
        if question.name in raw
    }


def answer_values(template: Template, answers: Mapping[str, Any], order: Sequence[int]) -> dict[int, dict[str, float]]:
    """What checked answers say of each output of an item: slot → dimension → value on the question's own range.

    `order` holds the slots as they were shown. Of a preference over the reference only the generator's output, slot 0,
    gets a value.
    """
    judged = range(1) if template.compares == "reference" else range(len(order))
    return {
        slot: {
            question.name: question.worth(answers[question.name], list(order).index(slot), len(order))
            for question in template.valued
            if question.name in answers
        }
        for slot in judged
    }


def answer_details(template: Template, answers: Mapping[str, Any], place: int) -> dict[str, list[Any]]:
    """What a judgment keeps beside its values, of the output shown at this place; lists of one key are joined."""
    details: dict[str, list[Any]] = {}
    for question in template.dimensions:
        if question.name in answers:
            for key, values in question.details(answers[question.name], place).items():
                details.setdefault(key, []).extend(values)
    return details
