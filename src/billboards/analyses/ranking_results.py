"""Rankings: what a board says at one moment, kept as it was said.

A ranking is an immutable snapshot with everything that went into it; the same inputs give the same id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from billboards.board import Origin

Interval = tuple[float, float]
Method = Literal["lasso", "best-subset"]
#: What a bootstrap draws again and again: which others a claim is about.
Resampled = Literal["instances", "documents", "generators", "both"]


@dataclass(frozen=True, slots=True)
class MetricStanding:
    """One metric's place: its correlation with people, on how many pairs, how sure.

    Metrics of one `cluster` can't be told apart on this board, and share a rank.
    """

    name: str
    signature: str
    rank: int | None
    correlation: float | None
    n: int
    interval: Interval | None
    references: tuple[str, ...]
    origin: Origin
    source_name: str | None
    reference_free: bool
    is_statistic: bool = False
    cluster: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class GeneratorStanding:
    """One generator's place under the metric that leads, with its mean under every metric.

    Generators of one `cluster` can't be told apart by that metric on these instances, and share a rank.
    """

    name: str
    kind: str
    rank: int | None
    scores: Mapping[str, float | None]
    covered: Mapping[str, int]
    human: float | None
    judged: int
    reason: str | None = None
    cluster: int | None = None


@dataclass(frozen=True)
class Ensemble:
    """A linear combination of metrics, complete enough to be recomputed from this alone (§2.2).

    A score is intercept + Σ weight · (score - centre) / scale, on the judgments' 0-100 scale.
    """

    board: str
    board_version: str
    version: int
    references: tuple[str, ...]
    lam: float
    lam_range: tuple[float, float] | None
    k: int
    weights: Mapping[str, float]
    centres: Mapping[str, float]
    scales: Mapping[str, float]
    signatures: Mapping[str, str]
    intercept: float
    correlation: float | None
    n: int
    aggregate: str
    candidates: tuple[str, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    part: str = ""
    method: Method = "lasso"

    @property
    def signature(self) -> str:
        part = f"+part.{self.part}" if self.part else ""
        method = "" if self.method == "lasso" else f"+{self.method}"
        return f"ensemble.{self.board}{part}{method}+refs.{_short(self.references)}+version.{self.version}"


@dataclass(frozen=True, slots=True)
class ReferenceLine:
    """Something that is no metric, measured like one: a sentinel that sees too little to judge, or a person.

    A metric near a sentinel has learned what the sentinel sees; a metric near a person is as good as this board's
    judgments can tell.
    """

    name: str
    kind: Literal["sentinel", "annotator"]
    correlation: float | None
    n: int
    summary: str


@dataclass(frozen=True)
class Ranking:
    """What a board says at one moment.

    `alternative` is the ensemble fitted the other way (the paper's lasso, or the best subset) on the same scores.
    """

    board: str
    board_version: str
    statistic: str
    grouping: str
    aggregate: str
    part: str
    references: tuple[str, ...]
    seed: int
    draws: int
    metrics: tuple[MetricStanding, ...]
    generators: tuple[GeneratorStanding, ...]
    ranked_by: str | None
    ensemble: Ensemble | None
    notes: tuple[str, ...] = ()
    alternative: Ensemble | None = None
    lines: tuple[ReferenceLine, ...] = ()
    resampled: Resampled = "instances"


def _short(references: tuple[str, ...]) -> str:
    """Names in as few letters as tell them apart: Human-A, Human-B become AB."""
    if not references:
        return "none"
    if len(references) > 4:
        return f"{len(references)}"
    prefix = 0
    while len(references) > 1 and all(len(r) > prefix + 1 and r[prefix] == references[0][prefix] for r in references):
        prefix += 1
    tails = [r[prefix:] for r in references]
    return "".join(tails) if all(len(t) == 1 for t in tails) else ",".join(tails)


@dataclass(frozen=True, slots=True)
class OverratingEstimate:
    """How much one metric overrates machines over people, in its standard deviations (§2.3).

    Where generators, too, count as a sample, `p` is Satterthwaite's two-sided one, and `components` holds the shares of
    variance between instances, between generators, and left over.
    """

    name: str
    signature: str
    beta0: float
    se: float
    interval90: Interval
    n: int
    instances: int
    p: float | None = None
    components: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class OverratingReport:
    """Overrating of every metric that can be measured, and why the others can't.

    `crossed` says that generators were a second random effect: it is about machines like these, not these alone.
    """

    board: str
    human: str
    references: tuple[str, ...]
    aggregate: str
    metrics: tuple[OverratingEstimate, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    crossed: bool = False


@dataclass(frozen=True, slots=True)
class ReferencePoint:
    """A metric's correlation with a number of references: mean, lowest and highest over the subsets tried."""

    size: int
    correlation: float
    low: float
    high: float
    subsets: int


@dataclass(frozen=True)
class ReferenceEffect:
    """Correlation of each reference-based metric as references are added (Fig. 3), beside reference-free ones."""

    board: str
    aggregate: str
    seed: int
    curves: Mapping[str, tuple[ReferencePoint, ...]]
    reference_free: Mapping[str, float]
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ablation:
    """The ensemble without one of its metrics, tuned and measured anew (Table 11)."""

    removed: str
    correlation: float | None
    weights: Mapping[str, float]
    lam: float


@dataclass(frozen=True)
class EnsembleStudy:
    """What each metric is worth to the ensemble.

    `gains` says, for every candidate, how much the leave-one-generator-out correlation falls when the metric is not
    among the candidates; `correlations` is the Pearson correlation of every pair of metrics on the judged outputs.
    """

    ensemble: Ensemble
    ablations: tuple[Ablation, ...]
    gains: Mapping[str, float | None]
    names: tuple[str, ...]
    correlations: tuple[tuple[float | None, ...], ...]
