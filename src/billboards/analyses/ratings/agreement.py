"""How far annotators agree, by dimension, day or campaign.

Do annotators agree with one another, dimension by dimension, and is the score the same on another day (GENIE, §4)?

Alpha and ICC(1) need no names, so they hold for a crowd that nobody knows; kappa is of pairs who share enough outputs.
Populations are days or campaigns: each has its own score with its interval and its own agreement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from billboards.analyses._analysis import analysis
from billboards.analyses._view import View
from billboards.analyses.ratings._ratings import CampaignsOption, DimensionsOption, RatingColumns, ratings_of
from billboards.errors import NotEnoughData
from billboards.options import Named
from billboards.show.table import Table, TableColumn, reason_notes, rows_of
from billboards.show.words import one_line
from billboards.stats.bootstrap import Interval
from billboards.stats.intraclass import intraclass_correlation
from billboards.stats.ratings import UNKNOWN
from billboards.stats.reliability import Level, PairKappa, Reliability, Weights, alpha_with_interval, pairwise_kappas
from billboards.stats.worst_case import bootstrap_mean

if TYPE_CHECKING:
    import altair as alt

    from billboards.show.plot import Theme


@dataclass(frozen=True, kw_only=True, slots=True)
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


@dataclass(frozen=True, kw_only=True)
class AnnotatorAgreementStudy:
    """Agreement of annotators by dimension, and the same by population: is the score the same on another day?"""

    DOCUMENT: ClassVar[str] = "annotator_agreement"

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
        kappas = pairwise_kappas(columns.ratings, weights=weights, at_least=AT_LEAST, on_scale=True)
        dimensions.append(_measured(columns, "all", kappas, level, resamples, seed))
        pairs += [_pair(columns, kappa) for kappa in kappas]
        if by is not None:
            parts = list(_populations(columns, by))
            if not parts:
                missing[columns.dimension.name] = f"no rating says its {by}"
            for name, part in parts:
                some = pairwise_kappas(part.ratings, weights=weights, at_least=AT_LEAST, on_scale=True)
                populations.append(_measured(part, name, some, level, resamples, seed))
    return AnnotatorAgreementStudy(
        source=sources[0].source,
        level=level,
        weights=weights,
        by=by,
        resamples=resamples,
        seed=seed,
        dimensions=tuple(dimensions),
        populations=tuple(populations),
        pairs=tuple(sorted(pairs, key=lambda pair: (pair.dimension, -pair.outputs, pair.first, pair.second))),
        missing=missing,
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
    values = [pair.kappa for pair in kappas if not np.isnan(pair.kappa)]
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
        kappa=float(np.mean(values)) if values else None,
        pairs=len(values),
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


def _pair(columns: RatingColumns, pair: PairKappa) -> AnnotatorPair:
    names = columns.annotators
    kappa = None if np.isnan(pair.kappa) else pair.kappa
    return AnnotatorPair(columns.dimension.name, names[pair.first], names[pair.second], kappa, pair.units)


def _value(reliability: Reliability | None) -> float | None:
    return None if reliability is None or np.isnan(reliability.value) else reliability.value


def _interval(reliability: Reliability | None) -> Interval | None:
    return None if reliability is None or np.isnan(reliability.low) else (reliability.low, reliability.high)


#: Rows of lists that go on and on; the rest is in the JSON document.
MOST = 10


def annotator_tables(study: AnnotatorAgreementStudy, *, most: int = MOST) -> tuple[Table, ...]:
    """Agreement by dimension, by population where asked, and of the `most` pairs that share most."""
    facts = (
        f"Alpha: Krippendorff's, {study.level} scale. ICC(1) of one label, and of the mean of an output's labels. "
        f"Kappa: mean over pairs of annotators who share 10 outputs or more, weights {study.weights}.",
        f"Intervals: 95%, {study.resamples:,} resamplings of outputs, seed {study.seed}.",
    )
    shown = [_agreement_table(f"{study.source}: do annotators agree?", study.dimensions, facts, "labels of")]
    if study.by is not None:
        reasons = reason_notes("Not told apart:", study.missing)
        notes = (*_spread_notes(study.populations, study.by), *reasons)
        shown.append(_agreement_table(f"{study.source}: by {study.by}", study.populations, notes, study.by))
    if study.pairs:
        shown.append(_pairs_table(study, most))
    return tuple(shown)


def _agreement_table(title: str, lines: Sequence[AnnotatorAgreement], notes: tuple[str, ...], who: str) -> Table:
    columns = (
        TableColumn("dimension", "dimension", "left"),
        TableColumn("population", who, "left", visible=who != "labels of"),
        TableColumn("labels", "labels"),
        TableColumn("outputs", "outputs", priority=3),
        TableColumn("shared", "by several", priority=4),
        TableColumn("annotators", "annotators", priority=3),
        TableColumn("score", "score", digits=2),
        TableColumn("score_interval", "95% interval", digits=2, kind="interval", priority=1),
        TableColumn("alpha", "alpha", digits=3),
        TableColumn("alpha_interval", "95% interval", digits=3, kind="interval", priority=1),
        TableColumn("icc", "ICC(1)", digits=3),
        TableColumn("icc_interval", "ICC interval", digits=3, kind="interval", visible=False),
        TableColumn("icc_of_mean", "of the mean", digits=3, priority=2),
        TableColumn("kappa", "kappa", digits=3),
        TableColumn("pairs", "pairs", priority=4),
    )
    return Table(title, columns, rows_of(lines), notes)


def _spread_notes(lines: Sequence[AnnotatorAgreement], by: str) -> tuple[str, ...]:
    """How far apart the populations' scores lie, dimension by dimension."""
    notes = []
    for name in dict.fromkeys(line.dimension for line in lines):
        scores = [line.score for line in lines if line.dimension == name]
        if len(scores) > 1:
            notes.append(f"{name}: scores of {len(scores)} {by}s from {min(scores):.2f} to {max(scores):.2f}.")
    return tuple(notes)


def _pairs_table(study: AnnotatorAgreementStudy, most: int) -> Table:
    columns = (
        TableColumn("dimension", "dimension", "left"),
        TableColumn("first", "annotator", "left"),
        TableColumn("second", "and", "left"),
        TableColumn("kappa", "kappa", digits=3),
        TableColumn("outputs", "shared outputs"),
    )
    rows = rows_of(study.pairs[:most])
    notes = (f"{most} of {len(study.pairs):,} pairs, those that share most.",) if len(study.pairs) > most else ()
    return Table(f"{study.source}: pairs of annotators (kappa, {study.weights} weights)", columns, rows, notes)


@analysis("ratings agreement", view=(), paper="GENIE, section 4")
def agreement(
    view: View,
    *,
    dimension: DimensionsOption = None,
    campaign: CampaignsOption = None,
    scale: Annotated[Level, "what differences between values mean to alpha"] = "interval",
    weights: Annotated[Weights, "weights of kappa"] = "quadratic",
    by: Annotated[Population | None, "each day's or campaign's score and agreement too"] = None,
    resamples: Annotated[int, Ge(1), Named(metavar="N"), "resamples of outputs"] = 1000,
    seed: Annotated[int, Ge(0), Named(metavar="N"), "seed of what is random"] = 0,
) -> AnnotatorAgreementStudy:
    """How far annotators agree, by dimension, day or campaign."""
    return study_annotators(
        ratings_of(view, dimension, campaign), level=scale, weights=weights, by=by, resamples=resamples, seed=seed
    )


agreement.table(annotator_tables)


@agreement.chart
def _scores_by_population(study: AnnotatorAgreementStudy, theme: Theme) -> alt.LayerChart | None:
    return population_scores(study, theme=theme) if study.by else None


def population_scores(study: AnnotatorAgreementStudy, *, theme: Theme = "light") -> alt.LayerChart:
    """The score of each day or campaign with its 95% interval, beside that of all labels, dimension by dimension."""
    import altair as alt

    from billboards.show.plot import PALETTES, ROW, WIDTH, role_colour, themed

    if not study.populations:
        raise NotEnoughData(f"{study.source}: no ratings are told apart by {study.by or 'day'}; nothing to draw")
    colours = PALETTES[theme]
    rows = [
        {
            "name": one_line(f"{agreement.dimension}, {agreement.population}"),
            "score": agreement.score,
            "low": agreement.score_interval[0],
            "high": agreement.score_interval[1],
            "role": "all labels" if agreement.population == "all" else f"one {study.by}",
        }
        for whole in study.dimensions
        for agreement in (whole, *(part for part in study.populations if part.dimension == whole.dimension))
    ]
    names = [row["name"] for row in rows]
    roles = role_colour({"all labels": colours.accent, f"one {study.by}": colours.people})
    y = alt.Y("name:N", sort=names, title=None, axis=alt.Axis(grid=True))
    base = alt.Chart(alt.InlineData(values=rows))
    whiskers = base.mark_rule(strokeWidth=2).encode(alt.X("low:Q"), y, alt.X2("high:Q"), roles)
    x = alt.X("score:Q", title="mean score, 0-100", scale=alt.Scale(zero=False))
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(x, y, roles)
    chart = (whiskers + dots).properties(width=WIDTH, height=ROW * len(rows))
    words = "; ".join(f"{row['name']} {row['score']:.1f}" for row in rows)
    title = f"{study.source}: scores by {study.by}"
    return themed(chart, theme, title, "Lines are 95% intervals over resampled outputs.", words)
