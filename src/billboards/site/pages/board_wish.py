"""How a reader wants the board's table: sorted by what, which way, columns in which order, hidden or pinned.

All of it is read from the address and written back into every link, so that a view can be shared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from starlette.datastructures import QueryParams

from billboards.errors import InvalidInput

Direction = Literal["ascending", "descending"]

RANK, NAME = "rank", "generator"
ORDERS = ("correlation", "overrating", "name")


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """How a reader wants the table: sorted by what, which way, columns in which order, hidden or pinned."""

    sort: str = RANK
    direction: Direction | None = None
    order: str = "correlation"
    hidden: frozenset[str] = frozenset()
    pinned: tuple[str, ...] = ()
    ranks: bool = False
    #: Whether every column is wanted that is not hidden by name; else a wide board shows those that say most.
    every: bool = False

    @property
    def way(self) -> Direction:
        """Names and ranks begin at the top, scores with the best."""
        return self.direction or ("ascending" if self.sort in (RANK, NAME) else "descending")

    def turned(self, key: str) -> Wish:
        """The wish of a reader who chooses a column, or its other direction if it is chosen already."""
        if key != self.sort:
            return replace(self, sort=key, direction=None)
        return replace(self, direction="descending" if self.way == "ascending" else "ascending")

    def query(self) -> dict[str, object]:
        """The wish as the end of an address, without what goes without saying."""
        plain = Wish(sort=self.sort).way
        return {
            "sort": None if self.sort == RANK and self.way == plain else self.sort,
            "direction": None if self.way == plain else self.way,
            "order": None if self.order == "correlation" else self.order,
            "hide": sorted(self.hidden),
            "pin": list(self.pinned),
            "show": "ranks" if self.ranks else None,
            "columns": "all" if self.every else None,
        }


def read_wish(query: QueryParams) -> Wish:
    """How the reader wants the table; what the address says wrongly is named."""
    direction = query.get("direction") or None
    order = query.get("order") or "correlation"
    if direction not in (None, "ascending", "descending"):
        raise InvalidInput(f"direction {direction!r} is unknown; it is ascending or descending")
    if order not in ORDERS:
        raise InvalidInput(f"columns can't be ordered by {order!r}; choose one of {', '.join(ORDERS)}")
    columns = query.get("columns") or "default"
    if columns not in ("all", "default"):
        raise InvalidInput(f"columns={columns}: it is all or default; hide=NAME leaves one out")
    way: Direction | None = None if direction is None else "ascending" if direction == "ascending" else "descending"
    return Wish(
        sort=query.get("sort") or RANK,
        direction=way,
        order=order,
        hidden=frozenset(query.getlist("hide")),
        pinned=tuple(dict.fromkeys(query.getlist("pin"))),
        ranks=query.get("show") == "ranks",
        every=columns == "all",
    )
