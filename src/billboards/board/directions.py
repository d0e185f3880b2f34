"""Which way a column is read: as its users know it, or turned so that higher is better.

Scores are turned once, when they enter a board, and stay so wherever something is computed from them. Whoever shows or
writes one to a reader turns it back: TER is 33.3, and lower is better. Own scores follow the metric's card. Imported
ones follow the board's settings; a column that was turned before it was released is known by the card of the installed
metric of its name, and by having no score above 0.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from billboards.board.scores import Column, Floats
from billboards.errors import BillboardsError
from billboards.metrics.discovery import installed_metric

#: How a submitted program, a file or a function says in its signature that lower is better.
_LOWER = "higher_is_better:no"


def directed(column: Column, scores: Floats) -> Column:
    """A column that knows which way its users read it."""
    if not column.higher_is_better:
        return column
    lower = _LOWER in column.signature.split("|") or _card_says_lower(column.beside or column.name)
    turned = lower and (column.origin == "own" or not (scores > 0).any())
    return replace(column, higher_is_better=False) if turned else column


@cache
def _card_says_lower(name: str) -> bool:
    try:
        return not installed_metric(name).card.higher_is_better
    except BillboardsError:
        return False
