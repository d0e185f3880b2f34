"""What every importer makes of a small source, of each of its options, and of a source that is spoilt in each way."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from approving import approve, changes, comparable
from importer_sources import MAKERS
from plain_boards import board_words, files_below, told
from spoilt_files import outcomes

from billboards.board.judgment_sources import Imported
from billboards.board.writing import write_board
from billboards.errors import BillboardsError
from billboards.importers import IMPORTERS

NAMES = tuple(name for name in MAKERS if name in IMPORTERS.own)
#: Ways of which nothing right is said yet, by importer.
LEFT: Mapping[str, str] = {"helm": "0.stats is"}
#: Most ways in which a file is spoilt.
MOST = 70
#: Most differences of a board that are kept, and most characters of them.
DIFFERENCES, LENGTH = 3, 240


@pytest.mark.parametrize("name", NAMES)
def test_an_importer_makes_of_a_source_what_was_approved(name: str, tmp_path: Path) -> None:
    made = MAKERS[name](tmp_path / "source")
    imported = made.load(name)
    approve(f"sources/{name}", whole(imported, tmp_path / "board"), folder=tmp_path)


def whole(imported: Imported, target: Path) -> dict[str, Any]:
    """The board as it is in memory and as it is written, with the notes."""
    written = files_below(write_board(imported.board, target))
    return {"notes": list(imported.notes), "board": board_words(imported.board), "files": written}


@pytest.mark.parametrize("name", NAMES)
def test_an_importer_says_of_a_spoilt_source_what_was_approved(name: str, tmp_path: Path) -> None:
    made = MAKERS[name](tmp_path)
    sound = comparable(content(made.load(name)), folder=str(tmp_path))

    def ask() -> str:
        try:
            now = comparable(content(made.load(name)), folder=str(tmp_path))
        except BillboardsError as error:
            return told(error).replace(str(tmp_path), "FOLDER")
        return shortly(sound, now)

    most = max(12, MOST // len(made.files))
    answers = {
        str(path.relative_to(tmp_path)): outcomes(path, ask, most=most, left=LEFT.get(name)) for path in made.files if path.is_file()
    }
    approve(f"spoilt sources/{name}", answers, folder=tmp_path)


def content(imported: Imported) -> dict[str, Any]:
    return {"notes": list(imported.notes), **board_words(imported.board)}


def shortly(sound: Any, now: Any) -> str:
    """What has become other, in a line."""
    unlike = [f"{where.removeprefix('$.')}: {new}" for where, (_, new) in islice(changes(sound, now), DIFFERENCES)]
    line = "; ".join(unlike)
    return f"read: {line[:LENGTH]}" if unlike else "read alike"
