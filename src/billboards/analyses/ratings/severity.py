"""Severity and drift of annotators, and means without them.

Annotators' severity and drift on one dimension, and what generators' means are without them.

Outputs, or instances where outputs have one label each, take part as random effects, so that an annotator who got the
hard ones is not taken for a severe one. Means are on 0-100; beside them stand plain means and those of ratings that
were standardised by annotator, the common remedy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from billboards.analyses._analysis import analysis
from billboards.analyses._view import View
from billboards.analyses.ratings._ratings import CampaignsOption, DimensionsOption, RatingColumns, ratings_of, together
from billboards.errors import NotEnoughData
from billboards.show.table import Table, TableColumn, rows_of
from billboards.stats.bootstrap import Interval
from billboards.stats.ratings import UNKNOWN
from billboards.stats.severity import SeverityFit, correct_severity


@dataclass(frozen=True, kw_only=True, slots=True)
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


@dataclass(frozen=True, kw_only=True, slots=True)
class AnnotatorSeverity:
    """How far below the average annotator somebody rates, and how much more lenient 100 further ratings make them."""

    annotator: str
    labels: int
    severity: float
    interval: Interval
    drift: float
    drift_interval: Interval


@dataclass(frozen=True, kw_only=True)
class SeverityStudy:
    """Annotators' severity and drift, and generators' means without them.

    `parts` counts the connected parts of the graph of annotators and generators: more than one means that generators of
    different parts can't be compared. `shared` of the `outputs` have several annotators.
    """

    DOCUMENT: ClassVar[str] = "severity"

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


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Half the width of a 95% interval in standard errors.
_WIDE = 1.959964


def study_severity(columns: RatingColumns, *, drift: bool = True) -> SeverityStudy:
    """Severity, drift and corrected means from the ratings whose generator and annotator are known.

    Drift needs to know when each rating was given: the order of a file is often that of generators, not of work.
    """
    ratings = columns.only((columns.annotator != UNKNOWN) & (columns.generator != UNKNOWN))
    if not len(ratings):
        raise NotEnoughData(
            f"{columns.source}: severity needs ratings by known annotators of known generators, and none of "
            f"{columns.dimension.name} is"
        )
    (generators, generator), (annotators, annotator) = (
        np.unique(codes, return_inverse=True) for codes in (ratings.generator, ratings.annotator)
    )
    counts = np.unique(ratings.output, return_counts=True)[1]
    labelled_often = len(ratings) > 1.5 * len(counts)
    group = np.unique(ratings.output if labelled_often else ratings.instance, return_inverse=True)[1]
    drift = drift and bool(np.isfinite(ratings.time).all())
    time = ratings.time if drift else np.zeros(len(ratings))
    fit = correct_severity(ratings.on_100, generator, group, annotator, time=time, drift=drift)
    return SeverityStudy(
        source=columns.source,
        dimension=columns.dimension.name,
        drift=drift,
        generators=_means(fit, ratings, generator, [ratings.generators[k] for k in generators], annotator),
        annotators=_annotators(fit, np.bincount(annotator), [ratings.annotators[k] for k in annotators]),
        parts=int(fit.part.max()) + 1,
        outputs=len(counts),
        shared=int((counts > 1).sum()),
        annotator_sd=float(np.sqrt(fit.annotator_variance)),
        drift_sd=float(np.sqrt(fit.drift_variance)),
        instance_sd=float(np.sqrt(fit.instance_variance)),
        residual_sd=float(np.sqrt(fit.residual_variance)),
    )


def _means(
    fit: SeverityFit, ratings: RatingColumns, generator: Ints, names: list[str], annotator: Ints
) -> tuple[CorrectedMean, ...]:
    labels = np.bincount(generator)
    standardised = np.bincount(generator, _standardised(ratings.on_100, annotator)) / labels
    means = [
        CorrectedMean(
            generator=name,
            labels=int(labels[k]),
            raw=float(fit.raw[k]),
            standardised=float(standardised[k]),
            corrected=float(fit.means[k]),
            se=float(fit.se[k]),
            interval=_interval(fit.means[k], fit.se[k]),
            part=int(fit.part[k]),
        )
        for k, name in enumerate(names)
    ]
    return tuple(sorted(means, key=lambda mean: -mean.corrected))


def _annotators(fit: SeverityFit, labels: Ints, names: list[str]) -> tuple[AnnotatorSeverity, ...]:
    severities = [
        AnnotatorSeverity(
            annotator=name,
            labels=int(labels[k]),
            severity=float(fit.severity[k]),
            interval=_interval(fit.severity[k], fit.severity_se[k]),
            drift=float(fit.drift[k]),
            drift_interval=_interval(fit.drift[k], fit.drift_se[k]),
        )
        for k, name in enumerate(names)
    ]
    return tuple(sorted(severities, key=lambda annotator: -annotator.severity))


def _standardised(values: Floats, annotator: Ints) -> Floats:
    """z-scores of each annotator's ratings; 0 for one who always says the same."""
    count = np.bincount(annotator)
    centred = values - (np.bincount(annotator, values) / count)[annotator]
    spread = np.sqrt(np.bincount(annotator, centred**2) / count)[annotator]
    return np.divide(centred, spread, out=np.zeros(len(values)), where=spread > 1e-9)


def _interval(value: float, se: float) -> Interval:
    return float(value - _WIDE * se), float(value + _WIDE * se)


def severity_tables(study: SeverityStudy) -> tuple[Table, Table]:
    """Generators' means without the annotators' severity, and the annotators."""
    of_generators = (
        TableColumn("generator", "generator", "left"),
        TableColumn("corrected", "corrected", digits=2),
        TableColumn("interval", "95% interval", digits=2, kind="interval"),
        TableColumn("raw", "plain mean", digits=2),
        TableColumn("standardised", "z-scored", digits=3),
        TableColumn("labels", "labels"),
        TableColumn("part", "part", visible=study.parts > 1),
        TableColumn("se", "standard error", digits=3, visible=False),
        TableColumn("dimension", "dimension", visible=False),
    )
    of_annotators = (
        TableColumn("annotator", "annotator", "left"),
        TableColumn("severity", "severity", digits=2),
        TableColumn("interval", "95% interval", digits=2, kind="interval"),
        TableColumn("drift", "drift per 100", digits=2, visible=study.drift),
        TableColumn("drift_interval", "95% interval", digits=2, kind="interval", visible=study.drift),
        TableColumn("labels", "labels"),
        TableColumn("dimension", "dimension", visible=False),
    )
    title = f"{study.source}: {study.dimension}"
    generators, annotators = (
        tuple({**row, "dimension": study.dimension} for row in rows_of(some))
        for some in (study.generators, study.annotators)
    )
    return (
        Table(f"{title}, corrected for severity", of_generators, generators, _severity_facts(study)),
        Table(
            f"{title}, annotators by severity",
            of_annotators,
            annotators,
            (
                "Above 0: more severe than the average"
                + ("; drift above 0: more lenient with time. Both" if study.drift else ". Values")
                + " are drawn towards 0 where ratings are few.",
            ),
        ),
    )


def _severity_facts(study: SeverityStudy) -> tuple[str, ...]:
    facts = [
        f"Standard deviations on 0-100: annotators {study.annotator_sd:.2f}"
        + (f", drift {study.drift_sd:.2f} per 100 ratings" if study.drift else "")
        + f", instances {study.instance_sd:.2f}, what is left {study.residual_sd:.2f}."
        + ("" if study.drift else " Drift was not asked for, or some ratings have no time."),
        f"{study.shared:,} of {study.outputs:,} outputs were rated by several.",
        "Intervals say how far a mean could be off with other annotators and instances; differences are surer.",
    ]
    if study.parts > 1:
        facts.insert(
            0,
            f"NOT IDENTIFIED: no annotators connect the {study.parts} parts. Generators of different parts differ by "
            "quality or by who rated them, and nobody can say which; let some annotators rate generators of both.",
        )
    return tuple(facts)


@dataclass(frozen=True, kw_only=True)
class SeverityStudies:
    """Severity on several dimensions, a study for each."""

    dimensions: tuple[SeverityStudy, ...]

    def document(self) -> dict[str, Any]:
        return together(self.dimensions)


@analysis("ratings severity", view=())
def severity(
    view: View,
    *,
    dimension: DimensionsOption = None,
    campaign: CampaignsOption = None,
    drift: Annotated[bool, "let severity change in time"] = True,
) -> SeverityStudy | SeverityStudies:
    """Severity and drift of annotators, and means without them."""
    studies = tuple(study_severity(columns, drift=drift) for columns in ratings_of(view, dimension, campaign))
    return studies[0] if len(studies) == 1 else SeverityStudies(dimensions=studies)


@severity.table
def _severity_tables(result: SeverityStudy | SeverityStudies) -> list[Table]:
    studies = result.dimensions if isinstance(result, SeverityStudies) else (result,)
    return [table for study in studies for table in severity_tables(study)]
