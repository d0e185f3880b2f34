"""The example in docs/how-to-add-an-importer.md does what the page says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from billboards.board.folder import open_board
from billboards.board.writing import write_board
from billboards.errors import ImportRefused

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "how-to-add-an-importer.md"


@pytest.fixture
def example() -> dict[str, Any]:
    [code] = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, str(GUIDE), "exec"), names)
    return names


def test_the_guides_importer_makes_a_board(example: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("a\teins\tone\nb\tzwei\ttwo\n")
    found = example["import_board"](path, generator="G")
    opened = open_board(write_board(found.board, tmp_path / "out"))
    assert opened.version == found.board.version
    assert opened.row("G").texts == ("one", "two")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\teins\tone\na\tzwei\ttwo\n", "pairs.tsv:2: instance 'a' appears twice, first on line 1"),
        ("a\teins\n", "pairs.tsv:1: 2 cells where id, input and output are needed"),
        ("a\teins\ton", "pairs.tsv:1: the last line has no line end"),
    ],
)
def test_the_guides_importer_refuses(example: dict[str, Any], tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(text)
    with pytest.raises(ImportRefused) as refusal:
        example["import_board"](path, generator="G")
    assert message in str(refusal.value)
