"""Small files of others' formats, written by hand: models of SentencePiece's, and TensorFlow's saved variables."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Piece = tuple[str, float, int]
#: SentencePiece's kinds of pieces.
NORMAL, UNKNOWN, CONTROL, WRITTEN_BY_USER, UNUSED = range(1, 6)


def number(value: int) -> bytes:
    parts = []
    while True:
        value, rest = value >> 7, value & 0x7F
        parts.append(rest | (0x80 if value else 0))
        if not value:
            return bytes(parts)


def field(place: int, value: int | float | bytes) -> bytes:
    """A field of a message, by the type of its value."""
    if isinstance(value, bytes):
        return number(place << 3 | 2) + number(len(value)) + value
    if isinstance(value, float):
        return number(place << 3 | 5) + struct.pack("<f", value)
    return number(place << 3) + number(value)


def character_table(key: str, text: str) -> bytes:
    """SentencePiece's compiled table that replaces one sequence of characters: a double array, then the texts."""
    data, units, node = key.encode(), [0] * (256 * (len(key.encode()) + 2)), 0
    for depth, byte in enumerate(data):
        base = 256 * (depth + 1)
        units[node] |= (node ^ base) << 10
        node = base ^ byte
        units[node] = byte
    base = 256 * (len(data) + 1)
    units[node] |= (node ^ base) << 10 | 1 << 8
    # The texts begin with an empty one, as the first place of all is never used.
    units[base] = 1 << 31 | 1
    packed = struct.pack(f"<{len(units)}I", *units)
    return struct.pack("<I", len(packed)) + packed + b"\0" + text.encode() + b"\0"


def piece_model(
    pieces: Sequence[Piece], *, table: bytes = b"", kind: int = 1, normaliser: Mapping[int, int] | None = None
) -> bytes:
    """A model file of SentencePiece's (sentencepiece_model.proto)."""
    listed = b"".join(
        field(1, field(1, piece.encode()) + field(2, float(score)) + field(3, kind_of))
        for piece, score, kind_of in pieces
    )
    rules = field(2, table) + b"".join(field(place, value) for place, value in (normaliser or {}).items())
    return listed + field(2, field(3, kind)) + field(3, rules)


#: Words with the mark of a blank, and what any text may need.
PIECES: tuple[Piece, ...] = (
    ("[PAD]", 0.0, CONTROL),
    ("[UNK]", 0.0, UNKNOWN),
    ("[CLS]", 0.0, CONTROL),
    ("[SEP]", 0.0, CONTROL),
    ("▁", -4.0, NORMAL),
    *(
        (f"▁{word}", -2.0 - k / 10, NORMAL)
        for k, word in enumerate(("the", "a", "cat", "dog", "sat", "ran", "on", "mat"))
    ),
    *((letter, -6.0, NORMAL) for letter in "abcdefghijklmnopqrstuvwxyz.,"),
    ("ing", -3.0, NORMAL),
)


def save_variables(folder: Path, arrays: Mapping[str, NDArray[Any]], rows_in_block: int = 3) -> None:
    """TensorFlow's tensor bundle: a table of names in LevelDB's format, and a file of numbers."""
    kinds = {"float32": 1, "float64": 2, "int32": 3, "int64": 9, "float16": 19}
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[tuple[bytes, bytes]] = [(b"", field(1, 1))]
    data = b""
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        shape = b"".join(field(2, field(1, size)) for size in array.shape)
        where = field(4, len(data)) + field(5, array.nbytes)
        rows.append((name.encode(), field(1, kinds[array.dtype.name]) + field(2, shape) + where + field(6, 7.0)))
        data += array.tobytes()
    (folder / "variables.data-00000-of-00001").write_bytes(data)
    content, index = b"", []
    for start in range(0, len(rows), rows_in_block):
        part = rows[start : start + rows_in_block]
        packed = block(part)
        index.append((part[-1][0], number(len(content)) + number(len(packed))))
        content += packed + b"\0" * 5
    nothing, last = block([]), block(index)
    places = number(len(content)) + number(len(nothing))
    content += nothing + b"\0" * 5
    places += number(len(content)) + number(len(last))
    content += last + b"\0" * 5
    (folder / "variables.index").write_bytes(content + places.ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57))


def block(rows: Sequence[tuple[bytes, bytes]]) -> bytes:
    """Rows of a table, each key as what it shares with the one before and the rest."""
    content, before = b"", b""
    for key, value in rows:
        shared = next((k for k, (one, other) in enumerate(zip(before, key, strict=False)) if one != other), None)
        shared = min(len(before), len(key)) if shared is None else shared
        content += number(shared) + number(len(key) - shared) + number(len(value)) + key[shared:] + value
        before = key
    return content + struct.pack("<2I", 0, 1)
