"""WMT's Kendall over relative-ranking pairs, and AUC for labelled outputs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from billboards.errors import InvalidInput
from billboards.stats.preferences import area_under_curve, preference_agreement, preferences, relative_ranking

NAN = float("nan")


def test_relative_ranking_of_a_table_worked_by_hand() -> None:
    # Pairs at least 25 apart: in instance 0 the first over the second (30) and over the third (50), not the second over
    # the third (20); in instance 1 the second over the first (25). The metric has 1 right, 1 tied (wrong), 1 right.
    human = np.array([[90.0, 50.0], [60.0, 75.0], [40.0, NAN]])
    scores = np.array([[[0.9, 0.1], [0.5, 0.3], [0.9, 0.2]]])
    found = relative_ranking(scores, human)
    assert (found.concordant[0], found.discordant[0], found.n[0]) == (2, 1, 3)
    assert found.value[0] == pytest.approx(1 / 3)
    better, worse, instance = preferences(human)
    pairs = zip(better.tolist(), worse.tolist(), instance.tolist(), strict=True)
    assert sorted(pairs) == [(0, 1, 0), (0, 2, 0), (1, 0, 1)]


def test_the_threshold_decides_what_is_a_pair_and_equal_judgments_never_are() -> None:
    human, scores = np.array([[1.0, 3.0], [1.0, 2.0]]), np.array([[[4.0, 4.0], [3.0, 3.0]]])
    assert relative_ranking(scores, human, threshold=0).n[0] == 1
    nothing = relative_ranking(scores, human)
    assert nothing.n[0] == 0
    assert np.isnan(nothing.value[0])


def test_pairs_without_a_score_are_left_out_and_not_wrong() -> None:
    better = np.array([[3.0, NAN, 1.0, np.inf], [1.0, 1.0, 1.0, 1.0]])
    worse = np.array([[2.0, 1.0, 2.0, 1.0], [2.0, 0.0, 0.0, NAN]])
    found = preference_agreement(better, worse)
    assert found.value.tolist() == [0, pytest.approx(1 / 3)]
    assert found.n.tolist() == [2, 3]


def test_every_pair_needs_both_outputs() -> None:
    with pytest.raises(InvalidInput, match=r"\(1, 3\) and \(1, 2\)"):
        preference_agreement(np.ones((1, 3)), np.ones((1, 2)))


def test_auc_equals_scikit_learn_with_ties_and_missing_scores() -> None:
    random = np.random.default_rng(1)
    human = random.integers(0, 2, size=(2, 60)).astype(float)
    scores = np.round(human + random.normal(size=(3, 2, 60)), 1)
    human[0, :5] = NAN
    scores[1, 1, 10:20] = NAN
    found = area_under_curve(scores, human)
    for k, one in enumerate(scores):
        there = ~np.isnan(one + human)
        assert found.value[k] == pytest.approx(roc_auc_score(human[there], one[there]), abs=1e-13)
        assert found.positives[k] == (human[there] == 1).sum()
        assert found.positives[k] + found.negatives[k] == there.sum()


def test_auc_of_a_table_worked_by_hand_on_any_scale_of_two_labels() -> None:
    # Of the 2·2 pairs of a good and a bad output, 2 > 1 and 5 > 1 are right, 5 > 2 is right, and 2 = 2 counts half.
    scores, human = np.array([[[2.0, 5.0, 1.0, 2.0]]]), np.array([[80.0, 80.0, 20.0, 20.0]])
    found = area_under_curve(scores, human)
    assert found.value[0] == 3.5 / 4
    assert (found.positives[0], found.negatives[0]) == (2, 2)


def test_a_constant_metric_separates_nothing_and_one_label_has_no_auc() -> None:
    human = np.array([[0.0, 1.0, 1.0]])
    assert area_under_curve(np.ones((1, 1, 3)), human).value[0] == 0.5
    assert area_under_curve(human[None], human).value[0] == 1
    alone = area_under_curve(np.ones((1, 1, 3)), np.ones((1, 3)))
    assert np.isnan(alone.value[0])
    assert (alone.positives[0], alone.negatives[0]) == (3, 0)
    assert area_under_curve(np.ones((1, 1, 3)), np.full((1, 3), NAN)).positives[0] == 0


def test_three_labels_are_refused() -> None:
    with pytest.raises(InvalidInput, match="labels of two values; here are 3, 1 to 3"):
        area_under_curve(np.ones((1, 1, 3)), np.array([[1.0, 2.0, 3.0]]))
