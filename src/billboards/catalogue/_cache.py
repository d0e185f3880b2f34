"""Where downloads are kept: the platform's cache folder, or the one that BILLBOARDS_CACHE names.

A file has its final name only when it is whole: it is written under another name, put on the disk and then moved. A
lock keeps two processes from fetching the same file; it goes with the process that held it, however that ended.
"""

from __future__ import annotations

import errno
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from billboards.errors import StoreAway, StoreFailed

VARIABLE = "BILLBOARDS_CACHE"
_CHUNK = 1 << 20


def cache_folder(named: Path | None = None) -> Path:
    """The folder named, else that of BILLBOARDS_CACHE, else `billboards` in the platform's cache folder."""
    if named is not None or os.environ.get(VARIABLE):
        return Path(named or os.environ[VARIABLE]).expanduser() / "downloads"
    try:
        return _platform_cache() / "downloads"
    except RuntimeError as error:
        raise StoreFailed(f"there is no home folder to keep downloads in; let {VARIABLE} name a folder") from error


def _platform_cache() -> Path:
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "billboards" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "billboards"
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "billboards"


def digest_of(path: Path) -> tuple[int, str]:
    """Size and SHA-256 of a file."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return size, digest.hexdigest()


def settle(file: IO[bytes], written: Path, target: Path, *, on_disk: bool = True) -> None:
    """Give a whole file its final name, after its bytes are on the disk unless another digest will tell."""
    file.flush()
    if on_disk:
        os.fsync(file.fileno())
    file.close()
    target.parent.mkdir(parents=True, exist_ok=True)
    written.replace(target)


@contextmanager
def storing(folder: Path, *, needs: int | None = None) -> Iterator[None]:
    """Write into the cache; a full disk or a closed folder is told with what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            size = "" if needs is None else f" ({needs / 1e6:,.1f} MB are needed)"
            raise StoreAway(
                f"{folder}: no space left{size}; free some, or let {VARIABLE} name a folder on another disk, and run "
                "the same command again: it goes on where it stopped"
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST):
            reason = error.strerror or str(error)
            raise StoreFailed(f"{folder}: can't be written: {reason}; let {VARIABLE} name a folder of yours") from error
        raise


@contextmanager
def locked(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold a lock file; `waiting` is called once if another process holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        if not _lock(file, wait=False):
            waiting()
            _lock(file, wait=True)
        try:
            yield
        finally:
            _unlock(file)


if sys.platform == "win32":
    import msvcrt
    import time

    def _lock(file: IO[bytes], *, wait: bool) -> bool:
        while True:
            try:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            except OSError:
                if not wait:
                    return False
                time.sleep(0.2)
            else:
                return True

    def _unlock(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(file: IO[bytes], *, wait: bool) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True

    def _unlock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
