"""Kinship is found where it was planted, and not where a judge is coarse, noisy, or right about good relatives."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from billboards.stats.kinship import kinship

Floats = NDArray[np.float64]
GENERATORS, INSTANCES = 6, 300
DOCUMENTS = np.arange(INSTANCES) // 5
KIN = np.array([False, False, True, False, False, False])


def people_and_judge(seed: int, favour: float = 0.0, noise: float = 1.0) -> tuple[Floats, Floats]:
    """People's scores of six generators, and a judge's that follow them coarsely and favour the third."""
    draw = np.random.default_rng(seed)
    quality = np.linspace(-1, 1, GENERATORS)[:, np.newaxis] + draw.normal(size=(GENERATORS, INSTANCES))
    judge = 3 * quality + draw.normal(scale=3 * noise, size=quality.shape)
    return quality, judge + 3 * favour * KIN[:, np.newaxis]


def test_planted_favour_is_found_with_its_size() -> None:
    people, judge = people_and_judge(seed=1, favour=1.0)
    favoured = kinship(judge, people, KIN, DOCUMENTS, draws=300)
    assert favoured is not None
    assert favoured.excess is not None
    assert favoured.excess_interval is not None
    spread = judge.mean(axis=1).std()
    assert favoured.excess == pytest.approx(3 / spread, abs=0.25)
    assert favoured.excess_interval[0] > 0.5
    assert favoured.places == 2.0
    assert favoured.places_interval is not None
    assert favoured.places_interval[0] > 0


def test_places_by_hand() -> None:
    people = np.array([[3.0, 3.0], [2.0, 2.0], [1.0, 1.0]])
    judge = np.array([[30.0, 30.0], [10.0, 10.0], [40.0, 40.0]])
    favoured = kinship(judge, people, np.array([False, False, True]), np.arange(2), draws=10)
    assert favoured is not None
    assert favoured.places == 2.0
    assert favoured.places_interval == (2.0, 2.0)
    # Two others are too few for a line.
    assert favoured.excess is None
    assert favoured.excess_interval is None


def test_the_excess_by_hand() -> None:
    people = np.array([[1.0], [2.0], [3.0], [4.0]])
    judge = np.array([[10.0], [20.0], [30.0], [60.0]])
    favoured = kinship(judge, people, np.array([False, False, False, True]), np.zeros(1, int), draws=10)
    assert favoured is not None
    assert favoured.excess == pytest.approx((60 - 40) / np.std([10, 20, 30, 60]))
    assert favoured.excess_interval is None


def test_without_favour_the_interval_holds_nothing_at_the_level_it_should() -> None:
    """Documents drawn anew: 0 lies outside in about one of twenty."""
    outside = 0
    for seed in range(100):
        people, judge = people_and_judge(seed=seed, noise=2.0)
        favoured = kinship(judge, people, KIN, DOCUMENTS, draws=200, seed=seed)
        assert favoured is not None
        assert favoured.excess_interval is not None
        low, high = favoured.excess_interval
        outside += not low <= 0 <= high
    assert outside <= 12


def test_missing_scores_and_judgments_are_left_out() -> None:
    people, judge = people_and_judge(seed=3, favour=0.8)
    sparse = np.where(np.random.default_rng(0).random(people.shape) < 0.5, people, np.nan)
    favoured = kinship(judge, sparse, KIN, DOCUMENTS, draws=100)
    assert favoured is not None
    assert favoured.excess_interval is not None
    assert favoured.excess_interval[0] > 0
    nobody = np.where(KIN[:, np.newaxis], np.nan, people)
    assert kinship(judge, nobody, KIN, DOCUMENTS, draws=100) is None
    assert kinship(judge, people, np.ones(GENERATORS, bool), DOCUMENTS) is None
