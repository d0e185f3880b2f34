"""Sums of resampled rows against plain loops: large whole numbers, many rows, and none kept twice."""

from __future__ import annotations

import numpy as np
import pytest

from billboards.stats import resampling
from billboards.stats.resampling import Resampling, Swaps, bounds_of


def plain_sums(matrix: np.ndarray, draws: int) -> np.ndarray:
    """Each draw as sacreBLEU makes it, added up in whole numbers."""
    chosen = np.random.default_rng(resampling.SEED).choice(len(matrix), size=(draws, len(matrix)), replace=True)
    return np.array([[sum(int(value) for value in column) for column in matrix[places].T] for places in chosen])


@pytest.mark.parametrize("size", [1, 2**22 + 1, 2**24 + 1, 2**30 + 1])
def test_sums_of_whole_numbers_are_exact(size: int) -> None:
    matrix = size * np.random.default_rng(4).integers(1, 4, (5, 3))
    assert (Resampling(9).sums(matrix) == plain_sums(matrix, 9)).all()


@pytest.mark.parametrize("size", [1, 2**22 + 1, 2**24 + 1])
def test_swapped_sums_of_whole_numbers_are_exact(size: int) -> None:
    matrix = size * np.random.default_rng(5).integers(1, 4, (5, 2))
    chosen = np.random.default_rng(resampling.SEED).integers(2, size=(64, 5), dtype=bool)
    expected = np.array([[sum(int(v) for v in column) for column in matrix[some].T] for some in chosen])
    assert (np.concatenate(list(Swaps(64).sums(matrix))) == expected).all()


def test_draws_in_pieces_are_those_of_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.arange(12).reshape(6, 2)
    whole = Resampling(50).sums(matrix)
    monkeypatch.setattr(resampling, "_AT_ONCE", 16 * 6 * 7)
    assert (Resampling(50).sums(matrix) == whole).all()
    swapped = np.concatenate(list(Swaps(200).sums(matrix)))
    monkeypatch.setattr(resampling, "_AT_ONCE", 1)
    assert (np.concatenate(list(Swaps(200).sums(matrix))) == swapped).all()


def test_more_rows_than_are_held_at_a_time_have_the_intervals_that_each_has_alone() -> None:
    rows = np.random.default_rng(6).normal(size=(resampling._ROWS + 6, 4))
    drawn = Resampling(80)
    together = drawn.mean_bounds(rows)
    for k in (0, 1, resampling._ROWS - 1, resampling._ROWS, len(rows) - 1):
        assert (drawn.mean_bounds(rows[k : k + 1])[0] == together[k]).all()
    places = np.random.default_rng(resampling.SEED).choice(4, size=(80, 4), replace=True)
    bounds = bounds_of(rows[3][places].mean(axis=1))
    assert together[3] == pytest.approx([bounds.low, bounds.high], abs=1e-12)


def test_draws_of_one_size_are_kept_and_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, swaps = Resampling(40), Swaps(64)
    matrix, rows = np.arange(10).reshape(5, 2), np.random.default_rng(7).normal(size=(2, 5))
    sums, bounds, swapped = drawn.sums(matrix), drawn.mean_bounds(rows), np.concatenate(list(swaps.sums(matrix)))
    monkeypatch.setattr(np.random, "default_rng", None)
    assert (drawn.sums(matrix) == sums).all()
    assert (drawn.mean_bounds(rows) == bounds).all()
    assert (np.concatenate(list(swaps.sums(matrix))) == swapped).all()


def test_what_takes_too_much_memory_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "_KEPT", 100)
    drawn, swaps = Resampling(40), Swaps(64)
    matrix, rows = np.arange(10).reshape(5, 2), np.random.default_rng(7).normal(size=(2, 5))
    drawn.sums(matrix), drawn.mean_bounds(rows), list(swaps.sums(matrix))
    assert (drawn._kept, drawn._last, swaps._kept) == ({}, {}, {})
