"""Numbers of large files are read once; a change is always noticed, and what is kept may vanish at any time."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from billboards.board import Board, judgment_files
from billboards.board import _kept as kept
from billboards.board.folder import open_board
from billboards.errors import InvalidBoard, StoreFailed

Folder = Callable[..., Path]

KEPT = ".billboards/read"
JUDGMENTS = "judgments/experts.jsonl"


@pytest.fixture(autouse=True)
def every_file_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "LARGE", 1)


def in_words(board: Board) -> list[object]:
    """Every judgment in words."""
    return list(board.judgments.each(tuple(i.id for i in board.instances), tuple(row.name for row in board.rows)))


def stamp(path: Path) -> int:
    """What changes when a file is written anew."""
    return path.stat().st_ino


def test_judgments_that_were_kept_are_those_that_were_read(folder: Folder) -> None:
    first = open_board(folder())
    kept = folder() / KEPT / "judgments"
    written = stamp(kept)
    again = open_board(folder())
    assert stamp(kept) == written
    assert in_words(again) == in_words(first)
    assert again.judgments.version == first.judgments.version
    assert again.version == first.version
    assert again.judgments.details == {3: {"prefers": "H", "others": (0,)}}


def test_one_more_generator_moves_rows_and_costs_no_reading(folder: Folder) -> None:
    first = open_board(folder())
    kept = folder() / KEPT / "judgments"
    written = stamp(kept)
    (folder() / "generators" / "A.jsonl").write_text('{"instance": "a", "text": "One!"}\n')
    again = open_board(folder())
    assert [row.name for row in again.rows][:3] == ["A", "H", "M"]
    assert stamp(kept) == written
    assert in_words(again) == in_words(first)


def test_a_change_is_noticed_even_at_the_same_size_and_time(folder: Folder) -> None:
    root = folder()
    open_board(root)
    path, table = root / JUDGMENTS, root / "scores" / "BLEU.tsv"
    for file, old, new in ((path, b'"adequacy": 4', b'"adequacy": 3'), (table, b"0.25", b"0.75")):
        times = file.stat()
        file.write_bytes(file.read_bytes().replace(old, new))
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    board = open_board(root)
    assert board.judgments.values[0].tolist() == [3, 2]
    assert board.imported[0].values["M"][0] == 0.75


def test_a_narrower_scale_refuses_what_was_kept(folder: Folder) -> None:
    root = folder()
    open_board(root)
    settings = root / "board.toml"
    settings.write_text(settings.read_text().replace("range = [1, 5]", "range = [1, 3]"))
    with pytest.raises(InvalidBoard, match=r"adequacy = 4 lies outside its range"):
        open_board(root)


def test_a_generator_that_is_gone_is_named_as_ever(folder: Folder) -> None:
    root = folder()
    open_board(root)
    (root / "generators" / "M.jsonl").unlink()
    with pytest.raises(InvalidBoard) as refused:
        open_board(root)
    messages = [str(problem) for problem in refused.value.problems]
    assert f"{JUDGMENTS}:1: error: generator 'M' has no file in generators/" in messages
    assert "scores/BLEU.tsv:1: error: column 'M' is no generator of this board" in messages


def test_what_has_a_mistake_is_not_kept(folder: Folder) -> None:
    root = folder({JUDGMENTS: '{"instance": "a", "generator": "M", "values": {"adequacy": 9}}\n'})
    for _ in range(2):
        with pytest.raises(InvalidBoard, match="outside its range"):
            open_board(root)
    assert not (root / KEPT / "judgments").exists()


@pytest.mark.parametrize("spoiled", [b"", b"not JSON\n", b"{}\n", None])
def test_spoiled_numbers_are_read_again(folder: Folder, spoiled: bytes | None) -> None:
    root = folder()
    first = open_board(root)
    expected = {name: scores.tolist() for name, scores in first.imported[0].values.items()}
    for path in (root / KEPT / "judgments", root / KEPT / "scores" / "BLEU.tsv"):
        path.write_bytes(path.read_bytes()[:-1] if spoiled is None else spoiled)
    board = open_board(root)
    assert in_words(board) == in_words(first)
    np.testing.assert_equal({name: scores.tolist() for name, scores in board.imported[0].values.items()}, expected)


def test_a_byte_that_changed_on_the_disk_never_changes_a_number(folder: Folder) -> None:
    root = folder()
    first = open_board(root)
    expected = {name: scores.tolist() for name, scores in first.imported[0].values.items()}
    for path in (root / KEPT / "judgments", root / KEPT / "scores" / "BLEU.tsv"):
        raw = path.read_bytes()
        for place in range(0, len(raw), 17):
            path.write_bytes(raw[:place] + bytes([raw[place] ^ 4]) + raw[place + 1 :])
            board = open_board(root)
            assert in_words(board) == in_words(first)
            np.testing.assert_equal({name: row.tolist() for name, row in board.imported[0].values.items()}, expected)


def test_a_table_is_loaded_when_asked_for_and_read_again_when_gone(folder: Folder) -> None:
    root = folder()
    values = open_board(root).imported[0].values
    assert list(values) == ["M", "H", "#1"]
    assert "M" in values
    assert len(values) == 3
    (root / KEPT / "scores" / "BLEU.tsv").unlink()
    np.testing.assert_array_equal(values["M"], [0.25, np.nan, 0.001])
    table = root / "scores" / "BLEU.tsv"
    table.write_text(table.read_text().replace("0.25", "0.75"))
    with pytest.raises(StoreFailed, match=r"BLEU\.tsv: has changed since the board was opened; open the board again"):
        values["M"]


def test_scores_where_lower_is_better_are_kept_turned_round(folder: Folder) -> None:
    root = folder()
    settings = root / "board.toml"
    settings.write_text(settings.read_text() + "[scores.BLEU]\nhigher_is_better = false\n")
    for _ in range(2):
        assert open_board(root).imported[0].values["H"].tolist() == [-1.5, 2, 0]


def test_a_folder_that_cannot_be_written_is_read_every_time(folder: Folder) -> None:
    root = folder({".billboards": "in the way"})
    for _ in range(2):
        board = open_board(root)
        assert len(board.judgments) == 4
        assert board.imported[0].values["H"].tolist() == [1.5, -2, 0]


def test_a_small_file_is_not_kept(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "LARGE", 1_000_000)
    open_board(folder())
    assert not (folder() / ".billboards").exists()


def test_lines_are_counted_on_from_one_piece_of_a_file_to_the_next(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judgment_files, "_PIECE", 7)
    good = '{"instance": "a", "generator": "M", "values": {"adequacy": 2}}'
    root = folder({JUDGMENTS: "\ufeff" + "\n".join((good, "", good, good.replace("M", "Q"), good))})
    with pytest.raises(InvalidBoard) as refused:
        open_board(root)
    assert [(problem.path, problem.line) for problem in refused.value.problems] == [(JUDGMENTS, 4)]
