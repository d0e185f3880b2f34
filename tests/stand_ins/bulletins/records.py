"""A record: the input of an instance, taken apart into single facts.

An input reads `place: Gull Island; day: Monday; temperature: 7 to 12; …`. Some entries hold several facts (a route has
two ends, a wind a strength and a direction); here they become one fact each, which is what generators put into words
and what the rubric looks for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal

Facts = Mapping[str, str]
Domain = Literal["weather", "travel", "events"]

_RAIN = re.compile(r"(?P<rain>.+?) (?P<when>in the \w+|overnight|all day)")


def facts_of(text: str) -> dict[str, str]:
    """The facts of an input, by name, in the order they are given."""
    facts: dict[str, str] = {}
    for entry in text.split("; "):
        key, value = entry.split(": ", 1)
        facts |= _SPLIT[key](value) if key in _SPLIT else {key: value}
    return facts


def domain_of(facts: Facts) -> Domain:
    if "sky" in facts:
        return "weather"
    return "travel" if "service" in facts else "events"


def _split_range(low: str, high: str) -> Callable[[str], dict[str, str]]:
    """A splitter of `A to B`, or of A alone."""

    def split(value: str) -> dict[str, str]:
        first, _, second = value.partition(" to ")
        return {low: first, high: second} if second else {low: first}

    return split


def _split_wind(value: str) -> dict[str, str]:
    if value == "calm":
        return {"strength": "calm"}
    first, second = value.split(" ")
    return {"strength": "gale", "direction": first} if second == "gale" else {"strength": first, "direction": second}


def _split_rain(value: str) -> dict[str, str]:
    match = _RAIN.fullmatch(value)
    return {"rain": value} if match is None else match.groupdict()


def _split_departure(value: str) -> dict[str, str]:
    day, time = value.split(" ")
    return {"day": day, "start": time}


def _split_status(value: str) -> dict[str, str]:
    status, _, rest = value.partition(" ")
    if status == "delayed":
        return {"status": status, "delay": rest.removesuffix(" minutes")}
    return {"status": status, "stop": rest.removeprefix("to ")} if rest else {"status": status}


_SPLIT: Mapping[str, Callable[[str], dict[str, str]]] = {
    "temperature": _split_range("low", "high"),
    "wind": _split_wind,
    "rain": _split_rain,
    "route": _split_range("origin", "destination"),
    "departs": _split_departure,
    "status": _split_status,
    "time": _split_range("start", "end"),
}
