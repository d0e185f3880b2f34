"""What is decided before a kernel runs: which texts lie in which tile. The kernels are held against torch on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

from billboards.metrics.neural.gpu_kernels import LONGEST, TILES, tiles_of


@pytest.mark.parametrize("seed", range(20))
def test_every_text_lies_in_the_smallest_tile_that_holds_it(seed: int) -> None:
    random = np.random.default_rng(seed)
    lengths = np.sort(random.integers(1, LONGEST + 1, random.integers(1, 200))).astype(np.int64)
    tiles = tiles_of(lengths)
    assert tiles is not None
    covered = [(k, tile.rows) for tile in tiles for k in range(tile.first, tile.first + tile.texts)]
    assert [k for k, _ in covered] == list(range(len(lengths)))
    for k, rows in covered:
        assert rows == min(size for size in TILES if size >= lengths[k])


def test_long_texts_and_those_in_no_order_are_left_to_others() -> None:
    assert tiles_of(np.array([3, LONGEST + 1], np.int64)) is None
    assert tiles_of(np.array([9, 3], np.int64)) is None
    assert tiles_of(np.array([], np.int64)) is None
