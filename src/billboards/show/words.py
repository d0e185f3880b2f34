"""How single values are put into words, the same in every format.

A missing value is a dash, never `nan`; a tie is marked as one; an ensemble reads as the paper writes it, and a text
from a board is one line without control characters, whatever its author wrote.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

MISSING = "–"
#: Stands behind the name of what is better when it is lower.
LOWER = "↓"
#: What people's number of a generator is where they compared the outputs of two.
COMPARISONS_WON = "the share of comparisons between the two that each won, in percent, a tie counting half."
_BREAKING = re.compile(r"[^\S ]")
#: Control characters, controls of the writing direction, and halves of a character that can't be written at all.
_HARMFUL = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def sided(sides: str) -> str:
    """Whether a test asked if two differ, or if the first is better, as papers say it."""
    return f"{sides}-sided"


def value_text(value: object, digits: int | None = None) -> str:
    """A value as a reader sees it: a dash where it is missing, thousands apart, never `nan`, never `-0.00`."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and digits is None:
        return f"{value:,}"
    if isinstance(value, int | float):
        return f"{value:.4g}" if digits is None else f"{round(value, digits) + 0.0:.{digits}f}"
    if isinstance(value, tuple):
        return one_line(", ".join(map(str, value))) or "none"
    return one_line(str(value)) or MISSING


def p_text(value: object) -> str:
    """A p-value, which is never 0."""
    return "<0.0001" if isinstance(value, float) and value < 0.0001 else value_text(value, 4)


def one_line(text: str) -> str:
    """A text without line breaks and control characters: a name can't move a terminal's cursor or turn the line."""
    return _HARMFUL.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split()) if _BREAKING.search(text) else text)


def interval_text(interval: object, digits: int | None = None) -> str:
    """An interval by its two ends; a dash where either is missing."""
    if not isinstance(interval, tuple):
        return MISSING
    low, high = (value_text(end, digits) for end in interval)
    return MISSING if MISSING in (low, high) else f"{low} to {high}"


def headed(name: str, *, higher_is_better: bool = True) -> str:
    """A column's name as heads show it: with an arrow where lower is better."""
    return name if higher_is_better else f"{name} {LOWER}"


def rank_texts(ranks: Sequence[object], everybody: Sequence[object] = ()) -> list[str]:
    """Ranks as `1`, `2=`, `2=`, `4`, with a dash for what is not ranked; `everybody` are the ranks of all, if more."""
    shared = Counter(rank for rank in everybody or ranks if rank is not None)
    return [MISSING if rank is None else f"{rank}=" if shared[rank] > 1 else f"{rank}" for rank in ranks]


def linear_combination(weights: Mapping[str, float], turned: Collection[str] = ()) -> str:
    """An ensemble as the paper writes it, heaviest metric first: 1.72·COMET-QE + 1.48·COMET + 1.21·(−TER).

    A metric in `turned` is one of which lower is better: its scores enter with their sign turned.
    """
    heaviest = sorted(weights.items(), key=lambda item: -abs(item[1]))
    names = {name: f"(−{one_line(name)})" if name in turned else one_line(name) for name in weights}
    terms = [f"{'+' if weight >= 0 else '-'} {abs(weight):.2f}·{names[name]}" for name, weight in heaviest]
    return " ".join(terms).removeprefix("+ ") or MISSING


def listed(names: Sequence[str], most: int = 3) -> str:
    """Names as a sentence holds them: A, B and C, or A, B, C and 4 more."""
    names = [one_line(name) for name in names]
    if len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def clipped(text: str, most: int = 160) -> str:
    """A text cut to what a table can hold."""
    return text if len(text) <= most else text[: most - 1] + "…"


def part_note(part: str) -> tuple[str, ...]:
    """That a result speaks of a part of the board only."""
    return () if part in ("", "whole board") else (f"Only {part}.",)
