"""Submitted files, by the digest of their content, in a folder; `object_blobs` keeps them in object storage.

A file is written under a temporary name, flushed to disk and moved into place, so a name that exists holds all of its
content, whatever was killed when. The same content is kept once.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from billboards.errors import StoreFailed


class BlobStore(Protocol):
    """Where submitted files are kept by the digest of their content."""

    def put(self, content: bytes) -> str:
        """Keep some content; returns its name. It is safe when this returns."""

    def read(self, name: str) -> bytes:
        """The content behind a name, checked against it."""

    def touched(self, name: str) -> float:
        """When some content was last sent; 0 for what is not there."""

    def size(self, name: str) -> int:
        """How many bytes some content has; 0 for what is not there."""

    def remove(self, name: str) -> None:
        """Delete some content; what is not there is gone already."""

    def listed(self) -> Iterator[tuple[str, int]]:
        """The name and size of everything that is kept; whatever else lies there is passed over."""


@dataclass(frozen=True)
class Blobs:
    """A folder of files named by their sha256."""

    root: Path

    def put(self, content: bytes) -> str:
        """Keep some content; returns its name."""
        name = name_of(content)
        path = self.path(name)
        try:
            if path.exists():
                # Whoever deletes files that nothing refers to must see that somebody is about to refer to this one.
                os.utime(path)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._write(path, content)
        except OSError as error:
            raise StoreFailed(f"{path}: can't be written: {error.strerror or error}; free some space") from error
        return name

    def read(self, name: str) -> bytes:
        """The content behind a name, checked against it."""
        try:
            content = self.path(name).read_bytes()
        except OSError as error:
            raise StoreFailed(f"{self.path(name)}: can't be read: {error.strerror or error}") from error
        if name_of(content) != name:
            raise StoreFailed(f"{self.path(name)}: is damaged; restore it from a backup")
        return content

    def touched(self, name: str) -> float:
        """When some content was last sent; 0 for what is not there."""
        try:
            return self.path(name).stat().st_mtime
        except FileNotFoundError:
            return 0.0

    def size(self, name: str) -> int:
        """How many bytes some content has; 0 for what is not there."""
        try:
            return self.path(name).stat().st_size
        except FileNotFoundError:
            return 0

    def remove(self, name: str) -> None:
        """Delete some content; what is not there is gone already."""
        self.path(name).unlink(missing_ok=True)

    def listed(self) -> Iterator[tuple[str, int]]:
        """The name and size of everything that is kept."""
        for path in self.root.glob("??/*"):
            if is_name(path.parent.name, path.name):
                with suppress(FileNotFoundError):
                    yield path.name, path.stat().st_size

    def path(self, name: str) -> Path:
        """Where the content of this name lies, or would lie."""
        return self.root / name[:2] / name

    @staticmethod
    def _write(path: Path, content: bytes) -> None:
        handle, work = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(work).replace(path)
            _sync_folder(path.parent)
        finally:
            Path(work).unlink(missing_ok=True)


def name_of(content: bytes) -> str:
    """The digest that is the content's name."""
    return hashlib.sha256(content).hexdigest()


def is_name(folder: str, name: str) -> bool:
    """Whether a file is one of ours: named by a digest, in the folder that begins it."""
    return re.fullmatch(r"[0-9a-f]{64}", name) is not None and folder == name[:2]


def _sync_folder(folder: Path) -> None:
    """Put the folder's new entry on disk as well."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
