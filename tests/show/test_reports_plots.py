"""What holds for every chart."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
from drawn_charts import data_of
from examples_of_results import EFFECT, OVERRATING, RANKING, STUDY
from test_metric_plots import NAMES

from billboards.analyses._rank_swaps import rank_swaps
from billboards.analyses.ensemble import metric_correlations
from billboards.analyses.overrating import overrating_forest
from billboards.analyses.rank import correlation_bars, scatter
from billboards.analyses.references import reference_curves
from billboards.show.plot import PALETTES, to_svg


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


def test_figures_in_a_heat_map_are_black_on_pale_cells_and_white_on_strong_ones() -> None:
    assert PALETTES["light"].figures == PALETTES["paper"].figures == ("#000000", "#ffffff")
    assert PALETTES["dark"].figures == ("#ffffff", "#000000")
