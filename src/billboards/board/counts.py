"""Counts as they are kept beside a cell's scores: small, and the same number for number when they are read again.

A cell's counts are one row for each instance of the board; a row of zeros stands where the metric was not asked, and
the sentence scores say where that is. Columns of counts follow from one another (a text has one pair of words less than
words), so whole numbers are kept as differences from the column one or three before, whichever is smaller in the end,
in the fewest bytes that hold them, and compressed. Other numbers are kept as they are.

Before the compressed columns stand six bytes: the distance of that column, the type of the numbers, and how many
columns there are. Board folders come from anybody, so nothing here believes a size that it has not seen.
"""

from __future__ import annotations

import struct
import zlib

import numpy as np

from billboards.metrics.base import Counts

#: How many columns before stands the one that a column is kept as a difference from; 0 is itself.
_LAGS = (0, 1, 3)
#: Types of numbers, whole ones first, the smallest before the larger.
_TYPES = tuple(np.dtype(code) for code in ("<u1", "<i1", "<u2", "<i2", "<u4", "<i4", "<i8", "<f8"))
_FLOAT = len(_TYPES) - 1
_HEAD = struct.Struct("<BBI")
#: The most bytes that a cell's counts may take in memory.
_MOST = 2**30


def pack_counts(counts: Counts) -> bytes:
    """Rows of counts as bytes."""
    if not _are_whole(counts):
        return _packed(counts.T, 0, _FLOAT)
    columns = counts.astype(np.int64).T
    differences = ((_differences(columns, lag), lag) for lag in _LAGS if lag < len(columns))
    return min((_packed(columns, lag, _smallest(columns)) for columns, lag in differences), key=len)


def unpack_counts(packed: bytes) -> Counts:
    """Rows of counts from bytes; a ValueError where these are damaged."""
    try:
        lag, kind, width = _HEAD.unpack_from(packed)
        unpacking = zlib.decompressobj()
        content = unpacking.decompress(packed[_HEAD.size :], _MOST)
    except (struct.error, zlib.error) as error:
        raise ValueError(f"counts can't be read: {error}") from error
    if not unpacking.eof or lag not in _LAGS or kind >= len(_TYPES) or not width:
        raise ValueError("counts are cut off, too large, or written by another program")
    columns = np.frombuffer(content, _TYPES[kind]).reshape(width, -1)
    return (columns if kind == _FLOAT else _summed(columns.astype(np.int64), lag)).T


def _packed(columns: Counts, lag: int, kind: int) -> bytes:
    return _HEAD.pack(lag, kind, len(columns)) + zlib.compress(columns.astype(_TYPES[kind]).tobytes())


def _are_whole(counts: Counts) -> bool:
    return bool(np.issubdtype(counts.dtype, np.integer) or (counts == np.rint(counts)).all())


def _smallest(columns: Counts) -> int:
    """The smallest type that holds all of these whole numbers."""
    low, high = columns.min(initial=0), columns.max(initial=0)
    limits = (np.iinfo(kind) for kind in _TYPES[:_FLOAT])
    return next(k for k, limit in enumerate(limits) if limit.min <= low and high <= limit.max)


def _differences(columns: Counts, lag: int) -> Counts:
    return np.concatenate([columns[:lag], columns[lag:] - columns[:-lag]]) if lag else columns


def _summed(columns: Counts, lag: int) -> Counts:
    """Columns from their differences."""
    for start in range(lag, len(columns) if lag else 0, lag or 1):
        stop = min(start + lag, len(columns))
        columns[start:stop] += columns[start - lag : stop - lag]
    return columns
