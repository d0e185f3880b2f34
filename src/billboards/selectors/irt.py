"""Item response theory: instances that say much about the generators' abilities, for what is noise in them."""

from __future__ import annotations

import numpy as np

from billboards.selectors._selector import Candidates, Floats, selector
from billboards.stats.selection import item_responses


@selector()
def irt(candidates: Candidates) -> Floats:
    """Where the metric's scores say much about the generators' abilities (information of a test's item)."""
    return np.sqrt(item_responses(candidates.relied_on).information)
