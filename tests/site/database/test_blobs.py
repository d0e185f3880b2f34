"""Submitted files by digest: whole or not there, once, and checked when read."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from billboards.errors import StoreFailed
from billboards.site.submissions.blobs import Blobs


def test_the_same_content_is_kept_once_under_its_digest(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    names = {blobs.put(b"lines"), blobs.put(b"lines")}
    assert names == {hashlib.sha256(b"lines").hexdigest()}
    assert [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()] == [b"lines"]


def test_a_damaged_or_missing_file_is_not_handed_out(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    name = blobs.put(b"lines")
    blobs.path(name).write_bytes(b"other")
    with pytest.raises(StoreFailed, match="is damaged"):
        blobs.read(name)
    with pytest.raises(StoreFailed, match="can't be read"):
        blobs.read("0" * 64)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("in the way")
    with pytest.raises(StoreFailed, match="can't be written"):
        Blobs(tmp_path / "blobs").put(b"lines")
