"""What a label is worth, against plain transcriptions in loops, and draws by worth: chances, costs, unbiased means."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import kendalltau

from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.allocation import estimate_regression, estimate_weighted
from billboards.stats.selection import (
    chances_within,
    combined_standing,
    consistency,
    difficulty,
    disagreement,
    draw_systematic,
    expected_spread,
    item_responses,
    spread,
    take_worthiest,
)

RANDOM = np.random.default_rng(7)
SCORES = RANDOM.normal(size=(5, 12))


def test_spread_is_the_standard_deviation_over_generators() -> None:
    assert spread(SCORES) == pytest.approx(SCORES.std(axis=0))


def test_spread_counts_what_there_is_and_needs_two() -> None:
    scores = np.array([[1.0, 2.0, 5.0], [3.0, np.nan, 5.0], [np.nan, np.nan, 5.0]])
    assert spread(scores)[[0, 2]] == pytest.approx([1.0, 0.0])
    assert np.isnan(spread(scores)[1])


def test_difficulty_is_the_distance_below_the_easiest_instance() -> None:
    assert difficulty([[1.0, 4.0, 2.0], [3.0, 6.0, 2.0]]).tolist() == [3.0, 0.0, 3.0]


def test_consistency_is_kendalls_tau_with_the_generators_means() -> None:
    means = SCORES.mean(axis=1)
    expected = [1 + kendalltau(SCORES[:, k], means).statistic for k in range(12)]
    assert consistency(SCORES) == pytest.approx(expected)


def test_an_instance_without_differences_is_as_consistent_as_luck() -> None:
    scores = SCORES.copy()
    scores[:, 3] = 1.0
    assert consistency(scores)[3] == 1.0


def test_disagreement_is_the_spread_of_metrics_in_their_own_units() -> None:
    scores = RANDOM.normal(size=(3, 4, 6)) * np.array([1.0, 10.0, 100.0])[:, None, None]
    standard = []
    for metric in scores:
        within = metric - metric.mean(axis=0)
        standard.append(within / math.sqrt((within**2).mean()))
    expected = [[np.std([of_one[g][k] for of_one in standard]) for k in range(6)] for g in range(4)]
    assert disagreement(scores) == pytest.approx(np.array(expected))


def test_item_responses_find_the_discriminations_that_were_put_in() -> None:
    random = np.random.default_rng(3)
    ability, slope = random.normal(size=60), random.uniform(0.2, 3.0, size=40)
    ability = (ability - ability.mean()) / ability.std()
    scores = random.normal(size=40) + ability[:, None] * slope + 0.5 * random.normal(size=(60, 40))
    fitted = item_responses(scores)
    assert np.corrcoef(fitted.ability, ability)[0, 1] > 0.99
    assert np.abs(fitted.discrimination - slope).max() < 0.3
    assert fitted.information == pytest.approx(fitted.discrimination**2 / fitted.residual)
    assert np.sqrt(fitted.residual).mean() == pytest.approx(0.5, abs=0.05)


def test_before_there_are_labels_spread_and_difficulty_count_alike() -> None:
    none = np.full(SCORES.shape, np.nan)
    ranks = [(np.argsort(np.argsort(worth)) + 0.5) / 12 - 0.5 for worth in (SCORES.std(axis=0), -SCORES.mean(axis=0))]
    assert expected_spread(SCORES, none) == pytest.approx(np.exp(2 * (0.2 * ranks[0] + 0.2 * ranks[1])))


def test_labels_teach_what_foretells_peoples_spread() -> None:
    random = np.random.default_rng(5)
    size = random.uniform(0.1, 2.0, size=200)
    scores = random.normal(size=(6, 200)) * size + random.normal(size=200) * 5
    people = random.normal(size=(6, 200)) * size
    labels = np.where(np.arange(200) < 100, people, np.nan)
    learned, before = expected_spread(scores, labels), expected_spread(scores, np.full((6, 200), np.nan))
    assert np.corrcoef(learned[100:], size[100:])[0, 1] > np.corrcoef(before[100:], size[100:])[0, 1] + 0.1


def plain_standing(labels: np.ndarray, scores: np.ndarray) -> list[float]:
    """The combined standing in loops, as docs/selecting.md has it."""
    generators, instances = labels.shape
    metric = [[scores[g][k] - np.mean(scores[:, k]) for k in range(instances)] for g in range(generators)]
    size = [math.sqrt(np.mean([metric[g][k] ** 2 for g in range(generators)])) for k in range(instances)]
    scale = [0.2 + 0.8 * value / np.mean(size) for value in size]
    done = [k for k in range(instances) if all(math.isfinite(labels[g][k]) for g in range(generators))]
    people = {(g, k): labels[g][k] - np.mean(labels[:, k]) for g in range(generators) for k in done}
    above = below = 0.0
    for g in range(generators):
        x = [metric[g][k] / scale[k] for k in done]
        y = [people[g, k] / scale[k] for k in done]
        above += sum((a - np.mean(x)) * (b - np.mean(y)) for a, b in zip(x, y, strict=True))
        below += sum((a - np.mean(x)) ** 2 for a in x)
    slope = max(above / below, 0.0)
    left = [[(people[g, k] - slope * metric[g][k]) / scale[k] for k in done] for g in range(generators)]
    offset = [np.mean(row) for row in left]
    noise = np.mean([np.var(row, ddof=1) for row in left]) / len(done)
    real = max(np.var(offset, ddof=1) - noise, 0.0)
    shrunk = [value * real / (real + noise) for value in offset]
    rest = [k for k in range(instances) if k not in done]
    return [
        (sum(people[g, k] for k in done) + sum(slope * metric[g][k] + shrunk[g] * scale[k] for k in rest)) / instances
        for g in range(generators)
    ]


def test_the_combined_standing_equals_its_transcription() -> None:
    random = np.random.default_rng(11)
    scores = random.normal(size=(4, 30)) + np.array([0.0, 0.5, 1.0, 2.0])[:, None]
    people = 2 * scores + random.normal(size=(4, 30))
    labels = np.where(np.arange(30) < 9, people, np.nan)
    labels[2, 12] = 1.0
    assert combined_standing(labels, scores) == pytest.approx(plain_standing(labels, scores))


def test_with_all_labels_the_standing_is_that_of_the_labels() -> None:
    people = RANDOM.normal(size=(5, 12))
    assert combined_standing(people, SCORES) == pytest.approx(people.mean(axis=1) - people.mean())


def test_a_standing_from_no_labels_is_zero() -> None:
    assert combined_standing(np.full((5, 12), np.nan), SCORES).tolist() == [0.0] * 5


@pytest.mark.parametrize("budget", [1.0, 7.5, 20.0])
def test_chances_cost_the_budget_and_follow_worth_and_price(budget: float) -> None:
    worth, cost = RANDOM.uniform(0.1, 3.0, size=40), RANDOM.uniform(0.5, 4.0, size=40)
    chances = chances_within(worth, cost, budget)
    assert chances @ cost == pytest.approx(budget)
    assert (chances > 0).all()
    assert (chances <= 1).all()
    size = (0.2 + 0.8 * worth / worth.mean()) / np.sqrt(cost)
    free = chances < 1
    assert np.ptp((chances / size)[free]) < 1e-12


def test_a_budget_for_everything_makes_all_certain() -> None:
    assert chances_within([1.0, 2.0], [3.0, 4.0], 7.0).tolist() == [1.0, 1.0]


def test_a_missing_worth_is_the_average_and_no_worth_at_all_is_even() -> None:
    assert chances_within([1.0, np.nan, 3.0], np.ones(3), 1.5)[1] == pytest.approx(0.5)
    assert chances_within([0.0, 0.0], np.ones(2), 1.0).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("worth", "cost", "budget", "words"),
    [
        ([1.0, -1.0], [1.0, 1.0], 1.0, "worth must be 0 or more"),
        ([1.0, 1.0], [1.0, 0.0], 1.0, "cost above 0"),
        ([1.0, 1.0], [1.0, 1.0], 0.0, "budget is above 0"),
    ],
)
def test_what_makes_no_draw_is_refused(worth: list[float], cost: list[float], budget: float, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        chances_within(worth, cost, budget)


def test_systematic_draws_have_exactly_their_chances() -> None:
    chances = np.array([0.05, 0.2, 0.35, 0.9, 1.0, 0.5])
    counts = np.zeros(6)
    for seed in range(4000):
        drawn = draw_systematic(chances, seed=seed)
        assert len(drawn) == 3 == len(set(drawn.tolist()))
        counts[drawn] += 1
    assert counts / 4000 == pytest.approx(chances, abs=4 * math.sqrt(0.25 / 4000))


def test_a_sum_that_is_no_whole_number_is_drawn_below_or_above_it() -> None:
    sizes = {len(draw_systematic([0.5, 0.5, 0.5], seed=seed)) for seed in range(50)}
    assert sizes == {1, 2}


def test_the_worthiest_per_cost_are_taken_until_the_budget_ends() -> None:
    taken = take_worthiest([5.0, 4.0, np.nan, 3.0, 6.5], [5.0, 1.0, 1.0, 1.0, 2.0], 4.0)
    assert taken.tolist() == [1, 4, 3]


def test_ties_are_broken_by_the_seed() -> None:
    chosen = {take_worthiest(np.ones(20), np.ones(20), 1.0, seed=seed)[0] for seed in range(30)}
    assert len(chosen) > 5


def drawn_means(*, helped: bool) -> tuple[np.ndarray, np.ndarray, float]:
    """Means and standard errors of 2,000 draws by unequal chances, and the true mean."""
    random = np.random.default_rng(13)
    people = random.gamma(2.0, 2.0, size=150)
    metric = people + random.normal(size=150)
    chances = chances_within(people + random.uniform(0, 2, size=150), np.ones(150), 30.0)
    estimates = []
    for seed in range(2000):
        drawn = draw_systematic(chances, seed=seed)
        labels = np.full(150, np.nan)
        labels[drawn] = people[drawn]
        found = estimate_regression(labels, chances, metric=metric if helped else None)
        estimates.append((found.mean, found.se, found.low, found.high))
    columns = np.array(estimates).T
    covered = float(np.mean((columns[2] <= people.mean()) & (people.mean() <= columns[3])))
    assert covered == pytest.approx(0.95, abs=0.03)
    return columns[0], columns[1], float(people.mean())


@pytest.mark.parametrize("helped", [False, True])
def test_weighted_means_are_unbiased_and_know_their_error(helped: bool) -> None:
    means, errors, truth = drawn_means(helped=helped)
    assert means.mean() == pytest.approx(truth, abs=0.1 * means.std())
    assert math.sqrt((errors**2).mean()) == pytest.approx(means.std(), rel=0.1)


def test_the_metric_makes_the_weighted_mean_surer() -> None:
    assert drawn_means(helped=True)[0].std() < 0.6 * drawn_means(helped=False)[0].std()


def test_without_a_metric_it_is_the_weighted_mean_of_the_labels() -> None:
    labels, chances = [1.0, np.nan, 4.0, 3.0], [0.5, 0.5, 0.25, 1.0]
    assert estimate_regression(labels, chances).mean == pytest.approx((2 * 1 + 4 * 4 + 3) / 7)


def test_a_census_is_certain() -> None:
    labels, ones = [1.0, 2.0, 6.0], [1.0, 1.0, 1.0]
    for metric in (None, [3.0, 1.0, 2.0]):
        found = estimate_regression(labels, ones, metric=metric)
        assert (found.mean, found.se, found.low, found.high) == pytest.approx((3.0, 0.0, 3.0, 3.0))
    assert estimate_weighted(labels, ones).mean == 3.0


def test_the_regression_equals_its_transcription() -> None:
    random = np.random.default_rng(2)
    people, metric, chances = random.normal(size=20), random.normal(size=20), random.uniform(0.2, 0.9, size=20)
    labels = np.where(np.arange(20) % 2 == 0, people, np.nan)
    done = range(0, 20, 2)
    design = np.array([[1.0, metric[k]] for k in done])
    weights = np.diag([1 / chances[k] for k in done])
    line = np.linalg.solve(design.T @ weights @ design, design.T @ weights @ people[::2])
    expected = np.mean([line[0] + line[1] * x for x in metric])
    assert estimate_regression(labels, chances, metric=metric).mean == pytest.approx(expected)


def test_one_label_or_a_chance_of_nothing_makes_no_estimate() -> None:
    with pytest.raises(NotEnoughData, match="two drawn labels"):
        estimate_regression([1.0, np.nan], [0.5, 0.5])
    with pytest.raises(InvalidInput, match="probability above 0"):
        estimate_regression([1.0, 2.0], [0.5, 0.0])
    with pytest.raises(InvalidInput, match="same 2 items"):
        estimate_regression([1.0, 2.0], [0.5, 0.5], metric=[1.0])
