"""What is decided before a kernel runs: which texts lie in which tile. The kernels are held against torch on a GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tiny_t5 import metricx_config, random_weights

from billboards.metrics.neural import packed_t5
from billboards.metrics.neural.gpu_kernels import BLOCK, LONGEST, TILES, blocks_of, tiles_of
from billboards.metrics.neural.packed_t5 import Layout, PackedT5, buckets_of, distance_buckets


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


@pytest.mark.parametrize("seed", range(5))
def test_blocks_cover_every_row_of_every_text_once(seed: int) -> None:
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 300, 40).astype(np.int64)
    blocks = blocks_of(lengths)
    for text, length in enumerate(lengths):
        rows = blocks.row[blocks.text == text]
        assert rows.tolist() == list(range(0, int(length), BLOCK))


def test_a_distance_has_the_bucket_that_it_has_among_all_pairs() -> None:
    square = distance_buckets(40, 32, 128)
    line = buckets_of(np.arange(-39, 40), 32, 128)
    for query in range(40):
        assert square[query].tolist() == [line[39 + key - query] for key in range(40)]


@pytest.mark.parametrize("lengths", [[3, 3, 4, 5, 5], [7], [2, 2, 2, 2]])
def test_texts_made_equally_long_give_the_decoder_the_same_states(
    lengths: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import json

    (tmp_path / "config.json").write_text(json.dumps(metricx_config()))
    settings = packed_t5.read_settings(tmp_path)
    weights = random_weights(metricx_config(), torch.Generator().manual_seed(2))
    model = PackedT5(settings, weights, "cpu", torch.float32)
    sizes = np.array(lengths, np.int64)
    ids = np.random.default_rng(1).integers(0, 50, sizes.sum()).astype(np.int32)
    by_runs = model(ids, sizes)

    class Padded(Layout):
        """As on a GPU, but for attention in the encoder, whose kernel is not here."""

        def __init__(self, given: NDArray[np.int64], device: Any, *, kernels: bool) -> None:
            super().__init__(given, device, kernels=not kernels)
            self.bounds = None
            assert self.places is not None

    monkeypatch.setattr(packed_t5, "Layout", Padded)
    torch.testing.assert_close(model(ids, sizes), by_runs, rtol=1e-5, atol=1e-5)
