"""`billboards get`: what it lists, what it asks, what it writes, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from catalogue_entries import TABLE, WriteEntry, sha256, toml, url_source
from file_server import FileServer, cut

import billboards as bb
from billboards.catalogue import _catalogue, read_catalogue
from billboards.cli.main import main
from billboards.errors import InvalidInput

NAMES = [entry.name for entry in read_catalogue()]


@pytest.fixture
def entry(server: FileServer, entry_file: WriteEntry) -> Path:
    server.files["/ratings.csv"] = TABLE
    return entry_file(toml("two", url_source(f"{server.url}/ratings.csv", TABLE)))


def test_the_list_names_every_board_with_what_one_wants_to_know(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["get", "--list", "--json"]) == 0
    boards = {board["name"]: board for board in json.loads(capsys.readouterr().out)["boards"]}
    assert list(boards) == NAMES
    board = boards["wmt20-zh-en"]
    assert (board["task"], board["languages"], board["judged"], board["verified"]) == (
        "translation",
        ["zh", "en"],
        20_000,
        True,
    )
    assert 50e6 < board["size"] < 60e6
    assert "Apache-2.0" in board["licence"]
    assert [source["repository"] for source in board["sources"]] == [
        "jungokasai/billboard",
        "google/wmt-mqm-human-evaluation",
        "Helsinki-NLP/OPUS-MT-testsets",
    ]
    assert boards["mtme-SET-PAIR"]["verified"] is False


def test_the_list_is_a_table_and_csv_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["get", "--list", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["name"] for row in rows] == NAMES
    assert {"name", "task", "languages", "judged", "size", "licence", "verified"} <= set(rows[0])
    assert main(["get", "--list", "--wide"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in NAMES)


def test_a_board_is_written_ready_to_rank_and_the_licence_is_told_first(
    entry: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["get", "two", "--catalogue", str(entry)]) == 0
    told = capsys.readouterr().err.splitlines()
    assert told[:2] == ["two: Two systems", "licence: CC0-1.0"]
    assert any(line.startswith("download: files of 0.1 kB from 127.0.0.1 to ") for line in told)
    assert told[-1] == "licence: CC0-1.0. Next: `billboards rank two`"
    assert len(bb.open("two").judgments) == 6


def test_a_second_call_downloads_nothing_and_asks_nothing(
    entry: Path, server: FileServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        assert main(["get", "two", "--catalogue", str(entry), "-o", str(tmp_path / name)]) == 0
    assert len(server.requests) == 1
    assert capsys.readouterr().err.count("download:") == 1


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1), ("", 1)])
def test_at_a_terminal_somebody_must_agree(
    answer: str, code: int, entry: Path, server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    monkeypatch.setattr("sys.stderr", screen)
    assert main(["get", "two", "--catalogue", str(entry), "-o", str(tmp_path / "out")]) == code
    assert "Download it under these terms? [y/N]" in screen.getvalue()
    assert len(server.requests) == (1 if code == 0 else 0)
    assert (tmp_path / "out").exists() is (code == 0)


def test_yes_agrees(entry: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stdin", Terminal(""))
    monkeypatch.setattr("sys.stderr", screen)
    assert main(["get", "two", "--catalogue", str(entry), "-o", str(tmp_path / "out"), "--yes"]) == 0
    assert "licence: CC0-1.0" in screen.getvalue()
    assert "[y/N]" not in screen.getvalue()


def test_a_wrong_digest_leaves_no_board(
    entry: Path, server: FileServer, tmp_path: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.files["/ratings.csv"] = TABLE.replace(b"one", b"two")
    assert main(["get", "two", "--catalogue", str(entry), "-o", str(tmp_path / "out")]) == 1
    assert "is not the file that the catalogue names" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".lock"] == []


def test_an_unverified_file_is_told_with_its_digest_each_time(
    server: FileServer, entry_file: WriteEntry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.files["/ratings.csv"] = TABLE
    server.tricks["/ratings.csv"] = [cut(30)]
    path = entry_file(toml("two", url_source(f"{server.url}/ratings.csv", None)))
    for name in ("a", "b"):
        assert main(["get", "two", "--catalogue", str(path), "-o", str(tmp_path / name)]) == 0
        said = capsys.readouterr().err
        assert f"unverified: no digest of ratings.csv: ratings.csv is known; it has sha256 {sha256(TABLE)}" in said


def test_a_folder_that_exists_is_kept_unless_force_is_given(
    entry: Path, server: FileServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["get", "two", "--catalogue", str(entry), "-o", str(out)]
    assert main(command) == 0
    assert main(command) == 2
    assert "exists already; give another folder with -o, or --force" in capsys.readouterr().err
    (out / "board.toml").write_text("broken")
    assert main([*command, "--force"]) == 0
    assert len(bb.open(out).judgments) == 6
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    assert main([*command[:-1], str(tmp_path / "mine"), "--force"]) != 0
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name a public board"),
        (["sumeval"], "did you mean summeval"),
        (["summeval", "--unverified", "-o", "x"], "give their folder with --from DIR"),
        (["summeval", "--from", "no-such-folder", "-o", "x"], "no such folder or archive"),
        (["summeval", "--catalogue", "no-such.toml"], "no-such.toml: can't be read"),
    ],
)
def test_what_can_not_be_done_is_said_in_a_line(
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["get", *arguments]) in (1, 2)
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_python_has_the_same_board_in_memory_or_in_a_folder(entry: Path, tmp_path: Path) -> None:
    held = bb.get("two", catalogue=entry)
    kept = bb.get("two", tmp_path / "out", catalogue=entry)
    assert held.home is None
    assert (held.instances, [row.texts for row in held.rows]) == (kept.instances, [row.texts for row in kept.rows])
    with pytest.raises(InvalidInput, match="exists already"):
        bb.get("two", tmp_path / "out", catalogue=entry)
    assert bb.get("two", tmp_path / "out", catalogue=entry, force=True).name == kept.name


def test_a_package_brings_entries_by_an_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "more_boards"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "two.toml").write_text(toml("two", url_source("https://example.org/ratings.csv", TABLE)))
    monkeypatch.syspath_prepend(tmp_path)
    points = [
        EntryPoint("more", "more_boards", "billboards.catalogue"),
        EntryPoint("broken", "no_such_package", "billboards.catalogue"),
    ]
    monkeypatch.setattr(_catalogue, "entry_points", lambda group: points)
    assert read_catalogue().entry("two").title == "Two systems"
    assert main(["get", "--list", "--csv"]) == 0
    said = capsys.readouterr()
    assert "Two systems" in said.out
    assert "warning: the entries broken are broken: no_such_package is no package with entries" in said.err
