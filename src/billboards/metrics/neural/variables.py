"""TensorFlow's saved variables read without TensorFlow.

`variables.index` is a table in LevelDB's format, uncompressed: blocks of keys, each written as what it shares with the
key before and the rest, and an index of the blocks at the end. A key is a variable's name, its value a message that
says type, shape, and where the numbers lie in `variables.data-00000-of-00001`, one after the other and little-endian.
Every place and length is checked against the file; nothing but numbers is read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.metrics.neural.protobuf import Value, fields, number

MAGIC = 0xDB4775248B80FB57
FOOTER = 48
#: An index holds names and places only.
LARGEST = 64 * 2**20
#: TensorFlow's numbers for types, of which variables of these kinds are read.
KINDS = {1: "<f4", 2: "<f8", 3: "<i4", 9: "<i8", 19: "<f2"}
MOST_DIMENSIONS = 8


@dataclass(frozen=True)
class Entry:
    """Where a variable lies."""

    kind: int
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int


def read_variables(folder: Path) -> dict[str, NDArray[Any]]:
    """The variables that lie in a folder, by name; they are read from the disk when used."""
    index = folder / "variables.index"
    if not index.is_file():
        raise InvalidInput(f"{folder} holds no variables of TensorFlow's: variables.index is missing there")
    if index.stat().st_size > LARGEST:
        raise InvalidInput(f"{index} is no index of variables: it is larger than {LARGEST >> 20} MiB")
    try:
        table = dict(_table(memoryview(index.read_bytes())))
        shards = int(_whole(dict(fields(table.pop(b"", memoryview(b"")))).get(1, 0)))
        entries = {str(name, "utf-8"): _entry(message) for name, message in table.items()}
    except (InvalidInput, UnicodeDecodeError) as error:
        raise InvalidInput(f"{index} is no index of variables: {error}") from error
    return {name: _numbers(folder, name, entry, shards) for name, entry in entries.items() if entry.kind in KINDS}


def _numbers(folder: Path, name: str, entry: Entry, shards: int) -> NDArray[Any]:
    path, kind = folder / f"variables.data-{entry.shard:05d}-of-{shards:05d}", np.dtype(KINDS[entry.kind])
    if not path.is_file():
        raise InvalidInput(f"{name} lies in {path.name}, which is missing in {folder}")
    if entry.size != math.prod(entry.shape) * kind.itemsize or entry.offset + entry.size > path.stat().st_size:
        raise InvalidInput(f"{name} doesn't lie in {path.name} as the index says")
    if not entry.size:
        return np.empty(entry.shape, kind)
    return np.memmap(path, kind, "r", entry.offset, entry.shape or (1,)).reshape(entry.shape)


def _table(content: memoryview) -> Iterator[tuple[bytes, memoryview]]:
    """The keys of a table with their values."""
    if len(content) < FOOTER or int.from_bytes(content[-8:], "little") != MAGIC:
        raise InvalidInput("it doesn't end as such a table does")
    _, at = _place(content, len(content) - FOOTER)
    blocks, _ = _place(content, at)
    for _, place in _rows(_block(content, *blocks)):
        where, _ = _place(place, 0)
        yield from _rows(_block(content, *where))


def _place(content: memoryview, at: int) -> tuple[tuple[int, int], int]:
    """Where a block begins and how long it is, as written from a place on; and the place behind that."""
    start, at = number(content, at)
    size, at = number(content, at)
    return (start, size), at


def _block(content: memoryview, start: int, size: int) -> memoryview:
    if start + size + 5 > len(content):
        raise InvalidInput("a block lies beyond its end")
    if content[start + size]:
        raise InvalidInput("it is compressed; TensorFlow writes it uncompressed")
    return content[start : start + size]


def _rows(block: memoryview) -> Iterator[tuple[bytes, memoryview]]:
    # After the rows stand the places at which keys are written in full, and how many those are.
    if len(block) < 4:
        raise InvalidInput("a block is too short")
    end = len(block) - 4 - 4 * int.from_bytes(block[-4:], "little")
    key, at = b"", 0
    while at < end:
        shared, at = number(block, at)
        own, at = number(block, at)
        size, at = number(block, at)
        if shared > len(key) or at + own + size > end:
            raise InvalidInput("a block ends inside a key")
        key = key[:shared] + bytes(block[at : at + own])
        yield key, block[at + own : at + own + size]
        at += own + size


def _entry(message: memoryview) -> Entry:
    values: dict[int, Value] = dict(fields(message))
    shape = values.get(2, memoryview(b""))
    if not isinstance(shape, memoryview):
        raise InvalidInput("a shape is a number")
    sizes = [
        dict(fields(each)).get(1, 0) for place, each in fields(shape) if place == 2 and isinstance(each, memoryview)
    ]
    if len(sizes) > MOST_DIMENSIONS:
        raise InvalidInput(f"a variable has {len(sizes)} dimensions")
    kind, shard, offset, size = (_whole(values.get(place, 0)) for place in (1, 3, 4, 5))
    return Entry(kind, tuple(map(_whole, sizes)), shard, offset, size)


def _whole(value: Value) -> int:
    if not isinstance(value, int):
        raise InvalidInput("a whole number is missing")
    return value
