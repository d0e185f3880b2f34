"""The contract every importer keeps: files of a public data set in, a complete board out, or a refusal that says why.

An importer reads its source as it lies on disk, checks what the format promises, and returns a `Board` in memory with
notes on what a reader should know. It never guesses: a missing segment, a duplicate, a wrong column is named and
refused. Writing the folder is not its business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from billboards.boards.lines import Problems
from billboards.domain import Board
from billboards.errors import ImportRefused


@dataclass(frozen=True)
class Imported:
    """A board from elsewhere, and what its reader should know."""

    board: Board
    notes: tuple[str, ...] = ()


def refuse_errors(problems: Problems) -> None:
    """Raise with the first mistakes of a source, if there are any."""
    if not problems.errors:
        return
    shown = "; ".join(str(problem).replace(": error:", ":") for problem in problems.errors[:3])
    more = len(problems.errors) - 3
    raise ImportRefused(shown + (f"; and {more} more mistakes like these" if more > 0 else ""))


def in_order(names: Sequence[str]) -> tuple[str, ...]:
    """Distinct names in order of first appearance."""
    return tuple(dict.fromkeys(names))
