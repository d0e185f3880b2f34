"""What an audit finds: how a metric fares when something is made for it, and what it rewards (Deutsch et al. 2022).

An audit holds its numbers and its verdict; whoever shows it computes nothing. Shares are of the machines on the board,
and scores are oriented: higher is better. Whoever shows one turns it back where its users read it the other way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from billboards.stats.bootstrap import Interval

OptimisationMethod = Literal["decode", "extract", "enumerate", "rerank", "risk", "write"]
Level = Literal["clear", "inconclusive", "suspect", "flagged"]
#: What came of one attack: the metric likes bad outputs, it likes good ones, nobody can be sure, nobody can say, or the
#: search did not even please the metric itself.
Outcome = Literal["fooled", "held", "unsure", "unjudged", "failed"]
#: A judge that is no metric.
PEOPLE = "people"
#: What a verdict weighs where several are at hand; a search that failed says less than one that did not.
SEVERITY: Mapping[Level, int] = {"inconclusive": 0, "clear": 1, "suspect": 2, "flagged": 3}


@dataclass(frozen=True, kw_only=True, slots=True)
class Landing:
    """Where an optimised output lands under one judge: its own metric, another metric, or people.

    `beaten` is the share of machines it stands above (half for equal ones). With a pool, each machine is compared with
    the optimum of the others. `margin` is the distance to the best machine, in standard deviations between machines.
    """

    judge: str
    mean: float
    best: str
    best_mean: float
    margin: float | None
    rank: int
    machines: int
    beaten: float
    n: int


@dataclass(frozen=True, kw_only=True, slots=True)
class HumanPlace:
    """A person's text scored as an output by one metric, and the share of machines that the metric puts above it."""

    judge: str
    person: str
    mean: float
    above: float
    machines: int
    n: int


@dataclass(frozen=True, slots=True)
class PseudoPoint:
    """A machine's mean under a reference-based metric with the optimised output as reference, and under the metric."""

    name: str
    pseudo: float
    metric: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Equivalence:
    """A metric's system scores against those of a reference-based metric with the optimised output as the reference.

    `leaving_out` says that a machine never supplied its own reference; `with_own` is the correlation where it may.
    `points` are the machines that are correlated.
    """

    judge: str
    correlation: float | None
    interval: Interval | None
    systems: int
    leaving_out: bool
    with_own: float | None = None
    points: tuple[PseudoPoint, ...] = ()


@dataclass(frozen=True, slots=True)
class Relative:
    """A machine's likeness to the optimised output, and what the metric gives it beyond its quality; standardised."""

    name: str
    similarity: float
    quality: float
    residual: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Exhibit:
    """An instance where the optimised output beats a person's text under the metric, and others find it worse.

    `standing` is the share of machines' outputs of this instance that the judges put below it.
    """

    instance: str
    input: str
    person: str
    reference: str
    optimised: str
    reference_score: float
    optimised_score: float
    standing: float


@dataclass(frozen=True, slots=True)
class SystemScores:
    """One generator's mean under each judge, for tables and rank-swap lines."""

    name: str
    kind: str
    means: Mapping[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One search for outputs that a metric likes, and what everyone says of what it found.

    `attack` is how much more the outputs beat under the metric than under all other judges on average,
    `people_attack` than under people alone; where people have judged, theirs counts. `random` says where a random
    choice from the same candidates lands: under the metric first, then under the judges.
    """

    method: OptimisationMethod
    how: str
    optimised: str
    pairs: int
    complete: bool
    own: Landing
    judges: tuple[Landing, ...]
    attack: float | None
    attack_interval: Interval | None
    people_attack: float | None
    people_interval: Interval | None
    random: tuple[Landing, ...]
    outcome: Outcome
    level: Level
    kinship: float | None
    kinship_interval: Interval | None
    equivalence: tuple[Equivalence, ...]


@dataclass(frozen=True, kw_only=True)
class MetricAudit:
    """Everything an audit says of one metric on one board: its strongest attack, and every attack beside it.

    `attack` is how much more the optimised output beats under the metric than under the other judges, from -1 to 1;
    `people_attack` than under people alone, which counts where there is one. `kinship` is the correlation of the metric
    with the likeness to its optimised output, at equal quality.
    """

    DOCUMENT: ClassVar[str] = "audit"

    board: str
    board_version: str
    metric: str
    signature: str
    reference_free: bool
    method: OptimisationMethod
    how: str
    optimised: str
    pairs: int
    complete: bool
    seed: int
    draws: int
    own: Landing
    judges: tuple[Landing, ...]
    attack: float | None
    attack_interval: Interval | None
    bias: tuple[HumanPlace, ...]
    overrating: float | None
    overrating_interval: Interval | None
    equivalence: tuple[Equivalence, ...]
    kinship: float | None
    kinship_interval: Interval | None
    relatives: tuple[Relative, ...]
    quality: str
    gallery: tuple[Exhibit, ...]
    systems: tuple[SystemScores, ...]
    level: Level
    words: str
    signs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    #: Metrics whose users read lower as better; tables turn their scores back, and mark them.
    lower: tuple[str, ...] = ()
    people_attack: float | None = None
    people_interval: Interval | None = None
    #: Where a random choice from the same candidates lands: under the metric first, then under the judges.
    random: tuple[Landing, ...] = ()
    #: None where an earlier version made the audit, which did not ask.
    outcome: Outcome | None = None
    #: Every attack that was tried, the strongest first.
    attacks: tuple[Attack, ...] = ()
    #: Attacks that suit the metric and could not be tried, with the reason.
    not_tried: Mapping[str, str] = field(default_factory=dict)

    @property
    def decisive(self) -> tuple[float | None, Interval | None]:
        """The attack score that counts, with its interval: by people where they have judged, else by all judges."""
        if self.people_attack is not None:
            return self.people_attack, self.people_interval
        return self.attack, self.attack_interval

    @property
    def severity(self) -> tuple[int, float]:
        """How much it speaks against the metric: the level first, then the attack score that counts."""
        return SEVERITY[self.level], -1.0 if self.decisive[0] is None else self.decisive[0]

    def share_above_people(self, judge: str | None = None) -> float | None:
        """The mean share of machines that a metric (by default, the audited one) puts above a person's text."""
        wanted = self.metric if judge is None else judge
        shares = [place.above for place in self.bias if place.judge == wanted]
        return sum(shares) / len(shares) if shares else None


@dataclass(frozen=True, kw_only=True, slots=True)
class ChallengeResult:
    """How often a metric prefers the text as it was to the text as it was spoilt in one way."""

    metric: str
    perturbation: str
    right: int
    tied: int
    pairs: int
    share: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class ChallengeText:
    """A text as it was and as it was spoilt, to be read."""

    perturbation: str
    instance: str
    text: str
    spoilt: str


@dataclass(frozen=True, kw_only=True)
class ChallengeReport:
    """Every metric on every way of spoiling a reference; `missing` says why a metric or a way has no result.

    `base` is the text that was spoilt; `against` are the references that reference-based metrics compared with.
    `attacks` are changes of length, style and language, which a metric must not prefer. `machine` is the generator
    whose outputs were spoilt for metrics that have no reference but the base, chosen by `machine_by`.
    """

    DOCUMENT: ClassVar[str] = "challenge"

    board: str
    base: str
    against: tuple[str, ...]
    language: str | None
    seed: int
    results: tuple[ChallengeResult, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    attacks: tuple[ChallengeResult, ...] = ()
    machine: str | None = None
    machine_by: str | None = None
    machine_results: tuple[ChallengeResult, ...] = ()
    texts: tuple[ChallengeText, ...] = ()
