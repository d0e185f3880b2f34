"""Expected gain: instances whose labels are expected to take most off the variance of a prediction-powered estimate.

The variance that is left after labelling is that of the people's scores on what is unlabelled. So an instance is worth
the spread that people's scores of its outputs are expected to have, learned from the labels so far.
"""

from __future__ import annotations

from billboards.selectors._selector import Candidates, Floats, selector
from billboards.stats.selection import expected_spread


@selector()
def gain(candidates: Candidates) -> Floats:
    """Where people's scores are expected to lie far apart, so that labels take most off the estimate's variance."""
    return expected_spread(candidates.relied_on, candidates.labels)
