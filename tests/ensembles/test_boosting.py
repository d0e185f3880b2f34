"""Boosted trees: the compiled ones against scikit-learn's, against a plain loop, and what they promise."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor

from billboards.ensembles._models import TreesModel, read_model
from billboards.errors import InvalidInput
from billboards.metrics.kernels.boosting import Growth, Trees, bin_limits, binned, fit_trees

Floats = NDArray[np.float64]


def data(rows: int = 400, inputs: int = 5, seed: int = 0) -> tuple[Floats, Floats]:
    """Inputs of few values, so that everybody cuts them alike, and a target that bends."""
    random = np.random.default_rng(seed)
    values = random.integers(0, 40, (rows, inputs)).astype(float)
    target = values[:, 0] - 0.05 * (values[:, 1] - 20) ** 2 + 5 * (values[:, 2] > 30) + random.normal(size=rows)
    return values, target


def free(inputs: int) -> NDArray[np.int32]:
    return np.zeros(inputs, np.int32)


def scikit_learns(values: Floats, target: Floats, directions: tuple[int, ...]) -> Floats:
    theirs = HistGradientBoostingRegressor(
        max_iter=60,
        max_leaf_nodes=8,
        min_samples_leaf=20,
        learning_rate=0.1,
        max_bins=64,
        early_stopping=False,
        monotonic_cst=list(directions),
    )
    return np.asarray(theirs.fit(values, target).predict(values))


def test_predictions_equal_those_of_scikit_learn() -> None:
    values, target = data()
    ours = fit_trees(values, target, free(5), Growth(trees=60, leaves=8, fewest=20, rate=0.1)).predict(values)
    # It keeps gradients in single precision, so that the last digits differ.
    np.testing.assert_allclose(ours, scikit_learns(values, target, (0,) * 5), rtol=1e-5, atol=1e-4)


def test_bound_trees_are_as_near_to_the_target_as_scikit_learns() -> None:
    """It leaves a term out of the error of a leaf that a bound holds back, so that trees differ."""
    values, target = data()
    growth = Growth(trees=60, leaves=8, fewest=20, rate=0.1)
    for directions in ((1, 0, 1, 0, 0), (1, 0, 0, -1, 1)):
        ours = fit_trees(values, target, np.array(directions, np.int32), growth).predict(values)
        theirs = scikit_learns(values, target, directions)
        assert np.corrcoef(ours, theirs)[0, 1] > 0.995
        assert ((ours - target) ** 2).mean() < 1.1 * ((theirs - target) ** 2).mean()


Part = tuple[NDArray[np.intp], float, float]


def plain_tree(values: Floats, left: Floats, directions: tuple[int, ...], leaves: int, fewest: int) -> Floats:
    """What one tree of squared errors says of its own rows, by trying every split of every leaf within its bounds."""

    def value_and_error(rows: NDArray[np.intp], low: float, high: float) -> tuple[float, float]:
        value = float(np.clip(left[rows].mean(), low, high))
        return value, float(((left[rows] - value) ** 2).sum())

    parts: list[Part] = [(np.arange(len(left)), -np.inf, np.inf)]
    while len(parts) < leaves:
        best: tuple[float, int, Part, Part] | None = None
        for place, (rows, low, high) in enumerate(parts):
            whole = value_and_error(rows, low, high)[1]
            for column, direction in zip(values[rows].T, directions, strict=True):
                for cut in np.unique(column)[:-1]:
                    goes = column <= cut
                    if min(goes.sum(), (~goes).sum()) < fewest:
                        continue
                    first, first_error = value_and_error(rows[goes], low, high)
                    second, second_error = value_and_error(rows[~goes], low, high)
                    gain = whole - first_error - second_error
                    if direction * (second - first) < 0 or (best is not None and gain <= best[0] + 1e-9):
                        continue
                    middle = (first + second) / 2
                    ends = {0: (low, high, low, high), 1: (low, middle, middle, high), -1: (middle, high, low, middle)}
                    a, b, c, d = ends[direction]
                    best = (gain, place, (rows[goes], a, b), (rows[~goes], c, d))
        if best is None:
            break
        parts.pop(best[1])
        parts += best[2:]
    said = np.empty(len(left))
    for rows, low, high in parts:
        said[rows] = value_and_error(rows, low, high)[0]
    return said


@pytest.mark.parametrize("directions", [(0, 0, 0), (1, 0, 1), (-1, 1, 0)])
def test_trees_are_those_of_a_plain_loop(directions: tuple[int, ...]) -> None:
    values, target = data(rows=120, inputs=3, seed=4)
    fitted = np.full(len(target), target.mean())
    for _ in range(4):
        fitted += 0.3 * plain_tree(values, target - fitted, directions, leaves=5, fewest=5)
    growth = Growth(trees=4, leaves=5, fewest=5, rate=0.3)
    ours = fit_trees(values, target, np.array(directions, np.int32), growth)
    np.testing.assert_allclose(ours.predict(values), fitted, rtol=1e-5)


@given(st.integers(0, 50), st.sampled_from([1, -1]))
@settings(max_examples=15, deadline=None)
def test_along_a_bound_input_nothing_ever_falls(seed: int, direction: int) -> None:
    random = np.random.default_rng(seed)
    values = random.normal(size=(200, 3))
    target = np.sin(3 * values[:, 0]) + values[:, 1] + 0.1 * random.normal(size=200)
    bound = np.array([direction, 0, 0], np.int32)
    trees = fit_trees(values, target, bound, Growth(trees=40, fewest=5, row_share=0.7, input_share=0.7, seed=seed))
    along = np.repeat(values[:5], 50, axis=0)
    along[:, 0] = np.tile(np.linspace(-4, 4, 50), 5)
    steps = np.diff(trees.predict(along).reshape(5, 50), axis=1)
    assert (direction * steps >= -1e-9).all()


def test_samples_of_rows_and_inputs_come_from_the_seed() -> None:
    values, target = data()
    share = Growth(trees=20, row_share=0.5, input_share=0.4)
    first, again = (fit_trees(values, target, free(5), share).predict(values) for _ in range(2))
    other = fit_trees(values, target, free(5), Growth(trees=20, row_share=0.5, input_share=0.4, seed=1)).predict(values)
    assert (first == again).all()
    assert not np.allclose(first, other)


def test_cuts_lie_between_values_and_every_bin_is_in_bounds() -> None:
    random = np.random.default_rng(0)
    values = np.column_stack([random.normal(size=5000), random.integers(0, 3, 5000), np.zeros(5000)])
    limits = bin_limits(values)
    assert [len(cuts) for cuts in limits] == [63, 2, 0]
    bins = binned(values, limits)
    assert bins.max() == 63
    sizes = np.bincount(bins[:, 0])
    assert sizes.min() > 0.8 * 5000 / 64
    for column, cuts in zip(values.T, limits, strict=True):
        assert not np.isin(cuts, column).any()


def test_trees_are_written_down_and_read_back_to_the_same_numbers() -> None:
    values, target = data()
    model = TreesModel(trees=fit_trees(values, target, free(5), Growth(trees=30, row_share=0.5)))
    text = json.dumps(model.document())
    assert (read_model(json.loads(text), 5).predict(values) == model.predict(values)).all()


@pytest.mark.parametrize(
    "tree",
    [
        [[9, 0.5, 1, 2], [1.0], [2.0]],
        [[0, 0.5, 0, 2], [1.0], [2.0]],
        [[0, 0.5, 1, 7], [1.0], [2.0]],
        [[0, float("nan"), 1, 2], [1.0], [2.0]],
        [[0, 0.5, 1], [1.0]],
        [[float("inf")]],
        [],
        [[1.0]] * 4,
        "tree",
    ],
)
def test_damaged_trees_are_refused(tree: object) -> None:
    document = {"kind": "trees", "inputs": 5, "base": 0.0, "nodes": 3, "trees": [tree]}
    with pytest.raises(InvalidInput, match="damaged"):
        read_model(document, 5)


def test_trees_that_lead_back_are_refused_by_the_kernel_too() -> None:
    trees = Trees(
        inputs=1,
        nodes=3,
        base=0.0,
        input=np.array([0, -1, -1], np.int32),
        limit=np.zeros(3),
        children=np.array([0, 0, 0, 0, 0, 0], np.int32),
        value=np.zeros(3),
    )
    with pytest.raises(InvalidInput, match="fit together"):
        trees.predict(np.zeros((1, 1)))
