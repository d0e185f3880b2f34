"""Overrating (Billboards, §2.3): how much a metric prefers machines to people, beyond what people say.

s ~ 1 + machine + h + (1 | instance) by REML, one fit per metric, with s standardised (population sd) over the rows
used. The coefficient of `machine` is in standard deviations of the metric; 0 is neutral.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.errors import NotEnoughData
from billboards.stats.mixed import fit_random_intercept

Floats = NDArray[np.float64]

#: Half-width of a 90% normal interval in standard errors, as the paper rounds it.
Z90 = 1.645


@dataclass(frozen=True)
class Overrating:
    """The coefficient of `machine` with its 90% interval."""

    beta0: float
    se: float
    n: int
    instances: int

    @property
    def interval90(self) -> tuple[float, float]:
        return self.beta0 - Z90 * self.se, self.beta0 + Z90 * self.se


def overrating(scores: Floats, human: Floats, machine: NDArray[np.bool_]) -> Overrating:
    """Overrating from scores and judgments (rows × instances) and which rows are machines."""
    used = np.isfinite(scores) & np.isfinite(human)
    rows, instance = np.nonzero(used)
    if not used[machine].any() or not used[~machine].any():
        raise NotEnoughData("overrating compares machines with a person: both need scores and judgments")
    s, h = scores[used], human[used]
    if np.ptp(s) == 0:
        raise NotEnoughData("every output has the same score, so nothing is overrated")
    s = (s - s.mean()) / s.std()
    design = np.column_stack((np.ones(len(s)), machine[rows].astype(float), h - h.mean()))
    fit = fit_random_intercept(s, design, instance)
    return Overrating(float(fit.beta[1]), float(fit.se[1]), fit.n, fit.groups)
