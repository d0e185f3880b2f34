"""Results of studies beyond a ranking: hybrid systems, people's mean from few labels, power, and two sources of people.

Each says on what it rests: how many outputs, instances and labels, which judgments and which seed. What has no value is
None, with the reason beside it where there is one to give.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from billboards.analyses.ranking_results import Interval


@dataclass(frozen=True, slots=True)
class HybridStanding:
    """How well one metric orders hybrids, and what happens to those who choose among them by it.

    `p` is Williams' one-sided p-value that the best metric correlates better; the best one itself has none. `hits` is
    the chance that the metric's pick is people's, `difference` what people's score loses by it.
    """

    name: str
    rank: int | None
    cluster: int | None
    correlation: float | None
    kendall: float | None
    p: float | None
    hits: float | None
    mrr: float | None
    difference: float | None


@dataclass(frozen=True)
class HybridStudy:
    """Metrics over random mixtures of a board's generators; `parents` is None where each mixes all of them."""

    board: str
    aggregate: str
    part: str
    mixtures: int
    parents: int | None
    sample: int
    seed: int
    instances: int
    generators: tuple[str, ...]
    metrics: tuple[HybridStanding, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean human score with its standard error and 95% interval, and how many labels a plain mean needs for it."""

    mean: float
    se: float | None
    interval: Interval | None
    effective: float | None


@dataclass(frozen=True)
class MeanEstimate:
    """A generator's mean human score from some labels, with a metric as control variate and without one.

    `labels` were used of the `available` ones, whose mean is `mean_of_all`; `instances` are the generator's outputs, of
    which the metric has scored `scored`. `target` says of what it is the mean: of these instances, or of the population
    they are a sample of. `fitted_on` names the generators that an ensemble was fitted on, never this one.
    """

    board: str
    generator: str
    aggregate: str
    part: str
    metric: str
    target: Literal["instances", "population"]
    labels: int
    available: int
    instances: int
    scored: int
    weight: float
    with_metric: Mean
    plain: Mean
    mean_of_all: float
    seed: int
    fitted_on: tuple[str, ...] = ()

    @property
    def saved(self) -> float | None:
        """Labels that need not be bought, thanks to the metric."""
        return None if self.with_metric.effective is None else self.with_metric.effective - self.labels


@dataclass(frozen=True, slots=True)
class PowerNeed:
    """What it takes to find a difference of the size seen here, by one score or in one unit.

    `units` are there and find it with the chance `power_here`; `needed` would find it with the chance asked for, None
    where there is no difference to find. `labels` is how many instances people must label to tell which of two
    generators they prefer on all of them, with this score as control variate (for people: alone).
    """

    name: str
    unit: Literal["instances", "generators"]
    difference: float
    units: int
    power_here: float
    needed: int | None
    labels: int | None = None


@dataclass(frozen=True)
class PowerStudy:
    """What it takes to tell two metrics or two generators apart, and why some of it can't be said."""

    board: str
    first: str
    second: str
    entries: Literal["metrics", "generators"]
    aggregate: str
    part: str
    power: float
    level: float
    needs: tuple[PowerNeed, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    #: Whether people compared outputs: their scores are then shares of comparisons won.
    preferences: bool = False


@dataclass(frozen=True, slots=True)
class AgreementLevel:
    """Correlations of two sources of judgments over single outputs, or over generators' means."""

    level: Literal["outputs", "generators"]
    pearson: float | None
    spearman: float | None
    kendall: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One output that two sources judge differently; `difference` is that of their z-scores, first - second."""

    instance: str
    generator: str
    difference: float
    first: float
    second: float
    output: str
    input: str = ""
    reference: str = ""


@dataclass(frozen=True)
class AgreementStudy:
    """Two sources of judgments on the outputs that both judged, and the outputs on which they differ most.

    `bias` is the mean of first - second and `distance` the mean of |first - second| on the scale of 0-100;
    `standardised_distance` is that of z-scores, None where a source doesn't vary: then there are no corners either.
    """

    board: str
    first: str
    second: str
    part: str
    levels: tuple[AgreementLevel, ...]
    bias: float
    distance: float
    standardised_distance: float | None
    first_above: tuple[Disagreement, ...]
    second_above: tuple[Disagreement, ...]


@dataclass(frozen=True)
class BoardStudies:
    """The studies that a report shows beside a ranking; `left_out` says what is not there, why, and how to get it."""

    hybrids: HybridStudy | None = None
    estimates: tuple[MeanEstimate, ...] = ()
    power: tuple[PowerStudy, ...] = ()
    agreement: AgreementStudy | None = None
    left_out: tuple[str, ...] = ()
