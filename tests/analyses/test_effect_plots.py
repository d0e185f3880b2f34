"""Overrating and the worth of references as charts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from drawn_charts import data_of, data_sets, title_of
from examples_of_results import EFFECT, OVERRATING

from billboards.analyses.overrating import overrating_forest
from billboards.analyses.references import reference_curves
from billboards.errors import NotEnoughData, UnknownName


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
