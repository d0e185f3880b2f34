"""Small ensembles as models of all inputs: zero for everything but their metrics."""

from __future__ import annotations

import numpy as np

from billboards.ensembles._family import Training
from billboards.ensembles._models import LinearModel
from billboards.stats.ensemble import Linear


def small_model(training: Training, linear: Linear) -> LinearModel:
    """A combination of metrics, written for all inputs."""
    count = training.inputs.shape[1]
    weights, centre, scale = np.zeros(count), np.zeros(count), np.ones(count)
    weights[: training.metrics] = linear.weights
    centre[: training.metrics], scale[: training.metrics] = linear.centre, linear.scale
    return LinearModel(weights=weights, centre=centre, scale=scale, intercept=linear.intercept)
