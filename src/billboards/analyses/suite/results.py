"""Suites: several boards that judge the same metrics, and what they say together (BEAMetrics, §3 and §5.1).

A suite names boards, the dimensions of each, and which of these count as correctness. Its result is two tables, one of
correctness and one of the other dimensions, each in three blocks: with all references, with one, with none. A column
is one dimension of one board, or of a group of boards that count as one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from billboards.stats.bootstrap import Interval
from billboards.stats.preferences import Ties
from billboards.stats.significance import Sides
from billboards.stats.yardsticks import Yardstick, yardstick

Block = Literal["all", "one", "none"]
Role = Literal["correctness", "other"]
#: What people gave: values of outputs, or preferences between two of them.
Given = Literal["values", "preferences"]
#: Whether preferences stay out of means and rankings over boards of values, or count there like a correlation.
PreferencesIn = Literal["apart", "mixed"]
PREFERENCES_IN: tuple[PreferencesIn, ...] = ("apart", "mixed")
#: What a cell's measures are called: "pearson" and "kendall" (tau-b), both pooled; "preferences", (C - D)/(C + D), and
#: "accuracy" where people compared outputs; else a yardstick, as in "spearman/by-item".
SuiteStatistic = str
#: Yardsticks by the short names under which they were always kept.
SHORT = {"pearson/pooled": "pearson", "kendall-b/pooled": "kendall"}

PEARSON, KENDALL = yardstick("pearson"), yardstick("kendall-b")


def measure_key(how: Yardstick) -> str:
    """What a yardstick's measure is called in a cell."""
    return SHORT.get(how.name, how.name)


BLOCKS: tuple[Block, ...] = ("all", "one", "none")
ROLES: tuple[Role, ...] = ("correctness", "other")


@dataclass(frozen=True)
class SuiteBoard:
    """A board of a suite: where it lies, what of it counts as correctness, and how much it counts.

    Boards of one `group` share a column and its weight. `correctness` is None where what the board ranks by is meant,
    `others` where every other dimension with judgments is. `instead` says which metric stands in for which on this
    board, as a tokenizer of its language.
    """

    folder: Path
    correctness: tuple[str, ...] | None = None
    others: tuple[str, ...] | None = None
    label: str | None = None
    group: str | None = None
    task: str | None = None
    weight: float = 1.0
    difficulty: float | None = None
    reference: str | None = None
    instead: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Suite:
    """Boards that judge the same metrics, and the metrics they judge by default."""

    name: str
    boards: tuple[SuiteBoard, ...]
    metrics: tuple[str, ...] = ()
    title: str | None = None
    families: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: By what metrics are held against people, the first being what ranks; none stands for pooled Pearson.
    yardsticks: tuple[Yardstick, ...] = ()
    #: The preset that the yardsticks come from.
    preset: str | None = None
    ties: Ties = "wrong"
    preferences: PreferencesIn = "apart"
    #: The file it was read from; results are kept beside it.
    path: Path | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Measure:
    """How far a metric agrees with people: value, two-sided p of no agreement, standard error and 95% interval."""

    value: float
    p: float | None = None
    se: float | None = None
    interval: Interval | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SuiteColumn:
    """A column of a table: one dimension of one board, or the mean over a group of boards.

    `weights` says how much each board counts in the column; `weight` how much the column counts in the suite.
    """

    key: str
    label: str
    dimension: str
    role: Role
    given: Given
    weights: Mapping[str, float]
    weight: float = 1.0
    task: str | None = None
    difficulty: float | None = None


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """A line of a block: a metric, and what it is."""

    metric: str
    block: Block
    family: str | None = None
    is_statistic: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class SuiteCell:
    """One metric in one column and block: its measures by statistic, what they rest on, or why there are none."""

    metric: str
    column: str
    block: Block
    measures: Mapping[str, Measure] = field(default_factory=dict)
    n: int = 0
    signatures: tuple[str, ...] = ()
    reason: str | None = None
    #: The share of pairs that the metric ties, where people compared outputs.
    tied: float | None = None


@dataclass(frozen=True, slots=True)
class SuiteAverage:
    """A metric's weighted mean over the columns of correctness that its statistic fits: the same columns for all.

    A metric that lacks one of them has no average.
    """

    metric: str
    block: Block
    statistic: SuiteStatistic
    value: float
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FamilyPoint:
    """What the metrics of a family reach on average in a column of correctness, with all references (Fig. 2)."""

    family: str
    column: str
    value: float
    metrics: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SuiteResult:
    """What a suite says: columns, rows and cells of both tables, with the parts of grouped columns beside them.

    `substitutes` says which metric stood in for a row's on which board; `missing` why a metric has no scores anywhere.
    """

    DOCUMENT: ClassVar[str] = "suite"

    suite: str
    title: str | None
    columns: tuple[SuiteColumn, ...]
    rows: tuple[SuiteRow, ...]
    cells: tuple[SuiteCell, ...]
    parts: tuple[SuiteCell, ...] = ()
    averages: tuple[SuiteAverage, ...] = ()
    families: tuple[FamilyPoint, ...] = ()
    boards: Mapping[str, str] = field(default_factory=dict)
    substitutes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    draws: int = 0
    seed: int = 0
    #: Boards whose data cards lacked facts when the suite was measured.
    drafts: tuple[str, ...] = ()
    #: By what metrics are held against people, beside pooled Pearson and Kendall, which always are.
    yardsticks: tuple[str, ...] = ()
    preset: str | None = None
    ties: Ties = "wrong"
    preferences: PreferencesIn = "apart"

    def cell(self, row: SuiteRow, column: SuiteColumn) -> SuiteCell | None:
        """The cell of a row and a column, where there is one."""
        wanted = row.metric, column.key, row.block
        return next((c for c in self.cells if (c.metric, c.column, c.block) == wanted), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class SuiteStanding:
    """One metric's place over a suite: weighted mean of its values, interval, cluster; or the columns that it lacks."""

    metric: str
    rank: int | None
    value: float | None
    interval: Interval | None
    cluster: int | None
    values: Mapping[str, float | None]
    is_statistic: bool = False
    reference_free: bool = False
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class SuiteRanking:
    """One ranking over many boards; `p` holds, for each metric, the p of its difference from each other one.

    With one of `sides` it is that the metric is better than the other, with two that they differ.
    """

    DOCUMENT: ClassVar[str] = "suite_ranking"

    suite: str
    role: Role
    block: Block
    columns: tuple[SuiteColumn, ...]
    standings: tuple[SuiteStanding, ...]
    p: Mapping[str, Mapping[str, float | None]]
    n: Mapping[str, int]
    draws: int
    seed: int
    sides: Sides = "one"
    #: By what metrics were held against people; columns of preferences have (C - D)/(C + D).
    yardsticks: tuple[str, ...] = ("pearson",)
    preset: str | None = None
    ties: Ties = "wrong"
    preferences: PreferencesIn = "mixed"
    #: Columns that the mean leaves out, each with the reason.
    left_out: Mapping[str, str] = field(default_factory=dict)
    #: 95% intervals of the difference between one metric, which was asked about, and each other one.
    leads: Mapping[str, Interval] = field(default_factory=dict)
