"""Answers as scores: the last JSON object of the agreed form that stands in an answer, or it is unreadable.

Reasoning between tags (`<think>…</think>` and its kin) is no answer; prose and fences around the object are passed
over, other keys too. An object inside another object or list doesn't count, nor one that a judge only repeats from the
texts it was shown: a text can't score itself by being quoted. Work is bounded, whatever an answer holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from billboards.reading import LONGEST, decimal_number, is_number, shown

#: What one error of a severity costs, and the most that errors cost together (Freitag et al. 2021; GEMBA-MQM).
COSTS = {"critical": 25.0, "major": 5.0, "minor": 1.0}
MOST = 25.0
#: Ends of a Likert scale.
LOWEST, HIGHEST = 1, 5
#: Ends of direct assessment.
WORST, BEST = 0, 100
#: What the text that is shown first wins of a comparison.
CHOICES = {"first": 1.0, "second": 0.0, "tie": 0.5}
#: No answer of the agreed form is nested more deeply, and none needs so many tokens of JSON to be looked at.
DEEPEST, MOST_TOKENS = 20, 200_000
#: Of many objects in an answer only so many, the last ones, are read.
MOST_OBJECTS = 100

_TAGS = "think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad"
#: Where reasoning begins and ends: tags of DeepSeek, Qwen and others, of Magistral, of Kimi, of gpt-oss.
_OPENS = rf"<(?:{_TAGS})(?:\s[^<>]{{0,200}})?>|\[THINK\]|◁think▷|<\|channel\|>\s?(?:analysis|commentary)\b"
_CLOSES = rf"</(?:{_TAGS})\s?>|\[/THINK\]|◁/think▷|<\|channel\|>\s?final\b"
_REASONING = re.compile(rf"(?P<opens>{_OPENS})|(?P<closes>{_CLOSES})", re.IGNORECASE)
_MARK = re.compile(rf"{_REASONING.pattern}|(?P<json>[{{\[])", re.IGNORECASE)
_END = re.compile(_CLOSES, re.IGNORECASE)
_JSON_TOKEN = re.compile(
    r'[ \t\r\n]*+(?:(?P<open>[{\[])|(?P<close>[}\]])|(?P<text>"(?:[^"\\]|\\.)*+")|[:,]|[-+.0-9eE]++'
    r"|true|false|null|-?Infinity|NaN)",
    re.DOTALL,
)
#: What follows where a text ends inside an object: nothing, or a quotation that never ends.
_CUT = re.compile(r'[ \t\r\n`]*+(?:"|\Z)')
_NUMBER_LINE = re.compile(
    r"(?:[^\W\d][\w ]{0,40}(?::|=|\bis\b)[*_` ]*)?(?P<number>[-+]?[0-9]+(?:\.[0-9]+)?)"
    r"(?: ?(?:/|out of) ?(?P<of>[0-9]+))?"
)
LONGEST_LINE = 200
Scores = dict[str, float]
T = TypeVar("T")


class Unreadable(Exception):
    """Why an answer is not of the agreed form; caught where the question is put again."""


def read_assessment(text: str, quoted: Sequence[str] = ()) -> Scores:
    """{"score": 0 to 100}."""
    return read_last(text, lambda answer: {"": number_between(answer, "score", WORST, BEST)}, ("score",), quoted)


def read_errors(text: str, quoted: Sequence[str] = ()) -> Scores:
    """{"errors": [{"span", "category", "severity"}, …]}, as what they cost, and how many there are of each severity."""
    return cost_of(read_error_list(text, quoted))


def read_error_list(text: str, quoted: Sequence[str] = ()) -> list[dict[str, str]]:
    """The errors that a judge found: span, category and severity of each."""
    return read_last(text, errors_of, ("errors",), quoted)


def read_aspects(text: str, aspects: Sequence[str], quoted: Sequence[str] = ()) -> Scores:
    """{aspect: 1 to 5, …}; their mean first."""

    def read(answer: dict[str, Any]) -> Scores:
        values = {aspect: number_between(answer, aspect, LOWEST, HIGHEST) for aspect in aspects}
        return {"mean": sum(values.values()) / len(values), **values}

    return read_last(text, read, aspects, quoted)


def read_choice(text: str, quoted: Sequence[str] = ()) -> Scores:
    """{"better": "first", "second" or "tie"}, as what the text that is shown first wins."""

    def read(answer: dict[str, Any]) -> Scores:
        choice = answer.get("better")
        chosen = choice.strip().casefold() if isinstance(choice, str) else None
        if chosen not in CHOICES:
            raise Unreadable(f"better must be {', '.join(CHOICES)}, found {shown(choice)}")
        return {"": CHOICES[chosen]}

    return read_last(text, read, ("better",), quoted)


def read_last(text: str, read: Callable[[dict[str, Any]], T], keys: Sequence[str], quoted: Sequence[str]) -> T:
    """What the last object that can be read says; the reason of the last one where none can."""
    reason = f"it holds no JSON object with {', '.join(keys)}"
    everything = _without_fence(text)
    for place, written in enumerate(reversed(objects(text)[-MOST_OBJECTS:])):
        try:
            if written != everything and any(written in material for material in quoted):
                raise Unreadable("its JSON object is only quoted from the texts")
            return read(_parsed(written))
        except Unreadable as unreadable:
            reason = reason if place else str(unreadable)
    raise Unreadable(reason)


def objects(text: str) -> list[str]:
    """The JSON objects of an answer that stand in no other and in no reasoning, as they are written."""
    budget, place, outermost = _Budget(), 0, list[str]()
    while mark := _MARK.search(text, place):
        place = mark.end()
        if mark["opens"]:
            place = _end_of_reasoning(text, place)
        elif mark["closes"]:
            outermost.clear()
        else:
            end = _end_of_json(text, mark.start(), budget)
            if end is None:
                break
            if end > mark.start():
                place = end
                outermost += [text[mark.start() : end]] if mark["json"] == "{" else []
    return outermost


def answer_text(text: str) -> str:
    """An answer without its reasoning."""
    kept, place = list[str](), 0
    while mark := _REASONING.search(text, place):
        if mark["opens"]:
            kept.append(text[place : mark.start()])
            place = _end_of_reasoning(text, mark.end())
        else:
            kept.clear()
            place = mark.end()
    return "".join((*kept, text[place:]))


def number_between(answer: dict[str, Any], key: str, lowest: float, highest: float) -> float:
    """A number of an answer, which may be written as text, on its scale."""
    if key not in answer:
        raise Unreadable(f"{key} is missing")
    value = answer[key]
    number = decimal_number(value.strip()) if isinstance(value, str) else value if is_number(value) else None
    if number is None:
        raise Unreadable(f"{key} must be a number, found {shown(value)}")
    if not lowest <= number <= highest:
        raise Unreadable(f"{key} must lie from {lowest:g} to {highest:g}, found {number:g}")
    return float(number)


def read_number(text: str, lowest: float, highest: float) -> float:
    """The number that an answer's last line holds, which may say what it is (`Score: 4`) and of how many (`4/5`)."""
    last = answer_text(text).strip().rpartition("\n")[2][:LONGEST_LINE]
    match = _NUMBER_LINE.fullmatch(last.strip(" \t\r*_`#.!"))
    number = decimal_number(match["number"]) if match else None
    if match is None or number is None or (match["of"] and decimal_number(match["of"]) != highest):
        raise Unreadable(f"its last line is no number but {shown(last)}")
    return number_between({"the number": number}, "the number", lowest, highest)


def errors_of(answer: dict[str, Any]) -> list[dict[str, str]]:
    """The list of errors in an answer, each with a severity; a span or category that is absent is empty."""
    errors = answer.get("errors")
    if not isinstance(errors, list):
        raise Unreadable(f"errors must be a list, found {shown(errors)}")
    return [_error(error) for error in errors]


def cost_of(errors: Sequence[dict[str, str]]) -> Scores:
    """What errors cost together, negated, and how many there are of each severity."""
    severities = [error["severity"] for error in errors]
    cost = min(MOST, sum(COSTS[severity] for severity in severities))
    return {"score": 0.0 - cost, **{severity: float(severities.count(severity)) for severity in COSTS}}


def _error(error: object) -> dict[str, str]:
    if not isinstance(error, dict):
        raise Unreadable(f"an error must have span, category and severity, found {shown(error)}")
    texts = {key: error.get(key) for key in ("span", "category", "severity")}
    words = {key: "" if value is None else value for key, value in texts.items()}
    if not all(isinstance(value, str) for value in words.values()):
        raise Unreadable(f"span, category and severity must be texts, found {shown(error)}")
    severity = words["severity"].strip().casefold()
    if severity not in COSTS:
        raise Unreadable(f"severity must be {', '.join(COSTS)}, found {shown(words['severity'])}")
    return {**words, "severity": severity}


class _Budget:
    """How many more tokens of JSON may be looked at in one answer."""

    def __init__(self) -> None:
        self.left = MOST_TOKENS

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Unreadable("it is too long and too tangled to be read")


def _end_of_reasoning(text: str, start: int) -> int:
    end = _END.search(text, start)
    if end is None:
        raise Unreadable("it was cut short in its reasoning, which never ends")
    return end.end()


def _end_of_json(text: str, start: int, budget: _Budget) -> int | None:
    """Where the object or list that begins here ends; its start where it is none, None where the text ends within."""
    depth, place, names_key = 0, start, False
    while token := _JSON_TOKEN.match(text, place):
        budget.spend()
        place = token.end()
        if names_key and not (token["text"] or token["close"]):
            return start
        names_key = token["open"] == "{"
        if token["open"]:
            depth += 1
            if depth > DEEPEST:
                return start
        elif token["close"]:
            depth -= 1
            if not depth:
                return place
    return None if _CUT.match(text, place) else start


def _parsed(written: str) -> Any:
    try:
        return json.loads(
            written,
            strict=False,
            object_pairs_hook=_once,
            parse_constant=_refuse,
            parse_int=_number,
            parse_float=_number,
        )
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is no JSON: {error}") from error


def _number(written: str) -> float:
    """A number; one that is absurdly long is none."""
    return float(written) if len(written) <= LONGEST else float("nan")


def _without_fence(text: str) -> str:
    bare = text.strip()
    is_fenced = bare.startswith("```") and bare.endswith("```") and "\n" in bare
    return bare.partition("\n")[2].removesuffix("```").strip() if is_fenced else bare


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Unreadable("it names a key twice")
    return members


def _refuse(constant: str) -> float:
    raise Unreadable(f"{constant} is no number")
