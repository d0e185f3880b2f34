"""Texts cut into sentences, by marks alone: enough to choose among the sentences of a document.

A sentence of an alphabet ends with `.`, `!`, `?` or `…` before a blank and something that begins one (a capital, a
digit, a quotation mark, or a letter without case), unless what stands before the mark is an initial or a common
abbreviation; one of Chinese or Japanese ends with its own marks; a line break ends any. Nothing but blanks between
sentences is lost.
"""

from __future__ import annotations

import re

#: What doesn't end a sentence although a point follows: English, German, French and Spanish titles and abbreviations.
ABBREVIATIONS = frozenset(
    """
    mr mrs ms dr prof sr jr st vs etc inc ltd co corp gov sen rep gen col lt sgt capt no nos vol pp fig approx dept est
    jan feb mar apr jun jul aug sept sep oct nov dec u.s u.k e.g i.e a.m p.m d.c
    bzw usw ca nr str hr fr z.b d.h u.a sog mme mlle sra srta ej
    """.split()  # noqa: SIM905 - a list of 70 quoted words is harder to read
)
_END = re.compile(r"([.!?…]+)([\"'”’»)\]]*)(\s+)(?=[\"'“‘«(\[¿¡]*(\w))|(?<=[。！？])(?=[^”’」』）])|\s*\n\s*")
_LAST_WORD = re.compile(r"[\w.]+$")


def split_sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text, in order."""
    starts, pieces = 0, []
    for match in _END.finditer(text):
        if match[1] and not _ends(text[starts : match.start()], match[1], match[4]):
            continue
        pieces.append(text[starts : match.end()])
        starts = match.end()
    return tuple(piece for piece in (raw.strip() for raw in (*pieces, text[starts:])) if piece)


def _ends(before: str, mark: str, following: str) -> bool:
    """Whether a mark after these words and before this letter ends a sentence."""
    if following.islower():
        return False
    last = _LAST_WORD.search(before)
    if mark != "." or last is None:
        return True
    word = last[0].lower().strip(".")
    return word not in ABBREVIATIONS and not (len(word) == 1 and word.isalpha() and last[0].isupper())
