"""What is fuzzed: something that reads bytes, with bytes that it reads without complaint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Target:
    """Something that reads bytes, and bytes that it reads without complaint."""

    name: str
    sound: bytes
    read: Callable[[bytes], object]


@contextmanager
def _put(path: Path, raw: bytes) -> Iterator[None]:
    """A file's content for a moment."""
    before = path.read_bytes()
    path.write_bytes(raw)
    try:
        yield
    finally:
        path.write_bytes(before)


def in_place(name: str, path: Path, read: Callable[[], object]) -> Target:
    """Whatever reads this file where it lies."""

    def read_changed(raw: bytes) -> object:
        with _put(path, raw):
            return read()

    return Target(name, path.read_bytes(), read_changed)
