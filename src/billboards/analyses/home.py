"""A board with what is kept beside it: its cells and its archive."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from billboards.analyses.archive import Archive
from billboards.board import Board
from billboards.board.cells import CellStore, SqliteCells
from billboards.board.folder import open_board
from billboards.errors import InvalidInput


@dataclass(frozen=True)
class Home:
    """A board, where its scores are kept, and where its ensembles and rankings are."""

    board: Board
    cells: SqliteCells
    archive: Archive


def open_home(path: str | Path) -> Home:
    """The board in a folder with its store and archive."""
    return home_of(open_board(path))


def home_of(board: Board) -> Home:
    """What is kept beside a board that was opened from a folder."""
    if board.home is None:
        raise InvalidInput(f"board {board.name} lies in no folder yet; write it with save(board, path) and open that")
    return Home(board, SqliteCells(board.home), Archive(board.home))


def cells_of(board: Board) -> CellStore | None:
    """Where a board's scores are kept; a board in memory keeps none."""
    return None if board.home is None else home_of(board).cells
