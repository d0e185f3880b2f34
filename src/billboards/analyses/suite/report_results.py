"""What a suite or some boards say about one metric: where it works, against which others, and where it fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from billboards.analyses.overrating import OverratingEstimate
from billboards.analyses.suite.results import Block, Measure, SuiteColumn, SuiteStanding
from billboards.analyses.suite.rivals import Rival


@dataclass(frozen=True, kw_only=True, slots=True)
class FailedOutput:
    """An output on which a metric and people differ: both places run from 0, the worst here, to 1, the best.

    Where people gave preferences, `output` is the one they prefer and `other` the one that the metric does.
    """

    instance: str
    generator: str
    metric_place: float
    human_place: float
    output: str
    reference: str = ""
    input: str = ""
    other: str = ""


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast a metric is: outputs per second, from its scoring or else from a sample that was timed."""

    per_second: float
    outputs: int
    measured: Literal["while scoring", "on a sample"]


@dataclass(frozen=True, kw_only=True)
class MetricOnColumn:
    """A metric in one column of a suite: agreement with people, place among the others, and how firm that place is.

    `beaten_by` and `beats` name metrics that differ significantly; `best` is the one that leads here. `ranks` are the
    best and the worst place under any other statistic, dimension, or without one generator.
    """

    column: SuiteColumn
    block: Block
    measures: Mapping[str, Measure] = field(default_factory=dict)
    n: int = 0
    rank: int | None = None
    of: int = 0
    best: str | None = None
    best_value: float | None = None
    beats: tuple[str, ...] = ()
    beaten_by: tuple[str, ...] = ()
    ranks: tuple[int, int] | None = None
    conditions: int = 0
    reason: str | None = None
    #: Whether others share the rank: they can't be told apart.
    shared: bool = False
    #: Every other metric here, the one that is furthest ahead first.
    rivals: tuple[Rival, ...] = ()
    #: Metrics without a rank here, each with the reason.
    unranked: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class MetricOnBoard:
    """What is true of a metric on a board as a whole: overrating of machines, speed, the outputs it fails on worst."""

    board: str
    metric: str
    signature: str
    overrating: OverratingEstimate | None = None
    human: str | None = None
    speed: Speed | None = None
    too_high: tuple[FailedOutput, ...] = ()
    too_low: tuple[FailedOutput, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BoardCheck:
    """What an audit or a challenge said of a metric on a board, in sentences, or why it could not be made."""

    board: str
    kind: Literal["audit", "challenge"]
    words: tuple[str, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class MetricReport:
    """One metric over all boards of a suite."""

    DOCUMENT: ClassVar[str] = "metric_report"

    suite: str
    metric: str
    card: Mapping[str, str]
    standing: SuiteStanding | None
    of: int
    beats: tuple[str, ...]
    beaten_by: tuple[str, ...]
    columns: tuple[MetricOnColumn, ...]
    boards: tuple[MetricOnBoard, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    draws: int = 0
    seed: int = 0
    drafts: tuple[str, ...] = ()
    #: Every other metric over all boards, and those that have no place there, each with the reason.
    rivals: tuple[Rival, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    #: Columns that the mean over all boards leaves out, each with the reason.
    columns_left_out: Mapping[str, str] = field(default_factory=dict)
    #: The metrics it was compared with anywhere, by where their scores are from.
    compared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: By what metrics were held against people.
    statistic: str = "pearson"
    #: What audits and challenges of it said, board by board, where they were asked for.
    checks: tuple[BoardCheck, ...] = ()
