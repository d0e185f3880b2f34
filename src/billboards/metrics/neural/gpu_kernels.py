"""Three kernels for half precision on an NVIDIA GPU, in Triton, which comes with torch for CUDA.

Attention among short texts: a program reads one head of one text whole, so that nothing is computed for the rows of a
larger tile, as flash attention does for texts of forty tokens. Attention with a bias for the distance of two tokens, as
T5 has it, among texts of all lengths at once; torch has it for texts of one length. A sum and its norm in one pass over
memory instead of two. All round as the model's own steps do: products and sums in single precision, results in the
model's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

#: Tokens of the longest text for which a program of its own pays, and the widths of heads and rows that fit into one.
LONGEST, HEAD_WIDTHS, WIDEST = 100, (32, 64, 128), 4096
#: Rows and columns of a block of attention among longer texts.
BLOCK = 64
#: Rows of a tile; a matrix unit takes no fewer.
TILES = (16, 32, 64, 128)


class Tile(NamedTuple):
    """Texts that lie together and fit into a tile of so many rows."""

    first: int
    texts: int
    rows: int


def has_kernels() -> bool:
    """Whether kernels can be made here."""
    return find_spec("triton") is not None


def tiles_of(lengths: NDArray[np.int64]) -> tuple[Tile, ...] | None:
    """The tiles of texts that are sorted by length; None where one is too long."""
    if not len(lengths) or int(lengths[-1]) > LONGEST or (np.diff(lengths) < 0).any():
        return None
    ends = np.searchsorted(lengths, TILES, "right")
    starts = np.concatenate(([0], ends[:-1]))
    return tuple(
        Tile(int(start), int(end - start), rows)
        for start, end, rows in zip(starts, ends, TILES, strict=True)
        if end > start
    )


def attend_tiles(three: Tensor, bounds: Tensor, tiles: Sequence[Tile]) -> Tensor:
    """Attention inside texts: query, key and value (tokens × 3 × heads × width) in, tokens × heads × width out."""
    import torch

    tokens, _, heads, width = three.shape
    attended = torch.empty((tokens, heads, width), dtype=three.dtype, device=three.device)
    kernel = _kernels().attend
    for tile in tiles:
        kernel[(tile.texts, heads)](
            three,
            attended,
            bounds[tile.first :],
            three.stride(0),
            three.stride(1),
            three.stride(2),
            attended.stride(0),
            width**-0.5,
            ROWS=tile.rows,
            WIDTH=width,
            num_warps=4 if tile.rows > 32 else 2,
        )
    return attended


class Blocks(NamedTuple):
    """The rows of texts in blocks: which text each block is of, and with which of its rows it begins."""

    text: NDArray[np.int32]
    row: NDArray[np.int32]


def blocks_of(lengths: NDArray[np.int64]) -> Blocks:
    """All blocks of some texts."""
    counts = -(-lengths // BLOCK)
    text = np.repeat(np.arange(len(lengths)), counts)
    row = BLOCK * (np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts))
    return Blocks(text.astype(np.int32), row.astype(np.int32))


def attend_by_distance(three: Tensor, bounds: Tensor, blocks: tuple[Tensor, Tensor], near: Tensor) -> Tensor:
    """Attention inside texts with a bias for each distance: tokens × 3 × heads × width in, tokens × heads × width out.

    three: query, key and value.
    bounds: where each text begins, and where the last one ends.
    blocks: the texts and first rows of `blocks_of`.
    near: heads × distances, the middle one being 0; at least a block more on either side than the longest text.
    """
    import torch

    tokens, _, heads, width = three.shape
    attended = torch.empty((tokens, heads, width), dtype=three.dtype, device=three.device)
    _kernels().attend_by_distance[(len(blocks[0]), heads)](
        three,
        attended,
        bounds,
        *blocks,
        near,
        three.stride(0),
        three.stride(1),
        three.stride(2),
        attended.stride(0),
        near.stride(0),
        near.shape[1] // 2,
        ROWS=BLOCK,
        COLUMNS=BLOCK,
        WIDTH=width,
        num_warps=4,
    )
    return attended


def add_and_norm(first: Tensor, second: Tensor, norm: Any) -> Tensor:
    """The norm of a sum of rows, in one pass; the sum is rounded before, as the model does."""
    import torch

    rows, width = first.shape
    normed = torch.empty_like(first)
    size = 1 << (width - 1).bit_length()
    _kernels().norm[(rows,)](
        first, second, norm.weight, norm.bias, normed, width, norm.eps, SIZE=size, num_warps=4 if size <= 1024 else 8
    )
    return normed


class _Kernels(NamedTuple):
    attend: Any
    attend_by_distance: Any
    norm: Any


@cache
def _kernels() -> _Kernels:
    """The kernels, compiled when first called."""
    from billboards.metrics.neural import _triton

    return _Kernels(_triton.attend, _triton.attend_by_distance, _triton.add_and_norm)
