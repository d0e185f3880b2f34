"""Chance: every instance is worth the same, which is what the others have to beat."""

from __future__ import annotations

import numpy as np

from billboards.selectors._selector import Candidates, Floats, selector


@selector()
def random(candidates: Candidates) -> Floats:
    """Where the seed says: every instance is worth the same."""
    return np.ones(candidates.labels.shape[1])
