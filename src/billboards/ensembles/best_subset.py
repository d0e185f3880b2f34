"""The best subset of k metrics, refitted without shrinking (see `stats.subsets`)."""

from __future__ import annotations

from billboards.ensembles._family import Training, family
from billboards.ensembles._models import LinearModel
from billboards.ensembles._small import small_model
from billboards.stats.subsets import choose_subset


@family(small=True, items=False)
def best_subset(training: Training) -> LinearModel:
    """The best subset of k metrics, chosen on unseen generators and refitted without shrinking."""
    return small_model(training, choose_subset(training.blocks(), k=training.k))
