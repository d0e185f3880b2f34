"""Files that people asked for are written whole or not at all.

What is written goes to a file beside the wanted one, which takes its place when everything is on the disk. A full disk,
a limit or a stopped process leaves what was there before, and the error says so.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from billboards.errors import StoreFailed


def save_file(path: Path | str, content: str | bytes) -> Path:
    """Write a file, texts as UTF-8, in the place of what was there; folders on the way are made.

    A pipe or a device, such as /dev/stdout, is written to as it is. A link keeps pointing where it does.
    """
    wanted = Path(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        if wanted.exists() and not wanted.is_file():
            wanted.write_bytes(data)
        else:
            _replace(wanted.resolve(), data)
    except OSError as error:
        unchanged = "; what was there is unchanged" if wanted.is_file() else ""
        raise StoreFailed(
            f"{wanted}: can't be written: {error.strerror or error}{unchanged}; make room, or choose another place"
        ) from error
    return wanted


def _replace(target: Path, data: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".part", dir=target.parent)
    work = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        work.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        work.replace(target)
    finally:
        work.unlink(missing_ok=True)


def _umask() -> int:
    """The bits that new files of this process lack; there is no other way to ask than to set them."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
