"""Submitted files, by the digest of their content, in a folder or in object storage such as S3.

In a folder a file is written under a temporary name, flushed to disk and moved into place, so a name that exists holds
all of its content, whatever was killed when. An object is there whole or not at all. The same content is kept once, and
the layout is the same in both: files can be copied from one to the other as they are. Who may write to object storage,
and where an S3 server other than Amazon's is, says the environment (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL`, …).
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from billboards.errors import FileLost, InvalidInput, MissingPart, StoreFailed


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

    def is_up(self) -> bool:
        """Whether the place where files are kept is there and answers; says nothing about any one file."""


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
        except FileNotFoundError as error:
            raise FileLost(f"{self.path(name)}: can't be read: {error.strerror}; restore it from a backup") from error
        except OSError as error:
            raise StoreFailed(f"{self.path(name)}: can't be read: {error.strerror or error}") from error
        if name_of(content) != name:
            raise FileLost(f"{self.path(name)}: is damaged; restore it from a backup", state="damaged")
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

    def is_up(self) -> bool:
        """Whether the folder is there and may be written; before the first file, whether it may be made."""
        place = self.root if self.root.exists() else self.root.parent
        return place.is_dir() and os.access(place, os.R_OK | os.W_OK | os.X_OK)

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


def open_blobs(address: str, data: Path) -> BlobStore:
    """What keeps a site's submitted files: a folder in its data folder, or what an address such as s3://… leads to."""
    return ObjectBlobs(address) if address else Blobs(data / "blobs")


class ObjectBlobs:
    """Objects named by their sha256, below an address."""

    def __init__(self, address: str) -> None:
        if "://" not in address:
            raise InvalidInput(f"{address!r} is no address of object storage, such as s3://bucket/prefix")
        if find_spec("fsspec") is None or (address.startswith("s3://") and find_spec("s3fs") is None):
            raise MissingPart("object storage needs fsspec and s3fs; install them with `pip install 'billboards[s3]'`")
        from fsspec.core import url_to_fs

        self.address = address.rstrip("/")
        try:
            # What was listed once must not hide what another process has put there since.
            self._files, self._root = url_to_fs(self.address, use_listings_cache=False)
        except (ValueError, ImportError) as error:
            raise InvalidInput(f"{address}: can't be opened: {error}") from error
        self._refusals = _refusals()

    def put(self, content: bytes) -> str:
        """Keep some content; written even where it is there already, so that it counts as just sent."""
        name = name_of(content)
        self._ask("pipe_file", name, "written; see that the bucket is there and may be written", content)
        return name

    def read(self, name: str) -> bytes:
        """The content behind a name, checked against it."""
        content: bytes = self._ask("cat_file", name, "read")
        if name_of(content) != name:
            raise FileLost(f"{self._shown(name)}: is damaged; restore it from a backup", state="damaged")
        return content

    def touched(self, name: str) -> float:
        """When some content was last sent; 0 for what is not there."""
        if not self._ask("exists", name, "looked for"):
            return 0.0
        return float(self._ask("modified", name, "looked at").timestamp())

    def size(self, name: str) -> int:
        """How many bytes some content has; 0 for what is not there."""
        return int(self._ask("size", name, "looked at")) if self._ask("exists", name, "looked for") else 0

    def remove(self, name: str) -> None:
        """Delete some content; what is not there is gone already."""
        if self._ask("exists", name, "looked for"):
            self._ask("rm_file", name, "deleted")

    def listed(self) -> Iterator[tuple[str, int]]:
        """The name and size of everything that is kept, folder by folder: a list of all could be a large one."""
        try:
            for folder in self._files.ls(self._root, detail=False) if self._files.exists(self._root) else ():
                for path, details in self._files.find(folder, detail=True).items():
                    place = PurePosixPath(path)
                    if is_name(place.parent.name, place.name):
                        yield place.name, int(details["size"])
        except self._refusals as error:
            raise StoreFailed(f"{self.address}: can't be listed ({type(error).__name__}: {error})") from error

    def is_up(self) -> bool:
        """Whether the bucket is there and lets this site in."""
        bucket = self._root.split("/")[0] if self.address.startswith("s3://") else self._root
        try:
            return bool(self._files.exists(bucket)) or not self.address.startswith("s3://")
        except self._refusals:
            return False

    def _ask(self, action: str, name: str, verb: str, *content: bytes) -> Any:
        try:
            return getattr(self._files, action)(f"{self._root}/{name[:2]}/{name}", *content)
        except self._refusals as error:
            kind = FileLost if isinstance(error, FileNotFoundError) and verb == "read" else StoreFailed
            raise kind(f"{self._shown(name)}: can't be {verb} ({type(error).__name__}: {error})") from error

    def _shown(self, name: str) -> str:
        return f"{self.address}/{name[:2]}/{name}"


def _refusals() -> tuple[type[Exception], ...]:
    """What storage raises: errors of files, and those of S3's client that it does not turn into such."""
    if find_spec("botocore") is None:
        return (OSError,)
    from botocore.exceptions import BotoCoreError

    return OSError, BotoCoreError
