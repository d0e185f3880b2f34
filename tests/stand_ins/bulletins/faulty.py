"""Three generators with a flaw each: one can't inflect, one leaves things out, one makes things up.

The flaws are those of real systems, and come from how the programs work rather than from dice: fixed words where
grammar asks for a choice, a limit on length that is met by dropping what comes last, and a habit of rounding a text off
with something that sounds likely.
"""

from __future__ import annotations

from bulletins.phrases import by_domain, hours, pick, price, rain, sentence, service, where, wind
from bulletins.records import Facts, domain_of, facts_of

_ROOM = {"weather": 78, "travel": 76, "events": 70}

_LIKELY = {
    "weather": (
        "Some fog is possible at first.",
        "Hail can't be ruled out.",
        "The next day will be much warmer.",
        "A frost warning is in force for the hills.",
        "Pollen levels are high.",
    ),
    "travel": (
        "A replacement taxi is waiting outside.",
        "Free coffee will be served while you wait.",
        "All later departures are delayed as well.",
        "Bicycles can't be taken along.",
        "The line reopens next week.",
    ),
    "events": (
        "There will be live music and cake.",
        "Please register in advance.",
        "Parking is available next door.",
        "Prizes will be awarded at the end.",
        "Dogs are not allowed.",
    ),
}


def write_stumbler(text: str) -> str:
    """Every fact, in templates that know no plural, one article and one form of each verb."""
    clauses = by_domain(facts_of(text), _stumbler_weather, _stumbler_travel, _stumbler_events)
    return " ".join(map(sentence, clauses))


def write_skimmer(text: str) -> str:
    """As many facts as fit into a short line, the first ones first."""
    facts = facts_of(text)
    head, *rest = by_domain(facts, _skim_weather, _skim_travel, _skim_events)
    for part in rest:
        if len(head) + len(part) > _ROOM[domain_of(facts)]:
            break
        head += part
    return sentence(head)


def write_embroiderer(text: str) -> str:
    """Good sentences about most of the facts, then, more often than not, something that nobody said."""
    facts = facts_of(text)
    sentences = " ".join(map(sentence, by_domain(facts, _tell_weather, _tell_travel, _tell_events)))
    if pick(facts, range(4), "plain") == 0:
        return sentences
    return f"{sentences} {pick(facts, _LIKELY[domain_of(facts)], 'likely')}"


def _stumbler_weather(facts: Facts) -> list[str]:
    clauses = [
        f"on {facts['day']} {facts['place']} have a {facts['sky']} weather",
        f"the temperature are between {facts['low']} and {facts['high']} degree with {wind(facts)}",
        f"there is {rain(facts)}",
    ]
    return [*clauses, f"attention to the {facts['warning']}"] if "warning" in facts else clauses


def _stumbler_travel(facts: Facts) -> list[str]:
    change = {
        "delayed": f"have a delay of {facts.get('delay')} minute",
        "cancelled": "are cancel",
        "moved": f"leave now from {facts.get('stop')}",
        "extra": f"are a extra {facts['service']}",
    }[facts["status"]]
    clauses = [f"the {service(facts)} on {facts['day']} {change}", f"the reason are {facts['reason']}"]
    clauses += [f"next {facts['service']} go at {facts['next']}"] if "next" in facts else []
    return [*clauses, f"the ticket are {facts['tickets']}"] if "tickets" in facts else clauses


def _stumbler_events(facts: Facts) -> list[str]:
    cost = "are free" if facts["price"] == "free" else f"cost {facts['price'].removesuffix('s')}"
    clauses = [
        f"the {facts['event']} take place on {facts['day']} in {facts['place']} {hours(facts)}",
        f"it {cost} and for {facts['for']}",
    ]
    return [*clauses, f"you must brings {facts['bring']}"] if "bring" in facts else clauses


def _skim_weather(facts: Facts) -> list[str]:
    head = f"{facts['place']} will be {facts['sky']} on {facts['day']}"
    return [head, f", with {rain(facts)}", f" and {facts['high']} degrees"]


def _skim_travel(facts: Facts) -> list[str]:
    change = {
        "delayed": "is delayed",
        "cancelled": "is cancelled",
        "moved": f"leaves from {facts.get('stop')}",
        "extra": "is an extra service",
    }[facts["status"]]
    head = f"the {facts['start']} {facts['service']} to {facts['destination']} {change}"
    return [head, f" because of {facts['reason']}", f" on {facts['day']}"]


def _skim_events(facts: Facts) -> list[str]:
    head = f"the {facts['event']} is {where(facts['place'])} on {facts['day']}"
    return [head, f" {hours(facts)}", " and is free" if facts["price"] == "free" else f" for {facts['price']}"]


def _tell_weather(facts: Facts) -> list[str]:
    clauses = [
        f"{facts['day']} looks {facts['sky']} {where(facts['place'])}, and temperatures reach {facts['high']} degrees",
        f"expect {wind(facts)} and {rain(facts)}",
    ]
    return [*clauses, f"take care because of {facts['warning']}"] if "warning" in facts else clauses


def _tell_travel(facts: Facts) -> list[str]:
    change = {
        "delayed": f"will be {facts.get('delay')} minutes late",
        "cancelled": "will not run",
        "moved": f"leaves from {facts.get('stop')}",
        "extra": f"is an extra {facts['service']}",
    }[facts["status"]]
    clauses = [f"because of {facts['reason']}, the {service(facts)} {change} on {facts['day']}"]
    return [*clauses, f"another {facts['service']} leaves at {facts['next']}"] if "next" in facts else clauses


def _tell_events(facts: Facts) -> list[str]:
    invitation = f"come to {facts['place']} on {facts['day']} for the {facts['event']} {hours(facts)}"
    return [invitation, f"it is meant for {facts['for']} and {price(facts)}"]
