"""Closed-form posteriors of annotators, held against numeric integration and values of GENIE's released code."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from billboards.stats.annotators import (
    FIXED_1,
    FIXED_2,
    JEFFREYS,
    UNIFORM,
    AnnotatorModel,
    posterior,
    probability_noisy,
)
from billboards.stats.beta_mixture import BetaMixture

RIGHT, WRONG = [0, 3, 9, 5], [0, 1, 1, 5]
#: Not a prior of the paper.
ORACLE = BetaMixture(weights=(0.05, 0.95), alphas=(0.5, 9.5), betas=(9.5, 0.5))
CLASS, RATE = (
    AnnotatorModel(criterion="class", prior="fixed", components=2),
    AnnotatorModel(criterion="rate", prior="fixed", components=2),
)


@pytest.mark.parametrize(
    ("model", "prior", "expected"),
    [
        (RATE, UNIFORM, [0.9, 0.91854, 0.6973568802, 0.99970429392]),
        (CLASS, ORACLE, [0.05, 0.0016318538, 5.357467e-06, 0.05]),
        (RATE, ORACLE, [0.2044224991, 0.4436285665, 0.2669211225, 0.9830219542]),
    ],
)
def test_posteriors_are_those_of_the_released_implementation(
    model: AnnotatorModel, prior: BetaMixture, expected: list[float]
) -> None:
    assert probability_noisy(model, prior, posterior(prior, RIGHT, WRONG)) == pytest.approx(expected, rel=1e-7)


def test_the_papers_fixed_prior_gives_its_class_posteriors() -> None:
    found = probability_noisy(CLASS, FIXED_2, posterior(FIXED_2, RIGHT, WRONG))
    assert found == pytest.approx([0.05, 0.0078463, 0.00023414, 0.204666], rel=1e-4)


@pytest.mark.parametrize("prior", [UNIFORM, FIXED_1, FIXED_2, ORACLE], ids=["uniform", "fixed 1", "fixed 2", "oracle"])
@pytest.mark.parametrize(("right", "wrong"), [(1, 0), (3, 1), (9, 1), (5, 5), (2, 17)])
def test_class_rate_and_mean_are_what_numeric_integration_gives(prior: BetaMixture, right: int, wrong: int) -> None:
    parts = list(zip(prior.weights, prior.alphas, prior.betas, strict=True))

    def density(p: float, component: int) -> float:
        weight, a, b = parts[component]
        scale = weight * math.gamma(a + b) / (math.gamma(a) * math.gamma(b))
        return float(scale * p ** (a - 1 + right) * (1 - p) ** (b - 1 + wrong))

    def mass(component: int, high: float = 1.0, power: int = 0) -> float:
        ends = [low for low in (0, 1e-6, 0.5, 0.9, 0.999) if low < high]
        pieces = zip(ends, [*ends[1:], high], strict=True)
        return sum(integrate.quad(lambda p: p**power * density(p, component), *piece, limit=500)[0] for piece in pieces)

    whole = sum(map(mass, range(len(parts))))
    found = posterior(prior, [right], [wrong])
    assert found.weights[0] == pytest.approx([mass(k) / whole for k in range(len(parts))], rel=1e-5)
    assert found.cdf(0.9)[0] == pytest.approx(sum(mass(k, 0.9) for k in range(len(parts))) / whole, rel=1e-5)
    assert found.mean()[0] == pytest.approx(sum(mass(k, 1.0, 1) for k in range(len(parts))) / whole, rel=1e-5)


def test_quantiles_leave_their_share_below_them() -> None:
    found = posterior(FIXED_2, RIGHT, WRONG)
    assert found.cdf(found.quantile(0.025)) == pytest.approx(np.full(4, 0.025), abs=1e-8)
    assert found.cdf(found.quantile(0.975)) == pytest.approx(np.full(4, 0.975), abs=1e-8)


def test_jeffreys_interval_of_nine_right_of_ten_is_that_of_its_beta() -> None:
    found = posterior(JEFFREYS, [9], [1])
    expected = np.asarray(stats.beta.ppf([0.025, 0.975], 9.5, 1.5))
    assert [found.quantile(0.025)[0], found.quantile(0.975)[0]] == pytest.approx(expected, abs=1e-10)


def test_a_component_of_weight_nothing_takes_no_part() -> None:
    found = posterior(BetaMixture(weights=(0.0, 1.0), alphas=(1.0, 9.0), betas=(9.0, 1.0)), [0], [10])
    assert found.weights[0] == pytest.approx([0, 1])


def test_thousands_of_answers_neither_overflow_nor_vanish() -> None:
    found = posterior(ORACLE, [0, 1_500, 2_900, 3_000], [3_000, 1_500, 100, 0])
    p = probability_noisy(CLASS, ORACLE, found)
    assert p[0] == pytest.approx(1)
    assert p[3] == pytest.approx(0)
    assert np.isfinite(found.quantile(0.5)).all()
