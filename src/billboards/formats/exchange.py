"""Bringing a file of judgments to a board, and a board's judgments to a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from secrets import token_bytes

from billboards.board import Board
from billboards.board.judgment_sources import Imported, lay_judgments
from billboards.board.names import file_name_mistake
from billboards.errors import InvalidInput, NotEnoughData, UnknownName
from billboards.formats import load_reader, load_writer
from billboards.formats.pseudonyms import pseudonymise


def add_file(board: Board, path: Path, form: str, campaign: str) -> Imported:
    """The board with a file's judgments under a campaign's name."""
    if mistake := file_name_mistake(campaign):
        raise InvalidInput(f"the campaign's name {campaign!r} {mistake}")
    return lay_judgments(board, load_reader(form)(path, board, campaign), may_lack_systems=True)


def judgments_as_text(
    board: Board, form: str, *, campaigns: Sequence[str] = (), key: str | None = None, tests: bool = False
) -> str:
    """A board's judgments in a format; without a key, pseudonyms differ from one file to the next."""
    for name in campaigns:
        if name not in board.judgments.campaigns:
            raise UnknownName("campaign", name, board.judgments.campaigns)
    rows, ids = tuple(row.name for row in board.rows), tuple(i.id for i in board.instances)
    wanted = [
        one
        for one in board.judgments.each(ids, rows)
        if (not campaigns or one.campaign in campaigns) and (tests or not one.details.get("test"))
    ]
    if not wanted:
        raise NotEnoughData(f"board {board.name} has no judgments to write")
    secret = token_bytes(32) if key is None else key.encode()
    return load_writer(form)(board, pseudonymise(wanted, secret))
