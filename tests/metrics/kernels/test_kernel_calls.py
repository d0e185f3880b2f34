"""Calls of compiled kernels: what is malformed is refused, whatever it is, and never ends the process."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics import bleu, character, chrf, eed, error_rates, sari, ter, yisi
from billboards.metrics.kernels import alignment, calling, overlap, texts, transport
from billboards.metrics.kernels.calling import F64, I64, Kernel

#: What is called with arrays of any content; the array written to is the last argument.
KERNELS = [
    texts._split_words,
    texts._remove_spaces,
    bleu._statistics,
    bleu._scores,
    chrf._statistics,
    chrf._scores,
    ter._statistics,
    error_rates._statistics,
    error_rates._jump_statistics,
    character._scores,
    eed._scores,
    overlap._shared_ngrams,
    overlap._subsequences,
    overlap._union_hits,
    alignment._align,
    sari._scores,
    yisi._parts,
    transport._costs,
]
small = st.integers(-3, 12)


def arguments(kernel: Kernel) -> st.SearchStrategy[tuple[Any, ...]]:
    """Arguments of the right types and of any content and length."""
    of_type: dict[type, st.SearchStrategy[Any]] = {
        np.uint32: hnp.arrays(np.uint32, st.integers(0, 12), elements=st.integers(0, 2**32 - 1) | st.integers(0, 9)),
        np.int32: hnp.arrays(np.int32, st.integers(0, 12), elements=small),
        np.int64: hnp.arrays(np.int64, st.integers(0, 12), elements=small) | st.integers(0, 6).map(np.arange),
        np.float64: hnp.arrays(np.float64, st.integers(0, 12), elements=st.floats(-1, 1)),
        int: small,
        float: st.floats(0, 3),
    }
    return st.tuples(*(of_type[parameter] for parameter in kernel.parameters))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_arrays_are_computed_or_refused(kernel: Kernel, data: st.DataObject) -> None:
    with suppress(InvalidInput):
        assert kernel(*data.draw(arguments(kernel))) >= 0


def items(outputs: list[int], references: list[int], bounds: list[int]) -> tuple[NDArray[Any], ...]:
    return np.array(outputs, np.int32), np.array(references, np.int32), np.array(bounds, np.int64)


WORDS, OFFSETS = np.array([5, 6, 7], np.int32), np.array([0, 2, 3], np.int64)


def test_a_good_call_is_computed() -> None:
    rows = np.empty((1, 2))
    assert ter._statistics(WORDS, OFFSETS, *items([0], [1], [0, 1]), 0, 1, rows) == 1
    assert rows.tolist() == [[2.0, 1.0]]


@pytest.mark.parametrize(
    ("offsets", "asked", "start", "stop"),
    [
        ([0, 2, 4], ([0], [1], [0, 1]), 0, 1),
        ([0, 3, 2], ([0], [1], [0, 1]), 0, 1),
        ([1, 2, 3], ([0], [1], [0, 1]), 0, 1),
        ([0, 2, 3], ([2], [1], [0, 1]), 0, 1),
        ([0, 2, 3], ([-1], [1], [0, 1]), 0, 1),
        ([0, 2, 3], ([0], [2], [0, 1]), 0, 1),
        ([0, 2, 3], ([0], [1], [0, 2]), 0, 1),
        ([0, 2, 3], ([0], [1], [0]), 0, 1),
        ([0, 2, 3], ([0], [1], [0, 1]), 0, 2),
        ([0, 2, 3], ([0], [1], [0, 1]), -1, 1),
    ],
)
def test_numbers_that_lead_outside_the_arrays_are_refused(
    offsets: list[int], asked: tuple[list[int], list[int], list[int]], start: int, stop: int
) -> None:
    with pytest.raises(InvalidInput, match="ter_statistics: lengths, offsets or indices of the arrays don't fit"):
        ter._statistics(WORDS, np.array(offsets, np.int64), *items(*asked), start, stop, np.empty((1, 2)))


def test_too_small_an_array_for_the_result_is_refused() -> None:
    with pytest.raises(InvalidInput, match="don't fit together"):
        ter._statistics(WORDS, OFFSETS, *items([0], [1], [0, 1]), 0, 1, np.empty(1))


@pytest.mark.parametrize("words", [np.array([5, 6, 7], np.int64), np.arange(6, dtype=np.int32)[::2], 3, [5, 6, 7]])
def test_an_array_of_another_type_or_with_gaps_is_refused(words: Any) -> None:
    with pytest.raises(InvalidInput, match="ter_statistics: argument 0 must be"):
        ter._statistics(words, OFFSETS, *items([0], [1], [0, 1]), 0, 1, np.empty((1, 2)))


def test_a_number_for_an_array_and_the_wrong_count_of_arguments_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"argument 5 must be <class 'int'>; found 0\.5"):
        ter._statistics(WORDS, OFFSETS, *items([0], [1], [0, 1]), 0.5, 1, np.empty((1, 2)))
    with pytest.raises(InvalidInput, match="2 arguments for 8 parameters"):
        ter._statistics(WORDS, OFFSETS)


@pytest.fixture
def kernels_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the folder that libraries are loaded from."""
    folder = Path(calling.__file__).parent
    for path in [*folder.glob("*.[ch]"), folder / f"_ngrams{calling.SUFFIX}"]:
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(calling, "__file__", str(tmp_path / "calling.py"))
    calling.library.cache_clear()
    return tmp_path


def scored() -> int:
    return Kernel("_ngrams", "chrf_scores", (I64, int, float, int, F64))(np.zeros(3, np.int64), 1, 2.0, 0, np.empty(1))


def test_a_library_that_is_older_than_its_source_is_not_called(kernels_elsewhere: Path) -> None:
    assert scored() == 1
    calling.library.cache_clear()
    with (kernels_elsewhere / "_ngrams.c").open("a") as file:
        file.write("/* changed */\n")
    with pytest.raises(MissingPart, match=r"_ngrams.so is older than _ngrams.c; build it with `python tools/build_ker"):
        scored()


def test_a_library_without_sources_beside_it_is_taken_as_it_is(kernels_elsewhere: Path) -> None:
    for path in kernels_elsewhere.glob("*.[ch]"):
        path.unlink()
    assert scored() == 1


def test_a_library_that_is_not_there_is_a_missing_part(kernels_elsewhere: Path) -> None:
    (kernels_elsewhere / f"_ngrams{calling.SUFFIX}").unlink()
    with pytest.raises(MissingPart, match=r"the compiled part _ngrams.so can't be loaded .*; build it with"):
        scored()
