"""Scatter between days and drift: mean squares by statsmodels, a plain loop, and coverage on made-up days."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.stats import f, linregress
from statsmodels.formula.api import mixedlm

from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.repetition import study_repetition

Floats = NDArray[np.float64]


def made_up(
    seed: int, *, generators: int = 4, outputs: int = 30, days: int = 5, day: float = 3.0, crossed: float = 2.0
) -> tuple[Floats, NDArray[np.int64]]:
    """Outputs × days with known standard deviations of days, of generators on days, and of noise (8)."""
    random = np.random.default_rng(seed)
    owner = np.repeat(np.arange(generators), outputs)
    levels = random.normal(0, day, days) + random.normal(0, crossed, (generators, days))
    quality = 50 + 5 * np.arange(generators)[owner] + random.normal(0, 10, len(owner))
    return quality[:, None] + levels[owner] + random.normal(0, 8, (len(owner), days)), owner


def in_rows(values: Floats, owner: NDArray[np.int64]) -> pd.DataFrame:
    output, day = np.indices(values.shape)
    return pd.DataFrame({"y": values.ravel(), "g": owner[output.ravel()], "o": output.ravel(), "d": day.ravel()})


def left_over(rows: pd.DataFrame, *factors: str) -> float:
    """The residual sum of squares of a linear model with a column for every level of every factor."""
    columns = [pd.get_dummies(rows[name].astype(str), dtype=float) for name in factors]
    design = pd.concat(columns, axis=1).to_numpy()
    y = rows["y"].to_numpy()
    residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return float(residual @ residual)


def test_variances_and_tests_are_those_of_an_analysis_of_variance() -> None:
    values, owner = made_up(1)
    study = study_repetition(values, owner)
    rows = in_rows(values, owner)
    rows["gd"] = rows["g"] * 100 + rows["d"]
    outputs, with_days, full = left_over(rows, "o"), left_over(rows, "o", "d"), left_over(rows, "o", "gd")
    days, crossed, noise = (outputs - with_days) / 4, (with_days - full) / 12, full / (116 * 4)
    assert study.noise == pytest.approx(math.sqrt(noise))
    assert study.days.sd == pytest.approx(math.sqrt((days - crossed) / (30 * 4)))
    assert study.generators is not None
    assert study.generators.sd == pytest.approx(math.sqrt((crossed - noise) / 30))
    assert study.generators_p == pytest.approx(f.sf(crossed / noise, 12, 464))
    assert study.days_p == pytest.approx(f.sf(days / crossed, 4, 12))


def test_variances_are_those_of_a_mixed_model_by_reml() -> None:
    values, owner = made_up(3, generators=3, outputs=12, days=6)
    rows = in_rows(values, owner)
    rows["gd"] = rows["g"] * 100 + rows["d"]
    parts = {"d": "0 + C(d)", "gd": "0 + C(gd)"}
    fit = mixedlm("y ~ C(o)", rows, groups=np.ones(len(rows)), vc_formula=parts).fit(reml=True)
    study = study_repetition(values, owner)
    assert study.generators is not None
    by_name = dict(zip(fit.model.exog_vc.names, fit.vcomp, strict=True))
    assert study.days.sd**2 == pytest.approx(by_name["d"], rel=0.02)
    assert study.generators.sd**2 == pytest.approx(by_name["gd"], rel=0.02)
    assert study.noise**2 == pytest.approx(fit.scale, rel=0.02)


def test_generators_with_different_numbers_of_outputs_count_alike() -> None:
    values, owner = made_up(2, generators=3, outputs=20)
    keep = np.ones(len(owner), bool)
    keep[:15] = False
    values, owner = values[keep], owner[keep]
    study = study_repetition(values, owner)
    means = [[values[owner == g, d].mean() for d in range(5)] for g in range(3)]
    left, crossed = 0.0, 0.0
    grand = sum(map(sum, means)) / 15
    day = [sum(means[g][d] for g in range(3)) / 3 for d in range(5)]
    for g in range(3):
        own = sum(means[g]) / 5
        for d in range(5):
            crossed += (means[g][d] - own - day[d] + grand) ** 2 / 8
            for k in np.flatnonzero(owner == g):
                left += (values[k, d] - values[k].mean() - means[g][d] + own) ** 2
    noise = left / ((45 - 3) * 4)
    assert study.noise == pytest.approx(math.sqrt(noise))
    assert study.generators is not None
    expected = crossed - noise * (1 / 5 + 1 / 20 + 1 / 20) / 3
    assert study.generators.sd == pytest.approx(math.sqrt(max(0.0, expected)))
    assert [mean.outputs for mean in study.means] == [5, 20, 20]


def test_drift_is_a_line_through_the_day_means() -> None:
    values, owner = made_up(4, day=0.5, crossed=0.5)
    when = np.array([0.0, 1.0, 4.0, 9.0, 30.0])
    study = study_repetition(values + 0.4 * when, owner, when=when)
    line = linregress(when, (values + 0.4 * when).mean(axis=0))
    assert study.drift.per_unit == pytest.approx(line.slope)
    assert study.drift.p == pytest.approx(line.pvalue)
    assert study.drift.p is not None
    assert study.drift.p < 0.01
    assert study.drift.interval is not None
    assert study.drift.interval[0] < 0.4 < study.drift.interval[1]


def test_two_days_have_a_slope_and_no_test_of_it() -> None:
    values, owner = made_up(5, days=2)
    study = study_repetition(values, owner)
    assert study.drift.per_unit == pytest.approx(float(np.diff(values.mean(axis=0))[0]))
    assert study.drift.p is None
    assert study.drift.interval is None


def test_one_generator_has_one_scatter() -> None:
    values, owner = made_up(6, generators=1)
    study = study_repetition(values, owner)
    assert study.generators is None
    assert study.generators_p is None
    expected = values.mean(axis=0).var(ddof=1) - study.noise**2 / 30
    assert study.days.sd == pytest.approx(math.sqrt(max(0.0, expected)))
    assert study.scatter == study.days.sd


def test_days_that_agree_have_no_scatter_and_intervals_as_before() -> None:
    values = np.array([[1.0, 1.0], [3.0, 3.0], [2.0, 2.0], [6.0, 6.0]])
    study = study_repetition(values, [0, 0, 1, 1])
    assert study.scatter == 0.0
    assert study.noise == 0.0
    assert study.days_p == 1.0
    assert (study.pairs, study.swapped) == (1, 0)
    for mean in study.means:
        assert mean.half_width_scattered == pytest.approx(mean.half_width)


def test_generators_that_change_places_are_counted() -> None:
    values = np.array([[1.0, 5.0], [1.0, 5.0], [3.0, 3.0], [3.0, 3.0], [9.0, 9.0], [9.0, 9.0]])
    study = study_repetition(values, [0, 0, 1, 1, 2, 2])
    assert (study.pairs, study.swapped) == (3, 1)


def test_intervals_cover_what_they_should() -> None:
    """Over 300 made-up repetitions; plain intervals of one day cover far less."""
    covered = dict.fromkeys(("days", "crossed", "means", "one day", "plain"), 0)
    for seed in range(300):
        values, owner = made_up(seed, days=4, outputs=40)
        study = study_repetition(values, owner, draws=2000)
        assert study.generators is not None
        covered["days"] += study.days.interval[0] <= 3.0 <= study.days.interval[1]
        covered["crossed"] += study.generators.interval[0] <= 2.0 <= study.generators.interval[1]
        mean = study.means[0]
        covered["means"] += abs(mean.mean - 50) <= mean.half_width_scattered
        covered["one day"] += abs(mean.by_day[0] - 50) <= mean.one_day_scattered
        covered["plain"] += abs(mean.by_day[0] - 50) <= mean.one_day
    assert all(covered[name] >= 276 for name in ("days", "crossed", "means", "one day")), covered
    assert covered["plain"] < 225, covered


def test_what_can_not_be_studied_is_refused() -> None:
    with pytest.raises(NotEnoughData, match="two days"):
        study_repetition([[1.0], [2.0]], [0, 0])
    with pytest.raises(NotEnoughData, match="two outputs or more of each"):
        study_repetition([[1.0, 2.0], [2.0, 3.0], [1.0, 1.0]], [0, 0, 1])
    with pytest.raises(InvalidInput, match="value on every day"):
        study_repetition([[1.0, math.nan], [2.0, 1.0]], [0, 0])
    with pytest.raises(InvalidInput, match="a time each"):
        study_repetition([[1.0, 2.0], [2.0, 1.0]], [0, 0], when=[1.0])
