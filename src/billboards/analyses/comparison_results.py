"""Results that ask whether a difference is real: sensitivity of a ranking, and comparisons of two entries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from billboards.analyses.ranking_results import Interval, Resampled

#: What a permutation test exchanges together: single scores, or all of an instance or of a generator.
Unit = Literal["both", "instances", "generators"]
#: Pooled Pearson where people gave values, WMT's Kendall over pairs where they compared outputs.
Agreement = Literal["pearson", "kendall"]


@dataclass(frozen=True)
class Condition:
    """One way to rank the same metrics: another statistic, dimension, or without one generator.

    `n` counts what a value rests on: outputs, generators at system level, or pairs of either. `p` is two-sided, that
    there is no association, for correlations that have such a test.
    """

    name: str
    kind: Literal["statistic", "dimension", "without"]
    values: Mapping[str, float | None]
    ranks: Mapping[str, int | None]
    n: Mapping[str, int] = field(default_factory=dict)
    p: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RankRange:
    """Where a metric stands by default, and the best and worst place it takes under any condition."""

    name: str
    rank: int | None
    best: int | None
    worst: int | None
    moves: bool


@dataclass(frozen=True)
class Sensitivity:
    """The same ranking under every statistic, grouping and dimension, and without each generator in turn.

    `pulls` says, for each generator, by how much the metrics' correlations change without it (mean absolute change);
    `outliers` are those whose pull stands far above the others'.
    """

    board: str
    aggregate: str
    conditions: tuple[Condition, ...]
    metrics: tuple[RankRange, ...]
    pulls: Mapping[str, float]
    outliers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DecidingOutput:
    """One output that speaks for a side, with the texts to look at."""

    instance: str
    generator: str
    weight: float
    human: float | None
    first: float | None
    second: float | None
    output: str
    other: str = ""
    reference: str = ""
    #: Who wrote the other output, where people compared the two.
    other_generator: str = ""


@dataclass(frozen=True, slots=True)
class AccuracyComparison:
    """acc_eq of two metrics over the pairs of outputs that both decide, each at its best epsilon, and its p-values.

    `p_pairs` is the WMT metrics task's: decisions change sides pair by pair. `p_instances` lets all decisions about an
    instance change sides together, because they share outputs.
    """

    values: tuple[float, float]
    epsilons: tuple[float, float]
    difference: float
    p_pairs: float | None
    p_instances: float | None
    pairs: int
    instances: int


@dataclass(frozen=True)
class MetricComparison:
    """Two metrics on the same judged outputs: does the first agree better with people?

    `unit` says what PERM-BOTH and its kin exchange. `accuracy` is None where no two outputs of an instance are judged.
    P-values are one-sided, that the one ahead here is better. Where people compared outputs the `statistic` is WMT's
    Kendall over pairs, `n` counts these, and what needs values (`between`, `p_williams`, `accuracy`) is None.
    """

    board: str
    first: str
    second: str
    correlations: tuple[float | None, float | None]
    between: float | None
    difference: float | None
    interval: Interval | None
    p_permutation: float | None
    p_williams: float | None
    n: int
    draws: int
    seed: int
    needed: int | None
    for_first: tuple[DecidingOutput, ...]
    for_second: tuple[DecidingOutput, ...]
    accuracy: AccuracyComparison | None = None
    unit: Unit = "both"
    resampled: Resampled = "instances"
    statistic: Agreement = "pearson"


@dataclass(frozen=True, slots=True)
class MetricPair:
    """Two of all metrics, the one ahead first: does it agree better with people?

    `p` is two-sided (PERM-BOTH), `holm` and `bh` are p corrected for all pairs: for the chance of any false finding
    (Holm), and for the share of false ones among the findings (Benjamini-Hochberg). `accuracy` is the difference in
    acc_eq and `p_accuracy` the pairs permutation's two-sided p.
    """

    first: str
    second: str
    difference: float | None
    p: float | None
    holm: float | None
    bh: float | None
    n: int
    accuracy: float | None
    p_accuracy: float | None
    pairs: int


@dataclass(frozen=True)
class MetricPairs:
    """Every two metrics of a board compared, the surest difference first; no acc_eq where people compared outputs."""

    board: str
    aggregate: str
    part: str
    unit: Unit
    draws: int
    seed: int
    compared: tuple[MetricPair, ...]
    statistic: Agreement = "pearson"


@dataclass(frozen=True, slots=True)
class ScoreDifference:
    """One score's difference between two generators on the instances both have."""

    name: str
    means: tuple[float, float]
    difference: float
    p: float
    wins: int
    ties: int
    losses: int
    n: int


@dataclass(frozen=True)
class GeneratorComparison:
    """Two generators under people and every metric, with the instances that decide it under one of them.

    With `preferences`, people's scores are the shares of comparisons between the two that each won.
    """

    board: str
    first: str
    second: str
    scores: tuple[ScoreDifference, ...]
    decided_by: str
    needed: int | None
    draws: int
    seed: int
    for_first: tuple[DecidingOutput, ...]
    for_second: tuple[DecidingOutput, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    preferences: bool = False
