"""Who has a data folder open: every process of a site shares a lock on one of its files until it closes the site.

Whoever moves a site to another database needs the folder alone, because what is written to the old one meanwhile would
be lost. The lock ends with the process that holds it, however that ends.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from billboards.errors import Refused, StoreFailed

FILE = ".in-use"


class Use:
    """A share of the lock, until it is closed or nobody refers to it any more."""

    def __init__(self, handle: int) -> None:
        self._handle: int | None = handle

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    __del__ = close


def note_use(data: Path) -> Use:
    """Share the lock."""
    use = Use(handle := _open(data))
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError as error:
        use.close()
        raise Refused(f"{data}: is being moved to another database; wait until that has ended") from error
    return use


@contextmanager
def alone(data: Path) -> Iterator[None]:
    """Be the only one who has the folder open, or refuse."""
    handle = _open(data)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise Refused(f"{data}: is in use; stop its server, workers and other commands first") from error
    finally:
        os.close(handle)


def _open(data: Path) -> int:
    try:
        return os.open(data / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StoreFailed(f"{data / FILE}: can't be written: {error.strerror or error}") from error
