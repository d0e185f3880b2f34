"""One column of a table, as a reader sees it."""

from __future__ import annotations

from billboards.show.table import Table, shown


def column(table: Table, key: str) -> list[str]:
    """What a reader sees in one column."""
    place = [c.key for c in table.visible].index(key)
    return [texts[place] for texts in shown(table)]
