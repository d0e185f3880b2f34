"""Metrics as charts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from drawn_charts import data_of, data_sets, subtitle_of, title_of
from examples_of_results import RANKING, STUDY

from billboards.analyses.ensemble import metric_correlations
from billboards.analyses.rank import correlation_bars, scatter
from billboards.errors import NotEnoughData

NAMES = ("A", "B", "Human-C")


@pytest.fixture(scope="module")
def human() -> np.ndarray[Any, np.dtype[np.float64]]:
    judged = np.linspace(0.0, 100.0, 3000).reshape(3, 1000)
    judged[2, 500:] = np.nan
    return judged


def test_a_scatter_draws_a_seeded_sample_and_says_of_how_many(human: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    chart = scatter(human, human / 50 - 1, NAMES, "COMET", human_generators={"Human-C"}, correlation=1.0)
    points = data_of(chart)
    assert len(points) == 1500
    assert subtitle_of(chart).startswith("1,500 of 2,500 judged outputs; the line is the trend of all.")
    assert title_of(chart) == "COMET against people (correlation 1.000)"
    assert {point["generator"] for point in points if point["people"]} == {"Human-C"}
    assert points == data_of(scatter(human, human / 50 - 1, NAMES, "COMET", human_generators={"Human-C"}))
    assert points != data_of(scatter(human, human / 50 - 1, NAMES, "COMET", human_generators={"Human-C"}, seed=1))


def test_the_trend_is_that_of_all_points_and_not_of_the_sample(human: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    chart = scatter(human, human / 50 - 1, NAMES, "COMET", sample=2)
    trend = next(rows for rows in data_sets(chart) if rows[0]["x"] == 0.0 and "people" not in rows[0])
    assert trend[0]["y"] == pytest.approx(-1.0)
    assert trend[1]["y"] == pytest.approx(trend[1]["x"] / 50 - 1)


def test_a_scatter_of_nothing_is_refused() -> None:
    empty = np.full((2, 3), np.nan)
    with pytest.raises(NotEnoughData, match="COMET: 0 outputs have both a score and a judgment"):
        scatter(empty, empty, ("A", "B"), "COMET")


def test_bars_are_sorted_the_ensemble_among_them_and_what_has_no_correlation_left_out() -> None:
    chart = correlation_bars(RANKING)
    bars = data_of(chart)
    assert [bar["name"] for bar in bars] == ["ensemble", "COMET", "COMET-QE †", "BLEU", "length §"]
    assert [bar["role"] for bar in bars] == ["ensemble", "metric", "metric", "metric", "statistic"]
    assert (bars[1]["low"], bars[1]["high"]) == (0.5, 0.6)
    assert title_of(chart) == "COMET agrees best with people (0.551); the ensemble reaches 0.605"


def test_intervals_are_spoken_of_only_where_there_are_some() -> None:
    assert subtitle_of(correlation_bars(RANKING)).startswith("Lines are 95% intervals. † uses no references.")
    bare = replace(RANKING, metrics=(replace(RANKING.metrics[0], interval=None),))
    assert subtitle_of(correlation_bars(bare)) == ""


def test_two_columns_of_one_metric_are_two_bars() -> None:
    twice = replace(RANKING, metrics=(RANKING.metrics[0], replace(RANKING.metrics[0], correlation=0.5)), ensemble=None)
    assert [bar["name"] for bar in data_of(correlation_bars(twice))] == ["COMET", "COMET (2)"]


def test_bars_of_nothing_are_refused() -> None:
    with pytest.raises(NotEnoughData, match=r"tiny: no metric has a correlation with people \(mqm\)"):
        correlation_bars(replace(RANKING, metrics=RANKING.metrics[4:], ensemble=None))


def test_a_heat_map_names_the_metrics_that_are_most_alike() -> None:
    chart = metric_correlations(STUDY)
    assert title_of(chart) == "COMET and COMET-QE are most alike (0.67)"
    assert len(data_of(chart)) == 6
    unknown = replace(STUDY, correlations=((1.0, None, None), (None, 1.0, None), (None, None, 1.0)))
    with pytest.raises(NotEnoughData, match="no two metrics can be compared"):
        metric_correlations(unknown)
