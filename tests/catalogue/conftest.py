"""A server of files, a cache of the test's own, and a place for entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from catalogue_entries import WriteEntry
from file_server import FileServer


@pytest.fixture
def server() -> Iterator[FileServer]:
    with FileServer() as server:
        yield server


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no proxy between tests and their server."""
    monkeypatch.setenv("BILLBOARDS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("BILLBOARDS_OFFLINE", raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache" / "downloads"


@pytest.fixture
def entry_file(tmp_path: Path) -> WriteEntry:
    """Write a TOML file beside the test's other files."""

    def write(text: str, name: str = "entry.toml", more: Mapping[str, str] | None = None) -> Path:
        folder = tmp_path / "entries"
        folder.mkdir(exist_ok=True)
        for other, content in (more or {}).items():
            (folder / other).write_text(content, "utf-8")
        (folder / name).write_text(text, "utf-8")
        return folder / name

    return write
