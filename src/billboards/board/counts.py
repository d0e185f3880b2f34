"""Counts as they are kept beside a cell's scores: small, and the same number for number when they are read again.

A cell's counts are one row for each instance of the board; a row of zeros stands where the metric was not asked, and
the sentence scores say where that is. Whole numbers take the fewest bytes that hold the largest of them, others eight.
Each column is laid out in one piece and the whole is compressed, since columns of counts repeat one another.
"""

from __future__ import annotations

import io
import zlib

import numpy as np

from billboards.metrics.base import Counts

#: Types of whole numbers, the smallest first.
_WHOLE = (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.int64)


def pack_counts(counts: Counts) -> bytes:
    """Rows of counts as bytes."""
    stream = io.BytesIO()
    np.save(stream, np.ascontiguousarray(_smallest(counts).T), allow_pickle=False)
    return zlib.compress(stream.getvalue())


def unpack_counts(packed: bytes) -> Counts:
    """Rows of counts from bytes; a ValueError where these are damaged."""
    try:
        columns: Counts = np.load(io.BytesIO(zlib.decompress(packed)), allow_pickle=False)
    except (zlib.error, EOFError) as error:
        raise ValueError(f"counts can't be read: {error}") from error
    if columns.ndim != 2:
        raise ValueError(f"counts have {columns.ndim} dimensions, not 2")
    return columns.T


def _smallest(counts: Counts) -> Counts:
    if not counts.size:
        return counts.astype(np.uint8)
    if np.issubdtype(counts.dtype, np.floating) and not (counts == np.rint(counts)).all():
        return counts.astype(np.float64)
    low, high = counts.min(), counts.max()
    for kind in _WHOLE:
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return counts.astype(kind)
    return counts.astype(np.float64)
