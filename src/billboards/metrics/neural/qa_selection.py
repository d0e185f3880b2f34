"""What can be asked for: the spans of a text that make good answers, each in its sentence.

By default a rule finds them: runs of capitalised words, and numbers. It is deterministic, needs no model, and is made
for English and languages that write names as English does. A token-classification model finds others (qa_tagging.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

#: The value of an option that asks for the rule and not for a model.
RULE = "rule"
Span = tuple[int, int]

#: Words that begin a sentence without being names; a capital there says nothing about them.
_SMALL = (
    "a about after all also although among an and another any as at because before both but by despite during "
    "each even every few first for from had has have he her here his how however i if in into is it its last "
    "later like many may meanwhile more most much my no nor not now of on once one only or other our out over "
    "she since so some still such than that the their them then there these they this those though through to "
    "today two under until up was we were what when where whether which while who whose why will with within "
    "without would yet you your"
)
FUNCTION_WORDS = frozenset(_SMALL.split())
_TITLE = r"(?:Mr|Mrs|Ms|Dr|Prof|St|Gen|Gov|Sen|Rep|Lt|Col|Sgt|Jr|Sr|vs|No|Inc|Co)"
#: A word of a name: initials with their full stops, a title with its own, or any capitalised word but the pronoun I.
_WORD = rf"(?:(?:\p{{Lu}}\.)+|{_TITLE}\.|(?!I(?:['’]\p{{Ll}}+)?(?![\p{{L}}\p{{N}}]))\p{{Lu}}[\p{{L}}\p{{N}}'’&-]*)"
_NAME = rf"(?<![\p{{L}}\p{{N}}]){_WORD}(?:[ \u00a0]{_WORD})*"
_NUMBER = r"(?<![\p{L}\p{N}])[$€£¥]?\p{N}+(?:[.,:/-]\p{N}+)*%?"
#: An end of a sentence: a mark with what closes a quotation, before a blank and what may begin a sentence; or a line's.
_END = r"(?:[.!?…]+[\"'”’)\]]*(?=\s+[\"'“‘(\[]?[\p{Lu}\p{N}])|[。！？]+[”’」』）]*|(?=\n))\s*"
#: A full stop after these ends no sentence: titles, and single letters as in `J. Smith`.
_ABBREVIATION = rf"(?:\b{_TITLE}|\b\p{{Lu}})\.$"
_LOWER = r"(?<![\p{L}\p{N}'’])\p{Ll}+"
_LETTER = r"[\p{L}\p{N}]"


@cache
def _pattern(written: str) -> Any:
    """A pattern, compiled when it is first needed: finding metrics by name must not load what is behind them."""
    import regex  # type: ignore[import-untyped]

    return regex.compile(written)


_POSSESSIVE = re.compile(r"['’]s?$")


@dataclass(frozen=True, slots=True)
class Candidate:
    """An answer that stands in a text, and the sentence around it."""

    text: str
    span: Span
    around: Span

    @property
    def answer(self) -> str:
        return self.text[slice(*self.span)]

    def context(self, *, whole: bool) -> tuple[str, str, str]:
        """What stands before the answer, the answer, and what stands behind it; in its sentence or the whole text."""
        start, stop = (0, len(self.text)) if whole else self.around
        return self.text[start : self.span[0]], self.answer, self.text[self.span[1] : stop]


def sentence_spans(text: str) -> list[Span]:
    """Where the sentences of a text stand, without the blanks between them."""
    starts = [0]
    for end in _pattern(_END).finditer(text):
        if end.end() > starts[-1] and not _pattern(_ABBREVIATION).search(text[starts[-1] : end.end()].rstrip()):
            starts.append(end.end())
    stops = [*starts[1:], len(text)]
    pieces = ((start, text[start:stop]) for start, stop in zip(starts, stops, strict=True))
    return [_trimmed(start, piece) for start, piece in pieces if piece.strip()]


def candidates(text: str, spans: Mapping[Span, Sequence[Span]]) -> list[Candidate]:
    """Answers from the spans that were found in each sentence of a text."""
    placed = ((around, around[0] + start, around[0] + stop) for around, found in spans.items() for start, stop in found)
    return [
        Candidate(text, _trimmed(start, text[start:stop]), around)
        for around, start, stop in placed
        if text[start:stop].strip()
    ]


def select_by_rule(text: str) -> list[Candidate]:
    """The runs of capitalised words and the numbers of a text, in the order in which they stand.

    The first word of a sentence counts unless it is a function word, or stands in lower case elsewhere in the text.
    """
    spans, plain = sentence_spans(text), FUNCTION_WORDS | set(_pattern(_LOWER).findall(text))
    return candidates(text, {span: sorted(_rule_spans(text[slice(*span)], plain)) for span in spans})


def _rule_spans(sentence: str, plain: frozenset[str]) -> Iterator[Span]:
    """Names and numbers of a sentence; `plain` are words whose capital at its beginning says nothing."""
    first = _first_letter(sentence)
    for name in _pattern(_NAME).finditer(sentence):
        start, stop = name.span()
        word = re.split(r"['’ \u00a0]", name[0])[0]
        if start == first and word.lower() in plain:
            start = stop if " " not in name[0] else start + name[0].index(" ") + 1
        stop -= len((_POSSESSIVE.search(sentence[start:stop]) or [""])[0])
        if start < stop:
            yield start, stop
    for number in _pattern(_NUMBER).finditer(sentence):
        yield number.span()


def _first_letter(sentence: str) -> int:
    found = _pattern(_LETTER).search(sentence)
    return -1 if found is None else found.start()


def _trimmed(start: int, piece: str) -> Span:
    first = start + len(piece) - len(piece.lstrip())
    return first, first + len(piece.strip())
