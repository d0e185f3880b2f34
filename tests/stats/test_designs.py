"""GENIE's section 4: what designs leave to chance, against what theory says they must."""

from __future__ import annotations

import numpy as np
import pytest

from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.designs import SCALES, DesignResult, Labels, compare_designs, halved, labels_of, majority


def made_up(seed: int = 0, *, items: int = 300, each: int = 6) -> Labels:
    """Items that differ with standard deviation .2, labels around them with .1."""
    random = np.random.default_rng(seed)
    values = np.clip(0.5 + random.normal(0, 0.2, (items, 1)) + random.normal(0, 0.1, (items, each)), 0, 1)
    return Labels(values, np.zeros(items, np.int64))


def by_design(results: tuple[DesignResult, ...]) -> dict[tuple[str, str, int], DesignResult]:
    return {(one.scale, one.aggregation, one.labels): one for one in results}


def test_standard_deviations_are_those_of_theory() -> None:
    labels = made_up()
    found = by_design(compare_designs(labels, rounds=600, seed=1))
    between = labels.values.mean(axis=1).var()
    within = labels.values.var(axis=1).mean()
    one, three = found["as given", "mean", 1], found["as given", "mean", 3]
    # One label of each of 300 items, items drawn with replacement: (between + within)/300; fixed: within/300.
    assert one.sd == pytest.approx(np.sqrt((between + within) / 300), rel=0.12)
    assert one.fixed_sd == pytest.approx(np.sqrt(within / 300), rel=0.12)
    # Three of six labels without replacement have a third of the variance, less what they share: (1 - 3/6)·6/5.
    assert three.sd == pytest.approx(np.sqrt((between + within / 3 * 0.6) / 100), rel=0.12)
    assert three.fixed_sd == three.sd
    assert one.sd < three.sd


def test_halves_of_the_labels_differ_by_their_noise_alone() -> None:
    labels = made_up(each=2)
    found = by_design(compare_designs(labels, several=2, rounds=400))
    within = labels.values.var(axis=1, ddof=1).mean()
    assert found["as given", "mean", 1].days == pytest.approx(np.sqrt(within / 300), rel=0.12)


def test_two_levels_vary_more_than_five_and_a_third_scale_is_there_only_if_finer() -> None:
    found = by_design(compare_designs(made_up(), rounds=200))
    assert found["binary", "mean", 1].sd > found["five-level", "mean", 1].sd
    five = Labels(SCALES["five-level"](made_up().values), np.zeros(300, np.int64))
    assert {one.scale for one in compare_designs(five, rounds=5)} == {"binary", "five-level"}


def test_separation_is_the_spread_of_groups_over_the_standard_deviation() -> None:
    random = np.random.default_rng(2)
    group = np.repeat([0, 1], 100)
    values = np.clip(np.where(group == 0, 0.4, 0.6)[:, None] + random.normal(0, 0.1, (200, 3)), 0, 1)
    found = by_design(compare_designs(Labels(values, group), rounds=300))["as given", "mean", 1]
    assert found.separation == pytest.approx(0.2 / np.sqrt(2) / 0.01, rel=0.15)
    alone = compare_designs(Labels(values, np.zeros(200, np.int64)), rounds=5)[0]
    assert np.isnan(alone.separation)


def test_the_same_seed_gives_the_same_figures() -> None:
    labels = made_up(items=30)
    assert str(compare_designs(labels, rounds=20, seed=4)) == str(compare_designs(labels, rounds=20, seed=4))
    assert compare_designs(labels, rounds=20, seed=4)[0].sd != compare_designs(labels, rounds=20, seed=5)[0].sd


def test_a_vote_is_won_by_the_commonest_and_a_tie_lies_between() -> None:
    votes = np.array([[0, 0, 1], [1, 0, 1], [0, 0.5, 1], [0.25, 0.25, 0.25]])
    assert majority(votes) == pytest.approx([0, 1, 0.5, 0.25])
    assert majority(np.array([[0, 0, 1, 1, 0.5]])) == pytest.approx([0.5])


def test_a_mean_counts_every_label_and_a_vote_only_the_commonest() -> None:
    divided = Labels(np.tile([0.0, 0.0, 1.0], (30, 1)), np.zeros(30, np.int64))
    found = by_design(compare_designs(divided, rounds=20))
    assert found["binary", "mean", 3].score == pytest.approx(1 / 3)
    assert found["binary", "majority", 3].score == 0
    # A single label of each item, drawn anew in every round: right on average, and never the same.
    assert found["binary", "mean", 1].score == pytest.approx(1 / 3, abs=0.1)
    assert found["binary", "mean", 3].sd == pytest.approx(0)
    assert found["binary", "mean", 1].sd > 0.05


def test_scales_are_thresholds_and_the_nearest_of_five() -> None:
    values = np.array([0, 0.12, 0.13, 0.49, 0.5, 0.9, 1, np.nan])
    assert np.array_equal(SCALES["binary"](values), [0, 0, 0, 0, 1, 1, 1, np.nan], equal_nan=True)
    assert np.array_equal(SCALES["five-level"](values), [0, 0, 0.25, 0.5, 0.5, 1, 1, np.nan], equal_nan=True)


def test_each_half_has_at_most_half_of_the_fewest_labels() -> None:
    assert [halved(made_up(items=3, each=each), 3) for each in (2, 5, 6, 20)] == [1, 2, 3, 3]


def test_items_with_too_few_labels_are_left_out_and_values_beyond_the_scale_refused() -> None:
    found = labels_of(["a", "a", "a", "b", "b"], [0, 0.5, 1, 1, 1], ["x"] * 5, at_least=3)
    assert found.values.tolist() == [[0, 0.5, 1]]
    with pytest.raises(NotEnoughData, match="no item has 4 labels"):
        labels_of(["a"] * 3, [0, 1, 1], ["x"] * 3, at_least=4)
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        labels_of(["a"] * 3, [0, 5, 1], ["x"] * 3, at_least=3)
