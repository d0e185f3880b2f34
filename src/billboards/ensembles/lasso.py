"""The paper's ensemble (Billboards, section 2.2): a lasso whose penalty leaves k metrics their weights."""

from __future__ import annotations

from billboards.ensembles._family import Training, family
from billboards.ensembles._models import LinearModel
from billboards.ensembles._small import small_model
from billboards.stats.ensemble import fit_lasso


@family(small=True, items=False)
def lasso(training: Training) -> LinearModel:
    """The paper's: the lasso that leaves k metrics their weights."""
    return small_model(training, fit_lasso(training.blocks(), k=training.k))
