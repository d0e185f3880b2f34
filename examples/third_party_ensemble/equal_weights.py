"""All metrics with the same weight: what a committee would do that trusts nobody more than the others."""

import numpy as np

from billboards.ensembles import LinearModel, Training, family


@family(small=False, items=False)
def equal_weights(training: Training) -> LinearModel:
    """Every metric with the same weight, on the judgments' scale."""
    scores = training.inputs[:, : training.metrics]
    centre, scale = scores.mean(axis=0), np.maximum(scores.std(axis=0), 1e-12)
    together = ((scores - centre) / scale).mean(axis=1)
    level = float(training.target.mean())
    slope = float(together @ (training.target - level) / max(together @ together, 1e-12))
    weights = np.full(training.metrics, slope / training.metrics)
    return LinearModel(weights=weights, centre=centre, scale=scale, intercept=level)
