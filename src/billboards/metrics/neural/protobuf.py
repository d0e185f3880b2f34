"""Messages of protocol buffers, field by field, without a schema and without the protobuf package.

SentencePiece's models and TensorFlow's checkpoints are such messages. Of one, only the few fields that are needed are
read. Every length is checked against what is left of the message, so a damaged or hostile file ends in an error.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from billboards.errors import InvalidInput

#: What a field may hold: a number, or the bytes of a text, of an array or of a message inside this one.
Value = int | float | memoryview

#: Bits of a number that is written seven at a time.
LONGEST_NUMBER = 64


def fields(message: memoryview) -> Iterator[tuple[int, Value]]:
    """The fields of a message in their order, each with its number."""
    at = 0
    while at < len(message):
        key, at = number(message, at)
        kind = key & 7
        if kind == 0:
            value, at = number(message, at)
            yield key >> 3, value
            continue
        if kind == 2:
            size, at = number(message, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise InvalidInput(f"a message has a field of kind {kind}, which there is none")
        if size > len(message) - at:
            raise InvalidInput(f"a message ends inside a field of {size} bytes")
        part, at = message[at : at + size], at + size
        yield key >> 3, part if kind == 2 else struct.unpack("<d" if kind == 1 else "<f", part)[0]


def number(message: memoryview, at: int) -> tuple[int, int]:
    """The number that is written from a place on, seven bits a byte, and the place behind it."""
    value = 0
    for shift in range(0, LONGEST_NUMBER, 7):
        if at >= len(message):
            raise InvalidInput("a message ends inside a number")
        byte, at = message[at], at + 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise InvalidInput(f"a message has a number of more than {LONGEST_NUMBER} bits")
