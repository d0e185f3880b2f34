"""The words of annotators' pages, in several languages: a file for each, chosen by the browser or by a switch.

A page asks for a message by its key. What other parts of the site say in English (why an answer could not be taken,
what a text is called) is found by its English words, so that those parts need not know of languages. Whatever a
template says stays as its owner wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import resources
from typing import Literal

from billboards.reading import toml_document

Direction = Literal["ltr", "rtl"]
#: The files of this folder, in the order of the switch; the first is what is left where no other is asked for.
LANGUAGES = ("en", "de", "es", "fr", "zh", "hi", "ar")
#: How a language is asked for in an address, and the cookie that remembers it.
ASKED, COOKIE = "lang", "annotator-language"
_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Words:
    """The messages of one language; called with a key, it gives the message with its places filled in."""

    code: str
    #: What the language calls itself.
    name: str
    direction: Direction
    messages: Mapping[str, str] = field(repr=False)

    def __call__(self, key: str, **values: object) -> str:
        """A message by its key."""
        return self.messages[key].format(**values)

    def text(self, english: str) -> str:
        """What is said in English somewhere else, in this language; as it is where no message says the same."""
        for key, pattern in _in_english():
            if match := pattern.fullmatch(english):
                return self(key, **match.groupdict())
        return english

    @cached_property
    def places(self) -> Mapping[str, frozenset[str]]:
        """The names of the places to be filled in, by message."""
        return {key: frozenset(_PLACE.findall(message)) for key, message in self.messages.items()}


@cache
def words_of(code: str) -> Words:
    """The words of a language."""
    raw = (resources.files(__name__) / f"{code}.toml").read_text("utf-8")
    document = toml_document(raw)
    return Words(code, document["name"], document["direction"], document["words"])


@cache
def _in_english() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """A pattern for each English message, those without places first."""
    messages = words_of(LANGUAGES[0]).messages
    patterns = []
    for key, message in sorted(messages.items(), key=lambda entry: "{" in entry[1]):
        parts = _PLACE.split(message)
        escaped = (re.escape(part) if k % 2 == 0 else f"(?P<{part}>.+)" for k, part in enumerate(parts))
        patterns.append((key, re.compile("".join(escaped), re.DOTALL)))
    return tuple(patterns)


def chosen_words(asked: str | None, remembered: str | None, accepted: str) -> Words:
    """The words for a page: those asked for in the address, else remembered, else what the browser prefers.

    accepted: the header Accept-Language
    """
    for code in (asked, remembered):
        if code in LANGUAGES:
            return words_of(code)
    return words_of(next((code for code in preferred(accepted) if code in LANGUAGES), LANGUAGES[0]))


def preferred(accepted: str) -> list[str]:
    """The languages that a browser accepts, the most wanted first, without regions: zh-Hant-TW is zh."""
    wanted = []
    for place, part in enumerate(accepted[:1000].split(",")):
        name, _, parameters = part.partition(";")
        weight = re.fullmatch(r"\s*q\s*=\s*(\d(?:\.\d{1,3})?)\s*", parameters)
        share = float(weight[1]) if weight else 0.0 if parameters.strip() else 1.0
        code = name.strip().lower().partition("-")[0]
        if code and share > 0:
            wanted.append((-share, place, code))
    return [code for _, _, code in sorted(wanted)]
