"""Ridge and boosting together, each with the weight that predicts unseen generators in unseen documents best."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from billboards.ensembles._family import Training, family, inner_folds
from billboards.ensembles._models import MixedModel, Model
from billboards.ensembles.boosting import QUICK, boosting, grown
from billboards.ensembles.ridge import ridge

MEMBERS = (ridge, boosting)
#: Groups of generators and of documents that the weights are chosen by.
GENERATORS, DOCUMENTS = 3, 2


@family()
def stacking(training: Training) -> MixedModel:
    """Ridge and boosting averaged, with weights chosen inside the training part."""
    members: tuple[Model, ...] = tuple(member.fit(training) for member in MEMBERS)
    level = float(training.target.mean())
    return MixedModel(members=members, weights=_weights(training, level), intercept=level)


def _weights(training: Training, level: float) -> tuple[float, ...]:
    """Weights of at least 0 by least squares on predictions of what a member's fit has not seen."""
    rows, columns = inner_folds(training, GENERATORS, DOCUMENTS)
    predicted = np.zeros((len(training.target), len(MEMBERS)))
    covered = np.zeros(len(training.target), bool)
    for row in range(int(rows.max()) + 1):
        for column in range(int(columns.max()) + 1):
            held, seen = (rows == row) & (columns == column), (rows != row) & (columns != column)
            if held.any() and seen.sum() > training.inputs.shape[1]:
                part = training.only(seen)
                members: tuple[Model, ...] = (ridge.fit(part), grown(part, QUICK))
                for k, member in enumerate(members):
                    predicted[held, k] = member.predict(training.inputs[held]) - level
                covered |= held
    if not covered.any():
        return (1 / len(MEMBERS),) * len(MEMBERS)
    weights = nnls(predicted[covered], training.target[covered] - level)[0]
    total = weights.sum()
    return tuple(map(float, weights / total)) if total > 0 else (1 / len(MEMBERS),) * len(MEMBERS)
