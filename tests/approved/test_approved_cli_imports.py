"""What commands print and write that fetch public boards and import other people's data, right or wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from approving import approve
from catalogue_entries import TABLE, toml, url_source
from command_transcripts import files_below, ran, steady
from file_server import FileServer
from importer_sources import MAKERS

from billboards.importers import IMPORTERS


@pytest.fixture
def server() -> Iterator[FileServer]:
    with FileServer() as started:
        yield started


def test_public_boards_are_fetched_as_approved(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "132")
    monkeypatch.setenv("BILLBOARDS_CACHE", str(tmp_path / "cache"))
    for name in (
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "BILLBOARDS_OFFLINE",
    ):
        monkeypatch.delenv(name, raising=False)
    server.files["/ratings.csv"] = TABLE
    changed = TABLE.replace(b"1", b"2")
    entries = tmp_path / "entries"
    entries.mkdir()
    (entries / "two.toml").write_text(toml("two", url_source(f"{server.url}/ratings.csv", TABLE)), "utf-8")
    (entries / "wrong.toml").write_text(toml("wrong", url_source(f"{server.url}/ratings.csv", changed)), "utf-8")
    (entries / "gone.toml").write_text(toml("gone", url_source(f"{server.url}/nowhere.csv", TABLE)), "utf-8")
    (entries / "open.toml").write_text(toml("open", url_source(f"{server.url}/ratings.csv", None)), "utf-8")
    (tmp_path / "broken.toml").write_text('[boards.x]\ntitle = "x"\n', "utf-8")
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / "ratings.csv").write_bytes(changed)
    commands = (
        "get two --catalogue entries",
        "get two --catalogue entries",
        "get two --catalogue entries --force",
        "get two --catalogue entries -o again",
        "get wrong --catalogue entries",
        "get gone --catalogue entries",
        "get open --catalogue entries",
        "get open --catalogue entries -o open2 --yes",
        "get two --catalogue entries --from mirror -o mirrored",
        "get two --catalogue entries --from mirror --unverified -o mirrored",
        "get two --catalogue entries --from nowhere -o mirrored",
        "get tow --catalogue entries",
        "get two --catalogue broken.toml",
        "get --list --catalogue broken.toml --csv",
        "check two",
        "card two",
        "rank two --csv --no-save --draws 20",
    )
    told: dict[str, Any] = {f"{k} {command}": ran(capsys, command) for k, command in enumerate(commands)}
    told["13 get --list --catalogue broken.toml --csv"].pop("out", None)
    told["files"] = files_below(tmp_path / "two", texts=(".toml", ".jsonl"))
    text = str(server.url).rpartition("/")[2]
    approve("transcripts/public", steady_without(told, text), folder=tmp_path)


def steady_without(told: Any, port: str) -> Any:
    """A plain value without a server's port."""
    if isinstance(told, dict):
        return {key.replace(port, "HOST"): steady_without(part, port) for key, part in told.items()}
    if isinstance(told, list):
        return [steady_without(part, port) for part in told]
    return told.replace(port, "HOST") if isinstance(told, str) else told


@pytest.mark.parametrize("part", range(3))
def test_sources_are_imported_as_approved(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "132")
    told: dict[str, Any] = {}
    for name in sorted(set(MAKERS) & set(IMPORTERS.own))[part::3]:
        made = MAKERS[name](tmp_path / "sources" / name)
        importer = IMPORTERS.load(name)
        words = [f"import {name} {made.source} -o {name}"]
        for option in importer.options:
            value = made.options.get(option.name)
            if value is None or option.argument:
                continue
            values = value if isinstance(value, list | tuple) else [value]
            words += (
                [f"--{option.outer} '{each}'" for each in values] if option.type is not bool else [f"--{option.outer}"]
            )
        command = " ".join(words)
        told[name] = {
            "import": ran(capsys, command),
            "again": ran(capsys, command),
            "check": ran(capsys, f"check {name}"),
            "files": sorted(files_below(tmp_path / name)) if (tmp_path / name).exists() else [],
            "board": files_below(tmp_path / name, texts=(".toml",)).get("board.toml"),
            "nowhere": ran(capsys, command.replace(str(made.source), "nowhere").replace(f"-o {name}", "-o x")),
        }
    approve(f"transcripts/imports-{part}", steady(told), folder=tmp_path)
