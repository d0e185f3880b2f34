"""One value per unit from several ratings; models must beat the majority where some annotators guess."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from billboards.errors import InvalidInput, MissingPart, NotEnoughData
from billboards.stats.aggregation import Method, _mace_likelihood, aggregate_ratings
from billboards.stats.ratings import Ratings, ratings_in_columns, ratings_in_table

NO = np.nan


def noisy_crowd(seed: int = 0) -> tuple[np.ndarray, Ratings, np.ndarray]:
    """120 units of five values, each rated by 5 of 20 annotators; 12 of them guess, 8 are right nine times in ten."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 5, 120) / 4
    chance = np.where(np.arange(20) < 8, 0.9, 0.0)
    unit = np.repeat(np.arange(120), 5)
    annotator = np.concatenate([random.permutation(20)[:5] for _ in range(120)])
    knows = random.random(600) < chance[annotator]
    value = np.where(knows, truth[unit], random.integers(0, 5, 600) / 4)
    return truth, ratings_in_columns(unit, annotator, value), chance


@pytest.mark.parametrize("method", ["dawid-skene", "mace"])
def test_a_model_beats_the_majority_where_some_annotators_guess(method: Method) -> None:
    truth, ratings, chance = noisy_crowd()
    majority = (aggregate_ratings(ratings, "majority").value == truth).mean()
    found = aggregate_ratings(ratings, method)
    assert (found.value == truth).mean() > majority + 0.05
    assert found.skill[chance > 0].min() > found.skill[chance == 0].max()
    assert ((found.confidence > 0.2) & (found.confidence <= 1 + 1e-9)).all()


def test_somebody_who_always_says_the_same_is_right_as_often_as_that_is() -> None:
    truth = np.arange(40) % 4 == 0
    table = np.column_stack([truth, truth, truth, np.ones(40)]).astype(float)
    assert aggregate_ratings(ratings_in_table(table), "dawid-skene").skill == pytest.approx([1, 1, 1, 0.25], abs=0.01)


@pytest.mark.parametrize("method", ["mean", "majority", "dawid-skene"])
def test_the_order_of_ratings_does_not_matter(method: Method) -> None:
    _, ratings, _ = noisy_crowd(1)
    order = np.random.default_rng(2).permutation(len(ratings))
    shuffled = Ratings(ratings.unit[order], ratings.annotator[order], ratings.value[order])
    first, again = aggregate_ratings(ratings, method), aggregate_ratings(shuffled, method)
    assert first.value == pytest.approx(again.value, abs=1e-12)


def test_a_mean_is_the_mean_and_a_tie_lies_in_the_middle() -> None:
    ratings = ratings_in_table(np.array([[0, 1, NO], [1, 1, 0], [0.25, 0.5, 1]]))
    assert aggregate_ratings(ratings).value == pytest.approx([0.5, 2 / 3, 1.75 / 3])
    voted = aggregate_ratings(ratings, "majority")
    assert voted.value == pytest.approx([0.5, 1, 1.75 / 3])
    assert voted.confidence == pytest.approx([1 / 2, 2 / 3, 1 / 3])
    assert np.isnan(voted.skill).all()


def test_models_refuse_unknown_annotators() -> None:
    with pytest.raises(NotEnoughData, match="whose each rating is"):
        aggregate_ratings(ratings_in_columns([0, 0], [-1, -1], [1, 2]), "mace")


def test_an_unknown_method_names_those_there_are() -> None:
    with pytest.raises(InvalidInput, match="mean, majority, dawid-skene, mace"):
        aggregate_ratings(ratings_in_table([[1, 2]]), "median")  # type: ignore[arg-type]


def test_without_crowd_kit_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "crowdkit", None)
    with pytest.raises(MissingPart, match=r"billboards\[crowd\]"):
        aggregate_ratings(ratings_in_table([[1, 2], [2, 2]]), "dawid-skene")


def test_the_likelihood_that_chooses_a_start_is_that_of_the_model_rating_by_rating() -> None:
    random = np.random.default_rng(3)
    task, worker, label = random.integers(0, 6, 40), random.integers(0, 5, 40), random.integers(0, 3, 40)
    spamming, strategy = random.dirichlet([1, 1], 5), random.dirichlet([1, 1, 1], 5)
    expected = 0.0
    for unit in range(6):
        by_truth = []
        for truth in range(3):
            chance = 1.0
            for who, said in zip(worker[task == unit], label[task == unit], strict=True):
                chance *= spamming[who, 0] * strategy[who, said] + spamming[who, 1] * (said == truth)
            by_truth.append(chance)
        expected += np.log(sum(by_truth))
    assert _mace_likelihood(spamming, strategy, task, worker, label) == pytest.approx(expected, rel=1e-12)
