"""Small faults put into a good text, for attention questions: an omission, a negation, another number, a wrong name.

A fault changes what the text says, not how it looks, so that only somebody who reads finds it. Each is made by rule
and checked: it must differ from the text, and from every other text that is right, in its words and not only in signs
or capitals. Which of the possible faults is taken is drawn by the caller's random numbers.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Fault = Literal["omission", "negation", "number", "name"]
FAULTS: tuple[Fault, ...] = ("omission", "negation", "number", "name")
_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?!\w)")
_CLAUSE = re.compile(r"[,;:.!?\u3002\uff0c\uff01\uff1f]\s*")
#: Words after which a language puts its word for not, and words that are taken out or exchanged.
_AFTER = {
    "en": ("is", "are", "was", "were", "can", "could", "will", "would", "should", "has", "have", "had", "does", "did"),
    "de": ("ist", "sind", "war", "waren", "kann", "wird", "werden", "hat", "haben", "wurde", "wurden", "soll"),
}
_NOT = {"en": "not", "de": "nicht"}
_TURNED = {
    "en": {"not": "", "never": "always", "always": "never", "no": "every", "cannot": "can", "without": "with"},
    "de": {"nicht": "", "nie": "immer", "immer": "nie", "kein": "ein", "keine": "eine", "ohne": "mit"},
}
#: An omission leaves out at least a sixth of the words and at most a half.
_LEAST_LEFT_OUT, _MOST_LEFT_OUT = 1 / 6, 1 / 2


@dataclass(frozen=True, slots=True)
class Corrupted:
    """A text with a fault, and which one it is."""

    text: str
    fault: Fault


def corrupt(
    text: str,
    chance: random.Random,
    *,
    names: Collection[str] = (),
    right: Collection[str] = (),
    language: str | None = None,
) -> Corrupted | None:
    """The text with one small fault; None where none can be made that is sure to differ.

    text: the text to spoil
    chance: random numbers that choose the fault
    names: names of other texts, one of which may stand in the place of one of this text's
    right: other texts that are right too, which the result must not be
    language: the text's language, as in en or de-AT; negations are known for English and German
    """
    makers: dict[Fault, Callable[[], Iterator[str]]] = {
        "omission": lambda: _omissions(text),
        "negation": lambda: _negations(text, (language or "").lower().partition("-")[0]),
        "number": lambda: _other_numbers(text, chance),
        "name": lambda: _other_names(text, chance, names),
    }
    for fault in chance.sample(FAULTS, len(FAULTS)):
        made = [candidate for candidate in makers[fault]() if differs(candidate, (text, *right))]
        if made:
            return Corrupted(chance.choice(made), fault)
    return None


def differs(text: str, others: Collection[str]) -> bool:
    """Whether a text has other words than each of these, signs and capitals apart."""
    return bool(_words(text)) and all(_words(text) != _words(other) for other in others)


def names_in(text: str) -> list[str]:
    """Words with a capital that don't begin a sentence: names, in languages that write others small."""
    names = []
    for match in _WORD.finditer(text):
        before = text[: match.start()].rstrip()
        begins = not before or before[-1] in ".!?:\u201c\"'\u2014-\u3002"
        if not begins and match[0][0].isupper() and not match[0].isupper() and len(match[0]) > 2:
            names.append(match[0])
    return names


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _omissions(text: str) -> Iterator[str]:
    """The text without one of its clauses, or, where it has none, without its last third."""
    ends = [match.end() for match in _CLAUSE.finditer(text)]
    bounds = [0, *(end for end in ends if end < len(text)), len(text)]
    clauses = [text[start:end] for start, end in pairwise(bounds)]
    if len(clauses) > 1:
        for k, clause in enumerate(clauses):
            if _LEAST_LEFT_OUT <= len(clause.strip()) / len(text) <= _MOST_LEFT_OUT:
                rest = "".join(clauses[:k] + clauses[k + 1 :]).strip()
                if k == len(clauses) - 1 and rest[-1:] in ",;:":
                    rest = rest[:-1] + (text.rstrip()[-1] if text.rstrip()[-1] in ".!?" else "")
                yield rest[:1].upper() + rest[1:] if text[:1].isupper() else rest
        return
    words = text.split()
    if len(words) >= 6:
        yield " ".join(words[: -(len(words) // 3)])
    elif len(words) == 1 and len(text) >= 12:
        # Scripts without spaces.
        yield text[: -(len(text) // 3)]


def _negations(text: str, language: str) -> Iterator[str]:
    if language not in _NOT:
        return
    for match in _WORD.finditer(text):
        word = match[0].lower()
        before, after = text[: match.start()], text[match.end() :]
        if word in _TURNED[language]:
            turned = _TURNED[language][word]
            yield f"{before}{turned}{after}" if turned else f"{before.rstrip()} {after.lstrip()}".strip()
        elif word in _AFTER[language] and after.startswith(" ") and not _negated(after, language):
            yield f"{before}{match[0]} {_NOT[language]}{after}"


def _negated(after: str, language: str) -> bool:
    following = _words(after)[:1]
    return bool(following) and following[0] in _TURNED[language]


def _other_numbers(text: str, chance: random.Random) -> Iterator[str]:
    """The text with another number of as many digits in the place of one."""
    for match in _NUMBER.finditer(text):
        digits = [str((int(digit) + chance.randint(2, 8)) % 10) if digit.isdigit() else digit for digit in match[0]]
        if digits[0] == "0" and len(match[0]) > 1:
            digits[0] = "7" if match[0][0] != "7" else "4"
        yield f"{text[: match.start()]}{''.join(digits)}{text[match.end() :]}"


def _other_names(text: str, chance: random.Random, names: Collection[str]) -> Iterator[str]:
    """The text with a name of another text in the place of one of its own."""
    own = names_in(text)
    others = sorted({name for name in names if name not in text})
    for name in dict.fromkeys(own):
        if others:
            yield re.sub(rf"\b{re.escape(name)}\b", chance.choice(others), text)
