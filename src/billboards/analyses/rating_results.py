"""Results about people's ratings: agreement, designs, severity, consensus, estimates, and ratings worth a second look.

Each says where the ratings come from (a board or a file), which dimension they speak of, and on how much they rest.
What has no value is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from billboards.analyses.ranking_results import Interval
from billboards.analyses.study_results import Mean


@dataclass(frozen=True, slots=True)
class AnnotatorAgreement:
    """How far annotators agree on one dimension, in all or in one population (a day, a campaign).

    `score` is the mean of all labels on 0-100. `icc_of_mean` is the reliability of the mean of the labels that an
    output has on average; `kappa` is the mean over the `pairs` of annotators who share enough outputs.
    """

    dimension: str
    population: str
    labels: int
    outputs: int
    shared: int
    annotators: int | None
    score: float
    score_interval: Interval
    alpha: float | None
    alpha_interval: Interval | None
    icc: float | None
    icc_interval: Interval | None
    icc_of_mean: float | None
    kappa: float | None
    pairs: int


@dataclass(frozen=True, slots=True)
class AnnotatorPair:
    """Cohen's kappa of two annotators over the outputs that both have rated."""

    dimension: str
    first: str
    second: str
    kappa: float | None
    outputs: int


@dataclass(frozen=True)
class AnnotatorAgreementStudy:
    """Agreement of annotators by dimension, and the same by population: is the score the same on another day?"""

    source: str
    level: str
    weights: str
    by: str | None
    resamples: int
    seed: int
    dimensions: tuple[AnnotatorAgreement, ...]
    populations: tuple[AnnotatorAgreement, ...] = ()
    pairs: tuple[AnnotatorPair, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DesignStanding:
    """What one way of asking leaves to chance, on the scale 0-1; the fields of `stats.designs.DesignResult`."""

    dimension: str
    scale: str
    aggregation: str
    labels: int
    score: float
    sd: float
    fixed_sd: float
    days: float
    separation: float | None


@dataclass(frozen=True, slots=True)
class DesignFinding:
    """Whether a conclusion of the paper holds for one dimension, with the figures it rests on."""

    dimension: str
    claim: str
    holds: bool
    figures: str


@dataclass(frozen=True)
class DesignStudy:
    """Ways of asking people compared on labels that are there; `several` labels an item stand against one.

    `half` labels an item are taken for several where random halves stand for days.
    """

    source: str
    several: int
    half: int
    rounds: int
    seed: int
    items: Mapping[str, int]
    labels: Mapping[str, int]
    groups: int
    designs: tuple[DesignStanding, ...]
    findings: tuple[DesignFinding, ...]


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    """A generator's mean rating on 0-100, plain and corrected for who rated it; `part` as in the study."""

    generator: str
    labels: int
    raw: float
    standardised: float
    corrected: float
    se: float
    interval: Interval
    part: int


@dataclass(frozen=True, slots=True)
class AnnotatorSeverity:
    """How far below the average annotator somebody rates, and how much more lenient 100 further ratings make them."""

    annotator: str
    labels: int
    severity: float
    interval: Interval
    drift: float
    drift_interval: Interval


@dataclass(frozen=True)
class SeverityStudy:
    """Annotators' severity and drift, and generators' means without them.

    `parts` counts the connected parts of the graph of annotators and generators: more than one means that generators of
    different parts can't be compared. `shared` of the `outputs` have several annotators.
    """

    source: str
    dimension: str
    drift: bool
    generators: tuple[CorrectedMean, ...]
    annotators: tuple[AnnotatorSeverity, ...]
    parts: int
    outputs: int
    shared: int
    annotator_sd: float
    drift_sd: float
    instance_sd: float
    residual_sd: float


@dataclass(frozen=True, slots=True)
class ConsensusMean:
    """A generator's mean over outputs under every aggregation of several labels, on 0-100."""

    generator: str
    outputs: int
    means: Mapping[str, float]


@dataclass(frozen=True)
class ConsensusStudy:
    """Several labels of an output made one in several ways, and how far each annotator is trusted by the models."""

    source: str
    dimension: str
    methods: tuple[str, ...]
    seed: int
    generators: tuple[ConsensusMean, ...]
    skill: Mapping[str, Mapping[str, float | None]]
    left_out: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GeneratorEstimate:
    """A generator's mean on one dimension or aggregate: bootstrap interval, worst case, and with a metric's help.

    `worst_se` is None where the scale has no declared ends. `with_metric` has no value where the metric has no score.
    """

    generator: str
    dimension: str
    labels: int
    outputs: int
    mean: float
    interval: Interval
    worst_se: float | None
    with_metric: Mean | None
    saved: float | None


@dataclass(frozen=True)
class EstimateStudy:
    """Every generator's mean human score on every dimension and overall."""

    board: str
    metric: str
    part: str
    resamples: int
    seed: int
    estimates: tuple[GeneratorEstimate, ...]
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NextItem:
    """An instance to label next: its chance to be drawn, and what its label will count."""

    instance: str
    probability: float
    weight: float
    expected_error: float


@dataclass(frozen=True)
class NextItems:
    """Which of a generator's outputs to label next, and with which chance each could have been drawn."""

    board: str
    generator: str
    aggregate: str
    metric: str
    labels: int
    labelled: int
    outputs: int
    seed: int
    design_effect: float
    items: tuple[NextItem, ...]
    probabilities: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ImplausibleRating:
    """A rating that lies far from what a metric makes one expect; `residual` above 0: people were kinder."""

    instance: str
    generator: str
    annotator: str | None
    value: float
    expected: float
    residual: float
    output: str
    input: str = ""
    reference: str = ""


@dataclass(frozen=True)
class ImplausibleStudy:
    """The ratings that a metric finds least plausible, for a second look by a person."""

    board: str
    aggregate: str
    metric: str
    part: str
    unit: Literal["rating", "output"]
    ratings: int
    beyond: int
    implausible: tuple[ImplausibleRating, ...]


RatingStudy = (
    AnnotatorAgreementStudy
    | DesignStudy
    | SeverityStudy
    | ConsensusStudy
    | EstimateStudy
    | NextItems
    | ImplausibleStudy
    | Mean
)
