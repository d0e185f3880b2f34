"""Metric average: instances that the metric says are hard (Zouhar et al. 2025, MetricAvg)."""

from __future__ import annotations

from billboards.selectors._selector import Candidates, Floats, selector
from billboards.stats.selection import difficulty as below_the_easiest


@selector()
def difficulty(candidates: Candidates) -> Floats:
    """Where the metric's mean score of an instance's outputs is low."""
    return below_the_easiest(candidates.relied_on)
