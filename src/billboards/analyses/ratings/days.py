"""Scatter and drift of means from day to day, or campaign to campaign.

The same outputs judged on several days: how far do means move from day to day, do they drift, and how much wider must
an interval be that speaks of any day and not of the one that was (GENIE, §4)?

Outputs count that were rated on all of the days; each has the mean of its ratings of that day. Scatter between days
holds everything that changes with them, who annotates too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from billboards.analyses._analysis import analysis
from billboards.analyses._view import View
from billboards.analyses.ratings._ratings import CampaignsOption, DimensionsOption, RatingColumns, ratings_of, together
from billboards.errors import NotEnoughData
from billboards.options import Named
from billboards.show.table import Table, TableColumn, rows_of
from billboards.show.words import one_line
from billboards.stats.bootstrap import Interval
from billboards.stats.ratings import UNKNOWN
from billboards.stats.repetition import Repetition, Slope, study_repetition

if TYPE_CHECKING:
    import altair as alt

    from billboards.show.plot import Theme

Floats = NDArray[np.float64]
Occasion = Literal["day", "campaign"]
_DAY = 86400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OneDay:
    """A day, or a campaign, with the mean of all outputs on 0-100; `time` is the middle of its ratings' times."""

    name: str
    time: float | None
    labels: int
    annotators: int | None
    #: Of these, who rated on another of the days too.
    again: int | None
    mean: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorOverDays:
    """A generator's mean over the days on 0-100, its scatter, and half the width of 95% intervals.

    `half_width` knows outputs only, `half_width_days` the scatter between days too; the same for one day alone.
    """

    generator: str
    outputs: int
    mean: float
    by_day: tuple[float, ...]
    sd: float
    drift: float | None
    drift_interval: Interval | None
    drift_p: float | None
    half_width: float
    half_width_days: float
    one_day: float
    one_day_days: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scatter:
    """A standard deviation between days on 0-100, with its 95% interval and the p-value of no such scatter."""

    what: str
    sd: float
    interval: Interval
    p: float


@dataclass(frozen=True, kw_only=True)
class DayStudy:
    """How means move from day to day.

    `drift` is points per day; it has no interval and no p-value with two days. `wider` is what intervals of one day
    must be multiplied by to speak of any day, the median over generators. `swapped` of the `pairs` of generators change
    their order.
    """

    DOCUMENT: ClassVar[str] = "repetition"

    source: str
    dimension: str
    by: str
    seed: int
    days: tuple[OneDay, ...]
    outputs: int
    left_out: int
    scatter: tuple[Scatter, ...]
    noise_sd: float
    drift: float | None
    drift_interval: Interval | None
    drift_p: float | None
    wider: float | None
    pairs: int
    swapped: int
    generators: tuple[GeneratorOverDays, ...]


def study_days(columns: RatingColumns, *, by: Occasion = "day", draws: int = 20_000, seed: int = 0) -> DayStudy:
    """Scatter and drift over days or campaigns, from the outputs that were rated on all of them."""
    every = columns.before or columns
    names = _occasions(every, by)
    every, occasion = every.only(names != ""), names[names != ""]
    days = sorted(set(occasion.tolist()), key=lambda name: _order(every, occasion, name))
    if len(days) < 2:
        raise NotEnoughData(
            f"{every.source}: {every.dimension.name} was rated on {len(days)} known {by}"
            f"{'' if len(days) == 1 else 's'}; scatter needs two or more"
        )
    owner, table = _table(every, occasion, days)
    complete = np.isfinite(table).all(axis=1)
    enough = complete & np.isin(owner, [g for g in np.unique(owner[complete]) if (owner[complete] == g).sum() > 1])
    if not enough.any():
        raise NotEnoughData(
            f"{every.source}: no two outputs of a generator were rated on all {len(days)} {by}s ({', '.join(days[:4])}"
            f"{', …' if len(days) > 4 else ''}); choose {by}s that share outputs"
        )
    times = np.array(
        [float(np.nanmedian(every.time[occasion == day])) if _timed(every, occasion, day) else np.nan for day in days]
    )
    when = (times - times[0]) / _DAY if np.isfinite(times).all() else np.zeros(len(days))
    study = study_repetition(table[enough], owner[enough], when=when, draws=draws, seed=seed)
    return _told(every, by, seed, study, _described(every, occasion, days, times, table[enough]), enough)


def _occasions(columns: RatingColumns, by: Occasion) -> NDArray[np.str_]:
    """The day or campaign of each rating, "" where it is not known."""
    if by == "campaign":
        return np.array([*columns.campaigns, ""])[columns.campaign]
    days = ["" if np.isnan(t) else datetime.fromtimestamp(t, UTC).date().isoformat() for t in columns.time.tolist()]
    return np.array(days, dtype=str)


def _order(columns: RatingColumns, occasion: NDArray[np.str_], name: str) -> tuple[float, str]:
    return (float(np.nanmedian(columns.time[occasion == name])) if _timed(columns, occasion, name) else 0.0, name)


def _timed(columns: RatingColumns, occasion: NDArray[np.str_], name: str) -> bool:
    return bool(np.isfinite(columns.time[occasion == name]).any())


def _table(columns: RatingColumns, occasion: NDArray[np.str_], days: Sequence[str]) -> tuple[NDArray[np.int64], Floats]:
    """Outputs × days, the mean of an output's ratings on a day, NaN where it has none; and whose outputs they are."""
    outputs, first, place = np.unique(columns.output, return_index=True, return_inverse=True)
    day = np.array([days.index(name) for name in occasion.tolist()], np.int64)
    cell = place * len(days) + day
    size = len(outputs) * len(days)
    sums, counts = np.bincount(cell, columns.on_100, minlength=size), np.bincount(cell, minlength=size)
    table = np.divide(sums, counts, out=np.full(size, np.nan), where=counts > 0)
    return columns.generator[first], table.reshape(len(outputs), len(days))


def _described(
    columns: RatingColumns, occasion: NDArray[np.str_], days: Sequence[str], times: Floats, table: Floats
) -> tuple[OneDay, ...]:
    people = {day: set(columns.annotator[occasion == day].tolist()) for day in days}
    described = []
    for k, day in enumerate(days):
        others: set[int] = set().union(*(people[other] for other in days if other != day))
        unknown = UNKNOWN in people[day]
        described.append(
            OneDay(
                name=day,
                time=float(times[k]) if np.isfinite(times[k]) else None,
                labels=int((occasion == day).sum()),
                annotators=None if unknown else len(people[day]),
                again=None if unknown else len(people[day] & others),
                mean=float(table[:, k].mean()),
            )
        )
    return tuple(described)


def _told(
    columns: RatingColumns,
    by: Occasion,
    seed: int,
    study: Repetition,
    days: tuple[OneDay, ...],
    enough: NDArray[np.bool_],
) -> DayStudy:
    scatter = [Scatter(what="all generators together", sd=study.days.sd, interval=study.days.interval, p=study.days_p)]
    if study.generators is not None and study.generators_p is not None:
        single = study.generators
        scatter.append(
            Scatter(what="single generators beside that", sd=single.sd, interval=single.interval, p=study.generators_p)
        )
    drift, interval, p = _slope(study.drift)
    means = sorted(study.means, key=lambda mean: -mean.mean)
    ratios = [mean.one_day_scattered / mean.one_day for mean in means if mean.one_day > 0]
    return DayStudy(
        source=columns.source,
        dimension=columns.dimension.name,
        by=by,
        seed=seed,
        days=days,
        outputs=int(enough.sum()),
        left_out=int((~enough).sum()),
        scatter=tuple(scatter),
        noise_sd=study.noise,
        drift=drift,
        drift_interval=interval,
        drift_p=p,
        wider=median(ratios) if ratios else None,
        pairs=study.pairs,
        swapped=study.swapped,
        generators=tuple(
            GeneratorOverDays(
                generator="all" if mean.generator == UNKNOWN else columns.generators[mean.generator],
                outputs=mean.outputs,
                mean=mean.mean,
                by_day=mean.by_day,
                sd=mean.sd,
                drift=_slope(mean.drift)[0],
                drift_interval=mean.drift.interval,
                drift_p=mean.drift.p,
                half_width=mean.half_width,
                half_width_days=mean.half_width_scattered,
                one_day=mean.one_day,
                one_day_days=mean.one_day_scattered,
            )
            for mean in means
        ),
    )


def _slope(slope: Slope) -> tuple[float | None, Interval | None, float | None]:
    return (None if np.isnan(slope.per_unit) else slope.per_unit), slope.interval, slope.p


def day_tables(study: DayStudy) -> tuple[Table, Table, Table]:
    """The scatter between days, each generator over the days, and the days."""
    title = f"{study.source}: {study.dimension}"
    of_scatter = (
        TableColumn("what", "what moves", "left"),
        TableColumn("sd", f"sd between {study.by}s", digits=2),
        TableColumn("interval", "95% interval", digits=2, kind="interval"),
        TableColumn("p", "p of none", digits=3),
    )
    of_generators = (
        TableColumn("generator", "generator", "left", kind="name"),
        TableColumn("mean", "mean", digits=2),
        TableColumn("half_width", "± outputs alone", digits=2),
        TableColumn("half_width_days", f"± {study.by}s too", digits=2),
        TableColumn("sd", f"sd of {study.by} means", digits=2),
        TableColumn("drift", "drift a day", digits=3, visible=study.drift is not None),
        TableColumn("drift_p", "p", digits=3, visible=study.drift_p is not None),
        TableColumn("one_day", f"± one {study.by}, outputs alone", digits=2, priority=2),
        TableColumn("one_day_days", f"± one {study.by}, {study.by}s too", digits=2, priority=2),
        TableColumn("outputs", "outputs", priority=1),
    )
    of_days = (
        TableColumn("name", study.by, "left"),
        TableColumn("mean", "mean", digits=2),
        TableColumn("labels", "labels"),
        TableColumn("annotators", "annotators"),
        TableColumn("again", f"of them {'in' if study.by == 'campaign' else 'on'} other {study.by}s too"),
    )
    return (
        Table(f"{title}, scatter between {study.by}s", of_scatter, rows_of(study.scatter), tuple(day_words(study))),
        Table(f"{title}, generators over {len(study.days)} {study.by}s", of_generators, rows_of(study.generators)),
        Table(f"{title}, {study.by}s", of_days, rows_of(study.days)),
    )


def day_words(study: DayStudy) -> list[str]:
    """What was found, in sentences."""
    at = "in" if study.by == "campaign" else "on"
    of_outputs = f"{study.outputs:,} outputs that were rated {at} all {len(study.days)} {study.by}s"
    words = [f"On 0-100, {of_outputs}" + (f"; {study.left_out:,} others are left out." if study.left_out else ".")]
    words.append(f"One output's value {at} one {study.by} scatters by {study.noise_sd:.2f} around that.")
    if study.drift_p is not None and study.drift_interval is not None and study.drift is not None:
        low, high = study.drift_interval
        seen = "a drift" if study.drift_p < 0.05 else f"no drift beyond how {study.by}s scatter"
        words.append(
            f"Level of all generators: {study.drift:+.3f} a day [{low:.3f}, {high:.3f}], p = {study.drift_p:.3f}: "
            f"{seen}."
        )
    elif study.drift is not None:
        words.append(f"Two {study.by}s can't tell a drift from scatter; ask on a third.")
    if study.pairs:
        words.append(f"{study.swapped} of {study.pairs} pairs of generators change their order between {study.by}s.")
    if study.wider is not None:
        words.append(
            f"An interval from one {study.by}, to hold {at} any, must be {study.wider:.2f} times as wide (median over "
            "generators). What moves all generators together cancels in their differences."
        )
    if any(day.again for day in study.days):
        words.append(f"Some annotators rated {at} several {study.by}s; with other people the scatter may be larger.")
    return words


@dataclass(frozen=True, kw_only=True)
class DayStudies:
    """Scatter between days on several dimensions, a study for each."""

    dimensions: tuple[DayStudy, ...]

    def document(self) -> dict[str, Any]:
        return together(self.dimensions)


@analysis("ratings days", view=(), paper="GENIE, section 4")
def days(
    view: View,
    *,
    dimension: DimensionsOption = None,
    campaign: CampaignsOption = None,
    by: Annotated[Occasion, "what is compared: days (UTC), or whole campaigns"] = "day",
    draws: Annotated[int, Ge(100), Named(metavar="N"), "draws of the intervals of scatter"] = 20_000,
    seed: Annotated[int, Ge(0), Named(metavar="N"), "seed of what is random"] = 0,
) -> DayStudy | DayStudies:
    """Scatter and drift of means from day to day, or campaign to campaign."""
    studies = tuple(
        study_days(columns, by=by, draws=draws, seed=seed) for columns in ratings_of(view, dimension, campaign)
    )
    return studies[0] if len(studies) == 1 else DayStudies(dimensions=studies)


def _each(result: DayStudy | DayStudies) -> tuple[DayStudy, ...]:
    return result.dimensions if isinstance(result, DayStudies) else (result,)


@days.table
def _day_tables(result: DayStudy | DayStudies) -> Iterable[Table]:
    return [table for study in _each(result) for table in day_tables(study)]


@days.chart
def _means_by_day(result: DayStudy | DayStudies, theme: Theme) -> alt.LayerChart | None:
    return means_by_day(_each(result)[0], theme=theme)


def means_by_day(study: DayStudy, *, theme: Theme = "light") -> alt.LayerChart:
    """Each generator's mean on each day, and over all with its interval, days in it."""
    import altair as alt

    from billboards.show.plot import PALETTES, ROW, WIDTH, role_colour, themed

    colours = PALETTES[theme]
    whole, each = f"all {study.by}s", f"one {study.by}"
    rows = [
        {
            "name": one_line(mean.generator),
            "score": score,
            "low": score - half,
            "high": score + half,
            "role": role,
        }
        for mean in study.generators
        for role, score, half in (
            *((each, day, 0.0) for day in mean.by_day),
            (whole, mean.mean, mean.half_width_days),
        )
    ]
    names = list(dict.fromkeys(row["name"] for row in rows))
    roles = role_colour({whole: colours.accent, each: colours.people})
    y = alt.Y("name:N", sort=names, title=None, axis=alt.Axis(grid=True))
    base = alt.Chart(alt.InlineData(values=rows))
    whiskers = base.mark_rule(strokeWidth=2).encode(alt.X("low:Q"), y, alt.X2("high:Q"), roles)
    x = alt.X("score:Q", title="mean score, 0-100", scale=alt.Scale(zero=False))
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(x, y, roles)
    chart = (whiskers + dots).properties(width=WIDTH, height=ROW * len(names))
    words = "; ".join(f"{mean.generator} {mean.mean:.1f}" for mean in study.generators)
    title = f"{study.source}: means by {study.by}"
    return themed(chart, theme, title, f"Lines are 95% intervals with the scatter between {study.by}s.", words)
