"""Judgments in the files that other tools write and read, one file for each format.

`FORMATS` knows those of this package and those that other packages offer by the entry point `billboards.formats`
(docs/how-to-add-a-format.md). A file's judgments are laid on a board by the names of instances and generators; a
board's judgments leave with pseudonyms in place of annotators' names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from secrets import token_bytes
from typing import TYPE_CHECKING

from billboards.errors import InvalidInput, NotEnoughData, UnknownName
from billboards.formats._format import (
    JudgmentFormat,
    judged_text,
    judgment_format,
    read_delimited,
    single_generator,
    write_delimited,
)
from billboards.registry import Registry

if TYPE_CHECKING:
    from billboards.board import Board, Judgment
    from billboards.board.judgment_sources import Imported, JudgmentSource, SourceJudgment
    from billboards.board.pseudonyms import pseudonym

__all__ = [
    "FORMATS",
    "JudgmentFormat",
    "JudgmentSource",
    "SourceJudgment",
    "add_file",
    "judged_text",
    "judgment_format",
    "judgments_as_text",
    "pseudonym",
    "read_delimited",
    "single_generator",
    "write_delimited",
]

#: Every format by name.
FORMATS = Registry(kind="format", room=__name__, type=JudgmentFormat)


#: Where the names of others come from, when first asked for.
_HOMES = {
    "JudgmentSource": "billboards.board.judgment_sources",
    "SourceJudgment": "billboards.board.judgment_sources",
    "pseudonym": "billboards.board.pseudonyms",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def add_file(board: Board, path: Path, form: str, campaign: str) -> Imported:
    """The board with a file's judgments.

    board: the board
    path: the file
    form: the name of its format
    campaign: the name that the judgments go by on the board

    Example:

        add_file(bb.open("my-board"), Path("ratings.csv"), "csv", "spring")
    """
    from billboards.board.judgment_sources import lay_judgments
    from billboards.board.names import file_name_mistake

    if mistake := file_name_mistake(campaign):
        raise InvalidInput(f"the campaign's name {campaign!r} {mistake}")
    return lay_judgments(board, FORMATS.load(form).read(path, board, campaign), may_lack_systems=True)


def judgments_as_text(
    board: Board, form: str, *, campaigns: Sequence[str] = (), key: str | None = None, tests: bool = False
) -> str:
    """A board's judgments as a file's text.

    board: the board
    form: the name of the format
    campaigns: only the judgments of these
    key: a secret from which pseudonyms are made; without one, they differ from one file to the next
    tests: whether test questions are among them

    Example:

        judgments_as_text(bb.open("my-board"), "csv")
    """
    for name in campaigns:
        if name not in board.judgments.campaigns:
            raise UnknownName("campaign", name, board.judgments.campaigns)
    rows, ids = tuple(row.name for row in board.rows), tuple(i.id for i in board.instances)
    wanted = [
        judgment
        for judgment in board.judgments.each(ids, rows)
        if (not campaigns or judgment.campaign in campaigns) and (tests or not judgment.details.get("test"))
    ]
    if not wanted:
        raise NotEnoughData(f"board {board.name} has no judgments to write")
    secret = token_bytes(32) if key is None else key.encode()
    return FORMATS.load(form).write(board, _pseudonymised(wanted, secret))


def _pseudonymised(judgments: Iterable[Judgment], key: bytes) -> Iterator[Judgment]:
    """The judgments with every annotator's name replaced; who is unknown stays unknown."""
    from billboards.board.pseudonyms import pseudonym

    for judgment in judgments:
        annotator = judgment.annotator
        yield judgment if annotator is None else replace(judgment, annotator=pseudonym(annotator, key))
