"""Boards themselves: opened from a folder, imported from public data, written, and described by their data card.

The verbs of other modules take a board that one of these returned.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from billboards.board import Board
from billboards.board.folder import open_board
from billboards.board.writing import write_board


def open(path: str | Path) -> Board:
    """The board in a folder; raises `InvalidBoard` with every mistake found."""
    return open_board(path)


def save(board: Board, path: str | Path, *, force: bool = False) -> Board:
    """Write a board as a folder and open it there; `force` replaces a folder that exists."""
    return open_board(write_board(board, path, replace=force))


def import_board(kind: str, source: str | Path, *, facts: Mapping[str, str] | None = None, **options: Any) -> Board:
    """A board from a public data set or a table, in memory; `save` writes it.

    kind: the importer's name, such as "table"; `billboards import --help` lists them
    source: the folder or file to read
    facts: what the source doesn't tell for the data card, as in `{"task": "Translate news"}`; a board that lacks some
        is a draft: `board.missing_facts` names them
    options: the importer's own, by the names of its options on the command line, with underscores for dashes

    Example:

        bb.import_board("table", "outputs.csv", generator="system", judgment=["adequacy"])
    """
    from billboards.board.card_facts import with_facts
    from billboards.importers import IMPORTERS

    return with_facts(IMPORTERS.load(kind)(source, **options).board, facts or {})
