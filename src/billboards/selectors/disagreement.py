"""Metric disagreement: outputs about which metrics contradict one another, so that people's word decides."""

from __future__ import annotations

from billboards.errors import NotEnoughData
from billboards.selectors._selector import Candidates, Floats, selector
from billboards.stats.selection import disagreement as between_metrics


@selector()
def disagreement(candidates: Candidates) -> Floats:
    """Where metrics contradict one another about an output."""
    if len(candidates.scores) < 2:
        raise NotEnoughData(f"metrics can't disagree where there are {len(candidates.scores)}; score with two or more")
    return between_metrics(candidates.scores)
