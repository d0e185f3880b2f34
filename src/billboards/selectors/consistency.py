"""Metric consistency: instances that rank the generators as all instances together do (Zouhar et al. 2025)."""

from __future__ import annotations

from billboards.selectors._selector import Candidates, Floats, selector
from billboards.stats.selection import consistency as agreement_with_all


@selector()
def consistency(candidates: Candidates) -> Floats:
    """Where the metric ranks the generators as it does over all instances."""
    return agreement_with_all(candidates.relied_on)
