"""Putting single facts into words: what the template generators have in common.

A phrase is a part of a sentence that is right wherever it stands; sentences are the generators' own. Where a generator
may choose between ways of saying things, `pick` chooses by a digest of the facts, so that the same input always gives
the same text.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import TypeVar

from bulletins.records import Facts, domain_of

T = TypeVar("T")

_PREPOSITIONS = {
    "Castle Hill": "on",
    "Gull Island": "on",
    "Lighthouse Point": "at",
    "Long Sands": "at",
    "North Quay": "at",
    "Observatory Hill": "on",
    "Orchard Farm": "at",
    "the Boat House": "at",
    "the Old Mill": "at",
}


def by_domain(
    facts: Facts, weather: Callable[[Facts], T], travel: Callable[[Facts], T], events: Callable[[Facts], T]
) -> T:
    """What the writer for the facts' own domain makes of them."""
    return {"weather": weather, "travel": travel, "events": events}[domain_of(facts)](facts)


def pick(facts: Facts, choices: Sequence[T], salt: str = "") -> T:
    """One of the choices, always the same for the same facts."""
    return choices[zlib.crc32("|".join((salt, *facts.values())).encode()) % len(choices)]


def sentence(text: str) -> str:
    """A sentence: capital letter in front, full stop behind."""
    return f"{text[0].upper()}{text[1:]}."


def an(noun: str) -> str:
    """A noun phrase with the article that its first letter asks for."""
    return f"an {noun}" if noun[0].lower() in "aeio" else f"a {noun}"


def where(place: str) -> str:
    return f"{_PREPOSITIONS.get(place, 'in')} {place}"


def wind(facts: Facts) -> str:
    if facts["strength"] == "calm":
        return "no wind"
    if facts["strength"] == "gale":
        return f"a gale from the {facts['direction']}"
    return f"a {facts['strength']} {facts['direction']} wind"


def rain(facts: Facts) -> str:
    return f"{facts['rain']} {facts['when']}" if "when" in facts else "no rain"


def hours(facts: Facts) -> str:
    return f"from {facts['start']} to {facts['end']}" if "end" in facts else f"at {facts['start']}"


def price(facts: Facts) -> str:
    return "is free" if facts["price"] == "free" else f"costs {facts['price']}"


def verb(audience: str) -> str:
    return "is" if audience == "everyone" else "are"


def service(facts: Facts) -> str:
    """The departure a notice speaks of: `08:15 ferry from North Quay to Gull Island`."""
    return f"{facts['start']} {facts['service']} from {facts['origin']} to {facts['destination']}"
