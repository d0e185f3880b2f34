"""Numbers of large files, kept as they were read, so that a file is parsed once and not by every command.

What is kept is a `.npz` archive of numpy's: arrays, and a few facts as JSON. It carries the digest of the bytes it was
read from, with all else that reading depends on: a changed file is always noticed and read again, and only what was
read without a mistake is kept. The archive's checksums tell what was cut off or changed on the disk. It lies in
`.billboards/read/`, may be deleted at any time, and is left out, not complained of, where the folder can't be written.
"""

from __future__ import annotations

import hashlib
import io
import json
import secrets
import weakref
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = NDArray[Any]

FOLDER = Path(".billboards") / "read"
#: Files smaller than this are read faster than one can ask whether they have changed.
LARGE = 1_000_000
#: To be raised when what is kept, or how files are read, changes.
_FORMAT = 3
_FACTS = "facts"
#: The array of a table of scores, rows × instances.
SCORES = "scores"
#: What reading an archive raises where it is absent, cut off or changed on the disk.
_DAMAGED = (OSError, ValueError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)


def is_large(size: int) -> bool:
    """Whether what is read from so many bytes is worth keeping."""
    return size >= LARGE


def key_of(*parts: object) -> str:
    """A digest of everything that reading depends on."""
    return hashlib.sha256(json.dumps([_FORMAT, *parts]).encode()).hexdigest()


def keep_numbers(path: Path, key: str, facts: Mapping[str, Any], arrays: Mapping[str, Numbers]) -> bool:
    """Keep arrays and a few facts under a key, whole or not at all; whether that was possible."""
    document = np.frombuffer(json.dumps({"key": key, "facts": facts}).encode(), np.uint8)
    entries: dict[str, Any] = {_FACTS: document, **arrays}
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("wb") as file:
            np.savez(file, **entries)
        unfinished.replace(path)
    except OSError:
        with suppress(OSError):
            unfinished.unlink()
        return False
    return True


def kept_facts(path: Path, key: str) -> dict[str, Any] | None:
    """What was kept under this key beside its arrays; None where there is nothing, or what another file gave."""
    with suppress(*_DAMAGED), zipfile.ZipFile(path) as archive:
        return _facts(archive, key)
    return None


def kept_numbers(path: Path, key: str, names: Sequence[str]) -> tuple[dict[str, Any], list[Numbers]] | None:
    """The facts and the arrays of these names that were kept under this key; None where there are none."""
    with suppress(*_DAMAGED), zipfile.ZipFile(path) as archive:
        return _facts(archive, key), [_array(archive, name) for name in names]
    return None


def _facts(archive: zipfile.ZipFile, key: str) -> dict[str, Any]:
    document = json.loads(_array(archive, _FACTS).tobytes())
    if document["key"] != key:
        raise ValueError("kept for another file")
    facts: dict[str, Any] = document["facts"]
    return facts


def _array(archive: zipfile.ZipFile, name: str) -> Numbers:
    """An array, whose bytes are read to their end before they are believed: only there the checksum is compared."""
    array: Numbers = np.load(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False)
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
            kept = kept_numbers(self._path, self._key, [SCORES])
            # A copy, because rows refer to the array that owns the numbers, and numpy may give a view of that one.
            whole = np.array([*self._read_again().values()] if kept is None else kept[1][0])
            self._last = weakref.ref(whole)
        return whole
