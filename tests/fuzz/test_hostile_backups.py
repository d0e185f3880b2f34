"""Backups that were made to hurt: each is refused by name, on the command line in one line, and nothing is left."""

from __future__ import annotations

import gzip
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from site_targets import packed, repacked, unpacked
from target import Target

from billboards.cli.main import main
from billboards.errors import BillboardsError
from billboards.site.admin import backup
from billboards.site.admin.backup import MANIFEST, restore, without_addresses

Files = dict[str, bytes]
Change = Callable[[Files], bytes]


@pytest.fixture(scope="module")
def files(targets: dict[str, Target]) -> Files:
    return unpacked(targets["backup archive"].sound)


def _with_member(name: str, kind: bytes, **facts: Any) -> Change:
    """A member of this kind at the archive's beginning."""

    def change(files: Files) -> bytes:
        entry = tarfile.TarInfo(name)
        entry.type, entry.size = kind, 4 if kind == tarfile.REGTYPE else 0
        for key, value in facts.items():
            setattr(entry, key, value)
        return _inserted(packed(files), entry.tobuf(tarfile.GNU_FORMAT) + b"evil".ljust(512, b"\0") * (entry.size > 0))

    return change


def _inserted(raw: bytes, head: bytes) -> bytes:
    return gzip.compress(head + gzip.decompress(raw), 1)


def _saying(**changes: Any) -> Change:
    """A manifest that says something else."""

    def change(files: Files) -> bytes:
        return packed({**files, MANIFEST: json.dumps({**json.loads(files[MANIFEST]), **changes}).encode()})

    return change


def _manifest(raw: bytes) -> Change:
    return lambda files: packed({**files, MANIFEST: raw})


def _renamed_blob(files: Files) -> bytes:
    manifest = json.loads(files[MANIFEST])
    blob = next(name for name in files if name.startswith("blobs/"))
    renamed = {("blobs/" + "0" * 64 if name == blob else name): raw for name, raw in files.items()}
    manifest["files"] = {("blobs/" + "0" * 64 if name == blob else name): d for name, d in manifest["files"].items()}
    return packed({**renamed, MANIFEST: json.dumps(manifest).encode()})


def _board_elsewhere(files: Files) -> bytes:
    boards = json.loads(files[MANIFEST])["boards"]
    return _saying(boards={name: {**said, "folder": ".."} for name, said in boards.items()})(files)


def _header_of_a_gigabyte(files: Files) -> bytes:
    entry = tarfile.TarInfo("pax")
    entry.type, entry.size = tarfile.XHDTYPE, 1 << 30
    return _inserted(packed(files), entry.tobuf(tarfile.GNU_FORMAT))


def _line_is(line: bytes) -> Change:
    return lambda files: repacked(files, "tables/boards.jsonl", line)


HOSTILE: dict[str, tuple[Change, str]] = {
    "a name above": (_with_member("../evil", tarfile.REGTYPE), "which no backup does"),
    "a name above, inside": (_with_member("boards/../../evil", tarfile.REGTYPE), "which no backup does"),
    "an absolute name": (_with_member("/etc/passwd", tarfile.REGTYPE), "which no backup does"),
    "a name of its own": (_with_member("site.sqlite", tarfile.REGTYPE), "which no backup does"),
    "a link": (_with_member("boards/link", tarfile.SYMTYPE, linkname="/etc"), "is no plain file"),
    "a hard link": (_with_member("boards/link", tarfile.LNKTYPE, linkname="site.toml"), "is no plain file"),
    "a pipe": (_with_member("boards/pipe", tarfile.FIFOTYPE), "is no plain file"),
    "a device": (_with_member("boards/zero", tarfile.CHRTYPE, devmajor=1, devminor=5), "is no plain file"),
    "a folder": (_with_member("boards/folder", tarfile.DIRTYPE), "is no plain file"),
    "a file with holes": (_with_member("boards/holes", tarfile.GNUTYPE_SPARSE), "is no plain file|damaged"),
    "a file twice": (_with_member("site.toml", tarfile.REGTYPE), "holds site.toml twice"),
    "a file that nobody knows": (_with_member("boards/ferry/evil", tarfile.REGTYPE), "or too much"),
    "a header of a gigabyte": (_header_of_a_gigabyte, "larger than any is"),
    "a file larger than the disk": (_with_member("blobs/x", tarfile.REGTYPE, size=1 << 60), "the disk has room for"),
    "another file": (lambda files: packed({**files, "site.toml": b"x = 1"}), "site.toml is damaged"),
    "no file": (lambda files: packed({k: v for k, v in files.items() if k != "site.toml"}), "site.toml is damaged"),
    "no table": (
        lambda files: packed({k: v for k, v in files.items() if k != "tables/boards.jsonl"}),
        "tables/boards.jsonl is damaged or missing",
    ),
    "no manifest": (lambda files: packed({k: v for k, v in files.items() if k != MANIFEST}), "has no manifest.json"),
    "a manifest that is no JSON": (_manifest(b"{"), "can't be restored"),
    "a manifest nested too deeply": (_manifest(b"[" * 10**5), "nested too deeply"),
    "a manifest of something else": (_manifest(b"[]"), "is no backup of a site"),
    "tables that are a list": (_saying(tables=[]), "tables: .* where an object was expected"),
    "no tables": (_saying(tables={}), "or too much"),
    "a newer version": (_saying(revision="9999"), "of another version.*update billboards"),
    "a version that is a path": (_saying(revision="../x"), "which is none"),
    "a board elsewhere": (_board_elsewhere, "has no folder '..'"),
    "no boards": (_saying(boards={}), "only in part"),
    "a blob under another's name": (_renamed_blob, "does not have its content's name"),
    "a row that is no JSON": (_line_is(b"no\n"), "boards.jsonl:1: is no row of boards"),
    "a row that is an object": (_line_is(b"{}\n"), "boards.jsonl:1: is no row of boards"),
    "a row that is too short": (_line_is(b"[1]\n"), "boards.jsonl:1: is no row of boards"),
    "a row of another type": (_line_is(b"[[], {}, 1, 2, 3, 4, 5]\n"), "boards"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_backup_that_was_made_to_hurt_is_refused_by_name_and_nothing_is_left(
    case: str, files: Files, tmp_path: Path
) -> None:
    change, words = HOSTILE[case]
    (tmp_path / "in").mkdir()
    file, new = tmp_path / "in" / "a.tar.gz", tmp_path / "in" / "new"
    file.write_bytes(change(files))
    with pytest.raises(BillboardsError, match=words):
        restore(file, new)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    assert [path.name for path in file.parent.iterdir()] == ["a.tar.gz"]


def test_on_the_command_line_it_is_one_line_and_exit_code_2(
    files: Files, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.tar.gz").write_bytes(_with_member("../evil", tarfile.REGTYPE)(files))
    assert main(["restore", str(tmp_path / "a.tar.gz"), str(tmp_path / "new")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["restore", str(tmp_path / "none"), str(tmp_path / "new")]) == 2
    assert "there is no such file" in capsys.readouterr().err


def test_a_table_is_read_in_pieces_that_fit(files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of gigabytes is cut where no row goes on, and then it is none."""
    monkeypatch.setattr(backup, "MOST_AT_ONCE", 1 << 18)
    (tmp_path / "a.tar.gz").write_bytes(repacked(files, "tables/boards.jsonl", b"[" + b" " * (1 << 20) + b"]\n"))
    with pytest.raises(BillboardsError, match=r"boards.jsonl:1: is no row"):
        restore(tmp_path / "a.tar.gz", tmp_path / "new")


def test_settings_of_a_million_empty_lines_take_no_time() -> None:
    assert without_addresses("\n" * 10**6 + "[mail]\n").endswith("\n[mail]\n")
