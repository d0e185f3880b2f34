"""A site's backup and its database, whole and piece by piece, as they may come back from a disk or a stranger.

A change anywhere in a packed file only shows that damage is noticed. So a backup is also changed inside and packed
again with every digest right: then only what its rows, names and settings say can be wrong.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from kept_targets import settle
from small_sites import make_board
from target import Target

from billboards.board.writing import write_board
from billboards.errors import BillboardsError
from billboards.site.accounts.access import local_viewer
from billboards.site.admin.backup import MANIFEST, back_up, restore
from billboards.site.database.engine import Database
from billboards.site.database.row_lines import Tally, tables_of, tally_of
from billboards.site.site import open_site
from billboards.site.submissions.sending import submit_generator

Files = Mapping[str, bytes]


def sites(home: Path) -> Iterator[Target]:
    """A backup, its parts, and a database."""
    data, file = home / "site", home / "site.tar.gz"
    board = make_board(4, 2, metrics=("length",))
    write_board(board, data / "boards" / board.name)
    (data / "site.toml").write_text('title = "Harbour"\n')
    with closing(open_site(data)) as site:
        lines = "\n".join(json.dumps({"instance": one.id, "text": "x"}) for one in board.instances)
        submit_generator(site, local_viewer(site), board.name, "sent", lines.encode())
        back_up(site, file)
    files = unpacked(file.read_bytes())
    yield Target("backup archive", packed(files), read_backup)
    # Unpacked, so that a change is one of a header or a name and not one that the compression notices.
    yield Target("backup tar", gzip.decompress(packed(files)), lambda raw: read_backup(gzip.compress(raw, 1)))
    for name in (MANIFEST, "site.toml", "tables/submissions.jsonl", "tables/boards.jsonl"):
        yield Target(f"backup {name}", files[name], partial(_read_repacked, files, name))
    settle(data / "site.sqlite")
    yield Target("database site.sqlite", (data / "site.sqlite").read_bytes(), read_database)


def unpacked(raw: bytes) -> dict[str, bytes]:
    """A backup's files by name, in their order."""
    with tarfile.open(fileobj=io.BytesIO(raw)) as archive:
        return {one.name: archive.extractfile(one).read() for one in archive}  # type: ignore[union-attr]


def packed(files: Files) -> bytes:
    """Files as an archive, the same bytes for the same files."""
    found = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=found, mode="wb", compresslevel=1, mtime=0) as squeezed,
        tarfile.open(fileobj=squeezed, mode="w:", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return found.getvalue()


def repacked(files: Files, name: str, raw: bytes) -> bytes:
    """A backup with one other file, and a manifest that says so."""
    if name == MANIFEST:
        return packed({**files, name: raw})
    manifest: dict[str, Any] = json.loads(files[MANIFEST])
    table = name.removeprefix("tables/").removesuffix(".jsonl")
    if name in manifest["files"]:
        manifest["files"][name] = hashlib.sha256(raw).hexdigest()
    else:
        tally = Tally()
        for line in raw.decode("utf-8", "replace").splitlines():
            tally.add(line)
        manifest["tables"][table] = {"rows": tally.rows, "digest": tally.digest}
    return packed({**files, name: raw, MANIFEST: json.dumps(manifest).encode()})


def _read_repacked(files: Files, name: str, raw: bytes) -> None:
    read_backup(repacked(files, name, raw))


def read_backup(raw: bytes) -> None:
    """A site is made, or nothing is left; nothing lies outside it either way."""
    with tempfile.TemporaryDirectory() as work:
        file, target = Path(work) / "a.tar.gz", Path(work) / "new"
        file.write_bytes(raw)
        try:
            restore(file, target)
        except BillboardsError:
            assert {path.name for path in Path(work).iterdir()} == {file.name}
            raise
        assert {path.name for path in Path(work).iterdir()} == {file.name, target.name}
        assert not any(path.is_symlink() for path in target.rglob("*"))


def read_database(raw: bytes) -> None:
    """Every row of a database is read, as a backup does."""
    with tempfile.TemporaryDirectory() as work:
        (Path(work) / "site.sqlite").write_bytes(raw)
        with closing(Database(f"sqlite:///{work}/site.sqlite")) as database:
            database.upgrade()
            with database.reading() as connection:
                for table in tables_of(connection):
                    tally_of(connection, table)
