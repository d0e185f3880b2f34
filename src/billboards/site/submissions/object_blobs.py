"""Submitted files in object storage, such as S3, by the digest of their content.

An object is there whole or not at all, so what a folder does with temporary names needs nothing here. The layout below
the address is that of the folder: files can be copied from one to the other as they are. Who may write there, and where
an S3 server other than Amazon's is, says the environment (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL`, …).
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any

from billboards.errors import InvalidInput, MissingPart, StoreFailed
from billboards.site.submissions.blobs import Blobs, BlobStore, is_name, name_of


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
            raise StoreFailed(f"{self._shown(name)}: is damaged; restore it from a backup")
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
                for path, found in self._files.find(folder, detail=True).items():
                    place = PurePosixPath(path)
                    if is_name(place.parent.name, place.name):
                        yield place.name, int(found["size"])
        except self._refusals as error:
            raise StoreFailed(f"{self.address}: can't be listed ({type(error).__name__}: {error})") from error

    def _ask(self, action: str, name: str, verb: str, *content: bytes) -> Any:
        try:
            return getattr(self._files, action)(f"{self._root}/{name[:2]}/{name}", *content)
        except self._refusals as error:
            raise StoreFailed(f"{self._shown(name)}: can't be {verb} ({type(error).__name__}: {error})") from error

    def _shown(self, name: str) -> str:
        return f"{self.address}/{name[:2]}/{name}"


def _refusals() -> tuple[type[Exception], ...]:
    """What storage raises: errors of files, and those of S3's client that it does not turn into such."""
    if find_spec("botocore") is None:
        return (OSError,)
    from botocore.exceptions import BotoCoreError

    return OSError, BotoCoreError
