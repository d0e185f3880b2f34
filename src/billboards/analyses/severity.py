"""Annotators' severity and drift on one dimension, and what generators' means are without them.

Outputs, or instances where outputs have one label each, take part as random effects, so that an annotator who got the
hard ones is not taken for a severe one. Means are on 0-100; beside them stand plain means and those of ratings that
were standardised by annotator, the common remedy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.ranking_results import Interval
from billboards.analyses.rating_results import AnnotatorSeverity, CorrectedMean, SeverityStudy
from billboards.analyses.rating_sources import RatingColumns
from billboards.errors import NotEnoughData
from billboards.stats.ratings import UNKNOWN
from billboards.stats.severity import SeverityFit, correct_severity

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Half the width of a 95% interval in standard errors.
_WIDE = 1.959964


def study_severity(columns: RatingColumns, *, drift: bool = True) -> SeverityStudy:
    """Severity, drift and corrected means from the ratings whose generator and annotator are known.

    Drift needs to know when each rating was given: the order of a file is often that of generators, not of work.
    """
    known = columns.only((columns.annotator != UNKNOWN) & (columns.generator != UNKNOWN))
    if not len(known):
        raise NotEnoughData(
            f"{columns.source}: severity needs ratings by known annotators of known generators, and none of "
            f"{columns.dimension.name} is"
        )
    (generators, generator), (annotators, annotator) = (
        np.unique(one, return_inverse=True) for one in (known.generator, known.annotator)
    )
    counts = np.unique(known.output, return_counts=True)[1]
    labelled_often = len(known) > 1.5 * len(counts)
    group = np.unique(known.output if labelled_often else known.instance, return_inverse=True)[1]
    drift = drift and bool(np.isfinite(known.time).all())
    time = known.time if drift else np.zeros(len(known))
    fit = correct_severity(known.on_100, generator, group, annotator, time=time, drift=drift)
    return SeverityStudy(
        source=columns.source,
        dimension=columns.dimension.name,
        drift=drift,
        generators=_means(fit, known, generator, [known.generators[k] for k in generators], annotator),
        annotators=_annotators(fit, np.bincount(annotator), [known.annotators[k] for k in annotators]),
        parts=int(fit.part.max()) + 1,
        outputs=len(counts),
        shared=int((counts > 1).sum()),
        annotator_sd=float(np.sqrt(fit.annotator_variance)),
        drift_sd=float(np.sqrt(fit.drift_variance)),
        instance_sd=float(np.sqrt(fit.instance_variance)),
        residual_sd=float(np.sqrt(fit.residual_variance)),
    )


def _means(
    fit: SeverityFit, known: RatingColumns, generator: Ints, names: list[str], annotator: Ints
) -> tuple[CorrectedMean, ...]:
    labels = np.bincount(generator)
    standardised = np.bincount(generator, _standardised(known.on_100, annotator)) / labels
    means = [
        CorrectedMean(
            name,
            int(labels[k]),
            float(fit.raw[k]),
            float(standardised[k]),
            float(fit.means[k]),
            float(fit.se[k]),
            _interval(fit.means[k], fit.se[k]),
            int(fit.part[k]),
        )
        for k, name in enumerate(names)
    ]
    return tuple(sorted(means, key=lambda one: -one.corrected))


def _annotators(fit: SeverityFit, labels: Ints, names: list[str]) -> tuple[AnnotatorSeverity, ...]:
    found = [
        AnnotatorSeverity(
            name,
            int(labels[k]),
            float(fit.severity[k]),
            _interval(fit.severity[k], fit.severity_se[k]),
            float(fit.drift[k]),
            _interval(fit.drift[k], fit.drift_se[k]),
        )
        for k, name in enumerate(names)
    ]
    return tuple(sorted(found, key=lambda one: -one.severity))


def _standardised(values: Floats, annotator: Ints) -> Floats:
    """z-scores of each annotator's ratings; 0 for one who always says the same."""
    count = np.bincount(annotator)
    centred = values - (np.bincount(annotator, values) / count)[annotator]
    spread = np.sqrt(np.bincount(annotator, centred**2) / count)[annotator]
    return np.divide(centred, spread, out=np.zeros(len(values)), where=spread > 1e-9)


def _interval(value: float, se: float) -> Interval:
    return float(value - _WIDE * se), float(value + _WIDE * se)
