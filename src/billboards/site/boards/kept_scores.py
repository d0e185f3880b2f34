"""Scores that a process has read once and keeps, so that a ranking with one more row reads that row alone.

A cell is named by everything its numbers depend on, so what was read stays right for ever. Only the rows that were last
asked for are kept, and only as much as fits: a board that is larger is read whole each time, as if nothing were kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from billboards.board.cells import Floats

#: Bytes that a process keeps: 100 million scores, and some room.
MOST = 2**30

Cells = dict[str, Floats]


@dataclass
class KeptScores:
    """The columns of one board that were read, by signature and context, each with its cells by row version."""

    most: int = MOST
    _columns: dict[tuple[str, str], Cells] = field(default_factory=dict, repr=False)
    _bytes: int = 0

    def load(self, column: tuple[str, str], versions: set[str], read: Callable[[set[str]], Cells]) -> Cells:
        """The cells of these rows; `read` is asked for those that are not kept."""
        before = self._columns.pop(column, {})
        self._bytes -= _size(before)
        found = {version: before[version] for version in versions & before.keys()}
        missing = versions - found.keys()
        if missing:
            found |= read(missing)
        if self._bytes + _size(found) <= self.most:
            self._columns[column] = found
            self._bytes += _size(found)
        return dict(found)


def _size(cells: Cells) -> int:
    return sum(scores.nbytes for scores in cells.values())
