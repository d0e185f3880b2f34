"""The skeleton is a board that works as it is, and explains every setting."""

from __future__ import annotations

from pathlib import Path

import pytest

from billboards.board.check import check_board
from billboards.board.folder import open_board
from billboards.board.settings import KEYS
from billboards.board.skeleton import write_skeleton
from billboards.errors import InvalidInput


def test_the_skeleton_opens_and_nothing_about_it_is_doubtful(tmp_path: Path) -> None:
    root = write_skeleton(tmp_path / "mine", "mine")
    assert check_board(root) == []
    board = open_board(root)
    assert board.name == "mine"
    assert [(g.name, g.kind) for g in board.generators] == [("example-human", "human"), ("example-machine", "machine")]
    assert board.reference_names == ("A", "B")
    assert (len(board.instances), len(board.judgments)) == (2, 4)
    assert board.aggregate().dimensions == ("adequacy", "fluency")


def test_the_skeleton_mentions_every_setting_there_is(tmp_path: Path) -> None:
    text = (write_skeleton(tmp_path / "mine", "mine") / "board.toml").read_text(encoding="utf-8")
    assert [key for keys in KEYS.values() for key in keys if key not in text] == []


def test_every_part_of_a_board_is_there(tmp_path: Path) -> None:
    root = write_skeleton(tmp_path / "mine", "mine")
    assert sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()) == [
        ".gitignore",
        "board.toml",
        "generators/example-human.jsonl",
        "generators/example-machine.jsonl",
        "instances.jsonl",
        "judgments/example.jsonl",
    ]


def test_settings_that_are_switched_off_work_when_switched_on(tmp_path: Path) -> None:
    root = write_skeleton(tmp_path / "mine", "mine")
    lines = (root / "board.toml").read_text(encoding="utf-8").split("\n")
    switched = [line.removeprefix("# ") if " = " in line or line.startswith("# [") else line for line in lines]
    (root / "board.toml").write_text("\n".join(switched), encoding="utf-8")
    (root / "scores").mkdir()
    (root / "scores" / "sentBLEU.tsv").write_text(
        "instance\texample-human\texample-machine\n1\t30\t20\n2\t25\t15\n", encoding="utf-8"
    )
    assert check_board(root) == []
    board = open_board(root)
    assert board.references_used == ("A",)
    assert (board.imported[0].name, board.imported[0].references) == ("BLEU", ("A",))
    assert board.generator("example-machine").paper == "Who (year)"
    assert (board.trust.private_share, board.trust.admits) == (0.3, ("my-metric",))


def test_an_existing_folder_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "x").touch()
    with pytest.raises(InvalidInput, match="exists already"):
        write_skeleton(tmp_path / "mine", "mine")


def test_a_name_that_can_not_be_a_boards_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="the board name 'my board' may hold letters, digits"):
        write_skeleton(tmp_path / "mine", "my board")
    assert list(tmp_path.iterdir()) == []
