"""Files out of an archive, as if a stranger had packed it: only those that are wanted, only plain ones, within bounds.

An archive may hold links, devices, paths that lead out of their folder, a million entries, or a few bytes that unpack
to terabytes. Nothing of this is written: a path is taken when the source names it, its member is a regular file, and
its bytes are as many as they should be. The whole of an archive may unpack to a hundred times its size and no more.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import hashlib
import lzma
import secrets
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, cast

from billboards.catalogue._cache import settle
from billboards.catalogue._entry import File
from billboards.catalogue._paths import is_safe
from billboards.errors import DownloadFailed

#: How many times its own size an archive may unpack to, and what is always allowed.
RATIO, ALLOWANCE = 100, 64 * 1024**2
#: The most bytes read in one go: headers of tar files are read whole.
_AT_ONCE = 16 * 1024**2
_CHUNK = 1 << 18
_MEMBERS = 2_000_000
#: What readers of archives raise on what is none.
_BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    RuntimeError,
    ValueError,
    LookupError,
    OverflowError,
)
#: How names of files begin that are being written.
UNFINISHED = ".unfinished-"
ENDINGS = (".tar.gz", ".tgz", ".zip", ".tar", ".tar.bz2", ".tar.xz")


@dataclass(frozen=True, kw_only=True, slots=True)
class Unpacked:
    """A file that came out of an archive."""

    file: File
    place: Path
    size: int
    sha256: str

    @property
    def is_right(self) -> bool:
        """Whether it is what the entry says, as far as that says something."""
        return self.file.size in (None, self.size) and self.file.sha256 in (None, self.sha256)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Member:
    name: str
    size: int
    is_file: bool
    open: Callable[[], IO[bytes] | None]


def unpack(
    archive: Path,
    wanted: Callable[[str], File | None],
    into: Path,
    *,
    at_most: int,
    check: Callable[[Unpacked], None] | None = None,
) -> dict[str, Unpacked]:
    """The wanted files of an archive below a folder, by their path.

    Paths count as they stand in the archive or without its top folder, as GitHub packs repositories. `check` is given
    each file before it has its name, and raises where it is wrong.
    """
    files: dict[str, Unpacked] = {}
    left = at_most
    try:
        with _members(archive) as members:
            for number, member in enumerate(members):
                if number > _MEMBERS:
                    raise DownloadFailed(f"{archive}: holds more than {_MEMBERS:,} files; it is no such archive")
                file = _wanted_file(member.name, wanted)
                if file is None:
                    continue
                if not member.is_file:
                    raise DownloadFailed(
                        f"{archive}: {member.name} is a link or a device, not a file; nothing is taken"
                    )
                if file.path in files:
                    raise DownloadFailed(f"{archive}: holds {file.path} twice; nothing is taken")
                bound = left if file.size is None else file.size
                files[file.path] = _copied(member, file, into / file.path, bound, archive, check)
                left -= files[file.path].size
    except _BROKEN as error:
        raise DownloadFailed(f"{archive}: is cut off or no archive: {error or type(error).__name__}") from error
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):
            raise
        raise DownloadFailed(f"{archive}: is cut off or no archive: {error}") from error
    return files


def _wanted_file(name: str, wanted: Callable[[str], File | None]) -> File | None:
    name = name.removeprefix("./")
    if not is_safe(name):
        return None
    return wanted(name) or wanted(name.partition("/")[2])


def _copied(
    member: _Member, file: File, target: Path, bound: int, archive: Path, check: Callable[[Unpacked], None] | None
) -> Unpacked:
    if member.size > bound:
        raise DownloadFailed(f"{archive}: {file.path} has {member.size:,} bytes, more than the {bound:,} expected")
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f"{UNFINISHED}{secrets.token_hex(8)}")
    digest, size = hashlib.sha256(), 0
    try:
        with fresh.open("xb") as out, cast("IO[bytes]", member.open()) as content:
            while chunk := content.read(_CHUNK):
                size += len(chunk)
                if size > bound:
                    raise DownloadFailed(f"{archive}: {file.path} unpacks to more than {bound:,} bytes")
                digest.update(chunk)
                out.write(chunk)
            if size != member.size:
                raise EOFError(f"{file.path} ends after {size:,} of {member.size:,} bytes")
            unpacked = Unpacked(file=file, place=target, size=size, sha256=digest.hexdigest())
            if check is not None:
                check(unpacked)
            settle(out, fresh, target, on_disk=False)
    finally:
        fresh.unlink(missing_ok=True)
    return unpacked


@contextmanager
def _members(archive: Path) -> Iterator[Iterator[_Member]]:
    """The members of an archive of any kind that is read here, in order."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as opened:
            yield _zip_members(opened)
        return
    bound = RATIO * archive.stat().st_size + ALLOWANCE
    with _decompressed(archive) as raw, tarfile.open(fileobj=cast("IO[bytes]", _Bounded(raw, bound)), mode="r:") as tar:
        yield _tar_members(tar)


def _zip_members(opened: zipfile.ZipFile) -> Iterator[_Member]:
    for info in opened.infolist():
        kind = info.external_attr >> 16 & 0o170000
        if not info.is_dir():
            yield _Member(
                name=info.filename,
                size=info.file_size,
                is_file=kind in (0, 0o100000),
                open=partial(opened.open, info),
            )


def _tar_members(tar: tarfile.TarFile) -> Iterator[_Member]:
    while (info := tar.next()) is not None:
        if not info.isdir():
            yield _Member(
                name=info.name,
                size=info.size,
                is_file=info.isreg() and not info.issparse(),
                open=partial(tar.extractfile, info),
            )
        # tarfile keeps every member it has seen; of large archives that would fill the memory.
        tar.members = []  # type: ignore[attr-defined]  # what typeshed leaves out


def _decompressed(archive: Path) -> IO[bytes]:
    with archive.open("rb") as file:
        start = file.read(6)
    if start.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", gzip.open(archive, "rb"))
    if start.startswith(b"BZh"):
        return cast("IO[bytes]", bz2.open(archive, "rb"))
    if start.startswith(b"\xfd7zXZ"):
        return cast("IO[bytes]", lzma.open(archive, "rb"))
    return archive.open("rb")


class _Bounded:
    """A stream that is read forwards, in small pieces, and only so far."""

    def __init__(self, raw: IO[bytes], bound: int) -> None:
        self._raw, self._bound, self._at = raw, bound, 0

    def read(self, size: int = -1) -> bytes:
        if size < 0 or size > _AT_ONCE:
            raise tarfile.ReadError(f"a header claims {size:,} bytes")
        data = self._raw.read(size)
        self._advance(len(data))
        return data

    def tell(self) -> int:
        return self._at

    def seek(self, position: int, whence: int = 0) -> int:
        if whence != 0 or position < self._at:
            raise tarfile.ReadError("the archive can only be read forwards")
        while self._at < position and self.read(min(_CHUNK, position - self._at)):
            pass
        return self._at

    def seekable(self) -> bool:
        return True

    def _advance(self, count: int) -> None:
        self._at += count
        if self._at > self._bound:
            raise tarfile.ReadError(f"unpacks to more than {self._bound:,} bytes, {RATIO} times its size")
