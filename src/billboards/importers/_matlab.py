"""MATLAB's `.mat` files of version 5 to 7, read as what data sets hold: texts, numbers, cells and structs.

A file is a row of elements, each a tag (type and size) and its bytes; an array is an element of elements, and one that
is zipped stands inside another (MathWorks: MAT-File Format). Only plain data are read. Function handles and objects are
refused, because what they mean is code; so is whatever claims more than its bytes hold, unpacks to more than any data
set has, or is nested more deeply. scipy reads such files too, but trusts them: a few crafted bytes nest so deeply that
the process ends.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from billboards.errors import ImportRefused
from billboards.reading import read_source, shown

#: The most bytes and elements that a file may hold once unpacked, and the most arrays inside one another.
MOST_BYTES, MOST_ELEMENTS, DEEPEST = 64 << 20, 2_000_000, 8
_HEADER, _MATRIX, _ZIPPED = 128, 14, 15
#: Types of stored numbers, by code.
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_TEXTS = {16: "utf-8", 17: "utf-16", 18: "utf-32"}
_CELL, _STRUCT, _CHAR = 1, 2, 4
_NUMERIC = range(6, 16)
_REFUSED = {
    3: "an object",
    5: "a sparse matrix",
    16: "a function handle",
    17: "an object of a class",
}
_COMPLEX = 0x08

#: A text, an array of numbers, the items of a cell array, or the records of a struct array.
Value = str | NDArray[Any] | list["Value"] | list[Mapping[str, "Value"]]


@dataclass(kw_only=True)
class _Order:
    """Whether numbers begin with their large end, as the file's header says, and how many elements may still come."""

    numpy: str
    codec: str
    elements: int = MOST_ELEMENTS


class _Damaged(ValueError):
    """Bytes that are no such file; the message says why."""


def read_matlab(path: Path) -> dict[str, Value]:
    """The variables of a file by name; struct arrays are lists of records, cell arrays lists, rows of letters texts.

    Arrays are read column by column, as MATLAB counts.
    """
    raw = read_source(path)
    if len(raw) > MOST_BYTES:
        raise ImportRefused(f"{path}: holds more than {MOST_BYTES:,} bytes; is it the right file?")
    try:
        return dict(_variables(raw))
    except _Damaged as error:
        raise ImportRefused(f"{path}: not a .mat file that can be read: {error}; fetch the file again") from error


def _variables(raw: bytes) -> Iterator[tuple[str, Value]]:
    if raw.startswith(b"\x89HDF") or raw[:10] == b"MATLAB 7.3":
        raise _Damaged("it is of version 7.3 (HDF5); save it as version 7")
    marks = {b"IM": _Order(numpy="<", codec="-le"), b"MI": _Order(numpy=">", codec="-be")}
    order = marks.get(raw[126:128])
    if order is None or not raw.startswith(b"MATLAB"):
        raise _Damaged("it lacks the header of version 5")
    left = MOST_BYTES
    for kind, content in _elements(memoryview(raw)[_HEADER:], order):
        if kind == _ZIPPED:
            unpacked = _unzipped(content, left)
            left -= len(unpacked)
            inner = list(_elements(memoryview(unpacked), order))
            if len(inner) != 1:
                raise _Damaged(f"a zipped variable is {len(inner)} elements")
            kind, content = inner[0]
        if kind != _MATRIX:
            raise _Damaged(f"a variable of type {kind}")
        yield _array(content, order, DEEPEST)


def _unzipped(content: memoryview, most: int) -> bytes:
    unzip = zlib.decompressobj()
    try:
        unpacked = unzip.decompress(bytes(content), most + 1)
    except zlib.error as error:
        raise _Damaged(f"it can't be unzipped ({error})") from error
    if len(unpacked) > most:
        raise _Damaged(f"it unpacks to more than {MOST_BYTES:,} bytes")
    if not unzip.eof:
        raise _Damaged("a zipped variable is cut off")
    return unpacked


def _elements(content: memoryview, order: _Order) -> Iterator[tuple[int, memoryview]]:
    """Type and bytes of one element after the other; small ones stand in their own tag."""
    place = 0
    while place < len(content):
        if len(content) - place < 8:
            raise _Damaged("it is cut off within a tag")
        first, size = (int(word) for word in np.frombuffer(content[place : place + 8], f"{order.numpy}u4"))
        if first >> 16:
            kind, size, start, width = first & 0xFFFF, first >> 16, place + 4, 8
            if size > 4:
                raise _Damaged("a small element is larger than its tag")
        else:
            kind, start = first, place + 8
            # Zipped elements follow one another without padding.
            width = 8 + (size if kind == _ZIPPED else -(-size // 8) * 8)
        if start + size > len(content):
            raise _Damaged("it is cut off within an array")
        order.elements -= 1
        if order.elements < 0:
            raise _Damaged(f"it holds more than {MOST_ELEMENTS:,} elements")
        yield kind, content[start : start + size]
        place += width


def _array(content: memoryview, order: _Order, depth: int) -> tuple[str, Value]:
    """Name and value of an array."""
    if not depth:
        raise _Damaged(f"more than {DEEPEST} arrays lie inside one another")
    if not len(content):
        return "", np.empty(0)
    parts = list(_elements(content, order))
    flags = _numbers(parts[0], order)
    kind = int(flags[0]) & 0xFF if len(flags) else 0
    if kind in _REFUSED:
        raise _Damaged(f"it holds {_REFUSED[kind]}, which is no data")
    if len(parts) < 3:
        raise _Damaged("an array lacks its size or name")
    shape, name = tuple(map(int, _numbers(parts[1], order))), bytes(parts[2][1]).decode("latin-1")
    size = prod(shape)
    if min(shape, default=0) < 0:
        raise _Damaged("an array has a negative size")
    if kind == _CELL:
        return name, _cells(parts[3:], size, order, depth)
    if kind == _STRUCT:
        return name, _records(parts[3:], size, order, depth)
    if kind == _CHAR:
        if sum(length > 1 for length in shape) > 1:
            raise _Damaged("it holds a text of several rows")
        return name, _text(parts[3:4], order)
    if kind not in _NUMERIC:
        raise _Damaged(f"an array of class {kind}")
    if int(flags[0]) >> 8 & _COMPLEX:
        raise _Damaged("it holds complex numbers")
    values = _numbers(parts[3], order) if len(parts) > 3 else np.empty(0)
    if len(values) != size:
        raise _Damaged(f"an array of {size} numbers has {len(values)}")
    return name, values.reshape(shape, order="F")


def _numbers(element: tuple[int, memoryview], order: _Order) -> NDArray[Any]:
    kind, content = element
    form = _NUMBERS.get(kind)
    if form is None or len(content) % int(form[1]):
        raise _Damaged(f"numbers of type {kind}")
    return np.frombuffer(content, order.numpy + form)


def _text(elements: list[tuple[int, memoryview]], order: _Order) -> str:
    """The letters of a text; single bytes are UTF-8 or, where they can't be, Latin-1."""
    if not elements:
        return ""
    kind, content = elements[0]
    raw = bytes(content)
    try:
        if kind in _TEXTS:
            codec = _TEXTS[kind] if kind == 16 else _TEXTS[kind] + order.codec
            return raw.decode(codec)
        if kind == 4:
            return raw.decode("utf-16" + order.codec)
        if kind in (1, 2):
            return raw.decode("utf-8") if _is_utf_8(raw) else raw.decode("latin-1")
    except UnicodeDecodeError as error:
        raise _Damaged(f"a text is not what its type says ({error.reason})") from error
    raise _Damaged(f"a text of type {kind}")


def _is_utf_8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _cells(elements: list[tuple[int, memoryview]], size: int, order: _Order, depth: int) -> list[Value]:
    if len(elements) != size or any(kind != _MATRIX for kind, _ in elements):
        raise _Damaged(f"{len(elements)} arrays where {size} cells are")
    return [_array(content, order, depth - 1)[1] for _, content in elements]


def _records(elements: list[tuple[int, memoryview]], size: int, order: _Order, depth: int) -> list[Mapping[str, Value]]:
    if len(elements) < 2 or len(_numbers(elements[0], order)) != 1:
        raise _Damaged("a struct lacks its fields")
    width, raw = int(_numbers(elements[0], order)[0]), bytes(elements[1][1])
    if width < 1 or len(raw) % width:
        raise _Damaged("a struct's fields have no names")
    names = [raw[k : k + width].split(b"\0")[0].decode("latin-1") for k in range(0, len(raw), width)]
    values = elements[2:]
    if len(set(names)) != len(names) or len(values) != size * len(names) or any(kind != _MATRIX for kind, _ in values):
        raise _Damaged(f"{len(values)} arrays where {size} records of {shown(names)} are")
    step = max(len(names), 1)
    return [
        {
            name: _array(content, order, depth - 1)[1]
            for name, (_, content) in zip(names, values[k : k + step], strict=True)
        }
        for k in range(0, len(values), step)
    ]
