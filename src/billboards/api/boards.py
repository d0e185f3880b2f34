"""Boards themselves: opened from a folder, imported from public data, written, and described by their data card.

The verbs of other modules take a board that one of these returned.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from billboards.analyses import documents
from billboards.analyses.card import measure_card
from billboards.analyses.card_tables import card_tables
from billboards.api.result import Result
from billboards.board import Board, MeasuredCard
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

    Its data card must be complete: `facts` states what the source doesn't tell, such as `{"task": "Translate news"}`.
    """
    from billboards.board.card_facts import require_card, with_facts
    from billboards.importers import IMPORTERS, load_importer

    load = load_importer(kind)
    paths = {argument.keyword for argument in IMPORTERS[kind].arguments if argument.is_path}
    given = {name: Path(value) if name in paths else value for name, value in options.items()}
    return require_card(with_facts(load(Path(source), **given).board, facts or {}))


def card(board: Board) -> Result[MeasuredCard]:
    """A board's data card: what its owner states, and everything about the data that can be counted."""
    found = measure_card(board)
    return Result(found, card_tables(found), documents.card_document(found))
