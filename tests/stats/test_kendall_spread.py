"""The standard error of Kendall's tau: against a bootstrap over instances, and where it is not defined."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from billboards.stats import kendall
from billboards.stats.kendall import kendall_se


def judged(rows: int, instances: int, levels: int | None, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores and judgments that share a part of every instance, so that its outputs are alike."""
    random = np.random.default_rng(seed)
    common = random.normal(size=instances)
    human = common + random.normal(size=(rows, instances))
    scores = human + random.normal(size=(rows, instances)) + common
    return scores, human if levels is None else np.round(human * levels / 6)


@pytest.mark.parametrize("levels", [None, 5])
def test_it_is_the_spread_of_a_bootstrap_over_instances(levels: int | None) -> None:
    scores, human = judged(4, 150, levels, seed=1)
    random = np.random.default_rng(2)
    drawn = []
    for _ in range(400):
        some = random.integers(150, size=150)
        drawn.append(kendalltau(scores[:, some].ravel(), human[:, some].ravel()).statistic)
    assert kendall_se(scores, human) == pytest.approx(np.std(drawn), rel=0.12)


@pytest.mark.parametrize("levels", [None, 5, 40, 1])
def test_pairs_in_order_less_those_against_it_are_counted_as_a_loop_counts_them(levels: int | None) -> None:
    scores, human = (side.ravel() for side in judged(3, 60, levels, seed=5))
    scores = np.round(scores, 1)
    counted = [
        sum(np.sign(x - other_x) * np.sign(y - other_y) for other_x, other_y in zip(scores, human, strict=True))
        for x, y in zip(scores, human, strict=True)
    ]
    assert kendall._balance(scores, human).tolist() == counted


def test_outputs_without_a_score_or_a_judgment_do_not_count() -> None:
    scores, human = judged(3, 40, None, seed=4)
    expected = kendall_se(scores[:, :30], human[:, :30])
    scores[:, 30:35], human[:, 35:] = np.nan, np.nan
    assert kendall_se(scores, human) == pytest.approx(expected)


def test_it_is_not_defined_without_variation_or_a_second_instance() -> None:
    assert np.isnan(kendall_se(np.ones((2, 5)), np.arange(10.0).reshape(2, 5)))
    assert np.isnan(kendall_se(np.array([[1.0], [2.0]]), np.array([[1.0], [2.0]])))
