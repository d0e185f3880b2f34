"""TensorFlow's saved variables, read without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from piece_files import save_variables

from billboards.errors import InvalidInput
from billboards.metrics.neural.variables import read_variables

ARRAYS: dict[str, NDArray[Any]] = {
    "bert/embeddings/word_embeddings": np.arange(12, dtype=np.float32).reshape(4, 3),
    "bert/encoder/layer_0/output/dense/bias": np.array([1.5, -2], np.float32),
    "bert/encoder/layer_0/output/dense/kernel": np.ones((2, 2), np.float64),
    "dense/bias": np.array([0.25], np.float16),
    "empty": np.empty((0, 3), np.float32),
    "global_step": np.array(7, np.int64),
}


def test_every_variable_comes_back_with_its_name_shape_and_numbers(tmp_path: Path) -> None:
    save_variables(tmp_path, ARRAYS)
    read = read_variables(tmp_path)
    assert list(read) == sorted(ARRAYS)
    for name, array in ARRAYS.items():
        assert read[name].shape == array.shape
        np.testing.assert_array_equal(read[name], array)


def test_a_table_that_is_cut_or_damaged_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"variables\.index is missing"):
        read_variables(tmp_path)
    save_variables(tmp_path, ARRAYS)
    index = tmp_path / "variables.index"
    whole = index.read_bytes()
    index.write_bytes(whole[:-1])
    with pytest.raises(InvalidInput, match="doesn't end as such a table does"):
        read_variables(tmp_path)
    for place in range(0, len(whole) - 8, 3):
        index.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            read = read_variables(tmp_path)
        except InvalidInput:
            continue
        assert sum(array.nbytes for array in read.values()) < 1000


def test_numbers_beyond_the_file_are_refused(tmp_path: Path) -> None:
    save_variables(tmp_path, ARRAYS)
    data = tmp_path / "variables.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:-1])
    with pytest.raises(
        InvalidInput, match=r"global_step doesn't lie in variables\.data-00000-of-00001 as the index says"
    ):
        read_variables(tmp_path)
    data.unlink()
    with pytest.raises(InvalidInput, match=r"lies in variables\.data-00000-of-00001, which is missing"):
        read_variables(tmp_path)
