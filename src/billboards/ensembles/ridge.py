"""Ridge regression over all inputs, its penalty chosen on generators and documents that its fit has not seen.

The choice needs no refit of rows: sums over blocks of generators and documents are enough for every penalty.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from billboards.ensembles._family import Training, family, inner_folds, standardising
from billboards.ensembles._models import LinearModel

Floats = NDArray[np.float64]

#: Penalties that are tried, each per training output.
PENALTIES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0)
#: Groups of generators and of documents that the penalty is chosen by.
GROUPS = 3


@family()
def ridge(training: Training) -> LinearModel:
    """Ridge regression over all metrics, means over the other generators, and length."""
    mean, spread = standardising(training.inputs)
    inputs, level = (training.inputs - mean) / spread, float(training.target.mean())
    target = training.target - level
    penalty = _chosen_penalty(training, inputs, target)
    weights = _solve(inputs.T @ inputs, inputs.T @ target, penalty * len(target))
    return LinearModel(weights=weights, centre=mean, scale=spread, intercept=level)


def _solve(products: Floats, moments: Floats, penalty: float) -> Floats:
    return np.asarray(np.linalg.solve(products + penalty * np.eye(len(products)), moments))


def _chosen_penalty(training: Training, inputs: Floats, target: Floats) -> float:
    """The penalty whose predictions of unseen generators in unseen documents have the highest correlation."""
    rows, columns = inner_folds(training, GROUPS, GROUPS)
    if rows.max() == 0 or columns.max() == 0:
        return PENALTIES[len(PENALTIES) // 2]
    count = inputs.shape[1]
    shape = (int(rows.max()) + 1, int(columns.max()) + 1)
    products, moments, sizes = np.zeros((*shape, count, count)), np.zeros((*shape, count)), np.zeros(shape)
    for row, column in np.ndindex(shape):
        block = (rows == row) & (columns == column)
        products[row, column] = inputs[block].T @ inputs[block]
        moments[row, column], sizes[row, column] = inputs[block].T @ target[block], block.sum()
    predicted = np.zeros((len(PENALTIES), len(target)))
    for row, column in np.ndindex(shape):
        held = (rows == row) & (columns == column)
        seen = np.ix_(np.arange(shape[0]) != row, np.arange(shape[1]) != column)
        n = sizes[seen].sum()
        if not held.any() or not n:
            continue
        whole, moment = products[seen].sum(axis=(0, 1)), moments[seen].sum(axis=(0, 1))
        # Sums are symmetric and positive, so that one decomposition serves every penalty.
        values, vectors = np.linalg.eigh(whole)
        turned, held_inputs = vectors.T @ moment, inputs[held] @ vectors
        for k, penalty in enumerate(PENALTIES):
            predicted[k, held] = held_inputs @ (turned / (np.maximum(values, 0.0) + penalty * n))
    return PENALTIES[int(np.argmax([_correlation(row, target) for row in predicted]))]


def _correlation(predicted: Floats, target: Floats) -> float:
    centred = predicted - predicted.mean()
    spread = np.sqrt(centred @ centred)
    return float(centred @ target / spread) if spread > 0 else -np.inf
