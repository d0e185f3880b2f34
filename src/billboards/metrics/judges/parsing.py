"""Answers as scores, strictly: an answer is one JSON object of exactly the agreed form, or it is unreadable.

Nothing is fished out of prose: a model that repeats a number from the text it judges must not score it by that. A fence
of three backticks around the whole answer is allowed, because many models can't leave it out.
"""

from __future__ import annotations

import json
import re
from typing import Any

#: What one error of a severity costs, and the most that errors cost together (Freitag et al. 2021; GEMBA-MQM).
COSTS = {"critical": 25.0, "major": 5.0, "minor": 1.0}
MOST = 25.0
#: Ends of a Likert scale.
LOWEST, HIGHEST = 1, 5


class Unreadable(Exception):
    """Why an answer is not of the agreed form; caught where the question is put again."""


def read_assessment(text: str) -> dict[str, float]:
    """{"score": 0 to 100}."""
    value = _object(text, {"score"})["score"]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unreadable(f"score must be a number, found {value!r}")
    if not 0 <= value <= 100:
        raise Unreadable(f"score must lie from 0 to 100, found {value}")
    return {"": float(value)}


def read_errors(text: str) -> dict[str, float]:
    """{"errors": [{"span", "category", "severity"}, …]}, as what they cost."""
    errors = _object(text, {"errors"})["errors"]
    if not isinstance(errors, list):
        raise Unreadable(f"errors must be a list, found {errors!r}")
    return {"": 0.0 - min(MOST, sum(map(_cost, errors)))}


def read_aspects(text: str, aspects: tuple[str, ...]) -> dict[str, float]:
    """{aspect: 1 to 5, …}; their mean first."""
    answer = _object(text, set(aspects))
    for aspect, value in answer.items():
        if type(value) is not int or not LOWEST <= value <= HIGHEST:
            raise Unreadable(f"{aspect} must be a whole number from {LOWEST} to {HIGHEST}, found {value!r}")
    return {"mean": sum(answer.values()) / len(aspects)} | {aspect: float(answer[aspect]) for aspect in aspects}


def _cost(error: object) -> float:
    if not isinstance(error, dict) or set(error) != {"span", "category", "severity"}:
        raise Unreadable(f"an error must have span, category and severity, found {error!r}")
    if not all(isinstance(value, str) for value in error.values()):
        raise Unreadable(f"span, category and severity must be texts, found {error!r}")
    if error["severity"] not in COSTS:
        raise Unreadable(f"severity must be {', '.join(COSTS)}, found {error['severity']!r}")
    return COSTS[error["severity"]]


def _object(text: str, keys: set[str]) -> dict[str, Any]:
    """The one JSON object that an answer consists of."""
    fenced = re.fullmatch(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", text, re.DOTALL)
    try:
        document = json.loads(fenced[1] if fenced else text, object_pairs_hook=_once, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is not one JSON object: {error}") from error
    if not isinstance(document, dict) or set(document) != keys:
        raise Unreadable(f"it must be a JSON object with {', '.join(sorted(keys))} and nothing else")
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Unreadable("it names a key twice")
    return members


def _refuse(constant: str) -> None:
    raise Unreadable(f"{constant} is no number")
