"""Judgments in the files that other tools write and read: one module per format, one table of them.

A reader turns a file into a `JudgmentSource`, which is laid on a board by the names of instances and generators; a
writer turns a board's judgments into a file. The table is read for `--help`, so it holds descriptions only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

from billboards.errors import UnknownName

if TYPE_CHECKING:
    from billboards.formats._format import Reader, Writer


@dataclass(frozen=True, slots=True)
class FormatCard:
    """What a format says of itself."""

    name: str
    module: str
    summary: str


_CARDS = (
    FormatCard("csv", f"{__name__}.csv", "a plain table, a row for each value; holds everything"),
    FormatCard("mqm", f"{__name__}.mqm", "MQM error annotations as the WMT publishes them, a line for each error"),
    FormatCard("appraise", f"{__name__}.appraise", "score files of Appraise campaigns, ESA's error spans included"),
    FormatCard(
        "label-studio", f"{__name__}.label_studio", "Label Studio's JSON, with ratings, numbers and labelled spans"
    ),
)

FORMATS: Mapping[str, FormatCard] = {card.name: card for card in _CARDS}


def load_reader(name: str) -> Reader:
    """A format's function `read(path, board, campaign)`."""
    return cast("Reader", import_module(_card(name).module).read)


def load_writer(name: str) -> Writer:
    """A format's function `write(board, judgments)`."""
    return cast("Writer", import_module(_card(name).module).write)


def _card(name: str) -> FormatCard:
    if name not in FORMATS:
        raise UnknownName("format", name, FORMATS)
    return FORMATS[name]
