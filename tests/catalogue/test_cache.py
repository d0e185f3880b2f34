"""Where downloads are kept, and what a killed process leaves there."""

from __future__ import annotations

import io
import os
import sys
import tarfile
from pathlib import Path

import pytest
from catalogue_entries import TABLE, WriteEntry, sha256, toml
from file_server import FileServer

import billboards as bb
from billboards.catalogue._cache import cache_folder, locked
from billboards.errors import StoreFailed


def test_the_variable_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BILLBOARDS_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine" / "downloads"
    monkeypatch.setenv("BILLBOARDS_CACHE", "~/mine")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "mine" / "downloads"


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("linux", None, "home/.cache/billboards/downloads"),
        ("linux", "XDG_CACHE_HOME", "other/billboards/downloads"),
        ("darwin", None, "home/Library/Caches/billboards/downloads"),
        ("win32", None, "home/AppData/Local/billboards/Cache/downloads"),
        ("win32", "LOCALAPPDATA", "other/billboards/Cache/downloads"),
    ],
)
def test_without_it_the_platform_decides(
    platform: str, variable: str | None, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("BILLBOARDS_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    if variable is not None:
        monkeypatch.setenv(variable, str(tmp_path / "other"))
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_folder() == tmp_path / expected


def test_who_has_no_home_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("BILLBOARDS_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(StoreFailed, match="there is no home folder to keep downloads in; let BILLBOARDS_CACHE name"):
        cache_folder()


def test_a_lock_goes_with_its_process(tmp_path: Path) -> None:
    path, waited = tmp_path / "x.lock", list[str]()
    child = os.fork()
    if child == 0:
        with locked(path, lambda: None):
            os._exit(9)
    os.waitpid(child, 0)
    with locked(path, lambda: waited.append("waited")):
        assert path.exists()
    assert waited == []


def test_what_a_killed_process_unpacked_is_taken_up(
    server: FileServer, entry_file: WriteEntry, tmp_path: Path, cache: Path
) -> None:
    """Some files were in their place and one was being written when the process ended."""
    commit, buffer = "a" * 40, io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, data in {"ratings.csv": TABLE, "loose/1": b"1", "loose/2": b"2"}.items():
            info = tarfile.TarInfo(f"body-x/{name}")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    server.files[f"/codeload.github.com/some/body/tar.gz/{commit}"] = buffer.getvalue()
    source = (
        f'[[sources]]\nrepository = "some/body"\ncommit = "{commit}"\nlicence = "CC0-1.0"\nfiles = ["loose/*", '
        f'{{ path = "ratings.csv", size = {len(TABLE)}, sha256 = "{sha256(TABLE)}" }}]\n'
    )
    entry = entry_file(toml("two", source, source='"body/ratings.csv"'))
    folder = cache / "github.com/some/body" / commit
    (folder / "loose").mkdir(parents=True)
    (folder / "loose" / "1").write_bytes(b"")
    (folder / "loose" / ".unfinished-0123").write_bytes(b"half")
    assert len(bb.get("two", catalogue=entry, mirror=server.url).judgments) == 6
    assert {path.name: path.read_bytes() for path in (folder / "loose").iterdir()} == {"1": b"1", "2": b"2"}
    (folder / "loose" / "2").write_bytes(b"?")
    assert len(bb.get("two", catalogue=entry, mirror=server.url).judgments) == 6
    assert (folder / "loose" / "2").read_bytes() == b"2"
    assert len(server.requests) == 1
