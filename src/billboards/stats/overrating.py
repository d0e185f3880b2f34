"""Overrating (Billboards, §2.3): how much a metric prefers machines to people, beyond what people say.

s ~ 1 + machine + h + (1 | instance) by REML, one fit per metric, with s standardised (population sd) over the rows
used. The coefficient of `machine` is in standard deviations of the metric; 0 is neutral. Metrics that have scored the
same outputs share the sums of the design and are fitted together. Missing and infinite values are left out. The
paper's model asks about these generators; with generators as a second random effect, about machines like them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.errors import NotEnoughData
from billboards.stats.crossed import CrossedFit, fit_crossed
from billboards.stats.group_sums import check_design, gather_grid
from billboards.stats.mixed import fit_sums

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Half-width of a 90% normal interval in standard errors, as the paper rounds it.
Z90 = 1.645

#: Metrics are fitted in blocks of at most this many scores, so that memory stays bounded on large boards.
_BLOCK = 1_000_000

#: In standard deviations of the metric, what is no more than rounding.
_NEUTRAL = 1e-12

_CONSTANT = "every output has the same score, so nothing is overrated"


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


@dataclass(frozen=True)
class Overratings:
    """Overrating of every metric: NaN where it is not defined, and then the reason why; "" elsewhere."""

    beta0: Floats
    se: Floats
    n: NDArray[np.int64]
    instances: NDArray[np.int64]
    why: tuple[str, ...]

    def of(self, metric: int) -> Overrating:
        """That of one metric; refused where it has none."""
        if self.why[metric]:
            raise NotEnoughData(self.why[metric])
        return Overrating(*(part[metric].item() for part in (self.beta0, self.se, self.n, self.instances)))


@dataclass(frozen=True)
class CrossedOverrating:
    """The coefficient of `machine` where generators, too, are a sample: its error counts how generators differ."""

    fit: CrossedFit

    @property
    def beta0(self) -> float:
        return float(self.fit.beta[1])

    @property
    def se(self) -> float:
        return float(self.fit.se[1])

    @property
    def p(self) -> float:
        """Two-sided, by Satterthwaite's t-test."""
        return float(self.fit.p[1])

    @property
    def interval90(self) -> tuple[float, float]:
        """By Satterthwaite's t-distribution: few generators make it wide."""
        return self.fit.interval(1, level=0.9)


def overrating(scores: Floats, human: Floats, machine: Bools) -> Overrating:
    """Overrating from scores and judgments (rows × instances) and which rows are machines."""
    return overrating_all(scores[None], human, machine).of(0)


def overrating_all(scores: Floats, human: Floats, machine: Bools) -> Overratings:
    """Overrating of every metric (metrics × rows × instances).

    A metric equal to the judgments is neutral with a standard error of 0; one that gives all outputs of an instance
    the same score is neutral, too, with a standard error that vanishes beside any other.
    """
    beta0, se = np.full((2, len(scores)), np.nan)
    n, instances = np.zeros((2, len(scores)), np.int64)
    why = np.full(len(scores), "", object)
    for metrics, used in _alike(scores, human):
        n[metrics], instances[metrics] = used.sum(), used.any(axis=0).sum()
        step = max(1, _BLOCK // max(human.size, 1))
        for block in (metrics[start : start + step] for start in range(0, len(metrics), step)):
            try:
                beta0[block], se[block], constant = _measure(scores[block], used, human, machine)
                why[block] = np.where(constant, _CONSTANT, "")
            except NotEnoughData as error:
                why[block] = str(error)
    return Overratings(beta0, se, n, instances, tuple(why))


def overrating_crossed(scores: Floats, human: Floats, machine: Bools) -> CrossedOverrating:
    """Overrating under s ~ 1 + machine + h + (1 | instance) + (1 | generator), from rows × instances."""
    used = np.isfinite(scores) & np.isfinite(human)
    _check(used, human, machine)
    s = scores[used]
    if np.ptp(s) <= 1e-12 * np.abs(s).max():
        raise NotEnoughData(_CONSTANT)
    design = np.stack((np.ones(used.shape), np.where(machine[:, None] & used, 1.0, 0.0), human - human[used].mean()))
    return CrossedOverrating(fit_crossed(np.where(used, (scores - s.mean()) / s.std(), np.nan), design))


def _alike(scores: Floats, human: Floats) -> list[tuple[NDArray[np.intp], Bools]]:
    """Metrics grouped by the outputs they are measured on, with those outputs."""
    judged = np.isfinite(human)
    groups: dict[bytes, list[int]] = {}
    for metric, own_scores in enumerate(scores):
        groups.setdefault(np.packbits(np.isfinite(own_scores) & judged).tobytes(), []).append(metric)
    return [(np.array(group), np.isfinite(scores[group[0]]) & judged) for group in groups.values()]


def _check(used: Bools, human: Floats, machine: Bools) -> None:
    """Refuse outputs that can't tell machines from people at equal judgments."""
    if not used[machine].any() or not used[~machine].any():
        raise NotEnoughData("overrating compares machines with a person: both need scores and judgments")
    if np.ptp(human[used]) == 0:
        raise NotEnoughData("every judgment is the same, so scores can't be compared at equal quality")


def _check_spread(design: Floats, used: Bools) -> None:
    """Refuse outputs that a level per instance and the slopes fit as they are: their intervals would have no width.

    Where no instance has two outputs, levels and errors are one, and it is least squares.
    """
    n, instances = int(used.sum()), int(used.any(axis=0).sum())
    if not instances < n <= instances + len(design):
        return
    within = (design - design.sum(axis=1, keepdims=True) / np.maximum(used.sum(axis=0), 1)) * used
    slopes = int(np.linalg.matrix_rank(within.reshape(len(design), -1)))
    if n <= instances + slopes:
        raise NotEnoughData(
            f"{n} outputs of {instances} instances leave nothing to measure the uncertainty by; "
            f"{instances + slopes + 1} or more are needed"
        )


def _measure(scores: Floats, used: Bools, human: Floats, machine: Bools) -> tuple[Floats, Floats, Bools]:
    """Coefficients, standard errors, and whether a metric is constant, of metrics measured on the same outputs."""
    _check(used, human, machine)
    h = human[used]
    table = np.zeros((3 + len(scores), *used.shape))
    table[0], table[1] = used, used & machine[:, None]
    np.subtract(human, h.mean(), out=table[2], where=used)
    np.copyto(table[3:], scores, where=used)
    mean = table[3:].sum(axis=(1, 2), keepdims=True) / len(h)
    np.subtract(table[3:], mean, out=table[3:], where=used)
    spread = np.maximum(table[3:].max(axis=(1, 2)), -table[3:].min(axis=(1, 2)))
    constant = spread <= 1e-12 * np.abs(mean[:, 0, 0])
    table[3:] /= np.where(constant, 1.0, spread)[:, None, None]
    sums = gather_grid(table, used, 3)
    check_design(sums.total[0, :3, :3], sums.n)
    _check_spread(table[1:3], used)
    fits = fit_sums(sums)
    # Standardising the scores would only divide coefficient and standard error.
    sd = np.where(constant, np.nan, np.sqrt(sums.total[:, 3, 3] / sums.n))
    beta0 = fits.beta[:, 1] / sd
    # A coefficient of rounding errors alone must not pass for one with a narrow interval beside 0.
    return np.where(np.abs(beta0) < _NEUTRAL, 0.0, beta0), fits.se[:, 1] / sd, constant
