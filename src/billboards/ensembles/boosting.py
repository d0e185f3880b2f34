"""Boosted trees in which a score may only help: along a metric, or its lead over other generators, none ever falls."""

from __future__ import annotations

from dataclasses import replace

from billboards.ensembles._family import Training, family
from billboards.ensembles._models import TreesModel
from billboards.metrics.kernels.boosting import Growth, fit_trees

#: Small trees, slowly, each from a part of the outputs and of the inputs.
GROWTH = Growth(trees=200, leaves=8, fewest=20, rate=0.05, row_share=0.5, input_share=0.3)


#: The same in half as many steps, for choices that only compare.
QUICK = replace(GROWTH, trees=GROWTH.trees // 2, rate=2 * GROWTH.rate)


@family()
def boosting(training: Training) -> TreesModel:
    """Boosted trees over all metrics, means over the other generators, and length; scores may only help."""
    return grown(training, GROWTH)


def grown(training: Training, growth: Growth) -> TreesModel:
    """Trees grown in a given way."""
    return TreesModel(trees=fit_trees(training.inputs, training.target, training.directions, growth))
