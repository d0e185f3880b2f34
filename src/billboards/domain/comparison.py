"""Results that ask whether a difference is real: sensitivity of a ranking, and comparisons of two entries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from billboards.domain.ranking import Interval


@dataclass(frozen=True)
class Condition:
    """One way to rank the same metrics: another statistic, dimension, or without one generator."""

    name: str
    kind: Literal["statistic", "dimension", "without"]
    values: Mapping[str, float | None]
    ranks: Mapping[str, int | None]


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


@dataclass(frozen=True)
class MetricComparison:
    """Two metrics on the same judged outputs: does the first agree better with people?"""

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
    """Two generators under people and every metric, with the instances that decide it under one of them."""

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
