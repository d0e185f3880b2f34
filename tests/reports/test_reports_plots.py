"""Charts."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from examples_of_results import EFFECT, OVERRATING, RANKING, STUDY

from billboards.errors import NotEnoughData, UnknownName
from billboards.reports.plots import (
    PALETTES,
    correlation_bars,
    metric_correlations,
    overrating_forest,
    rank_swaps,
    reference_curves,
    scatter,
    to_svg,
)

NAMES = ("A", "B", "Human-C")


def data_of(chart: Any) -> list[dict[str, Any]]:
    """The rows of a chart's largest data set."""
    return max(data_sets(chart), key=len)


def data_sets(chart: Any) -> list[list[dict[str, Any]]]:
    return list(chart.to_dict(validate=False)["datasets"].values())


def title_of(chart: Any) -> str:
    return " ".join(chart.title.text)


def subtitle_of(chart: Any) -> str:
    return " ".join(chart.title.subtitle)


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
    with pytest.raises(NotEnoughData, match="tiny: no metric has a correlation with mqm"):
        correlation_bars(replace(RANKING, metrics=RANKING.metrics[4:], ensemble=None))


def test_a_forest_goes_from_least_to_most_with_intervals_and_a_line_at_zero() -> None:
    chart = overrating_forest(OVERRATING)
    rows = data_of(chart)
    assert [(row["name"], row["role"]) for row in rows] == [
        ("TER", "overrates people"),
        ("COMET", "neither"),
        ("BLEU", "overrates machines"),
    ]
    assert (rows[2]["low"], rows[2]["high"]) == (0.6, 0.64)
    assert [{"zero": 0}] in data_sets(chart)
    assert title_of(chart) == "1 of 3 metrics significantly overrate machines over Human-B"
    with pytest.raises(NotEnoughData, match="measured for no metric"):
        overrating_forest(replace(OVERRATING, metrics=()))


def test_swaps_show_each_generators_rank_under_both_metrics_and_mark_the_human_one() -> None:
    chart = rank_swaps(RANKING, "COMET", "BLEU")
    ends = data_of(chart)
    left = {end["key"]: end for end in ends if end["side"] == 0}
    right = {end["key"]: end for end in ends if end["side"] == 1}
    assert left[0]["label"] == "Huoshan  1"
    assert right[0]["label"] == "2  Huoshan"
    assert right[4]["label"] == "4  Human-B ‡"
    assert right[4]["role"] == "people"
    assert title_of(chart) == "Huoshan falls from 1 to 2 when BLEU ranks instead of COMET"
    assert "Dashed and ‡: written by people." in subtitle_of(chart)


def test_tied_generators_have_one_rank_and_a_line_each() -> None:
    chart = rank_swaps(RANKING, "ensemble", "COMET-QE")
    ends = [end for end in data_of(chart) if end["side"] == 1]
    assert [end["label"].split()[0] for end in ends] == ["1="] * 4
    assert sorted(end["place"] for end in ends) == [1, 2, 3, 4]
    assert "1 without a score under both left out." in subtitle_of(chart)


def test_swaps_of_an_unknown_metric_or_of_one_generator_are_refused() -> None:
    with pytest.raises(UnknownName, match="no metric named 'BLEW'; did you mean BLEU"):
        rank_swaps(RANKING, "COMET", "BLEW")
    with pytest.raises(NotEnoughData, match="COMET and BLEU have 1 generators in common"):
        rank_swaps(replace(RANKING, generators=RANKING.generators[:1]), "COMET", "BLEU")


def test_curves_rise_with_references_and_reference_free_metrics_are_level() -> None:
    chart = reference_curves(EFFECT)
    assert title_of(chart) == "COMET rises from 0.500 to 0.551 as references go from 1 to 2"
    level = next(rows for rows in data_sets(chart) if rows[0].get("name") == "COMET-QE")
    assert [(point["size"], point["value"]) for point in level] == [(1, 0.541), (2, 0.541)]
    with pytest.raises(UnknownName, match="no metric named 'METEOR'"):
        reference_curves(EFFECT, metrics=["METEOR"])
    with pytest.raises(NotEnoughData, match="no metric was measured"):
        reference_curves(replace(EFFECT, curves={}))


def test_labels_of_lines_that_end_together_are_pushed_apart() -> None:
    together = dict.fromkeys(("A", "B", "C"), EFFECT.curves["COMET"])
    chart = reference_curves(replace(EFFECT, curves=together, reference_free={}))
    labels = next(rows for rows in data_sets(chart) if rows and "label" in rows[0])
    places = sorted(label["value"] for label in labels)
    gap = (0.551 - 0.49) / 17
    assert np.diff(places) == pytest.approx([gap, gap], rel=0.01)
    assert places[1] == pytest.approx(0.551)


def test_a_heat_map_names_the_metrics_that_are_most_alike() -> None:
    chart = metric_correlations(STUDY)
    assert title_of(chart) == "COMET and COMET-QE are most alike (0.67)"
    assert len(data_of(chart)) == 6
    unknown = replace(STUDY, correlations=((1.0, None, None), (None, 1.0, None), (None, None, 1.0)))
    with pytest.raises(NotEnoughData, match="no two metrics can be compared"):
        metric_correlations(unknown)


def test_every_chart_is_valid_and_described_in_words() -> None:
    charts = (
        scatter(np.eye(3), np.eye(3), NAMES, "COMET"),
        correlation_bars(RANKING),
        overrating_forest(OVERRATING),
        rank_swaps(RANKING, "COMET", "BLEU"),
        reference_curves(EFFECT),
        metric_correlations(STUDY),
    )
    for chart in charts:
        assert len(chart.to_dict(validate=True)["description"]) > 40


def test_both_themes_draw_the_same_on_a_transparent_ground_in_their_own_colours() -> None:
    light, dark = correlation_bars(RANKING, theme="light").to_dict(), correlation_bars(RANKING, theme="dark").to_dict()
    assert light["datasets"] == dark["datasets"]
    assert light["config"]["background"] == dark["config"]["background"] == "transparent"
    assert PALETTES["light"].accent in json.dumps(light)
    assert PALETTES["light"].accent not in json.dumps(dark)
    assert PALETTES["dark"].accent in json.dumps(dark)


def test_a_picture_holds_names_as_text_only_and_fetches_nothing() -> None:
    svg = to_svg(rank_swaps(RANKING, "COMET", "BLEU"))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in svg
    assert "<script" not in svg
    assert "Huoshan falls from 1 to 2" in svg
    assert "Huoshan falls from 1 to 2" not in to_svg(rank_swaps(RANKING, "COMET", "BLEU"), titled=False)


def test_a_metric_may_be_called_anything_without_changing_what_is_drawn() -> None:
    odd = "a.b['c']\\ {{datum.x}} \" </svg>"
    renamed = replace(RANKING, metrics=(replace(RANKING.metrics[0], name=odd),), ensemble=None)
    assert data_of(correlation_bars(renamed))[0]["name"] == odd
    assert "{{datum.x}}" in to_svg(correlation_bars(renamed))
