"""Which words two texts do not share, for marking them where texts stand side by side.

Words are compared in order; a language that writes without spaces is compared character by character. What a reader
sees is whole: the pieces of a marked text put together are the text itself, with what only the other one has between.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

#: Longer texts are shown without marks: a reader can't follow them, and marking takes the square of the length.
MOST_WORDS = 2000

#: Scripts without spaces between words: kana, Chinese characters, Hangul, Thai.
_ALONE = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f"
#: A word, a character of such a script, or a mark, each with the space behind it.
_WORDS = re.compile(rf"(?:[{_ALONE}]|[^\W{_ALONE}]+|[^\w\s]|^)\s*")


class Piece(NamedTuple):
    """A stretch of text that both have, that only this one has, or that only the other has."""

    kind: Literal["same", "added", "missing"]
    text: str


def marked(text: str, against: str) -> tuple[Piece, ...]:
    """A text with what it has and the other lacks, and where it lacks what the other has."""
    ours, theirs = _WORDS.findall(text), _WORDS.findall(against)
    if len(ours) > MOST_WORDS or len(theirs) > MOST_WORDS:
        return (Piece("same", text),)
    matcher = SequenceMatcher(None, list(map(_compared, theirs)), list(map(_compared, ours)), autojunk=False)
    pieces: list[Piece] = []
    for their_start, their_end, own_start, own_end, same in _stretches(matcher, ours):
        lost, own = "".join(theirs[their_start:their_end]), "".join(ours[own_start:own_end])
        if same:
            pieces.append(Piece("same", own))
        else:
            pieces += [Piece("missing", lost)] if lost.strip() else []
            pieces += [Piece("added" if own.strip() else "same", own)] if own else []
    return tuple(pieces)


def _compared(word: str) -> str:
    return word.strip().casefold()


def _stretches(matcher: SequenceMatcher[str], ours: list[str]) -> list[tuple[int, int, int, int, bool]]:
    """Stretches that are alike and that differ by turns; a mere mark between two differences belongs to them."""
    stretches: list[tuple[int, int, int, int, bool]] = []
    codes = matcher.get_opcodes()
    for k, (tag, their_start, their_end, own_start, own_end) in enumerate(codes):
        words = any(character.isalnum() for word in ours[own_start:own_end] for character in word)
        same = tag == "equal" and (words or k in (0, len(codes) - 1))
        if stretches and not same and not stretches[-1][4]:
            stretches[-1] = (stretches[-1][0], their_end, stretches[-1][2], own_end, False)
        else:
            stretches.append((their_start, their_end, own_start, own_end, same))
    return stretches


def mark_matches(text: str, wanted: str) -> tuple[Piece, ...]:
    """A text with every place of what was searched for."""
    if not wanted:
        return (Piece("same", text),)
    parts = re.split(f"({re.escape(wanted)})", text, flags=re.IGNORECASE)
    return tuple(Piece("added" if k % 2 else "same", part) for k, part in enumerate(parts) if part)
