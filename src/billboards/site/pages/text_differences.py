"""Which words two texts do not share, for marking them where texts stand side by side.

Words are compared in order; a language that writes without spaces is compared character by character. What a reader
sees is whole: the pieces of a marked text put together are the text itself, with what only the other one has between.

What two texts share is a longest common subsequence of their words, found with Hyyrö's bit vectors ("Bit-parallel LCS-
length computation revisited", 2004): one addition of a number with as many bits as a text has words for each word of
the other. No texts take longer than others of their length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

#: Longer texts are shown without marks: a reader can't follow them, and marking takes the square of the length.
MOST_WORDS = 2000
#: What is said of them.
TOO_LONG = f"Texts of more than {MOST_WORDS:,} words, or too many long texts on a page, are shown without marks."
#: Pairs of words that are compared for one page; a hundred texts of 500 words have half as many.
MOST_PAIRS = 50_000_000

#: Scripts without spaces between words: kana, Chinese characters, Hangul, Thai.
_ALONE = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f"
#: A word, a character of such a script, or a mark, each with the space behind it.
_WORDS = re.compile(rf"(?:[{_ALONE}]|[^\W{_ALONE}]+|[^\w\s]|^)\s*")


class Piece(NamedTuple):
    """A stretch of text that both have, that only this one has, or that only the other has."""

    kind: Literal["same", "added", "missing"]
    text: str


class Marker:
    """Marks the texts of one page, as many of them as can be compared without keeping others waiting."""

    def __init__(self) -> None:
        self._left = MOST_PAIRS
        #: Whether a text was left as it is.
        self.is_cut = False

    def marked(self, text: str, against: str) -> tuple[Piece, ...]:
        """A text with its differences, or as it is."""
        ours, theirs = len(_WORDS.findall(text)), len(_WORDS.findall(against))
        self._left -= ours * theirs
        if max(ours, theirs) > MOST_WORDS or self._left < 0:
            self.is_cut = True
            return (Piece("same", text),)
        return marked(text, against)


def marked(text: str, against: str) -> tuple[Piece, ...]:
    """A text with what it has and the other lacks, and where it lacks what the other has."""
    ours, theirs = _WORDS.findall(text), _WORDS.findall(against)
    if len(ours) > MOST_WORDS or len(theirs) > MOST_WORDS:
        return (Piece("same", text),)
    codes = list(_codes(list(map(_compared, theirs)), list(map(_compared, ours))))
    pieces: list[Piece] = []
    for their_start, their_end, own_start, own_end, same in _stretches(codes, ours):
        lost, own = "".join(theirs[their_start:their_end]), "".join(ours[own_start:own_end])
        if same:
            pieces.append(Piece("same", own))
        else:
            pieces += [Piece("missing", lost)] if lost.strip() else []
            pieces += [Piece("added" if own.strip() else "same", own)] if own else []
    return tuple(pieces)


def _compared(word: str) -> str:
    return word.strip().casefold()


_Code = tuple[bool, int, int, int, int]


def _codes(theirs: Sequence[str], ours: Sequence[str]) -> Iterator[_Code]:
    """Stretches of both that are alike or differ, by turns: whether they are alike, and where they begin and end."""
    first = next((k for k, (a, b) in enumerate(zip(theirs, ours, strict=False)) if a != b), min(len(theirs), len(ours)))
    ends = zip(reversed(theirs[first:]), reversed(ours[first:]), strict=False)
    last = next((k for k, (a, b) in enumerate(ends) if a != b), min(len(theirs), len(ours)) - first)
    inner = _matches(theirs[first : len(theirs) - last], ours[first : len(ours) - last])
    pairs = [(k, k) for k in range(first)]
    pairs += [(first + i, first + j) for i, j in inner]
    pairs += [(len(theirs) - k, len(ours) - k) for k in range(last, 0, -1)]
    i = j = 0
    begun: tuple[int, int] | None = None
    for a, b in (*pairs, (len(theirs), len(ours))):
        if (a, b) != (i, j):
            if begun is not None:
                yield True, begun[0], i, begun[1], j
                begun = None
            yield False, i, a, j, b
        begun = (a, b) if begun is None else begun
        i, j = a + 1, b + 1
    if begun is not None and begun != (len(theirs), len(ours)):
        yield True, begun[0], len(theirs), begun[1], len(ours)


def _matches(theirs: Sequence[str], ours: Sequence[str]) -> list[tuple[int, int]]:
    """The places of a longest common subsequence in both, in order."""
    places: dict[str, int] = {}
    for k, word in enumerate(theirs):
        places[word] = places.get(word, 0) | 1 << k
    full = (1 << len(theirs)) - 1
    row, rows = full, list[int]()
    # A bit that is 0 after some of our words says that one more of theirs, up to that place, is found among them.
    for word in ours:
        shared = row & places.get(word, 0)
        row = ((row + shared) | (row - shared)) & full
        rows.append(row)
    pairs = []
    i, j = len(theirs) - 1, len(ours) - 1
    while i >= 0 and j >= 0:
        if rows[j] >> i & 1:
            i -= 1
        elif j and not rows[j - 1] >> i & 1:
            j -= 1
        else:
            pairs.append((i, j))
            i, j = i - 1, j - 1
    return pairs[::-1]


def _stretches(codes: Sequence[_Code], ours: list[str]) -> list[tuple[int, int, int, int, bool]]:
    """Stretches that are alike and that differ by turns; a mere mark between two differences belongs to them."""
    stretches: list[tuple[int, int, int, int, bool]] = []
    for k, (alike, their_start, their_end, own_start, own_end) in enumerate(codes):
        words = any(character.isalnum() for word in ours[own_start:own_end] for character in word)
        same = alike and (words or k in (0, len(codes) - 1))
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
