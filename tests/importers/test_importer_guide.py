"""The example in docs/how-to-add-an-importer.md does what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from billboards.board.folder import open_board
from billboards.board.writing import write_board
from billboards.errors import ImportRefused, InvalidInput
from billboards.importers import Importer

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "how-to-add-an-importer.md"


@pytest.fixture
def example() -> Importer:
    [code] = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Importer] = {}
    exec(compile(code, str(GUIDE), "exec"), names)
    return names["rated_lines"]


def test_the_guides_importer_makes_a_board(example: Importer, tmp_path: Path) -> None:
    path = tmp_path / "lines.tsv"
    path.write_text("a\teins\tG\tone\t4\nb\tzwei\tG\ttwo\t5\n")
    imported = example(path, best=9)
    opened = open_board(write_board(imported.board, tmp_path / "out"))
    assert opened.version == imported.board.version
    assert opened.row("G").texts == ("one", "two")
    assert opened.dimensions["quality"].range == (1.0, 9.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\teins\tG\tone\t4\na\tzwei\tG\ttwo\t5\n", "lines.tsv:2: G's output for a appears twice, first on line 1"),
        ("a\teins\n", "lines.tsv:1: 2 fields where 5 are needed, tabs between"),
        ("a\teins\tG\tone\t6\n", "lines.tsv:1: quality = '6' lies outside [1, 5]"),
        ("\n", "lines.tsv: holds nothing to import; fetch it again"),
    ],
)
def test_the_guides_importer_refuses(example: Importer, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "lines.tsv"
    path.write_text(text)
    with pytest.raises(ImportRefused) as refusal:
        example(path)
    assert message in str(refusal.value)


def test_the_guides_options_are_held_to_their_limits(example: Importer, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="best must be above 1; found 1"):
        example(tmp_path, best=1)
