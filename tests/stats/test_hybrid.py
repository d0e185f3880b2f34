"""Hybrid systems: mixtures decoded digit by digit, correlations against scipy, selections against full enumeration."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from billboards.errors import NotEnoughData
from billboards.stats.hybrid import Hybrids, correlate_hybrids, mix_hybrids, select_models
from billboards.stats.significance import williams

Floats = NDArray[np.float64]


def readable(rows: int, instances: int) -> Floats:
    """Judgments whose sum over a hybrid's instances spells its generators, one decimal digit per instance."""
    spelled: Floats = np.arange(1.0, rows + 1)[:, None] * 10.0 ** np.arange(instances)
    return spelled


def choices(hybrids: Hybrids) -> NDArray[np.int64]:
    """The generator of every hybrid and instance, read from people's means."""
    total = np.rint(hybrids.human * hybrids.instances).astype(np.int64)
    return np.stack([total // 10**k % 10 - 1 for k in range(hybrids.instances)], axis=1)


@pytest.mark.parametrize("parents", [None, 2])
def test_metrics_score_the_very_outputs_that_people_score(parents: int | None) -> None:
    human = readable(4, 7)
    scores = np.random.default_rng(1).normal(50, 20, size=(3, 4, 7))
    hybrids = mix_hybrids(scores, human, count=300, parents=parents, seed=2)
    for h, chosen in enumerate(choices(hybrids)):
        expected = [np.mean([one[row, k] for k, row in enumerate(chosen)]) for one in scores]
        np.testing.assert_allclose(hybrids.scores[:, h], expected, rtol=1e-10)
        assert parents is None or len(set(chosen)) <= parents
    assert hybrids.scores.shape == (3, 300)


@pytest.mark.parametrize("parents", [None, 2, 4])
def test_every_generator_is_drawn_as_often_and_instances_independently(parents: int | None) -> None:
    human = readable(4, 6)
    chosen = choices(mix_hybrids(human[None], human, count=8000, parents=parents, seed=3))
    for k in range(6):
        assert stats.chisquare(np.bincount(chosen[:, k], minlength=4)).pvalue > 1e-3
    together = np.mean(chosen[:, 0] == chosen[:, 1])
    assert together == pytest.approx(0.5 if parents == 2 else 0.25, abs=0.025)


def test_more_choices_than_one_table_holds_are_drawn_as_well() -> None:
    human = np.random.default_rng(4).normal(size=(40, 9))
    hybrids = mix_hybrids(human[None] * 2, human, count=20_000, seed=1)
    variance = human.var(axis=0).sum() / 81
    assert hybrids.human.mean() == pytest.approx(human.mean(), abs=4 * np.sqrt(variance / 20_000))
    assert hybrids.human.var() == pytest.approx(variance, rel=0.05)
    np.testing.assert_allclose(hybrids.scores[0], 2 * hybrids.human, atol=1e-12)


def test_missing_outputs_are_never_drawn_and_instances_without_any_are_left_out() -> None:
    human = readable(3, 5)
    scores = np.ones((2, 3, 5))
    scores[0, 1, 0] = scores[1, 0, 1] = np.nan
    human[2, 2] = np.inf
    human[:, 4] = np.nan
    hybrids = mix_hybrids(scores, human, count=500, seed=1)
    chosen = choices(hybrids)
    assert hybrids.instances == 4
    seen = [sorted(set(chosen[:, k].tolist())) for k in range(4)]
    assert seen == [[0, 2], [1, 2], [0, 1], [0, 1, 2]]


def test_parents_need_instances_that_all_generators_share() -> None:
    human = readable(3, 2)
    human[0, 0] = np.nan
    assert mix_hybrids(human[None], human, count=5, parents=2).instances == 1
    human[1, 1] = np.nan
    with pytest.raises(NotEnoughData, match="there are 3, which share 0"):
        mix_hybrids(human[None], human, count=5, parents=2)
    with pytest.raises(NotEnoughData, match="5 parents"):
        mix_hybrids(np.ones((1, 3, 2)), np.ones((3, 2)), parents=5)


def test_a_metric_without_scores_is_named() -> None:
    human = readable(2, 3)
    with pytest.raises(NotEnoughData, match="metric number 1 has no score"):
        mix_hybrids(np.stack((human, np.full_like(human, np.nan))), human)


def test_the_same_seed_mixes_the_same_hybrids_and_another_does_not() -> None:
    human = np.random.default_rng(5).normal(size=(3, 10))
    first, again, other = (mix_hybrids(human[None], human, count=20, seed=s).human for s in (1, 1, 2))
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


def mixed(seed: int) -> Hybrids:
    random = np.random.default_rng(seed)
    human = random.normal(size=(5, 30))
    noise = np.array([0.3, 1.0, 4.0])[:, None, None]
    return mix_hybrids(human + noise * random.normal(size=(3, 5, 30)), human, count=400, seed=seed)


def test_correlations_equal_scipy_and_williams_prefers_the_better_metric() -> None:
    hybrids = mixed(6)
    found = correlate_hybrids(hybrids)
    for k in range(3):
        assert found.pearson[k] == pytest.approx(stats.pearsonr(hybrids.scores[k], hybrids.human)[0], abs=1e-12)
        assert found.kendall[k] == pytest.approx(stats.kendalltau(hybrids.scores[k], hybrids.human)[0], abs=1e-12)
    assert found.n == 400
    assert found.p[0, 1] < 0.01
    assert found.p[0, 1] + found.p[1, 0] == pytest.approx(1, abs=1e-12)
    assert np.diag(found.p).tolist() == [1, 1, 1]


def test_a_constant_metric_has_neither_correlation_nor_pick() -> None:
    hybrids = mixed(7)
    constant = Hybrids(hybrids.human, np.stack((hybrids.scores[0], np.full(400, 0.1))), 30)
    found, picked = correlate_hybrids(constant), select_models(constant)
    for values in (found.pearson, found.kendall, found.p[0], found.p[:, 0], picked.hits, picked.mrr, picked.difference):
        assert np.isfinite(values[0])
        assert np.isnan(values[1])


def test_a_copy_of_a_metric_is_never_better() -> None:
    hybrids = mixed(8)
    copies = Hybrids(hybrids.human, np.stack((hybrids.scores[0], hybrids.scores[0] / 3 + 7)), 30)
    assert correlate_hybrids(copies).p.tolist() == [[1, 1], [1, 1]]


def test_a_metric_equal_to_people_always_picks_the_best() -> None:
    human = np.random.default_rng(9).normal(size=(4, 25))
    hybrids = mix_hybrids(human[None], human, count=3000)
    found, picked = correlate_hybrids(hybrids), select_models(hybrids)
    assert (found.pearson[0], found.kendall[0]) == pytest.approx((1, 1), abs=1e-12)
    assert (picked.hits[0], picked.mrr[0], picked.difference[0]) == pytest.approx((1, 1, 0), abs=1e-9)


def test_williams_survives_metrics_all_but_equal_to_people() -> None:
    # The determinant of these three is 0 and rounds to -2e-16.
    assert williams(0.9999999991230256, 0.9999999484989452, 0.9999999610629685, 200) < 1e-9


@pytest.mark.parametrize("sample", [1, 2, 4, 10, 11])
def test_selection_equals_the_mean_over_every_possible_sample(sample: int) -> None:
    random = np.random.default_rng(10)
    human = np.round(random.normal(size=11), 1)  # rounded, so that people have ties
    metric = human + random.normal(size=11)
    picked = select_models(Hybrids(human, metric[None], 1), sample=sample)
    every = []
    for drawn in map(list, combinations(range(11), sample)):
        pick = drawn[int(np.argmax(metric[drawn]))]
        place = 1 + sum(human[k] > human[pick] for k in drawn)
        every.append((place == 1, 1 / place, human[drawn].max() - human[pick]))
    expected = np.mean(every, axis=0)
    np.testing.assert_allclose((picked.hits[0], picked.mrr[0], picked.difference[0]), expected, rtol=1e-10, atol=1e-12)


def test_selection_equals_drawing_samples_as_the_paper_does() -> None:
    hybrids = mixed(11)
    picked = select_models(hybrids, sample=100)
    random = np.random.default_rng(0)
    drawn = np.argsort(random.random((4000, 400)), axis=1)[:, :100]
    human = hybrids.human[drawn]
    for k in range(3):
        pick = np.take_along_axis(human, hybrids.scores[k][drawn].argmax(axis=1)[:, None], axis=1)
        place = 1 + (human > pick).sum(axis=1)
        for value, simulated in (
            (picked.hits[k], place == 1),
            (picked.mrr[k], 1 / place),
            (picked.difference[k], human.max(axis=1) - pick[:, 0]),
        ):
            assert value == pytest.approx(simulated.mean(), abs=4 * simulated.std() / np.sqrt(4000) + 1e-9)


def test_a_random_metric_picks_at_random() -> None:
    random = np.random.default_rng(12)
    human, noise = random.normal(size=1000), random.normal(size=(100, 1000))
    picked = select_models(Hybrids(human, noise, 1))
    assert picked.hits.mean() == pytest.approx(1 / 100, abs=0.004)
    assert picked.mrr.mean() == pytest.approx(np.sum(1 / np.arange(1, 101)) / 100, abs=0.005)


def test_equal_metric_scores_are_ordered_by_lot_not_by_quality() -> None:
    human = np.sort(np.random.default_rng(13).normal(size=1000))[::-1]
    almost_constant = np.zeros((1, 1000))
    almost_constant[0, -1] = -1.0
    hits = [select_models(Hybrids(human, almost_constant, 1), seed=seed).hits[0] for seed in range(100)]
    assert np.mean(hits) == pytest.approx(1 / 100, abs=0.004)


def test_samples_larger_than_what_there_is_are_refused() -> None:
    with pytest.raises(NotEnoughData, match="100 hybrids can't be drawn from 50"):
        select_models(Hybrids(np.arange(50.0), np.arange(50.0)[None], 1))


def test_one_generator_makes_hybrids_that_are_all_the_same() -> None:
    human = np.array([[1.0, 2.0, 4.0]])
    hybrids = mix_hybrids(human[None], human, count=200)
    assert np.ptp(hybrids.human) == 0
    assert np.isnan(correlate_hybrids(hybrids).pearson).all()
    assert np.isnan(select_models(hybrids).hits).all()
