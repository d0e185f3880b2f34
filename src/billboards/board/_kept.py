"""Numbers of large files, kept as they were read, so that a file is parsed once and not by every command.

What is kept carries the digest of the bytes it was read from, with all else that reading depends on: a changed file is
always noticed and read again, and only what was read without a mistake is kept. Checksums tell what was cut off or
changed on the disk. It lies in `.billboards/read/`, may be deleted at any time, and is left out, not complained of,
where the folder can't be written.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Arrays = list[NDArray[Any]]

FOLDER = Path(".billboards") / "read"
#: Files smaller than this are read faster than one can ask whether they have changed.
LARGE = 1_000_000
#: To be raised when what is kept, or how files are read, changes.
_FORMAT = 2
_TYPES = ("<i4", "<f8")


def is_large(size: int) -> bool:
    """Whether what is read from so many bytes is worth keeping."""
    return size >= LARGE


def key_of(*parts: object) -> str:
    """A digest of everything that reading depends on."""
    return hashlib.sha256(json.dumps([_FORMAT, *parts]).encode()).hexdigest()


def keep_numbers(path: Path, key: str, facts: Mapping[str, Any], arrays: Sequence[NDArray[Any]]) -> bool:
    """Keep arrays and a few facts under a key, whole or not at all; whether that was possible."""
    whole = [np.ascontiguousarray(array) for array in arrays]
    shapes = [(array.dtype.str, array.shape, zlib.crc32(array.data)) for array in whole]
    head = json.dumps({"key": key, "facts": facts, "arrays": shapes}).encode()
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("wb") as file:
            file.write(b"%08x %b\n" % (zlib.crc32(head), head))
            for array in whole:
                file.write(array.data)
        unfinished.replace(path)
    except OSError:
        with suppress(OSError):
            unfinished.unlink()
        return False
    return True


def kept_facts(path: Path, key: str) -> dict[str, Any] | None:
    """What was kept under this key beside its arrays; None where there is nothing, or what another file gave."""
    with suppress(OSError, ValueError), path.open("rb") as file:
        return _facts(file, key)[0]
    return None


def kept_numbers(path: Path, key: str) -> tuple[dict[str, Any], Arrays] | None:
    """The facts and arrays that were kept under this key; None where there are none."""
    with suppress(OSError, ValueError), path.open("rb") as file:
        facts, shapes = _facts(file, key)
        return facts, [_array(file, dtype, tuple(shape), checksum) for dtype, shape, checksum in shapes]
    return None


def _facts(file: BufferedReader, key: str) -> tuple[dict[str, Any], list[tuple[str, list[int], int]]]:
    checksum, _, head = file.readline().removesuffix(b"\n").partition(b" ")
    if checksum != b"%08x" % zlib.crc32(head):
        raise ValueError("changed on the disk")
    found = json.loads(head)
    if found["key"] != key:
        raise ValueError("kept for another file")
    return found["facts"], found["arrays"]


def _array(file: BufferedReader, dtype: str, shape: tuple[int, ...], checksum: int) -> NDArray[Any]:
    if dtype not in _TYPES:
        raise ValueError("not numbers")
    array = np.empty(shape, dtype)
    if array.size and file.readinto(array.data.cast("B")) != array.nbytes:
        raise ValueError("cut off")
    if zlib.crc32(array.data) != checksum:
        raise ValueError("changed on the disk")
    return array


class KeptTable(Mapping[str, Floats]):
    """A table of scores by row name that is loaded when asked for, and forgotten when nobody holds a row of it."""

    def __init__(self, path: Path, key: str, names: Iterable[str], read_again: Callable[[], Mapping[str, Floats]]):
        self._path, self._key, self._read_again = path, key, read_again
        self._place = {name: k for k, name in enumerate(names)}
        self._last: weakref.ref[Floats] | None = None

    def __getitem__(self, name: str) -> Floats:
        row: Floats = self._whole()[self._place[name]]
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self._place)

    def __len__(self) -> int:
        return len(self._place)

    def __contains__(self, name: object) -> bool:
        return name in self._place

    def _whole(self) -> Floats:
        """All rows; a row refers to them, so as long as one is in use they are loaded once."""
        whole = None if self._last is None else self._last()
        if whole is None:
            found = kept_numbers(self._path, self._key)
            whole = np.array(list(self._read_again().values())) if found is None else found[1][0]
            self._last = weakref.ref(whole)
        return whole
