"""Errors that people marked in an output, put back into its text.

Annotators mark stretches of characters, which may lie inside one another or overlap. The text is cut wherever a mark
begins or ends, so that each piece knows all marks that cover it; put together, the pieces are the text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from billboards.board import Board

#: Severities from the gravest; others count as the last.
SEVERITIES = ("critical", "major", "minor")


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedPiece:
    """A stretch of an output, and what people marked there."""

    text: str
    #: As in "major: accuracy"; empty where nothing is marked.
    words: str = ""
    severity: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedText:
    """An output with its marked errors, and what people say is missing from it."""

    pieces: tuple[MarkedPiece, ...]
    missing: tuple[str, ...]
    errors: int


def spans_of(board: Board, instance: int, row: int) -> list[Mapping[str, Any]]:
    """Every error that people marked in one output, as far as these judgments may be read."""
    judged = board.judgments
    places = ((judged.instance == instance) & (judged.row == row)).nonzero()[0]
    details = (judged.details.get(int(k), {}) for k in places)
    return [span for detail in details if not detail.get("test") for span in detail.get("spans") or ()]


def mark_errors(text: str, spans: Sequence[Mapping[str, Any]]) -> MarkedText | None:
    """A text with its errors; None where none is marked."""
    if not spans:
        return None
    placed = [(*place, span) for span in spans if (place := _place(span, len(text))) is not None]
    edges = sorted({0, len(text), *(edge for start, end, _ in placed for edge in (start, end))})
    pieces = []
    for start, end in pairwise(edges):
        covering = [span for low, high, span in placed if low <= start and end <= high]
        words = "; ".join(dict.fromkeys(_words(span) for span in covering))
        gravest = min((_severity(span) for span in covering), key=_gravity, default="")
        pieces.append(MarkedPiece(text=text[start:end], words=words, severity=gravest))
    missing = [_words(span) for span in spans if span.get("missing")]
    return MarkedText(pieces=tuple(pieces), missing=tuple(missing), errors=len(spans))


def _place(span: Mapping[str, Any], length: int) -> tuple[int, int] | None:
    """Where a mark lies in the output; None where it is in the source, or nowhere."""
    start, end = span.get("start"), span.get("end")
    if not isinstance(start, int) or not isinstance(end, int) or span.get("missing") or span.get("source"):
        return None
    low, high = max(0, start), min(end, length)
    return (low, high) if low < high else None


def _words(span: Mapping[str, Any]) -> str:
    return ": ".join(str(span[word]) for word in ("severity", "category") if span.get(word)) or "error"


def _severity(span: Mapping[str, Any]) -> str:
    return str(span.get("severity") or "minor").lower()


def _gravity(severity: str) -> int:
    return SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)
