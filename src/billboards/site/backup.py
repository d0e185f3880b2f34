"""A whole site in one file, taken while the site runs, and a site made from such a file.

The database is read in one transaction, so it is of one moment; submitted files are put down before the row that names
them and never change, so those of that moment are all there. Rows are lines of JSON, the same from SQLite and from
PostgreSQL, so a backup can be restored on either. The file is a gzipped tar with a manifest at its end; it has its name
only when it is complete, and nothing of a restored site has its place before every digest was compared.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, select, update

from billboards.errors import InvalidInput, Refused, StoreFailed
from billboards.site.home import Site, fingerprint
from billboards.site.settings import DATABASE, moment
from billboards.site.settings import FILE as SETTINGS
from billboards.store import registry
from billboards.store.database import Database
from billboards.store.moving import Row, Tally, Tell, check_empty, fill, line_of, read_rows, row_of_line, tables_of
from billboards.store.schema import boards, submissions

MANIFEST = "manifest.json"
KIND = "billboards backup"
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


def back_up(site: Site, file: Path, tell: Tell | None = None) -> Content:
    """Write the whole site to a file, which is there when all of it is."""
    if file.exists():
        raise InvalidInput(f"{file}: is there already; name a new file")
    try:
        with tempfile.TemporaryDirectory(prefix=".backup-", dir=file.absolute().parent) as work:
            part = Path(work) / "part"
            with tarfile.open(part, "w:gz", compresslevel=3, format=tarfile.PAX_FORMAT) as archive:
                content = _Packer(site, archive, Path(work), tell).pack()
            with part.open("rb") as written:
                os.fsync(written.fileno())
            part.chmod(0o600)
            part.replace(file)
    except OSError as error:
        raise StoreFailed(f"{file}: can't be written: {error.strerror or error}; free some space") from error
    return Content(**content, bytes=file.stat().st_size)


class _Packer:
    """Puts a site into an archive, and remembers what it put there."""

    def __init__(self, site: Site, archive: tarfile.TarFile, work: Path, tell: Tell | None) -> None:
        self.site, self.archive, self.work, self.tell = site, archive, work, tell
        self.files: dict[str, str] = {}
        self.folders: set[str] = set()

    def pack(self) -> dict[str, Any]:
        revision = self.site.database.revision()
        with self.site.database.reading() as connection:
            created = moment(self.site.clock())
            tables = {table.name: self._add_table(connection, table) for table in tables_of(connection, revision)}
            blobs = sorted(set(connection.execute(select(submissions.c.blob)).scalars()) - {""})
            known = registry.list_boards(connection)
        for name in blobs:
            self._add(f"blobs/{name}", self.site.blobs.read(name))
        folders = {one.name: self._add_board(one) for one in known}
        self._add_settings()
        manifest = {"kind": KIND, "created": created, "revision": revision, "tables": tables, "boards": folders}
        text = json.dumps({**manifest, "files": self.files}, indent=1)
        self._add(MANIFEST, text.encode())
        rows = sum(table["rows"] for table in tables.values())
        return {"created": created, "rows": rows, "blobs": len(blobs), "boards": len(folders)}

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

    def _add_board(self, known: registry.Registered) -> dict[str, str]:
        """A board's folder, wherever it lies; says what it was found to be, should its owner be editing it."""
        folder = Path(known.folder)
        found, place = fingerprint(folder), hashlib.sha256(known.name.encode()).hexdigest()[:16]
        name = place if folder.name in self.folders else folder.name
        self.folders.add(name)
        self._add_folder(folder, f"boards/{name}")
        return {"folder": name, "fingerprint": found if fingerprint(folder) == found else ""}

    def _add_settings(self) -> None:
        if (self.site.data / SETTINGS).exists():
            self._add(SETTINGS, (self.site.data / SETTINGS).read_bytes())
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


def restore(file: Path, data: Path, *, database: str = "", tell: Tell | None = None) -> Content:
    """Make a site from a backup in a folder that is new or empty, with its state in a file there or in a database."""
    if data.exists() and (not data.is_dir() or any(data.iterdir())):
        raise Refused(f"{data}: is not empty, and may be in use; name a new folder")
    target = data.absolute()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".restore-", dir=target.parent) as work:
            opened = Path(work) / "opened"
            manifest = _unpack(file, opened)
            content = _build(opened, manifest, Path(work) / "site", target, database, tell)
    except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
        raise StoreFailed(f"{file}: can't be restored: {getattr(error, 'strerror', None) or error}") from error
    return Content(**content, bytes=file.stat().st_size)


def _unpack(file: Path, opened: Path) -> Mapping[str, Any]:
    """Every member as a file, checked against the manifest; a file that was cut off or changed is refused."""
    digests = {}
    with tarfile.open(file, "r:gz") as archive:
        for member in archive:
            archive.extract(member, opened, filter="data")
            with (opened / member.name).open("rb") as content:
                digests[member.name] = hashlib.file_digest(content, "sha256").hexdigest()
    if not (opened / MANIFEST).exists():
        raise InvalidInput(f"{file}: has no {MANIFEST}; it is no backup of a site, or was cut off")
    manifest: dict[str, Any] = json.loads((opened / MANIFEST).read_text("utf-8"))
    if manifest.get("kind") != KIND:
        raise InvalidInput(f"{file}: is no backup of a site")
    for name, digest in manifest["files"].items():
        if digests.get(name) != digest:
            raise StoreFailed(f"{file}: {name} is damaged or missing; take another backup")
    return manifest


def _build(
    opened: Path, manifest: Mapping[str, Any], made: Path, target: Path, address: str, tell: Tell | None
) -> dict[str, Any]:
    """The site's folder, made beside its place and moved there when all of it is right."""
    made.mkdir()
    for name in ("boards", "suites"):
        if (opened / name).exists():
            (opened / name).rename(made / name)
    if (opened / SETTINGS).exists():
        (made / SETTINGS).write_text(without_addresses((opened / SETTINGS).read_text("utf-8")), "utf-8")
    blobs = _place_blobs(opened, made)
    database = Database(address or os.environ.get(DATABASE) or f"sqlite:///{made / 'site.sqlite'}")
    try:
        check_empty(database)
        with database.writing() as connection:
            rows = _fill(connection, opened, manifest, tell)
            _move_boards(connection, manifest, made, target)
    finally:
        database.close()
    if target.exists():
        target.rmdir()
    made.rename(target)
    return {"created": manifest["created"], "rows": rows, "blobs": blobs, "boards": len(manifest["boards"])}


def without_addresses(settings: str) -> str:
    """A site's settings without the addresses of its state: a restored site must leave the one it came from alone."""
    head = re.split(r"^\s*\[", settings, maxsplit=1, flags=re.MULTILINE)[0]
    kept = re.sub(r"^[ \t]*(?:database|blobs)[ \t]*=.*\n?", "", head, flags=re.MULTILINE)
    return kept + settings[len(head) :]


def _place_blobs(opened: Path, made: Path) -> int:
    found = sorted((opened / "blobs").iterdir()) if (opened / "blobs").exists() else []
    for path in found:
        place = made / "blobs" / path.name[:2] / path.name
        place.parent.mkdir(parents=True, exist_ok=True)
        path.rename(place)
    return len(found)


def _fill(connection: Connection, opened: Path, manifest: Mapping[str, Any], tell: Tell | None) -> int:
    def lines(table: Table) -> Iterator[Row]:
        path = opened / "tables" / f"{table.name}.jsonl"
        with path.open(encoding="ascii") as file:
            for line in file:
                yield row_of_line(table, line)

    def expected(table: Table) -> Tally:
        said = manifest["tables"][table.name]
        return Tally(said["rows"], int(said["digest"], 16))

    return sum(tally.rows for tally in fill(connection, manifest["revision"], lines, expected, tell).values())


def _move_boards(connection: Connection, manifest: Mapping[str, Any], made: Path, target: Path) -> None:
    """Say where the boards lie now; one that was being edited when it was copied will be noticed as changed."""
    for name, found in manifest["boards"].items():
        values = {"folder": str(target / "boards" / found["folder"])}
        if registry.board(connection, name).fingerprint == found["fingerprint"]:
            values["fingerprint"] = fingerprint(made / "boards" / found["folder"])
        connection.execute(update(boards).where(boards.c.name == name).values(**values))
