"""A whole site in one file, taken while the site runs; `restoring` makes a site of such a file.

The database is read in one transaction, so it is of one moment; submitted files are put down before the row that names
them and never change, so those of that moment are all there. Rows are lines of JSON, the same from SQLite and from
PostgreSQL, so a backup can be restored on either. The file is a gzipped tar with a manifest at its end; it has its name
only when it is complete.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table

from billboards.errors import InvalidInput, StoreAway, StoreFailed
from billboards.site.boards import registry
from billboards.site.database.moving import Tally, Tell, line_of, read_rows, tables_of
from billboards.site.database.retention import named_files
from billboards.site.settings import FILE as SETTINGS
from billboards.site.settings import moment
from billboards.site.site import Site, fingerprint

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


def back_up(site: Site, file: Path, tell: Tell | None = None) -> Content:
    """Write the whole site to a file, which is there when all of it is."""
    if file.exists():
        raise InvalidInput(f"{file}: is there already; name a new file")
    try:
        with tempfile.TemporaryDirectory(prefix=".backup-", dir=file.absolute().parent) as work:
            part = Path(work) / "part"
            content = _pack(site, part, tell)
            with part.open("rb") as written:
                os.fsync(written.fileno())
            part.chmod(0o600)
            part.replace(file)
    except OSError as error:
        raise StoreFailed(f"{file}: can't be written: {error.strerror or error}; free some space") from error
    return Content(**content, bytes=file.stat().st_size)


def _pack(site: Site, part: Path, tell: Tell | None) -> dict[str, Any]:
    """Write the archive, from the beginning where a file was deleted after the row that named it was read."""
    for _ in range(ATTEMPTS):
        with tarfile.open(part, "w:gz", compresslevel=3, format=tarfile.PAX_FORMAT) as archive:
            content = _Packer(site, archive, part.parent, tell).pack()
        if content is not None:
            return content
    raise StoreAway(f"submitted files of {site.data} are being deleted; take the backup again in a while")


class _Packer:
    """Puts a site into an archive, and remembers what it put there."""

    def __init__(self, site: Site, archive: tarfile.TarFile, work: Path, tell: Tell | None) -> None:
        self.site, self.archive, self.work, self.tell = site, archive, work, tell
        self.files: dict[str, str] = {}
        self.folders: set[str] = set()

    def pack(self) -> dict[str, Any] | None:
        """Everything of one moment; None where a submitted file of that moment has been deleted since."""
        revision = self.site.database.revision()
        with self.site.database.reading() as connection:
            created = moment(self.site.clock())
            tables = {table.name: self._add_table(connection, table) for table in tables_of(connection, revision)}
            blobs = sorted(named_files(connection))
            known = registry.list_boards(connection)
        if not all(map(self._add_blob, blobs)):
            return None
        folders = {one.name: self._add_board(one) for one in known}
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
        except StoreFailed:
            with self.site.database.reading() as connection:
                if name in named_files(connection):
                    raise
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
