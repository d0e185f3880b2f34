"""Strengths from comparisons: against choix, plain likelihood fits and simulated data."""

from __future__ import annotations

from itertools import pairwise

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import approx_fprime, minimize
from scipy.special import ndtr, stdtrit

from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats import bradley_terry
from billboards.stats.bradley_terry import (
    ELO_POINTS,
    BestWorst,
    Outcomes,
    PairCounts,
    Separated,
    TieModel,
    best_worst_scores,
    clustered_covariance,
    comparison_scores,
    comparison_worth,
    count_pairs,
    difference_z,
    draw_strengths,
    elo_history,
    fit_best_worst,
    fit_strengths,
)

Floats = NDArray[np.float64]


def outcomes(*lines: tuple[int, int, int]) -> Outcomes:
    first, second, result = np.array(lines, np.int64).reshape(-1, 3).T
    return Outcomes(first=first, second=second, result=result)


def chances_of(ties: TieModel, tie: float, difference: Floats) -> tuple[Floats, Floats]:
    """Chances of a win and of a tie, written from the papers' formulas."""
    a, b = np.exp(difference), np.ones_like(difference)
    if ties == "davidson":
        total = a + b + np.exp(tie) * np.sqrt(a * b)
        return a / total, np.exp(tie) * np.sqrt(a * b) / total
    k = np.exp(tie)
    return a / (a + k * b), (k**2 - 1) * a * b / ((a + k * b) * (b + k * a))


def simulated(
    theta: Floats, count: int, seed: int, *, ties: TieModel = "davidson", tie: float | None = None
) -> Outcomes:
    random, n = np.random.default_rng(seed), len(theta)
    first = random.integers(0, n, count)
    second = (first + random.integers(1, n, count)) % n
    difference = theta[first] - theta[second]
    won, tied = (1 / (1 + np.exp(-difference)), np.zeros(count)) if tie is None else chances_of(ties, tie, difference)
    drawn = random.random(count)
    return Outcomes(
        first=first,
        second=second,
        result=np.where(drawn < won, 1, np.where(drawn < won + tied, 0, -1)).astype(np.int64),
    )


def plain_fit(counts: PairCounts, ties: TieModel) -> tuple[Floats, float, float]:
    """Strengths, tie parameter and log-likelihood by a general optimiser."""
    n, wins, even = counts.entries, counts.wins(), np.triu(counts.ties())

    def loss(x: Floats) -> float:
        won, tied = chances_of(ties, x[n], x[:n, None] - x[None, :n])
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(wins > 0, wins * np.log(won), 0).sum() + np.where(even > 0, even * np.log(tied), 0).sum()
        return -float(logs) if np.isfinite(logs) else 1e12

    best = minimize(loss, np.append(np.zeros(n), 0.5), method="BFGS", options={"gtol": 1e-7})
    return best.x[:n] - best.x[:n].mean(), float(best.x[n]), -float(best.fun)


THETA = np.array([1.2, 0.5, 0.1, -0.2, -0.6, -1.0])


def test_without_ties_strengths_are_those_of_choix() -> None:
    compared = simulated(THETA, 600, seed=1)
    fitted = fit_strengths(count_pairs(compared, 6))
    won = [
        (a, b) if r > 0 else (b, a) for a, b, r in zip(compared.first, compared.second, compared.result, strict=True)
    ]
    np.testing.assert_allclose(fitted.theta, choix.ilsr_pairwise(6, won), atol=1e-6)
    np.testing.assert_allclose(fitted.theta, choix.opt_pairwise(6, won), atol=1e-6)
    assert fitted.tie is None


def test_two_entries_have_the_log_odds_of_their_wins_and_its_textbook_error() -> None:
    fitted = fit_strengths(count_pairs(outcomes(*[(0, 1, 1)] * 30, *[(1, 0, 1)] * 10), 2))
    assert fitted.theta[0] - fitted.theta[1] == pytest.approx(np.log(3))
    # The log-odds of 30 to 10 have the variance 1/30 + 1/10.
    assert difference_z(fitted.theta, fitted.covariance)[0, 1] == pytest.approx(np.log(3) / np.sqrt(1 / 30 + 1 / 10))
    assert fitted.ratings[0] - fitted.ratings[1] == pytest.approx(400 * np.log10(3))
    assert fitted.ratings.mean() == pytest.approx(1000)


@pytest.mark.parametrize(("ties", "tie"), [("davidson", 0.2), ("davidson", -1.5), ("rao-kupper", 0.4)])
def test_models_of_ties_equal_a_plain_likelihood_fit(ties: TieModel, tie: float) -> None:
    counts = count_pairs(simulated(THETA, 900, seed=2, ties=ties, tie=tie), 6)
    fitted = fit_strengths(counts, ties=ties)
    theta, best_tie, value = plain_fit(counts, ties)
    np.testing.assert_allclose(fitted.theta, theta, atol=1e-5)
    assert fitted.tie == pytest.approx(best_tie, abs=1e-5)
    assert fitted.log_likelihood == pytest.approx(value, abs=1e-7)
    won, tied = fitted.chances()
    expected = chances_of(ties, best_tie, theta[:, None] - theta[None, :])
    np.testing.assert_allclose(won, expected[0], atol=1e-5)
    np.testing.assert_allclose(tied, expected[1], atol=1e-5)
    np.testing.assert_allclose(won + won.T + tied, 1.0)


@pytest.mark.parametrize(("ties", "tie"), [("davidson", 0.2), ("rao-kupper", 0.4)])
def test_the_information_is_the_bend_of_the_likelihood(ties: TieModel, tie: float) -> None:
    counts = count_pairs(simulated(THETA, 400, seed=3, ties=ties, tie=tie), 6)
    fitted = fit_strengths(counts, ties=ties)
    assert fitted.tie is not None
    wins, even = counts.wins(), np.triu(counts.ties())

    def slope(x: Floats) -> Floats:
        def value(y: Floats) -> float:
            won, tied = chances_of(ties, y[6], y[:6, None] - y[None, :6])
            return float((wins * np.log(won)).sum() + (even * np.log(np.maximum(tied, 1e-300))).sum())

        steps = np.eye(7) * 1e-4
        return np.array([(value(x + step) - value(x - step)) / 2e-4 for step in steps])

    place = np.append(fitted.theta, fitted.tie)
    bend = approx_fprime(place, slope, 1e-4)
    normal = -(bend + bend.T) / 2
    normal[:6, :6] += 1 / 6
    centre = np.eye(6) - 1 / 6
    np.testing.assert_allclose(fitted.covariance, centre @ np.linalg.inv(normal)[:6, :6] @ centre, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(("ties", "tie"), [("davidson", 0.2), ("rao-kupper", 0.4)])
def test_strengths_come_back_from_simulated_data_and_intervals_hold_them(ties: TieModel, tie: float) -> None:
    inside, found = [], []
    for seed in range(200):
        fitted = fit_strengths(count_pairs(simulated(THETA, 400, seed, ties=ties, tie=tie), 6), ties=ties)
        inside.append(np.abs(fitted.theta - THETA) < 1.96 * fitted.se)
        found.append(np.append(fitted.theta, fitted.tie or 0.0))
    assert 0.93 < np.mean(inside) < 0.97
    np.testing.assert_allclose(np.mean(found, axis=0), np.append(THETA, tie), atol=0.03)


def test_a_tie_as_half_a_win_is_choix_on_doubled_data() -> None:
    compared = simulated(THETA, 500, seed=4, tie=0.3)
    fitted = fit_strengths(count_pairs(compared, 6), ties="half")
    doubled = []
    for a, b, r in zip(compared.first, compared.second, compared.result, strict=True):
        doubled += {1: [(a, b)] * 2, -1: [(b, a)] * 2, 0: [(a, b), (b, a)]}[int(r)]
    np.testing.assert_allclose(fitted.theta, choix.ilsr_pairwise(6, doubled), atol=1e-6)


def test_dropped_ties_leave_no_trace() -> None:
    compared = simulated(THETA, 500, seed=4, tie=0.3)
    decided = compared.result != 0
    without = Outcomes(first=compared.first[decided], second=compared.second[decided], result=compared.result[decided])
    kept = fit_strengths(count_pairs(compared, 6), ties="dropped")
    np.testing.assert_array_equal(kept.theta, fit_strengths(count_pairs(without, 6)).theta)


def test_who_was_never_beaten_is_named_and_a_prior_helps() -> None:
    compared = outcomes((0, 1, 1), (0, 2, 1), (1, 2, 1), (2, 1, 1))
    with pytest.raises(Separated, match="entry 0 was never beaten by the others") as refused:
        fit_strengths(count_pairs(compared, 3))
    assert refused.value.words(("A", "B", "C")).startswith("A was never beaten")
    fitted = fit_strengths(count_pairs(compared, 3), prior=1.0)
    assert fitted.theta[0] > fitted.theta[1] > fitted.theta[2] - 1e-9
    assert np.isfinite(fitted.se).all()


def test_a_prior_is_so_many_imaginary_comparisons_with_an_entry_of_strength_0() -> None:
    # Against one more entry that is held at strength 0: half a win and half a defeat.
    fitted = fit_strengths(count_pairs(outcomes((0, 1, 1)), 2), prior=1.0)

    def loss(x: Floats) -> float:
        real = np.logaddexp(0, x[1] - x[0])
        return float(real + 0.5 * (np.logaddexp(0, x) + np.logaddexp(0, -x)).sum())

    best = minimize(loss, np.zeros(2), options={"gtol": 1e-9}).x
    np.testing.assert_allclose(fitted.theta, best - best.mean(), atol=1e-5)


def test_who_never_met_the_others_is_named() -> None:
    compared = outcomes((0, 1, 1), (1, 0, 1), (2, 3, 1), (3, 2, 1))
    with pytest.raises(Separated, match="entry 0, entry 1 were never compared with the others"):
        fit_strengths(count_pairs(compared, 4))


def test_ties_alone_or_beside_one_sided_wins_fix_no_strength() -> None:
    with pytest.raises(NotEnoughData, match="all comparisons are ties"):
        fit_strengths(count_pairs(outcomes((0, 1, 0)), 2))
    # With wins on one side only, a larger tie parameter and a larger difference fit ever better.
    for ties in ("davidson", "rao-kupper"):
        with pytest.raises(Separated, match="entry 0 was never beaten"):
            fit_strengths(count_pairs(outcomes((0, 1, 1), (0, 1, 0)), 2), ties=ties)
    assert np.isfinite(fit_strengths(count_pairs(outcomes((0, 1, 1), (0, 1, 0)), 2), ties="half").theta).all()


def test_ties_that_close_a_circle_fix_the_strengths() -> None:
    # 0 beats 1, 1 beats 0 sometimes; 2 only ties with 0 and loses to 1: a finite fit, since ties are rare elsewhere.
    compared = outcomes((0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 0, 0), (0, 1, 1))
    counts = count_pairs(compared, 3)
    fitted = fit_strengths(counts)
    theta, tie, value = plain_fit(counts, "davidson")
    assert fitted.log_likelihood == pytest.approx(value, abs=1e-6)
    np.testing.assert_allclose(fitted.theta, theta, atol=1e-3)
    assert fitted.tie == pytest.approx(tie, abs=1e-3)


def test_nonsense_is_refused() -> None:
    with pytest.raises(InvalidInput, match="compared with itself"):
        count_pairs(outcomes((1, 1, 1)), 2)
    with pytest.raises(InvalidInput, match="outside 0 to 1"):
        count_pairs(outcomes((0, 2, 1)), 2)
    with pytest.raises(NotEnoughData, match="at least two entries"):
        fit_strengths(count_pairs(outcomes(), 2))
    counts = count_pairs(outcomes((0, 1, 1), (1, 0, 1)), 2)
    with pytest.raises(InvalidInput, match="ties are one of"):
        fit_strengths(counts, ties="none")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="0 or more"):
        fit_strengths(counts, prior=-1.0)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 4), st.integers(-1, 1)), min_size=1, max_size=60))
def test_whatever_is_compared_is_fitted_at_a_maximum_or_refused(lines: list[tuple[int, int, int]]) -> None:
    compared = outcomes(*[(a, (a + b) % 5, r) for a, b, r in lines])
    counts = count_pairs(compared, 5)
    for ties in ("davidson", "rao-kupper", "half"):
        try:
            fitted = fit_strengths(counts, ties=ties)
        except NotEnoughData:
            continue
        pull = np.asarray(comparison_scores(compared, fitted).sum(axis=0))
        np.testing.assert_allclose(pull, 0.0, atol=1e-3)
        turned = Outcomes(first=compared.second, second=compared.first, result=-compared.result)
        np.testing.assert_allclose(fit_strengths(count_pairs(turned, 5), ties=ties).theta, fitted.theta)


def test_wins_and_ties_are_counted_by_pair_whoever_stands_first() -> None:
    counts = count_pairs(outcomes((0, 1, 1), (1, 0, 1), (1, 0, -1), (2, 1, 0)), 3)
    np.testing.assert_array_equal(counts.wins(), [[0, 2, 0], [1, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(counts.ties(), [[0, 0, 0], [0, 0, 1], [0, 1, 0]])


def test_clusters_of_single_comparisons_are_the_usual_robust_errors() -> None:
    compared = simulated(THETA, 500, seed=5, tie=0.2)
    fitted = fit_strengths(count_pairs(compared, 6))
    scores = comparison_scores(compared, fitted)
    robust = clustered_covariance(scores, fitted, np.arange(500))
    dense = scores.toarray()
    expected = fitted.inverse @ (dense.T @ dense) @ fitted.inverse * 500 / 499
    centre = np.eye(6) - 1 / 6
    np.testing.assert_allclose(robust, centre @ expected[:6, :6] @ centre, atol=1e-12)
    # The model is right here, so both estimate the same.
    np.testing.assert_allclose(np.sqrt(np.diag(robust)), fitted.se, rtol=0.15)


def test_comparisons_that_are_copies_of_each_other_count_once_by_cluster() -> None:
    compared = simulated(THETA, 300, seed=6)
    copied = Outcomes(**{name: np.repeat(getattr(compared, name), 4) for name in ("first", "second", "result")})
    single, fourfold = (fit_strengths(count_pairs(these, 6)) for these in (compared, copied))
    np.testing.assert_allclose(fourfold.se, single.se / 2, rtol=1e-6)
    once = clustered_covariance(comparison_scores(compared, single), single, np.arange(300))
    grouped = clustered_covariance(comparison_scores(copied, fourfold), fourfold, np.repeat(np.arange(300), 4))
    np.testing.assert_allclose(grouped, once, rtol=1e-5, atol=1e-9)


def test_the_covariance_of_two_kinds_of_clusters_is_their_sum_without_what_both_count() -> None:
    compared = simulated(THETA, 600, seed=12)
    fitted = fit_strengths(count_pairs(compared, 6))
    scores = comparison_scores(compared, fitted)
    item, who = np.arange(600) // 6, np.arange(600) % 20
    both = np.unique(np.stack((item, who)), axis=1, return_inverse=True)[1].ravel()
    parts = [clustered_covariance(scores, fitted, unit) for unit in (item, who, both)]
    total = parts[0] + parts[1] - parts[2]
    values, vectors = np.linalg.eigh(total)
    assert values.min() < 0 < values.max() < 0.1
    taken = clustered_covariance(scores, fitted, item, who)
    np.testing.assert_allclose(taken, vectors @ np.diag(np.clip(values, 0, None)) @ vectors.T, atol=1e-12)


def test_intervals_with_annotators_hold_the_strengths_where_those_without_do_not() -> None:
    """Ten annotators with tastes of their own: what holds for other annotators, too, is less sure."""
    annotators, each, theta = 10, 120, THETA[:4] - THETA[:4].mean()
    alone, robust = [], []
    for seed in range(150):
        random = np.random.default_rng(seed)
        who = np.repeat(np.arange(annotators), each)
        item = random.integers(0, 200, annotators * each)
        tastes = theta + random.normal(0, 0.5, (annotators, 4))
        first = random.integers(0, 4, len(who))
        second = (first + random.integers(1, 4, len(who))) % 4
        chance = 1 / (1 + np.exp(tastes[who, second] - tastes[who, first]))
        result = np.where(random.random(len(who)) < chance, 1, -1).astype(np.int64)
        compared = Outcomes(first=first, second=second, result=result)
        fitted = fit_strengths(count_pairs(compared, 4))
        both = clustered_covariance(comparison_scores(compared, fitted), fitted, item, who)
        # Strengths of the mean annotator are a little smaller than the annotators' own: the link is not linear.
        truth = theta * (fitted.theta @ theta) / (theta @ theta)
        alone.append(np.abs(fitted.theta - truth) < 1.96 * fitted.se)
        robust.append(np.abs(fitted.theta - truth) < stdtrit(annotators - 1, 0.975) * np.sqrt(np.diag(both)))
    assert np.mean(alone) < 0.8
    assert np.mean(robust) > 0.92


def test_a_bootstrap_scatters_as_the_information_says_and_repeats_by_its_seed() -> None:
    compared = simulated(THETA, 600, seed=7, tie=0.0)
    fitted = fit_strengths(count_pairs(compared, 6))
    drawn = draw_strengths(compared, fitted, np.arange(600), draws=300, seed=1)
    np.testing.assert_allclose(drawn.std(axis=0), fitted.se, rtol=0.2)
    np.testing.assert_allclose(drawn.mean(axis=1), 0.0, atol=1e-12)
    again = draw_strengths(compared, fitted, np.arange(600), draws=300, seed=1)
    np.testing.assert_array_equal(again, drawn)


def chosen_ends(theta: Floats, count: int, size: int, seed: int) -> BestWorst:
    random = np.random.default_rng(seed)
    sets = np.array([random.permutation(len(theta))[:size] for _ in range(count)])
    own = theta[sets]
    weights = np.exp(own[:, :, None] - own[:, None, :]) * (1 - np.eye(size))
    chances = (weights / weights.sum(axis=(1, 2), keepdims=True)).reshape(count, -1)
    picked = (chances.cumsum(axis=1) < random.random((count, 1))).sum(axis=1)
    return BestWorst(sets=sets, best=picked // size, worst=picked % size)


def test_best_and_worst_equal_a_plain_likelihood_fit_of_maximum_difference() -> None:
    choices = chosen_ends(THETA, 300, 4, seed=8)
    fitted = fit_best_worst(choices, 6)
    assert (fitted.ties, fitted.tie) == ("dropped", None)
    rows = np.arange(300)

    def loss(x: Floats) -> float:
        own = x[choices.sets]
        terms = own[:, :, None] - own[:, None, :]
        total = (np.exp(terms) * (1 - np.eye(4))).sum(axis=(1, 2))
        return -float((terms[rows, choices.best, choices.worst] - np.log(total)).sum())

    best = minimize(loss, np.zeros(6), options={"gtol": 1e-7})
    np.testing.assert_allclose(fitted.theta, best.x - best.x.mean(), atol=1e-5)
    assert fitted.log_likelihood == pytest.approx(-best.fun, abs=1e-7)
    np.testing.assert_allclose(np.asarray(best_worst_scores(choices, fitted).sum(axis=0)), 0.0, atol=1e-4)


def test_best_and_worst_of_two_is_bradley_and_terry_with_the_double_scale() -> None:
    choices = chosen_ends(THETA / 2, 400, 2, seed=9)
    pairs = fit_strengths(count_pairs(choices.pairs(), 6))
    np.testing.assert_allclose(2 * fit_best_worst(choices, 6).theta, pairs.theta, atol=1e-6)


def test_strengths_of_best_and_worst_come_back_and_intervals_hold_them() -> None:
    inside = []
    for seed in range(100):
        fitted = fit_best_worst(chosen_ends(THETA, 150, 4, seed), 6)
        inside.append(np.abs(fitted.theta - THETA) < 1.96 * fitted.se)
    assert 0.92 < np.mean(inside) < 0.975


def test_the_pairs_that_a_choice_implies_are_those_with_its_ends() -> None:
    implied = BestWorst(sets=np.array([[3, 1, 0, 2]]), best=np.array([1]), worst=np.array([3])).pairs()
    pairs = sorted(zip(implied.first.tolist(), implied.second.tolist(), strict=True))
    assert pairs == [(0, 2), (1, 0), (1, 2), (1, 3), (3, 2)]
    with pytest.raises(InvalidInput, match="can't be the best and the worst"):
        fit_best_worst(BestWorst(sets=np.array([[0, 1]]), best=np.array([0]), worst=np.array([0])), 2)


def test_elo_moves_by_the_surprise_and_depends_on_the_order() -> None:
    history = elo_history(outcomes((0, 1, 1), (0, 1, 0)), 2, k=32)
    np.testing.assert_allclose(history[0], [1000, 1000])
    np.testing.assert_allclose(history[1], [1016, 984])
    expected = 1 / (1 + 10 ** (-32 / 400))
    assert history[2, 0] == pytest.approx(1016 + 32 * (0.5 - expected))
    np.testing.assert_allclose(history.sum(axis=1), 2000)
    other = elo_history(outcomes((0, 1, 0), (0, 1, 1)), 2, k=32)
    assert other[-1, 0] != pytest.approx(history[-1, 0])


def test_elo_comes_near_the_strengths_after_many_comparisons() -> None:
    history = elo_history(simulated(THETA, 40_000, seed=10), 6, k=4)
    np.testing.assert_allclose(history[20_000:].mean(axis=0), 1000 + ELO_POINTS * THETA, atol=15)


def test_one_more_comparison_is_worth_most_between_neighbours_that_are_not_told_apart() -> None:
    theta = np.array([3.0, 0.05, -0.05, -3.0])
    worth = comparison_worth(theta, np.eye(4) * 0.04)
    assert worth.argmax() == 1 * 4 + 2
    np.testing.assert_array_equal(worth, worth.T)
    assert worth[0, 3] < worth[1, 2] / 10
    told_apart = comparison_worth(np.array([3.0, 1.0, -1.0, -3.0]), np.eye(4) * 0.04)
    np.testing.assert_array_equal(told_apart, 0.0)


def test_the_worth_of_a_comparison_is_the_variance_that_a_refit_loses() -> None:
    compared = simulated(THETA[:3], 300, seed=11)
    counts = count_pairs(compared, 3)
    fitted = fit_strengths(counts)
    # A comparison adds the information p(1 - p) on d, whoever wins.
    first, second = np.argsort(-fitted.theta)[:2]
    d = fitted.theta[first] - fitted.theta[second]
    p = 1 / (1 + np.exp(-d))
    x = np.zeros(3)
    x[first], x[second] = 1.0, -1.0
    information = np.linalg.pinv(fitted.covariance)
    before, after = fitted.covariance, np.linalg.pinv(information + p * (1 - p) * np.outer(x, x))
    order = np.argsort(-fitted.theta)
    expected = 0.0
    for a, b in pairwise(order):
        c = np.zeros(3)
        c[a], c[b] = 1.0, -1.0
        wrong = ndtr(-(fitted.theta[a] - fitted.theta[b]) / np.sqrt(c @ before @ c))
        expected += wrong * (c @ before @ c - c @ after @ c)
    assert comparison_worth(fitted.theta, fitted.covariance, level=0.0)[first, second] == pytest.approx(expected)


def test_a_win_each_around_a_circle_closed_by_a_tie_has_finite_strengths() -> None:
    # 0 beat 1, 1 beat 2 and 2 tied 0: a tie that grows with the strengths would need them to lie twice as close.
    circle = count_pairs(outcomes((0, 1, 1), (1, 2, 1), (0, 2, 0)), 3)
    theta = fit_strengths(circle).theta
    assert theta[0] > theta[1] > theta[2]
    assert theta[1] == pytest.approx(0.0, abs=1e-6)
    mirrored = count_pairs(outcomes((0, 1, -1), (1, 2, -1), (0, 2, 0)), 3)
    assert fit_strengths(mirrored).theta == pytest.approx(-theta, abs=1e-6)


def test_one_win_and_one_tie_have_no_finite_strengths() -> None:
    with pytest.raises(Separated, match="entry 0"):
        fit_strengths(count_pairs(outcomes((0, 1, 1), (0, 1, 0)), 2))
    with pytest.raises(Separated, match="entry 1"):
        fit_strengths(count_pairs(outcomes((0, 1, -1), (0, 1, 0)), 2))


def test_strengths_that_do_not_settle_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = count_pairs(outcomes((0, 1, 1), (0, 1, 1), (0, 1, -1), (1, 2, 1), (1, 2, -1), (0, 2, 0)), 3)
    fit_strengths(counts)
    monkeypatch.setattr(bradley_terry, "_STEPS", 1)
    with pytest.raises(NotEnoughData, match=r"did not settle; .* use a prior"):
        fit_strengths(counts)
