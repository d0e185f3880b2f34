"""Labels drawn where they say most: the chances are kept, and estimates stay right."""

from __future__ import annotations

import numpy as np
import pytest

from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.allocation import (
    combine_batches,
    draw_items,
    estimate_weighted,
    inclusion_probabilities,
    neyman_allocation,
    residual_spread,
)
from billboards.stats.estimate import estimate_mean

NO = np.nan


def test_chances_sum_to_the_labels_and_none_is_above_one() -> None:
    chances = inclusion_probabilities([1.0, 1, 1, 1, 1, 50], 3, least=0.1)
    assert chances.sum() == pytest.approx(3)
    assert chances[5] == 1
    assert chances[:5] == pytest.approx([0.4] * 5)


def test_items_labelled_already_are_certain_and_cost_nothing() -> None:
    certain = np.array([True, False, False, False])
    chances = inclusion_probabilities([9.0, 1, 1, 1], 2, certain=certain)
    assert chances == pytest.approx([1, 2 / 3, 2 / 3, 2 / 3])
    assert 0 not in draw_items(chances, certain=certain, seed=1)


def test_items_are_drawn_as_often_as_their_chances_say() -> None:
    chances = inclusion_probabilities(np.array([1.0, 2, 3, 4, 5, 30]), 3)
    draws = [draw_items(chances, seed=seed) for seed in range(2000)]
    assert {len(draw) for draw in draws} == {3}
    often = np.bincount(np.concatenate(draws), minlength=6) / 2000
    assert often == pytest.approx(chances, abs=0.04)


def test_weighted_estimates_are_unbiased_cover_and_beat_even_draws() -> None:
    random = np.random.default_rng(0)
    score = random.normal(0, 1, 400)
    spread = np.where(score < -0.5, 25.0, 5.0)
    human = 60 + 8 * score + random.normal(0, 1, 400) * spread
    truth, prediction = human.mean(), 60 + 8 * score
    errors, even, covered, plain = [], [], [], []
    chances = inclusion_probabilities(spread, 60)
    for seed in range(600):
        labels = np.full(400, NO)
        drawn = draw_items(chances, seed=seed)
        labels[drawn] = human[drawn]
        found = estimate_weighted(labels, chances, prediction=prediction)
        errors.append(found.mean - truth)
        covered.append(found.low <= truth <= found.high)
        plain.append(np.nanmean(labels) - truth)
        labels = np.full(400, NO)
        some = random.permutation(400)[:60]
        labels[some] = human[some]
        even.append(estimate_mean(score, labels).mean - truth)
    assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(600)
    assert 0.92 <= np.mean(covered) <= 0.98
    assert np.std(errors) < 0.85 * np.std(even)
    # The plain mean of the same labels is far off: the odd ones are in it too often.
    assert abs(np.mean(plain)) > 1


def test_a_second_batch_drawn_after_looking_at_the_first_still_covers() -> None:
    random = np.random.default_rng(1)
    score = random.normal(0, 1, 300)
    human = 50 + 5 * score + random.normal(0, 1, 300) * np.where(score < 0, 15, 5)
    errors, covered = [], []
    for seed in range(300):
        certain = np.zeros(300, bool)
        certain[random.permutation(300)[:40]] = True
        slope, start = np.polyfit(score[certain], human[certain], 1)
        prediction = start + slope * score
        spread = residual_spread(score, score[certain], (human - prediction)[certain])
        chances = inclusion_probabilities(spread, 40, certain=certain)
        labels = np.where(certain, human, NO)
        first = estimate_mean(score, labels)
        drawn = draw_items(chances, certain=certain, seed=seed)
        labels[drawn] = human[drawn]
        found = combine_batches(first.mean, first.se, estimate_weighted(labels, chances, prediction=prediction))
        errors.append(found.mean - human.mean())
        covered.append(found.low <= human.mean() <= found.high)
        assert found.labels == 80
    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(300)
    assert 0.91 <= np.mean(covered) <= 0.98


def test_a_census_is_exact() -> None:
    found = estimate_weighted([1.0, 2, 6], [1.0, 1, 1])
    assert (found.mean, found.se, found.low, found.high) == (3, 0, 3, 3)


def test_errors_are_expected_where_they_were_seen() -> None:
    known = np.arange(100.0)
    found = residual_spread([5.0, 95, NO], known, np.where(known < 50, 10.0, 1.0))
    # Twenty errors of 10 or 1 in the stratum, and ten of the average: sqrt((2000 + 505)/30), sqrt((20 + 505)/30).
    assert found[:2] == pytest.approx([9.138, 4.183], abs=1e-3)
    assert found[2] == pytest.approx(np.sqrt(50.5))


def test_neymans_allocation_by_hand() -> None:
    # 100·5 : 200·1 : 300·1 of 60.
    assert neyman_allocation([100, 200, 300], [5, 1, 1], 60).tolist() == [30, 12, 18]
    assert neyman_allocation([10, 200, 300], [50, 1, 1], 60).tolist() == [10, 20, 30]
    assert neyman_allocation([3, 3], [0, 0], 4).tolist() == [2, 2]
    assert neyman_allocation([10, 0, 10], [1, 5, 3], 4).tolist() == [1, 0, 3]


def test_impossible_draws_are_refused() -> None:
    with pytest.raises(InvalidInput, match="4 labels can't be spread over 3"):
        inclusion_probabilities([1.0, 1, 1], 4)
    for least in (0.0, 1.5):
        with pytest.raises(InvalidInput, match=f"spread evenly is above 0 and at most 1, not {least}"):
            inclusion_probabilities([1.0, 1, 1], 2, least=least)
    with pytest.raises(InvalidInput, match="which draw is this"):
        estimate_weighted([NO, 1], [1.0, 0.5])
    with pytest.raises(NotEnoughData):
        residual_spread([1.0], [NO], [1.0])
