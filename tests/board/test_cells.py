"""The SQLite store under trouble: nothing created for looking, damage named, concurrent writers, a kill in between."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
import zlib
from pathlib import Path

import numpy as np
import pytest

from billboards.board import Column, counts
from billboards.board.cells import FILE, ColumnKey, SqliteCells
from billboards.board.counts import pack_counts, unpack_counts
from billboards.errors import StoreFailed

KEY = ColumnKey(Column(name="BLEU", signature="s"), "c")

WRITER = """
import sys
from pathlib import Path
import numpy as np
from billboards.board import Column
from billboards.board.cells import ColumnKey
from billboards.board.cells import SqliteCells
store, name = SqliteCells(Path(sys.argv[1])), sys.argv[2]
key = ColumnKey(Column(name="BLEU", signature="s"), "c")
for k in range(int(sys.argv[3])):
    store.save(key, f"{name}{k}", {"": np.full(1000, float(k))}, seconds=0)
    print(k, flush=True)
"""


def test_looking_creates_nothing(tmp_path: Path) -> None:
    SqliteCells(tmp_path).present(KEY)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / FILE).parent.mkdir()
    (tmp_path / FILE).write_bytes(b"this is not a database, but long enough to be looked at" * 100)
    with pytest.raises(StoreFailed, match="delete the file"):
        SqliteCells(tmp_path).columns()


NUMBERS = zlib.compress(bytes(4))


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"\x00\x00\x02\x00\x00\x00nonsense",
        b"\x00\x00\x02\x00\x00\x00" + NUMBERS[:-2],
        b"\x00\x00\x03\x00\x00\x00" + NUMBERS,
        b"\x00\x00\x00\x00\x00\x00" + NUMBERS,
        b"\x02\x00\x02\x00\x00\x00" + NUMBERS,
        b"\x00\x09\x02\x00\x00\x00" + NUMBERS,
        b"\x00\x06\x02\x00\x00\x00" + NUMBERS,
    ],
)
def test_damaged_counts_are_named_with_what_to_do(tmp_path: Path, damaged: bytes) -> None:
    store = SqliteCells(tmp_path)
    store.save(KEY, "v", {"": np.zeros(1)}, seconds=0, counts=np.array([[1, 2]]))
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute("update counts set packed = ?", (damaged,))
    with pytest.raises(StoreFailed, match=r"damaged.*delete the file"):
        store.load_counts(KEY, ["v"])
    assert store.load(KEY, ["v"])["v"] == [0.0]


def test_counts_that_are_too_large_are_refused_before_they_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = pack_counts(np.zeros((1000, 4), int))
    assert unpack_counts(packed).shape == (1000, 4)
    monkeypatch.setattr(counts, "_MOST", 3999)
    with pytest.raises(ValueError, match="too large"):
        unpack_counts(packed)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE.parent).write_text("in the way")
    with pytest.raises(StoreFailed, match="can't be written"):
        SqliteCells(tmp_path).save(KEY, "v", {"": np.zeros(1)}, seconds=0)


def test_two_processes_write_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, tmp_path, name, "40"], stdout=subprocess.DEVNULL)
        for name in "ab"
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    assert len(SqliteCells(tmp_path).present(KEY)) == 80


@pytest.mark.parametrize("after", [3, 11, 27])
def test_kill_9_keeps_every_acknowledged_cell(tmp_path: Path, after: int) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, tmp_path, "v", "100000"], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    acknowledged = [int(writer.stdout.readline()) for _ in range(after)]
    time.sleep(0.003 * after)
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait(30)
    writer.stdout.close()
    store = SqliteCells(tmp_path)
    kept = store.load(KEY, store.present(KEY))
    assert {f"v{k}" for k in acknowledged} <= set(kept)
    assert all((scores == float(name[1:])).all() and len(scores) == 1000 for name, scores in kept.items())


def test_the_file_is_plain_sqlite(tmp_path: Path) -> None:
    SqliteCells(tmp_path).save(KEY, "v", {"": np.array([1.0, 2.0])}, seconds=0.25)
    database = sqlite3.connect(tmp_path / FILE)
    assert database.execute("select outputs, seconds, length(scores) from cells").fetchall() == [("v", 0.25, 16)]
    database.close()
