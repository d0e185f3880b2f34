"""Do annotators agree with one another, dimension by dimension, and is the score the same on another day (GENIE, §4)?

Alpha and ICC(1) need no names, so they hold for a crowd that nobody knows; kappa is of pairs who share enough outputs.
Populations are days or campaigns: each has its own score with its interval and its own agreement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.ranking_results import Interval
from billboards.analyses.rating_results import AnnotatorAgreement, AnnotatorAgreementStudy, AnnotatorPair
from billboards.analyses.rating_sources import RatingColumns
from billboards.errors import NotEnoughData
from billboards.stats.intraclass import intraclass_correlation
from billboards.stats.ratings import UNKNOWN
from billboards.stats.reliability import Level, PairKappa, Reliability, Weights, alpha_with_interval, pairwise_kappas
from billboards.stats.worst_case import bootstrap_mean

Population = Literal["day", "campaign"]
Bools = NDArray[np.bool_]

#: Outputs that two annotators must share before their kappa says anything.
AT_LEAST = 10


def study_annotators(
    sources: Sequence[RatingColumns],
    *,
    level: Level = "interval",
    weights: Weights = "quadratic",
    by: Population | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> AnnotatorAgreementStudy:
    """Agreement on each dimension, in all and by population."""
    dimensions, populations, pairs, missing = [], [], [], {}
    for columns in sources:
        kappas = pairwise_kappas(columns.ratings, weights=weights, at_least=AT_LEAST)
        dimensions.append(_measured(columns, "all", kappas, level, resamples, seed))
        pairs += [_pair(columns, one) for one in kappas]
        if by is not None:
            found = list(_populations(columns, by))
            if not found:
                missing[columns.dimension.name] = f"no rating says its {by}"
            for name, part in found:
                some = pairwise_kappas(part.ratings, weights=weights, at_least=AT_LEAST)
                populations.append(_measured(part, name, some, level, resamples, seed))
    return AnnotatorAgreementStudy(
        sources[0].source,
        level,
        weights,
        by,
        resamples,
        seed,
        tuple(dimensions),
        tuple(populations),
        tuple(sorted(pairs, key=lambda one: (one.dimension, -one.outputs, one.first, one.second))),
        missing,
    )


def _populations(columns: RatingColumns, by: Population) -> Iterator[tuple[str, RatingColumns]]:
    if by == "campaign":
        names = np.array([*columns.campaigns, ""])[columns.campaign]
    else:
        names = np.array(
            ["" if np.isnan(t) else datetime.fromtimestamp(t, UTC).date().isoformat() for t in columns.time.tolist()]
        )
    for name in sorted(set(names.tolist()) - {""}):
        yield name, columns.only(names == name)


def _measured(
    columns: RatingColumns, population: str, kappas: Sequence[PairKappa], level: Level, resamples: int, seed: int
) -> AnnotatorAgreement:
    score, low, high = bootstrap_mean(columns.on_100, groups=columns.output, resamples=resamples, seed=seed)
    counts = np.unique(columns.output, return_counts=True)[1]
    alpha, icc, of_mean = _reliabilities(columns, level, resamples, seed)
    known = [one.kappa for one in kappas if not np.isnan(one.kappa)]
    return AnnotatorAgreement(
        dimension=columns.dimension.name,
        population=population,
        labels=len(columns),
        outputs=len(counts),
        shared=int((counts > 1).sum()),
        annotators=None if (columns.annotator == UNKNOWN).any() else len(np.unique(columns.annotator)),
        score=score,
        score_interval=(low, high),
        alpha=_value(alpha),
        alpha_interval=_interval(alpha),
        icc=_value(icc),
        icc_interval=_interval(icc),
        icc_of_mean=of_mean,
        kappa=float(np.mean(known)) if known else None,
        pairs=len(known),
    )


def _reliabilities(
    columns: RatingColumns, level: Level, resamples: int, seed: int
) -> tuple[Reliability | None, Reliability | None, float | None]:
    """Alpha, ICC(1) of single labels, and of the mean of an output's labels; None where nobody shares an output."""
    try:
        alpha = alpha_with_interval(columns.ratings, level, resamples=resamples, seed=seed)
        icc = intraclass_correlation(columns.ratings, resamples=resamples, seed=seed)
    except NotEnoughData:
        return None, None, None
    return alpha, icc.single, None if np.isnan(icc.average) else icc.average


def _pair(columns: RatingColumns, one: PairKappa) -> AnnotatorPair:
    names = columns.annotators
    kappa = None if np.isnan(one.kappa) else one.kappa
    return AnnotatorPair(columns.dimension.name, names[one.first], names[one.second], kappa, one.units)


def _value(found: Reliability | None) -> float | None:
    return None if found is None or np.isnan(found.value) else found.value


def _interval(found: Reliability | None) -> Interval | None:
    return None if found is None or np.isnan(found.low) else (found.low, found.high)
