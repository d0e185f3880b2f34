"""Learning a mixture of betas: derivatives, EM's promise, the optimum, and data at the edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, special

from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats import beta_mixture
from billboards.stats.annotators import PSEUDO_RIGHT, PSEUDO_WRONG, learned_prior
from billboards.stats.beta_mixture import (
    BetaMixture,
    climb,
    distinct_counts,
    fit_beta_mixture,
    log_likelihood,
    random_points,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def made_up(annotators: int, seed: int = 0) -> tuple[Ints, Ints]:
    """Answers of annotators of whom one in ten is noisy, pseudo-annotators included."""
    random = np.random.default_rng(seed)
    noisy = random.uniform(size=annotators) < 0.1
    questions = random.integers(1, 40, annotators)
    accuracy = np.where(noisy, random.beta(2, 4, annotators), random.beta(38, 2, annotators))
    right = random.binomial(questions, accuracy)
    return np.append(right, PSEUDO_RIGHT), np.append(questions - right, PSEUDO_WRONG)


def plain_log_likelihood(mixture: BetaMixture, right: Ints, wrong: Ints, times: Floats | float = 1.0) -> float:
    """By gamma functions, annotator by annotator, or count by count with the number of its annotators."""
    parts = zip(mixture.weights, mixture.alphas, mixture.betas, strict=True)
    joint = [np.log(w) + special.betaln(a + right, b + wrong) - special.betaln(a, b) for w, a, b in parts]
    return float((times * special.logsumexp(joint, axis=0)).sum())


def test_the_urn_is_the_beta_binomial() -> None:
    right, wrong = np.array([0, 3, 9, 250]), np.array([0, 1, 1, 17])
    a, b = 4.2, 0.7
    found = log_likelihood(np.array(a / (a + b)), np.array(b / (a + b)), np.array(1 / (1 + a + b)), right, wrong)
    assert found == pytest.approx(special.betaln(a + right, b + wrong) - special.betaln(a, b), rel=1e-12)


def test_the_urn_without_correlation_is_the_binomial() -> None:
    found = log_likelihood(np.array(0.9), np.array(0.1), np.array(0.0), np.array([1_000]), np.array([100]))
    assert found[0] == pytest.approx(1_000 * np.log(0.9) + 100 * np.log(0.1), rel=1e-12)


def test_gradient_and_hessian_are_the_slopes_of_the_likelihood() -> None:
    counts, points, nudge = distinct_counts(*made_up(60)), random_points(3, 4, seed=1), 1e-5
    view = beta_mixture._view(counts, points)
    gradient, hessian = beta_mixture._gradient(view).reshape(4, 9), beta_mixture._hessian(view)
    for place in range(9):
        sides = []
        for sign in (1, -1):
            moved = points.copy().reshape(4, 9)
            moved[:, place] += sign * nudge
            sides.append(moved.reshape(points.shape))
        heights = [beta_mixture.values(counts, side) for side in sides]
        slopes = [beta_mixture._gradient(beta_mixture._view(counts, side)).reshape(4, 9) for side in sides]
        assert (heights[0] - heights[1]) / (2 * nudge) == pytest.approx(gradient[:, place], rel=1e-5, abs=1e-5)
        assert (slopes[0] - slopes[1]) / (2 * nudge) == pytest.approx(hessian[:, place], rel=1e-4, abs=1e-3)


def test_an_em_step_goes_on_from_where_it_stands_with_minkas_fixed_point() -> None:
    right, wrong = made_up(40)
    points = random_points(2, 1, seed=3)
    stepped = beta_mixture.em_step(distinct_counts(right, wrong), points)[0]
    mean, size = special.expit(points[0, :, 1]), 1 / points[0, :, 2] - 1
    joint = np.log(0.5) + np.stack(
        [
            special.betaln(m * s + right, (1 - m) * s + wrong) - special.betaln(m * s, (1 - m) * s)
            for m, s in zip(mean, size, strict=True)
        ]
    )
    shares = special.softmax(joint, axis=0)
    for k, (a, b) in enumerate(zip(mean * size, (1 - mean) * size, strict=True)):
        drawn = (shares[k] * (special.psi(right + wrong + a + b) - special.psi(a + b))).sum()
        new_a = a * (shares[k] * (special.psi(right + a) - special.psi(a))).sum() / drawn
        new_b = b * (shares[k] * (special.psi(wrong + b) - special.psi(b))).sum() / drawn
        assert special.expit(stepped[k, 1]) == pytest.approx(new_a / (new_a + new_b), rel=1e-10)
        assert 1 / stepped[k, 2] - 1 == pytest.approx(new_a + new_b, rel=1e-10)
    assert special.softmax(stepped[:, 0]) == pytest.approx(shares.mean(axis=1), rel=1e-10)


@pytest.mark.parametrize("components", [1, 2, 3])
def test_no_step_of_em_lowers_the_likelihood(components: int) -> None:
    counts, points = distinct_counts(*made_up(80)), random_points(components, 20, seed=5)
    heights = beta_mixture.values(counts, points)
    for _ in range(30):
        points = beta_mixture.em_step(counts, points)
        after = beta_mixture.values(counts, points)
        assert (after >= heights - 1e-9).all()
        heights = after


@pytest.mark.parametrize("components", [1, 2, 3])
def test_the_likelihood_never_falls_on_the_way_to_the_fit(components: int) -> None:
    climbs = climb(distinct_counts(*made_up(80)), random_points(components, 10, seed=0))
    assert (np.diff(climbs.trace, axis=0) >= 0).all()
    assert climbs.converged.all()


@pytest.mark.parametrize(("annotators", "components"), [(60, 1), (0, 2), (60, 2)])
def test_the_fit_reaches_the_optimum_of_a_general_purpose_optimiser(annotators: int, components: int) -> None:
    right, wrong = made_up(annotators)
    counts = distinct_counts(right, wrong)

    def mixture(x: Floats) -> BetaMixture:
        weights = special.softmax(np.append(x[2 * components :], 0))
        mean, size = special.expit(x[:components]), np.exp(x[components : 2 * components])
        return BetaMixture(weights=tuple(weights), alphas=tuple(mean * size), betas=tuple((1 - mean) * size))

    def cost(x: Floats) -> float:
        return -plain_log_likelihood(mixture(x), counts.right, counts.wrong, counts.times)

    starts = np.random.default_rng(0).normal(size=(3, 3 * components - 1))
    bounds = [(-8, 8)] * components + [(-5, 14)] * components + [(-8, 8)] * (components - 1)
    how: Any = {"eps": 1e-5, "ftol": 1e-13, "maxls": 50}
    ends = [optimize.minimize(cost, start, method="L-BFGS-B", bounds=bounds, options=how) for start in starts]
    best = min(ends, key=lambda end: end.fun)
    fit, theirs = fit_beta_mixture(right, wrong, components=components), mixture(best.x)
    order = np.argsort(theirs.means)
    assert fit.log_likelihood is not None
    assert fit.log_likelihood >= -best.fun - 1e-6
    assert fit.log_likelihood == pytest.approx(-best.fun, abs=2e-3)
    assert fit.weights == pytest.approx(np.array(theirs.weights)[order], abs=2e-3)
    assert fit.means == pytest.approx(np.array(theirs.means)[order], abs=2e-3)


def test_the_fit_says_the_likelihood_that_gamma_functions_give() -> None:
    right, wrong = made_up(100, seed=4)
    fit = fit_beta_mixture(right, wrong, components=1)
    assert max(fit.concentrations) < 100
    assert fit.log_likelihood == pytest.approx(plain_log_likelihood(fit, right, wrong), rel=1e-9)


def test_pseudo_annotators_alone_give_a_noisy_tenth_and_a_good_rest() -> None:
    """36 of 40 have 19 of 20 right: their mean is .95, and nothing says that they differ at all."""
    fit = learned_prior([], [])
    assert fit.weights == pytest.approx((0.1, 0.9), abs=0.001)
    assert fit.means == pytest.approx((0.213, 0.95), abs=0.001)
    assert fit.concentrations[1] > 1e6


def test_order_and_multiplicity_of_annotators_do_not_matter() -> None:
    right, wrong = made_up(50)
    turned = fit_beta_mixture(right[::-1], wrong[::-1])
    assert turned == fit_beta_mixture(right, wrong)
    twice = fit_beta_mixture(np.tile(right, 2), np.tile(wrong, 2))
    assert twice.means == pytest.approx(turned.means, abs=1e-4)


@pytest.mark.parametrize("components", [1, 2])
@pytest.mark.parametrize(
    ("right", "wrong"),
    [([20] * 50, [0] * 50), ([0] * 50, [20] * 50), ([1], [0]), ([3_000, 2_900, 1_000], [0, 100, 2_000])],
    ids=["perfect", "all wrong", "one answer", "3,000 questions"],
)
def test_extreme_annotators_leave_a_usable_prior(right: list[int], wrong: list[int], components: int) -> None:
    for fit in (
        fit_beta_mixture(right, wrong, components=components),
        learned_prior(right, wrong, components=components),
    ):
        numbers = np.array([fit.weights, fit.alphas, fit.betas])
        assert np.isfinite(numbers).all()
        assert (numbers[1:] > 0).all()
        assert sum(fit.weights) == pytest.approx(1)
        assert fit.converged
        assert fit.iterations < 200
        assert (np.diff(fit.means) > -1e-12).all()


def test_without_any_answer_there_is_nothing_to_learn() -> None:
    with pytest.raises(NotEnoughData, match="no test question"):
        fit_beta_mixture([0, 0], [0, 0])


@pytest.mark.parametrize("right", [[-1], [0.5], [[1]], [200_000]])
def test_counts_that_are_none_are_refused(right: list[object]) -> None:
    with pytest.raises(InvalidInput, match="annotator"):
        fit_beta_mixture(np.array(right), [0])


def test_a_search_that_is_cut_off_says_so() -> None:
    right, wrong = made_up(60)
    counts, points = distinct_counts(right, wrong), random_points(2, 3, 0)
    for iterations in (1, 2):
        cut = climb(counts, points, iterations)
        assert len(cut.trace) == iterations + 1
        assert not cut.converged.any()
        assert cut.steps.tolist() == [iterations] * 3
    assert not fit_beta_mixture(right, wrong, iterations=1).converged
    assert fit_beta_mixture(right, wrong).converged
