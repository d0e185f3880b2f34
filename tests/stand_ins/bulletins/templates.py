"""Three generators that say everything they are told: one well, one in as few words as it can, one in too many.

Each is a handful of templates per domain over the phrases that all template generators share. They differ in manner
only, which is what separates a judgment of adequacy from one of fluency.
"""

from __future__ import annotations

from bulletins.phrases import an, by_domain, hours, pick, price, rain, sentence, service, verb, where, wind
from bulletins.records import Facts, facts_of


def write_almanac(text: str) -> str:
    """Every fact in plain, correct sentences, in one of two orders."""
    return by_domain(facts_of(text), _almanac_weather, _almanac_travel, _almanac_events)


def write_telegram(text: str) -> str:
    """Every fact, abbreviated, and hardly a verb."""
    return by_domain(facts_of(text), _telegram_weather, _telegram_travel, _telegram_events)


def write_crier(text: str) -> str:
    """Every fact, wrapped in courtesies."""
    return by_domain(facts_of(text), _crier_weather, _crier_travel, _crier_events)


def _almanac_weather(facts: Facts) -> str:
    place, day, sky = facts["place"], facts["day"], facts["sky"]
    warning = f", and there is a warning of {facts['warning']}" if "warning" in facts else ""
    first = sentence(f"{place} will be {sky} on {day}, with {rain(facts)} and {wind(facts)}")
    second = sentence(f"temperatures will lie between {facts['low']} and {facts['high']} degrees{warning}")
    if pick(facts, (True, False)):
        return f"{first} {second}"
    first = sentence(f"expect {an(sky)} {day} {where(place)}, with {wind(facts)}")
    second = sentence(
        f"there will be {rain(facts)} and temperatures of {facts['low']} to {facts['high']} degrees{warning}"
    )
    return f"{first} {second}"


def _almanac_travel(facts: Facts) -> str:
    on = f"on {facts['day']}, the {service(facts)}"
    why = pick(facts, ("owing to", "because of"))
    happens = {
        "delayed": f"{on} will run {facts.get('delay')} minutes late {why} {facts['reason']}",
        "cancelled": f"{on} is cancelled {why} {facts['reason']}",
        "moved": f"{on} will leave from {facts.get('stop')} {why} {facts['reason']}",
        "extra": f"on {facts['day']}, there is an extra {service(facts)} {why} {facts['reason']}",
    }
    clauses = [f"the next {facts['service']} leaves at {facts['next']}"] if "next" in facts else []
    clauses += [f"tickets are {facts['tickets']}"] if "tickets" in facts else []
    more = f" {sentence(' and '.join(clauses))}" if clauses else ""
    return sentence(happens[facts["status"]]) + more


def _almanac_events(facts: Facts) -> str:
    event, audience = facts["event"], facts["for"]
    bring = f", and you should bring {facts['bring']}" if "bring" in facts else ""
    first = f"the {event} takes place {where(facts['place'])} on {facts['day']} {hours(facts)}"
    second = f"it {price(facts)} and {audience} {verb(audience)} welcome{bring}"
    if pick(facts, (True, False)):
        return f"{sentence(first)} {sentence(second)}"
    first = f"on {facts['day']} {audience} can join the {event} {where(facts['place'])} {hours(facts)}"
    return f"{sentence(first)} {sentence(f'admission {price(facts)}{bring}')}"


_WHEN = {"in the morning": "a.m.", "in the afternoon": "p.m.", "in the evening": "eve.", "overnight": "o/n"}


def _telegram_weather(facts: Facts) -> str:
    compass = "".join(part[0].upper() for part in facts.get("direction", "").split("-") if part)
    breeze = f"{facts['strength']} {compass}".strip()
    fall = "dry" if facts["rain"] == "none" else f"{facts['rain']} {_WHEN.get(facts['when'], facts['when'])}"
    parts = [facts["sky"], f"{facts['low']} to {facts['high']} C", breeze, fall]
    warning = f" Warning: {facts['warning']}." if "warning" in facts else ""
    return f"{facts['place'].removeprefix('the ')} {facts['day'][:3]}: {', '.join(parts).removesuffix('.')}.{warning}"


def _telegram_travel(facts: Facts) -> str:
    head = f"{facts['service'].title()} {facts['origin']} to {facts['destination'].removeprefix('the ')}"
    status = facts["status"]
    status += f" {facts['delay']} min" if "delay" in facts else f" to {facts['stop']}" if "stop" in facts else ""
    parts = [f"{head}, {facts['day'][:3]} {facts['start']}: {status} ({facts['reason']})"]
    parts += [f"Next {facts['next']}"] if "next" in facts else []
    parts += [f"Tickets {facts['tickets']}"] if "tickets" in facts else []
    return f"{'. '.join(parts)}."


def _telegram_events(facts: Facts) -> str:
    span = f"{facts['start']}-{facts['end']}" if "end" in facts else facts["start"]
    head = f"{facts['event']}, {facts['place'].removeprefix('the ')}, {facts['day'][:3]} {span}"
    parts = [head, f"{facts['price'].capitalize()}, {facts['for']}"]
    parts += [f"Bring {facts['bring']}"] if "bring" in facts else []
    return f"{'. '.join(parts)}."


def _crier_weather(facts: Facts) -> str:
    clauses = [
        f"please be informed that on {facts['day']} the sky over {facts['place']} is going to be {facts['sky']}",
        f"as regards the temperature, {facts['low']} to {facts['high']} degrees are expected, with {wind(facts)}",
        f"please note that there will be {rain(facts)}",
    ]
    if "warning" in facts:
        clauses.append(f"we kindly ask you to beware of {facts['warning']}")
    return " ".join(map(sentence, clauses))


def _crier_travel(facts: Facts) -> str:
    change = {
        "delayed": f"will unfortunately be delayed by {facts.get('delay')} minutes",
        "cancelled": "has unfortunately had to be cancelled",
        "moved": f"has been moved to {facts.get('stop')}",
        "extra": f"will run as an extra {facts['service']}",
    }[facts["status"]]
    clauses = [
        f"passengers are kindly informed that the {service(facts)} on {facts['day']} {change}",
        f"the reason for this measure is {facts['reason']}",
    ]
    if "next" in facts:
        clauses.append(f"please note that the next {facts['service']} is the {facts['service']} at {facts['next']}")
    if "tickets" in facts:
        clauses.append(f"as regards tickets, they are {facts['tickets']}")
    return " ".join(map(sentence, [*clauses, "we thank you for your kind understanding"]))


def _crier_events(facts: Facts) -> str:
    event, audience = facts["event"], facts["for"]
    clauses = [
        f"it is with great pleasure that we announce the {event} {where(facts['place'])}",
        f"the {event} will be held on {facts['day']} {hours(facts)}",
        f"as regards the price, please note that it {price(facts)} and that {audience} {verb(audience)} welcome",
    ]
    if "bring" in facts:
        clauses.append(f"you are kindly asked to bring {facts['bring']}")
    return " ".join(map(sentence, clauses))
