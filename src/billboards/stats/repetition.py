"""The same outputs judged on several days: how much means scatter from day to day, whether they drift, and what that
means for intervals (GENIE, section 4).

An output's value on a day is *output + day + generator on that day + noise*. The same outputs are judged every day, so
what outputs are worth cancels, and the three other variances follow from mean squares of a two-way layout (days ×
generators, outputs within generators; unweighted means where generators have different numbers of outputs). Intervals
of the standard deviations are generalised confidence intervals (Weerahandi 1993): each mean square is divided by draws
of its chi-square. Drift is the slope of the day means against time, tested against the days' scatter around the line: a
trend counts as one only where it stands out from days that differ anyway. A mean's interval with the scatter in it adds
the days' variances to the outputs' and takes Satterthwaite's degrees of freedom.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from billboards.errors import InvalidInput, NotEnoughData

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Interval = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Deviation:
    """A standard deviation with its interval, on the scale of the values."""

    sd: float
    interval: Interval


@dataclass(frozen=True, kw_only=True)
class Slope:
    """Change in one unit of time; without an interval and p where there are only two days."""

    per_unit: float
    interval: Interval | None
    p: float | None


@dataclass(frozen=True, kw_only=True)
class RepeatedMean:
    """A generator's mean over all days, and half the width of its interval: outputs alone, and days in it too.

    `one_day` and `one_day_scattered` are the same for a single day, which is what a campaign that is not repeated has.
    """

    generator: int
    outputs: int
    mean: float
    by_day: tuple[float, ...]
    #: The plain standard deviation of its day means.
    sd: float
    drift: Slope
    half_width: float
    half_width_scattered: float
    one_day: float
    one_day_scattered: float


@dataclass(frozen=True, kw_only=True)
class Repetition:
    """What repeating a measurement on several days says about it.

    `days` is how much the level of all generators moves together, `generators` how much single ones move beside that
    (None with one generator: `days` then holds both), `noise` what is left of one output's value on one day. `days_p`
    and `generators_p` are F-tests of no such movement. `swapped` of the `pairs` of generators change their order.
    """

    level: float
    days: Deviation
    generators: Deviation | None
    noise: float
    days_p: float
    generators_p: float | None
    drift: Slope
    means: tuple[RepeatedMean, ...]
    pairs: int
    swapped: int

    @property
    def scatter(self) -> float:
        """The standard deviation of a generator's mean from day to day, noise aside."""
        return math.hypot(self.days.sd, 0.0 if self.generators is None else self.generators.sd)


@dataclass(frozen=True, kw_only=True)
class _Squares:
    """Mean squares on the scale of means, with their degrees of freedom: days, generators on days, noise."""

    days: float
    days_df: int
    crossed: float | None
    crossed_df: int
    noise: float
    noise_df: int
    generators: int

    @property
    def days_variance(self) -> float:
        """Of the days' common movement; with one generator, of its movement."""
        below = self.noise if self.crossed is None else self.crossed / self.generators
        return max(0.0, self.days - below)

    @property
    def crossed_variance(self) -> float:
        return 0.0 if self.crossed is None else max(0.0, self.crossed - self.noise)


def study_repetition(
    values: ArrayLike,
    generator: ArrayLike,
    *,
    when: ArrayLike | None = None,
    level: float = 0.95,
    draws: int = 20_000,
    seed: int = 0,
) -> Repetition:
    """Scatter between days and drift, from values that every output has on every day.

    values: outputs × days, none missing
    generator: whose output it is, a number for each row
    when: the time of each day in any unit, for drift; by default days are one unit apart
    level: of all intervals
    draws: of the generalised confidence intervals
    """
    table, owner = np.asarray(values, float), np.asarray(generator)
    _check(table, owner)
    names, group = np.unique(owner, return_inverse=True)
    counts = np.bincount(group)
    days = table.shape[1]
    times = np.arange(days, dtype=float) if when is None else np.asarray(when, float)
    if times.shape != (days,):
        raise InvalidInput(f"{days} days need a time each; found {times.shape}")
    cells = np.stack([np.bincount(group, table[:, d]) / counts for d in range(days)], axis=1)
    squares = _squares(table, group, cells, counts)
    day_sd, crossed_sd = _deviations(squares, level, draws, seed)
    means = tuple(_mean(int(names[g]), table[group == g], cells[g], times, squares, level) for g in range(len(names)))
    order = np.sign([[first - second for first, second in combinations(day, 2)] for day in cells.T])
    swapped = 0 if len(names) < 2 else int(((order.max(axis=0) > 0) & (order.min(axis=0) < 0)).sum())
    return Repetition(
        level=level,
        days=day_sd,
        generators=crossed_sd,
        noise=math.sqrt(squares.noise * _harmonic(counts)),
        days_p=_f_test(squares.days, squares.days_df, *_below_days(squares)),
        generators_p=None
        if squares.crossed is None
        else _f_test(squares.crossed, squares.crossed_df, squares.noise, squares.noise_df),
        drift=_slope(cells.mean(axis=0), times, level),
        means=means,
        pairs=len(names) * (len(names) - 1) // 2,
        swapped=swapped,
    )


def _check(table: Floats, owner: NDArray[np.generic]) -> None:
    if table.ndim != 2 or owner.shape != table.shape[:1]:
        raise InvalidInput(f"values are outputs × days with a generator each; found {table.shape} and {owner.shape}")
    if not np.isfinite(table).all():
        raise InvalidInput("every output needs a value on every day; leave out those that lack one")
    if table.shape[1] < 2:
        raise NotEnoughData("scatter between days needs two days or more")
    if not len(table) or np.unique(owner, return_counts=True)[1].min() < 2:
        raise NotEnoughData("scatter between days needs two outputs or more of each generator")


def _harmonic(counts: Ints) -> float:
    return float(len(counts) / (1.0 / counts).sum())


def _squares(table: Floats, group: Ints, cells: Floats, counts: Ints) -> _Squares:
    """The mean squares of the layout, all divided by the (harmonic) number of outputs, as variances of means."""
    generators, days = cells.shape
    day_means = cells.mean(axis=0)
    residual = table - table.mean(axis=1, keepdims=True) - (cells - cells.mean(axis=1, keepdims=True))[group]
    noise_df = (len(table) - generators) * (days - 1)
    crossed = cells - cells.mean(axis=1, keepdims=True) - day_means + day_means.mean()
    crossed_df = (generators - 1) * (days - 1)
    return _Squares(
        days=float(day_means.var(ddof=1)),
        days_df=days - 1,
        crossed=float((crossed**2).sum() / crossed_df) if crossed_df else None,
        crossed_df=crossed_df,
        noise=float((residual**2).sum() / noise_df) / _harmonic(counts),
        noise_df=noise_df,
        generators=generators,
    )


def _below_days(squares: _Squares) -> tuple[float, int]:
    """What the days' mean square is expected to be where they don't differ."""
    if squares.crossed is None:
        return squares.noise, squares.noise_df
    return squares.crossed / squares.generators, squares.crossed_df


def _f_test(above: float, above_df: int, below: float, below_df: int) -> float:
    from scipy import stats as distributions

    if below <= 0.0:
        return 1.0 if above <= 0.0 else 0.0
    return float(distributions.f.sf(above / below, above_df, below_df))


def _deviations(squares: _Squares, level: float, draws: int, seed: int) -> tuple[Deviation, Deviation | None]:
    random = np.random.default_rng(seed)
    days = squares.days * squares.days_df / random.chisquare(squares.days_df, draws)
    noise = squares.noise * squares.noise_df / random.chisquare(squares.noise_df, draws)
    if squares.crossed is None:
        return _deviation(squares.days_variance, days - noise, level), None
    crossed = squares.crossed * squares.crossed_df / random.chisquare(squares.crossed_df, draws)
    return (
        _deviation(squares.days_variance, days - crossed / squares.generators, level),
        _deviation(squares.crossed_variance, crossed - noise, level),
    )


def _deviation(variance: float, drawn: Floats, level: float) -> Deviation:
    low, high = np.sqrt(np.maximum(0.0, np.quantile(drawn, ((1 - level) / 2, (1 + level) / 2))))
    return Deviation(sd=math.sqrt(variance), interval=(float(low), float(high)))


def _slope(means: Floats, times: Floats, level: float) -> Slope:
    """Least squares of day means on time, tested against the days' own scatter around the line."""
    from scipy import stats as distributions

    centred = times - times.mean()
    spread = float(centred @ centred)
    if spread <= 0.0:
        return Slope(per_unit=math.nan, interval=None, p=None)
    slope = float(centred @ means) / spread
    df = len(means) - 2
    if df < 1:
        return Slope(per_unit=slope, interval=None, p=None)
    left = means - means.mean() - slope * centred
    se = math.sqrt(float(left @ left) / df / spread)
    half = float(distributions.t.ppf((1 + level) / 2, df)) * se
    p = float(2 * distributions.t.sf(abs(slope) / se, df)) if se > 0 else (1.0 if slope == 0 else 0.0)
    return Slope(per_unit=slope, interval=(slope - half, slope + half), p=p)


def _mean(name: int, table: Floats, by_day: Floats, times: Floats, squares: _Squares, level: float) -> RepeatedMean:
    from scipy import stats as distributions

    outputs, days = table.shape
    overall = float(table.mean(axis=1).var(ddof=1)) / outputs
    single = float(table.var(axis=0, ddof=1).mean()) / outputs
    plain = float(distributions.t.ppf((1 + level) / 2, outputs - 1))
    return RepeatedMean(
        generator=name,
        outputs=outputs,
        mean=float(table.mean()),
        by_day=tuple(map(float, by_day)),
        sd=float(by_day.std(ddof=1)),
        drift=_slope(by_day, times, level),
        half_width=plain * math.sqrt(overall),
        half_width_scattered=_scattered(overall, outputs - 1, squares, days, level),
        one_day=plain * math.sqrt(single),
        one_day_scattered=_scattered(single, outputs - 1, squares, 1, level),
    )


def _scattered(variance: float, df: int, squares: _Squares, days: int, level: float) -> float:
    """Half an interval's width with the days' variances added, over so many days."""
    from scipy import stats as distributions

    parts = [(variance, df)]
    if squares.days_variance:
        below = squares.noise if squares.crossed is None else squares.crossed / squares.generators
        below_df = squares.noise_df if squares.crossed is None else squares.crossed_df
        parts += [(squares.days / days, squares.days_df), (-below / days, below_df)]
    if squares.crossed is not None and squares.crossed_variance:
        parts += [(squares.crossed / days, squares.crossed_df), (-squares.noise / days, squares.noise_df)]
    total = sum(part for part, _ in parts)
    if total <= 0.0:
        return 0.0
    wide = total**2 / sum(part**2 / part_df for part, part_df in parts)
    return float(distributions.t.ppf((1 + level) / 2, wide)) * math.sqrt(total)
