"""A whole site in one file, taken while the site runs, and a site made from such a file.

The database is read in one transaction, so it is of one moment; submitted files are put down before the row that names
them and never change, so those of that moment are all there. Rows are lines of JSON, the same from SQLite and from
PostgreSQL, so a backup can be restored on either. The file is a gzipped tar with a manifest at its end; it has its name
only when it is complete.

A backup is believed only as far as it can be checked: a file that lay somewhere for a year may be cut off, damaged, of
a newer version, or not what it says. So it is unpacked member by member beside its place: plain files with the names
that a backup has, as many as its manifest says and as it digests them, no link, nothing outside, nothing that the disk
can't hold or that must be read into memory at once. Only what passed all of this, row by row, gets its place.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from sqlalchemy import Connection, Table, func, select, update

from billboards.board.missing_cells import Progress
from billboards.errors import InvalidInput, StoreAway, StoreFailed
from billboards.reading import json_value, shown
from billboards.show.documents import read_fields
from billboards.site.boards import registry
from billboards.site.database.engine import Database
from billboards.site.database.retention import named_files
from billboards.site.database.row_lines import (
    Row,
    Tally,
    Tell,
    check_empty,
    fill,
    line_of,
    read_rows,
    row_of_line,
    tables_of,
)
from billboards.site.database.schema import boards
from billboards.site.settings import DATABASE, moment
from billboards.site.settings import FILE as SETTINGS
from billboards.site.site import SIGNING, Site, fingerprint
from billboards.site.work.order_secret import FILE as SECRET

MANIFEST = "manifest.json"
KIND = "billboards backup"
#: How often a backup is begun.
ATTEMPTS = 5
#: Parts of a board folder that only this machine needs, such as cells that can be computed again.
LEFT_OUT = (".billboards", ".git")


@dataclass(frozen=True)
class Content:
    """What a backup holds."""

    created: str
    rows: int
    blobs: int
    boards: int
    bytes: int


Watch = Callable[[Progress], None]


class _Counted:
    """Rows of all tables counted together, of so many."""

    def __init__(self, watch: Watch, total: int) -> None:
        self._watch, self._total = watch, total
        self._done: dict[str, int] = {}

    def __call__(self, table: str, rows: int) -> None:
        self._done[table] = rows
        self._watch(Progress(min(sum(self._done.values()), self._total), self._total, f"table {table}"))


def back_up(site: Site, file: Path, watch: Watch | None = None) -> Content:
    """Write the whole site to a file, which is there when all of it is."""
    if file.exists():
        raise InvalidInput(f"{file}: is there already; name a new file")
    try:
        with tempfile.TemporaryDirectory(prefix=".backup-", dir=file.absolute().parent) as work:
            part = Path(work) / "part"
            content = _pack(site, part, watch)
            with part.open("rb") as written:
                os.fsync(written.fileno())
            part.chmod(0o600)
            part.replace(file)
    except OSError as error:
        raise StoreFailed(f"{file}: can't be written: {error.strerror or error}; free some space") from error
    return Content(**content, bytes=file.stat().st_size)


def _pack(site: Site, part: Path, watch: Watch | None) -> dict[str, Any]:
    """Write the archive, from the beginning where a file was deleted after the row that named it was read."""
    for _ in range(ATTEMPTS):
        with tarfile.open(part, "w:gz", compresslevel=3, format=tarfile.PAX_FORMAT) as archive:
            content = _Packer(site, archive, part.parent, watch).pack()
        if content is not None:
            return content
    raise StoreAway(f"submitted files of {site.data} are being deleted; take the backup again in a while")


class _Packer:
    """Puts a site into an archive, and remembers what it put there."""

    def __init__(self, site: Site, archive: tarfile.TarFile, work: Path, watch: Watch | None) -> None:
        self.site, self.archive, self.work, self.watch = site, archive, work, watch
        self.tell: Tell | None = None
        self.files: dict[str, str] = {}
        self.folders: set[str] = set()

    def pack(self) -> dict[str, Any] | None:
        """Everything of one moment; None where a submitted file of that moment has been deleted since."""
        revision = self.site.database.revision()
        with self.site.database.reading() as connection:
            created = moment(self.site.clock())
            kept = list(tables_of(connection, revision))
            if self.watch is not None:
                counts = (connection.execute(select(func.count()).select_from(table)).scalar() for table in kept)
                self.tell = _Counted(self.watch, sum(count or 0 for count in counts))
            tables = {table.name: self._add_table(connection, table) for table in kept}
            blobs = sorted(named_files(connection))
            registered = registry.list_boards(connection)
        if not all(map(self._add_blob, blobs)):
            return None
        folders = {board.name: self._add_board(board) for board in registered}
        self._add_settings()
        manifest = {"kind": KIND, "created": created, "revision": revision, "tables": tables, "boards": folders}
        text = json.dumps({**manifest, "files": self.files}, indent=1)
        self._add(MANIFEST, text.encode())
        rows = sum(table["rows"] for table in tables.values())
        return {"created": created, "rows": rows, "blobs": len(blobs), "boards": len(folders)}

    def _add_blob(self, name: str) -> bool:
        """A submitted file; False where it is gone because no row names it any more."""
        try:
            content = self.site.blobs.read(name)
        except StoreFailed as error:
            with self.site.database.reading() as connection:
                if name in named_files(connection):
                    advice = f"`billboards verify {self.site.data}` lists every file that is lost"
                    raise StoreFailed(f"{error}; {advice}") from error
            return False
        self._add(f"blobs/{name}", content)
        return True

    def _add_table(self, connection: Connection, table: Table) -> dict[str, Any]:
        tally, path = Tally(), self.work / "table"
        with path.open("w", encoding="ascii") as file:
            for row in read_rows(connection, table):
                line = line_of(table, row)
                tally.add(line)
                file.write(line + "\n")
                if self.tell is not None and tally.rows % 1000 == 0:
                    self.tell(table.name, tally.rows)
        self.archive.add(path, f"tables/{table.name}.jsonl", recursive=False)
        return {"rows": tally.rows, "digest": tally.digest}

    def _add_board(self, board: registry.Registered) -> dict[str, str]:
        """A board's folder, wherever it lies; says what it was found to be, should its owner be editing it."""
        folder = Path(board.folder)
        before, place = fingerprint(folder), hashlib.sha256(board.name.encode()).hexdigest()[:16]
        name = place if folder.name in self.folders else folder.name
        self.folders.add(name)
        self._add_folder(folder, f"boards/{name}")
        return {"folder": name, "fingerprint": before if fingerprint(folder) == before else ""}

    def _add_settings(self) -> None:
        for name in (SETTINGS, SECRET, SIGNING):
            if (self.site.data / name).exists():
                self._add(name, (self.site.data / name).read_bytes())
        if (self.site.data / "suites").is_dir():
            self._add_folder(self.site.data / "suites", "suites")

    def _add_folder(self, folder: Path, name: str) -> None:
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder)
            if path.is_file() and inside.parts[0] not in LEFT_OUT:
                self._add(f"{name}/{inside.as_posix()}", path.read_bytes())

    def _add(self, name: str, content: bytes) -> None:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = len(content), 0o644
        self.archive.addfile(entry, io.BytesIO(content))
        self.files[name] = hashlib.sha256(content).hexdigest()


#: What stands at the beginning of every member's name.
FOLDERS = ("tables", "blobs", "boards", "suites")
#: The most that is read at once: a header that claims to be larger is none, and a line of a table has its end before.
MOST_AT_ONCE = 1 << 28


@dataclass(frozen=True)
class TableSaid:
    """What a manifest says of a table."""

    rows: int
    digest: str


@dataclass(frozen=True)
class BoardSaid:
    """What a manifest says of a board: the folder in the backup, and what it was found to be."""

    folder: str
    fingerprint: str


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What a backup says it holds."""

    kind: str
    created: str
    revision: str
    tables: Mapping[str, TableSaid]
    boards: Mapping[str, BoardSaid]
    files: Mapping[str, str]


def restore(file: Path, data: Path, *, database: str = "", watch: Watch | None = None) -> Content:
    """Make a site from a backup in a folder that is new or empty, with its state in a file there or in a database."""
    if not file.is_file():
        raise InvalidInput(f"{file}: there is no such file; name one that `billboards backup` wrote")
    if data.exists() and (not data.is_dir() or any(data.iterdir())):
        raise InvalidInput(f"{data}: is not empty, and may be in use; name a new folder")
    target = data.absolute()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".restore-", dir=target.parent) as work:
            opened = Path(work) / "opened"
            manifest = _unpack(file, opened)
            total = sum(table.rows for table in manifest.tables.values())
            tell = None if watch is None else _Counted(watch, total)
            content = _build(opened, manifest, Path(work) / "site", target, database, tell)
    except (EOFError, gzip.BadGzipFile, tarfile.TarError, zlib.error, ValueError) as error:
        raise InvalidInput(f"{file}: can't be restored: {error}; it is damaged, or no backup of a site") from error
    except OSError as error:
        raise StoreFailed(f"{file}: can't be restored: {error.strerror or error}") from error
    return Content(**content, bytes=file.stat().st_size)


class _Unpacked(gzip.GzipFile):
    """An archive without its compression, of which nobody reads more than a bounded piece into memory."""

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= MOST_AT_ONCE:
            raise tarfile.ReadError("one of its headers claims to be larger than any is")
        return super().read(size)


def _unpack(file: Path, opened: Path) -> Manifest:
    """Every member as a file, checked against the manifest; a file that was cut off or changed is refused."""
    digests: dict[str, str] = {}
    with _Unpacked(file) as plain, tarfile.open(fileobj=plain, mode="r:") as archive:
        while (member := archive.next()) is not None:
            _check_member(file, member, digests)
            content = archive.extractfile(member)
            assert content is not None, "it is a plain file"
            digests[member.name] = _put(content, opened / member.name, member.size)
            # The archive remembers every member, and there may be millions.
            archive.members.clear()  # type: ignore[attr-defined]
    if MANIFEST not in digests:
        raise InvalidInput(f"{file}: has no {MANIFEST}; it is no backup of a site, or was cut off")
    manifest = _read_manifest(file, opened / MANIFEST)
    _compare(file, manifest, digests)
    return manifest


def _check_member(file: Path, member: tarfile.TarInfo, seen: Mapping[str, str]) -> None:
    name, path = member.name, PurePosixPath(member.name)
    belongs = name in (MANIFEST, SETTINGS, SECRET, SIGNING) or (
        path.parts[:1] and path.parts[0] in FOLDERS and len(path.parts) > 1
    )
    if not belongs or str(path) != name or ".." in path.parts or "\0" in name:
        raise InvalidInput(f"{file}: holds {shown(name)}, which no backup does; it is not believed")
    if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.issparse():
        raise InvalidInput(f"{file}: {name} is no plain file, as everything in a backup is; it is not believed")
    if name in seen:
        raise InvalidInput(f"{file}: holds {name} twice; it is not believed")


def _put(content: IO[bytes], path: Path, size: int) -> str:
    """Write a member; returns the digest of what was written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    room = shutil.disk_usage(path.parent).free
    if size > room:
        raise StoreFailed(f"{path.name} takes {size:,} bytes, and the disk has room for {room:,}; free some space")
    with path.open("xb") as file:
        shutil.copyfileobj(content, file)
    with path.open("rb") as written:
        return hashlib.file_digest(written, "sha256").hexdigest()


def _read_manifest(file: Path, path: Path) -> Manifest:
    if path.stat().st_size > MOST_AT_ONCE:
        raise InvalidInput(f"{file}: its {MANIFEST} is larger than any is")
    document = json_value(path.read_bytes())
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise InvalidInput(f"{file}: is no backup of a site")
    manifest: Manifest = read_fields(Manifest, document, f"{file}, {MANIFEST}")
    if not re.fullmatch(r"\w{1,32}", manifest.revision, re.ASCII):
        raise InvalidInput(f"{file}: is of version {shown(manifest.revision)}, which is none")
    return manifest


def _compare(file: Path, manifest: Manifest, digests: Mapping[str, str]) -> None:
    """Refuse a backup that holds something else than its manifest says."""
    tables = {f"tables/{name}.jsonl" for name in manifest.tables}
    for name, digest in manifest.files.items():
        if digests.get(name) != digest:
            raise InvalidInput(f"{file}: {name} is damaged or missing; take another backup")
        if name.startswith("blobs/") and name != f"blobs/{digest}":
            raise InvalidInput(f"{file}: {name} does not have its content's name; it is not believed")
    odd = digests.keys() ^ {*manifest.files, *tables, MANIFEST}
    if odd:
        raise InvalidInput(f"{file}: {min(odd)} is damaged or missing, or too much; take another backup")


def _build(
    opened: Path, manifest: Manifest, made: Path, target: Path, address: str, tell: Tell | None
) -> dict[str, Any]:
    """The site's folder, made beside its place and moved there when all of it is right."""
    made.mkdir()
    for name in ("boards", "suites"):
        if (opened / name).exists():
            (opened / name).rename(made / name)
    if (opened / SETTINGS).exists():
        (made / SETTINGS).write_text(without_addresses((opened / SETTINGS).read_text("utf-8")), "utf-8")
    for name in (SECRET, SIGNING):
        if (opened / name).exists():
            (opened / name).chmod(0o600)
            (opened / name).rename(made / name)
    blobs = _place_blobs(opened, made)
    database = Database(address or os.environ.get(DATABASE) or f"sqlite:///{made / 'site.sqlite'}")
    try:
        check_empty(database)
        with database.writing(any_schema=True) as connection:
            rows = _fill(connection, opened, manifest, tell)
            _move_boards(connection, manifest, made, target)
    finally:
        database.close()
    if target.exists():
        target.rmdir()
    made.rename(target)
    return {"created": manifest.created, "rows": rows, "blobs": blobs, "boards": len(manifest.boards)}


def without_addresses(settings: str) -> str:
    """A site's settings without the addresses of its state: a restored site must leave the one it came from alone."""
    head = re.split(r"^[ \t]*\[", settings, maxsplit=1, flags=re.MULTILINE)[0]
    kept = re.sub(r"^[ \t]*(?:database|blobs)[ \t]*=.*\n?", "", head, flags=re.MULTILINE)
    return kept + settings[len(head) :]


def _place_blobs(opened: Path, made: Path) -> int:
    files = sorted((opened / "blobs").iterdir()) if (opened / "blobs").exists() else []
    for path in files:
        place = made / "blobs" / path.name[:2] / path.name
        place.parent.mkdir(parents=True, exist_ok=True)
        path.rename(place)
    return len(files)


def _fill(connection: Connection, opened: Path, manifest: Manifest, tell: Tell | None) -> int:
    def expected(table: Table) -> Tally:
        packed = manifest.tables[table.name]
        return Tally.of(packed.rows, packed.digest)

    def lines(table: Table) -> Iterator[Row]:
        if table.name not in manifest.tables:
            raise InvalidInput(f"the backup has no table {table.name}; it is damaged: take another")
        return _rows(opened / "tables" / f"{table.name}.jsonl", table)

    arrived = fill(connection, manifest.revision, lines, expected, tell)
    odd = manifest.tables.keys() ^ arrived.keys()
    if odd:
        raise InvalidInput(f"the backup has a table {shown(min(odd))}, which its version has not; take another")
    return sum(tally.rows for tally in arrived.values())


def _rows(path: Path, table: Table) -> Iterator[Row]:
    with path.open(encoding="ascii") as file:
        number = 0
        while line := file.readline(MOST_AT_ONCE):
            number += 1
            try:
                yield row_of_line(table, line)
            except (ValueError, TypeError) as error:
                raise InvalidInput(f"tables/{path.name}:{number}: is no row of {table.name}: {error}") from error


def _move_boards(connection: Connection, manifest: Manifest, made: Path, target: Path) -> None:
    """Say where the boards lie now; one that was being edited when it was copied will be noticed as changed."""
    odd = {board.name for board in registry.list_boards(connection)} ^ manifest.boards.keys()
    if odd:
        raise InvalidInput(f"the backup holds the board {shown(min(odd))} only in part; take another")
    folders = {path.name for path in (made / "boards").glob("*") if path.is_dir()}
    for name, packed in manifest.boards.items():
        folder = made / "boards" / packed.folder
        if packed.folder not in folders:
            raise InvalidInput(f"the backup has no folder {shown(packed.folder)} of board {name}; take another")
        values = {"folder": str(target / "boards" / packed.folder)}
        if registry.board(connection, name).fingerprint == packed.fingerprint:
            values["fingerprint"] = fingerprint(folder)
        connection.execute(update(boards).where(boards.c.name == name).values(**values))
