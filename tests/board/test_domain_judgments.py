"""Judgments and their aggregates, on a table small enough to compute by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from billboards.board import Aggregate, Dimension, Judgments, human_scores

MQM = Dimension("mqm", range=(-25, 0), to_100=(4, 100))
ADEQUACY = Dimension("adequacy", range=(1, 5))
ERRORS = Dimension("errors", range=(0, 10), higher_is_better=False)
DIMENSIONS = {"adequacy": ADEQUACY, "errors": ERRORS}
NAN = np.nan

#: Two rows, two instances. Row 0: instance 0 judged by two experts and in a test question, instance 1 on adequacy only.
#: Row 1: instance 0 judged by the crowd, instance 1 by an expert; and once both rows were compared with each other.
JUDGMENTS = Judgments(
    dimensions=("adequacy", "errors"),
    annotators=("ann", "bob"),
    campaigns=("experts", "crowd"),
    instance=np.array([0, 0, 0, 1, 0, 1, 0], np.int32),
    row=np.array([0, 0, 0, 0, 1, 1, 0], np.int32),
    annotator=np.array([0, 1, 0, 0, -1, 1, 0], np.int32),
    campaign=np.array([0, 0, 0, 0, 1, 0, -1], np.int32),
    values=np.array([[5, 0], [3, 4], [1, 10], [2, NAN], [4, 5], [1, 10], [1, 10]]),
    details={2: {"test": "negative"}, 6: {"others": (1,), "prefers": "M"}},
)


@pytest.mark.parametrize(
    ("dimension", "value", "expected"),
    [
        (MQM, -25, 0),
        (MQM, 0, 100),
        (MQM, -1, 96),
        (Dimension("x", range=(1, 5), to_100=(20, 0)), 4, 80),
        (ADEQUACY, 1, 0),
        (ADEQUACY, 4, 75),
        (ADEQUACY, 5, 100),
        (ERRORS, 0, 100),
        (ERRORS, 10, 0),
        (ERRORS, 2, 80),
        (Dimension("x"), 3.5, 3.5),
        (Dimension("x", higher_is_better=False), 3.5, -3.5),
    ],
)
def test_a_scale_is_mapped_to_0_100_with_higher_better(dimension: Dimension, value: float, expected: float) -> None:
    slope, intercept = dimension.affine()
    assert value * slope + intercept == expected


def test_means_are_over_annotators_without_test_questions_and_comparisons() -> None:
    np.testing.assert_array_equal(JUDGMENTS.means("adequacy", (2, 2)), [[4, 2], [4, 1]])
    np.testing.assert_array_equal(JUDGMENTS.means("errors", (2, 2)), [[2, NAN], [5, 10]])


def test_means_of_some_campaigns_are_of_those_only() -> None:
    np.testing.assert_array_equal(JUDGMENTS.means("adequacy", (2, 2), ("crowd",)), [[NAN, NAN], [4, NAN]])
    np.testing.assert_array_equal(JUDGMENTS.means("adequacy", (2, 2), ("nobody",)), np.full((2, 2), NAN))
    np.testing.assert_array_equal(JUDGMENTS.means("adequacy", (2, 2), ()), np.full((2, 2), NAN))


def test_a_dimension_nobody_judged_is_missing_everywhere() -> None:
    np.testing.assert_array_equal(JUDGMENTS.means("beauty", (2, 2)), np.full((2, 2), NAN))
    np.testing.assert_array_equal(
        Judgments(dimensions=("x",), values=np.empty((0, 1))).means("x", (1, 2)), [[NAN, NAN]]
    )


def test_human_scores_are_the_mean_of_mapped_dimensions() -> None:
    """Row 0, instance 0: adequacy 4 is 75, errors 2 is 80, together 77.5; row 1: (75 + 50)/2 and (0 + 0)/2."""
    scores = human_scores(JUDGMENTS, Aggregate("all", ("adequacy", "errors")), DIMENSIONS, (2, 2))
    np.testing.assert_array_equal(scores, [[77.5, NAN], [62.5, 0]])


def test_an_output_that_lacks_a_dimension_has_no_aggregate_rather_than_one_over_less() -> None:
    adequacy = human_scores(JUDGMENTS, Aggregate("a", ("adequacy",)), DIMENSIONS, (2, 2))
    both = human_scores(JUDGMENTS, Aggregate("b", ("adequacy", "errors")), DIMENSIONS, (2, 2))
    assert adequacy[0, 1] == 25
    assert np.isnan(both[0, 1])


def test_an_aggregate_of_some_campaigns_leaves_the_others_out() -> None:
    scores = human_scores(JUDGMENTS, Aggregate("e", ("adequacy", "errors"), ("experts",)), DIMENSIONS, (2, 2))
    np.testing.assert_array_equal(scores, [[77.5, NAN], [NAN, 0]])


def test_judgments_are_told_in_words() -> None:
    first, *_, last = JUDGMENTS.each(("i", "j"), ("M", "H"))
    assert (first.instance, first.outputs, first.values) == ("i", ("M",), {"adequacy": 5.0, "errors": 0.0})
    assert (first.annotator, first.campaign, first.details) == ("ann", "experts", {})
    assert (last.outputs, last.details, last.campaign) == (("M", "H"), {"prefers": "M"}, None)
    assert list(JUDGMENTS.each(("i", "j"), ("M", "H")))[3].values == {"adequacy": 2.0}


def test_the_version_of_judgments_changes_with_anything_they_say() -> None:
    versions = {JUDGMENTS.version}
    changes: dict[str, Any] = {
        "values": JUDGMENTS.values + 1,
        "row": 1 - JUDGMENTS.row,
        "instance": 1 - JUDGMENTS.instance,
        "campaign": -JUDGMENTS.campaign,
        "annotators": ("ann", "ben"),
        "details": {2: {"test": "positive"}},
    }
    for key, value in changes.items():
        versions.add(replace(JUDGMENTS, **{key: value}).version)
    assert len(versions) == 1 + len(changes)


def test_no_judgments_have_a_version_and_a_length() -> None:
    assert len(Judgments()) == 0
    assert Judgments().version == Judgments().version
    assert Judgments().counted().tolist() == []
