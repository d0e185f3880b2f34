"""What an attentive reader would notice: facts kept, facts invented, and marks of bad language.

The rubric is given an input and a text and knows nothing of references or of who wrote the text. Facts are found by
the wordings listed in `data/wordings.jsonl`, by days, numbers and clock times in their usual spellings, and word for
word otherwise; a statement that only fits another record counts as invented.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from bulletins.language import flaws_of
from bulletins.records import Facts, domain_of, facts_of
from bulletins.texts import Wording

_SPELLED = {"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9"}
_SPELLED |= {"ten": "10", "eleven": "11", "twelve": "12"}
_HOUR = "|".join(("one", *_SPELLED, r"\d+"))
_NUMBER = re.compile(r"(?<![\w:-])-?\d+(?::\d\d)?(?![\w:])")
_NUMERIC = frozenset(("low", "high", "start", "end", "next", "delay"))
_WEIGHTS = {"strength": 0.5, "direction": 0.5, "when": 0.5, "low": 0.7, "reason": 0.7}
_WEIGHTS |= {"tickets": 0.6, "for": 0.6, "bring": 0.6}


@dataclass(frozen=True, slots=True)
class Findings:
    """What was noticed about one text."""

    lost: tuple[str, ...]
    share_lost: float
    invented: tuple[str, ...]
    flaws: Mapping[str, float]


class Rubric:
    """Looks texts over, given the inputs whose facts a text might wrongly state and the wordings people use."""

    def __init__(self, inputs: Iterable[str], wordings: Sequence[Wording]) -> None:
        self._wordings = {(w.field, w.value): w for w in wordings}
        claims = [(w.field, w.value) for w in wordings if w.field == "claim"]
        domain_facts: dict[str, set[tuple[str, str]]] = {}
        for facts in map(facts_of, inputs):
            domain_facts.setdefault(domain_of(facts), set(claims)).update(facts.items())
        self._signs = {domain: self._signs_of(facts) for domain, facts in domain_facts.items()}

    def _signs_of(self, facts: Iterable[tuple[str, str]]) -> dict[str, list[re.Pattern[str]]]:
        """What gives a stated fact away, by the fact's value; numbers are looked for by themselves."""
        signs: dict[str, list[re.Pattern[str]]] = {}
        for name, value in sorted(facts):
            if name not in _NUMERIC:
                signs.setdefault(value, []).extend(map(_pattern, sorted(self._sure_ways(name, value))))
        return signs

    def look_over(self, source: str, text: str) -> Findings:
        facts = facts_of(source)
        kept, rest = self._kept(facts, _normal(text))
        lost = tuple(name for name in facts if name not in kept)
        total = sum(_WEIGHTS.get(name, 1.0) for name in facts)
        share = sum(_WEIGHTS.get(name, 1.0) for name in lost) / total
        return Findings(lost, share, self._invented(facts, rest), flaws_of(text))

    def _kept(self, facts: Facts, text: str) -> tuple[set[str], str]:
        """The facts that a text states, and what is left of the text without them."""
        ways = [(way, name) for name, value in facts.items() for way in self._ways(name, value)]
        kept = set()
        for way, name in sorted(ways, key=lambda pair: (-len(pair[0]), pair)):
            text, count = _pattern(way).subn("_", text)
            if count:
                kept.add(name)
        return kept, text

    def _ways(self, name: str, value: str) -> set[str]:
        """Every way to state a fact where it is known to be true."""
        wording = self._wordings.get((name, value))
        hints = set(map(_normal, wording.hints)) if wording else set()
        if name == "day":
            hints.add(value[:3].lower())
        return self._sure_ways(name, value) | hints

    def _sure_ways(self, name: str, value: str) -> set[str]:
        """The ways to state a fact that can mean no other fact."""
        wording = self._wordings.get((name, value))
        ways = set(map(_normal, wording.phrases)) if wording else set()
        if name == "day":
            return {value.lower(), f"{value.lower()}s"}
        if ":" in value:
            return _clock(value)
        if value.endswith(" crowns"):
            return {value, value.removesuffix("s")}
        plain = re.sub(r"^(?:the|an?) ", "", _normal(value))
        return ways if name in ("sky", "when", "bring", "claim") and ways else {plain, *ways}

    def _invented(self, facts: Facts, rest: str) -> tuple[str, ...]:
        """What a text states beside its record: numbers, and facts that are true of other records only."""
        invented = {match[0]: None for match in _NUMBER.finditer(rest)}
        own = set(facts.values())
        for value, signs in self._signs[domain_of(facts)].items():
            if value not in own and any(sign.search(rest) for sign in signs):
                invented[value] = None
        return tuple(invented)


@cache
def _normal(text: str) -> str:
    """Lower case, with numbers as digits and clock times as hours:minutes."""
    text = re.sub(r"(\d)-(\d)", r"\1 to \2", text.lower().replace("minus ", "-"))
    for words, minutes in (("half", "30"), ("quarter", "15"), ("ten", "10"), ("five", "05")):
        text = re.sub(rf"\b{words} past ({_HOUR})\b", rf"\1:{minutes}", text)
    text = re.sub(rf"\b({_HOUR}) o'clock", r"\1:00", text)
    text = re.sub(r"\bone(?=:\d)", "1", text).replace("noon", "12:00")
    return re.sub(rf"\b(?:{'|'.join(_SPELLED)})\b", lambda match: _SPELLED[match[0]], text)


def _clock(time: str) -> set[str]:
    """A time of day as people write it: 19:00, 7:00, 7."""
    hour, minutes = time.split(":")
    spellings = {hour, str(int(hour)), str((int(hour) - 1) % 12 + 1)}
    ways = {f"{spelling}:{minutes}" for spelling in spellings}
    if minutes != "00":
        return ways
    return ways | spellings | ({"one"} if "1" in spellings else set())


@cache
def _pattern(way: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?<!\d:){re.escape(way)}(?!\w|:\d|-\w)")
