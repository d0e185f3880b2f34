"""Metric variance: instances on whose outputs the metric's scores lie far apart (Zouhar et al. 2025, MetricVar)."""

from __future__ import annotations

from billboards.selectors._selector import Candidates, Floats, selector
from billboards.stats.selection import spread


@selector()
def variance(candidates: Candidates) -> Floats:
    """Where the metric's scores of an instance's outputs lie far apart."""
    return spread(candidates.relied_on)
