"""Counts as they are kept beside a cell's scores: small, and the same number for number when they are read again.

A cell's counts are one row for each instance of the board; a row of zeros stands where the metric was not asked, and
the sentence scores say where that is. Columns of counts follow from one another (a text has one pair of words less than
words), so whole numbers are kept as differences from the column one or three before, whichever is smaller in the end,
in the fewest bytes that hold them, and compressed. Other numbers are kept as they are.
"""

from __future__ import annotations

import io
import zlib

import numpy as np

from billboards.metrics.base import Counts

#: How many columns before stands the one that a column is kept as a difference from; 0 is itself.
_LAGS = (0, 1, 3)
#: Types of whole numbers, the smallest first.
_WHOLE = (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.int64)


def pack_counts(counts: Counts) -> bytes:
    """Rows of counts as bytes."""
    if not _are_whole(counts):
        return _packed(counts.astype(np.float64).T, 0)
    columns = counts.astype(np.int64).T
    lags = [lag for lag in _LAGS if lag < max(len(columns), 1)]
    return min((_packed(_smallest(_differences(columns, lag)), lag) for lag in lags), key=len)


def unpack_counts(packed: bytes) -> Counts:
    """Rows of counts from bytes; a ValueError where these are damaged."""
    try:
        columns: Counts = np.load(io.BytesIO(zlib.decompress(packed[1:])), allow_pickle=False)
        lag = packed[0]
    except (zlib.error, EOFError, IndexError) as error:
        raise ValueError(f"counts can't be read: {error}") from error
    if columns.ndim != 2 or lag not in _LAGS:
        raise ValueError(f"counts have {columns.ndim} dimensions and lag {lag}")
    if columns.dtype != np.float64:
        columns = columns.astype(np.int64)
        for start in range(lag, len(columns) if lag else 0, lag or 1):
            stop = min(start + lag, len(columns))
            columns[start:stop] += columns[start - lag : stop - lag]
    return columns.T


def _packed(columns: Counts, lag: int) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.ascontiguousarray(columns), allow_pickle=False)
    return bytes([lag]) + zlib.compress(stream.getvalue())


def _are_whole(counts: Counts) -> bool:
    return bool(np.issubdtype(counts.dtype, np.integer) or (counts == np.rint(counts)).all())


def _differences(columns: Counts, lag: int) -> Counts:
    if not lag:
        return columns
    return np.concatenate([columns[:lag], columns[lag:] - columns[:-lag]])


def _smallest(columns: Counts) -> Counts:
    low, high = columns.min(initial=0), columns.max(initial=0)
    return next(columns.astype(kind) for kind in _WHOLE if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)
