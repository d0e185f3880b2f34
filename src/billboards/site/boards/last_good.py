"""Copies of board folders as they were when they could last be read: what a site shows while a folder is broken.

    DATA/last-good/BOARD/FINGERPRINT/     a board's files, without what is computed from them

A folder is its owner's to edit, and may be broken when a site is started. A copy is made when a board comes in and
after each change that could be read, is never written to again, and goes when two newer ones are there.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

log = logging.getLogger("billboards.site")

#: Where the copies lie, in the data folder.
FOLDER = "last-good"
#: Parts of a board folder that are computed from the rest, or are no part of the board.
LEFT_OUT = (".billboards", ".git", "rankings", "ensembles", "signed")
#: Copies of one board: a process that is about to look again may still read from the one before.
KEPT = 2


def copy_of(data: Path, name: str, fingerprint: str) -> Path:
    """Where the copy of a board at one fingerprint lies, or would lie."""
    return data / FOLDER / hashlib.sha256(name.encode()).hexdigest()[:16] / fingerprint[:32]


def last_good(data: Path, name: str, fingerprint: str) -> Path | None:
    """The copy of a board at one fingerprint, else the newest that there is."""
    exact = copy_of(data, name, fingerprint)
    if exact.is_dir():
        return exact
    return next(iter(_newest_first(exact.parent)), None)


def keep_copy(data: Path, name: str, folder: Path, fingerprint: str, unchanged: Callable[[], bool]) -> Path | None:
    """Copy a folder that can be read, and is `unchanged` when it has been copied; returns where the copy is.

    Where that is not possible the log says so, and the site goes on without.
    """
    target = copy_of(data, name, fingerprint)
    if target.is_dir():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".copy-", dir=target.parent) as work:
            made = Path(work) / "board"
            shutil.copytree(folder, made, ignore=shutil.ignore_patterns(*LEFT_OUT))
            if not unchanged():
                return None
            # Another process may have been quicker.
            if not target.is_dir():
                made.rename(target)
        for old in _newest_first(target.parent)[KEPT:]:
            shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        log.warning("%s: no copy of board %s could be kept: %s", target, name, error.strerror or error)
        return None
    return target


def _newest_first(folder: Path) -> list[Path]:
    copies = [path for path in folder.glob("*") if path.is_dir() and not path.name.startswith(".")]
    return sorted(copies, key=lambda path: path.stat().st_ctime_ns, reverse=True)
