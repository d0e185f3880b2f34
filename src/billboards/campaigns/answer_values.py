"""Answers checked, and what they are worth.

What a page sends is a raw answer per dimension: the option that was chosen, a number, marked spans, the best and the
worst. It is checked here against the template before anything is kept, and turned into numbers for each output that
was judged. Where outputs were compared, the order they were shown in decides whose number it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from billboards.campaigns.templates import Question, Template
from billboards.errors import InvalidInput, UnknownName

#: More marked spans than this in one answer are a mistake of the page, not of the output.
MOST_SPANS = 500


def check_answers(
    template: Template, outputs: Sequence[str], raw: Mapping[str, Any], *, complete: bool
) -> dict[str, Any]:
    """The answers as they are kept; everything that is not an answer to this template is refused by name."""
    names = [question.name for question in template.dimensions]
    for name in raw:
        if name not in names:
            raise UnknownName("dimension", str(name), names)
    missing = [name for name in names if name not in raw]
    if complete and missing:
        raise InvalidInput(f"{', '.join(missing)} is not answered yet; answer every question and send again")
    checks = {"scale": _option, "preference": _option, "slider": _number, "spans": _spans, "best-worst": _best_worst}
    return {
        question.name: checks[question.kind](question, outputs, raw[question.name])
        for question in template.dimensions
        if question.name in raw
    }


def _option(question: Question, _: Sequence[str], raw: Any) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int) or not 0 <= raw < len(question.labels):
        raise InvalidInput(
            f"{question.name}: {str(raw)[:40]!r} is no option; send a number from 0 to {len(question.labels) - 1}"
        )
    return raw


def _number(question: Question, _: Sequence[str], raw: Any) -> float:
    low, high = question.range
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not low <= raw <= high:
        raise InvalidInput(f"{question.name}: {str(raw)[:40]!r} is no number from {low:g} to {high:g}")
    return float(raw)


def _best_worst(question: Question, outputs: Sequence[str], raw: Any) -> dict[str, int]:
    if not isinstance(raw, Mapping) or set(raw) != {"best", "worst"}:
        raise InvalidInput(f'{question.name}: send {{"best": k, "worst": j}}; found {str(raw)[:40]!r}')
    found = {word: raw[word] for word in ("best", "worst")}
    if not all(_is_place(place, outputs) for place in found.values()):
        raise InvalidInput(f"{question.name}: best and worst are places from 0 to {len(outputs) - 1}")
    if found["best"] == found["worst"]:
        raise InvalidInput(f"{question.name}: one output can't be the best and the worst; choose two")
    return found


def _spans(question: Question, outputs: Sequence[str], raw: Any) -> list[dict[str, Any]]:
    if not isinstance(raw, list | tuple) or len(raw) > MOST_SPANS:
        raise InvalidInput(f"{question.name}: send a list of at most {MOST_SPANS} spans; an empty one is no error")
    return [_span(question, outputs, span, k) for k, span in enumerate(raw, 1)]


def _span(question: Question, outputs: Sequence[str], span: Any, k: int) -> dict[str, Any]:
    where = f"{question.name}: span {k}"
    known = ("output", "start", "end", "severity", "category", "missing")
    if not isinstance(span, Mapping) or not set(span) <= set(known):
        raise InvalidInput(f"{where} must be an object with {', '.join(known)}; found {str(span)[:80]!r}")
    output: Any = span.get("output", 0)
    start: Any = span.get("start")
    end: Any = span.get("end")
    if not _is_place(output, outputs):
        raise InvalidInput(f"{where}: output must be a place from 0 to {len(outputs) - 1}; found {str(output)[:40]!r}")
    missing = span.get("missing", False)
    if missing is not False and (missing is not True or not question.allows_missing):
        raise InvalidInput(f"{where}: this template has no spans for what is missing")
    least = 0 if missing else 1
    ends = all(isinstance(place, int) and not isinstance(place, bool) for place in (start, end))
    if not ends or not 0 <= start <= end <= len(outputs[output]) or end - start < least:
        raise InvalidInput(
            f"{where} runs from {str(start)[:20]} to {str(end)[:20]}; "
            f"the output has {len(outputs[output])} characters, and a span marks one or more of them"
        )
    found: dict[str, Any] = {"output": output, "start": start, "end": end}
    found["severity"] = _choice(span.get("severity"), [one.name for one in question.severities], f"{where}: severity")
    if question.categories:
        found["category"] = _choice(span.get("category"), question.categories, f"{where}: category")
    return {**found, "missing": True} if missing else found


def _is_place(value: Any, outputs: Sequence[str]) -> bool:
    """Whether a value is the place of an output; 0.0 and true are equal to one and are none."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(outputs)


def _choice(value: Any, known: Sequence[str], where: str) -> str:
    if value not in known:
        raise InvalidInput(f"{where} must be one of {', '.join(known)}; found {str(value)[:40]!r}")
    return str(value)


def answer_values(template: Template, raw: Mapping[str, Any], order: Sequence[int]) -> dict[int, dict[str, float]]:
    """What complete answers say of each output of an item: slot → dimension → value on the question's own range.

    `order` holds the slots as they were shown. Of a preference over the reference only the generator's output, slot 0,
    gets a value.
    """
    judged = range(1) if template.compares == "reference" else range(len(order))
    return {
        slot: {
            question.name: _value(question, raw[question.name], list(order).index(slot), len(order))
            for question in template.dimensions
            if question.name in raw
        }
        for slot in judged
    }


def _value(question: Question, raw: Any, place: int, outputs: int) -> float:
    low, high = question.range
    if question.kind == "scale":
        return question.values[int(raw)]
    if question.kind == "preference":
        # The options run from the first output shown to the second; for the first, their worth runs backwards.
        worth = question.values[int(raw)]
        return worth if place == outputs - 1 else low + high - worth
    if question.kind == "best-worst":
        return high if raw["best"] == place else low if raw["worst"] == place else (low + high) / 2
    if question.kind == "spans":
        weight = {severity.name: severity.weight for severity in question.severities}
        total = sum(weight[span["severity"]] for span in raw if span["output"] == place)
        return max(low, 0.0 - total)
    return float(raw)
