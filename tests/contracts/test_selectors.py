"""What every selector keeps to: a worth of 0 or more per instance or output, whatever the order and what is missing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from billboards.errors import InvalidInput, NotEnoughData, UnknownName
from billboards.selectors import SELECTORS, Candidates, selector

NAMES = list(SELECTORS.own)
WORDS = ["the", "ferry", "leaves", "at", "noon", "from", "pier", "two", "and", "calls", "at", "every", "island"]


def candidates(*, instances: int = 15, generators: int = 4) -> Candidates:
    random = np.random.default_rng(4)
    texts = tuple(
        tuple(" ".join(random.permutation(WORDS)[: 4 + g]) for _ in range(instances)) for g in range(generators)
    )
    labels = np.where(np.arange(instances) < 5, random.normal(size=(generators, instances)), np.nan)
    return Candidates(
        scores=random.normal(size=(3, generators, instances)),
        metrics=("a", "b", "c"),
        metric=1,
        texts=texts,
        labels=labels,
    )


def per_instance(worth: np.ndarray) -> np.ndarray:
    return worth if worth.ndim == 1 else worth.mean(axis=0)


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_looks_for_and_gives_a_worth_for_each_instance(name: str) -> None:
    declared = SELECTORS.load(name)
    assert (declared.name, declared.summary) == (name, SELECTORS.summary(name))
    worth = declared(candidates())
    assert worth.shape in ((15,), (4, 15))
    assert (worth >= 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_neither_the_order_of_instances_nor_of_generators_matters(name: str) -> None:
    asked = candidates()
    order, turned = np.random.default_rng(1).permutation(15), [2, 0, 3, 1]
    other = replace(
        asked,
        scores=asked.scores[:, turned][:, :, order],
        labels=asked.labels[turned][:, order],
        texts=tuple(tuple(asked.texts[g][k] for k in order) for g in turned),
    )
    chosen = SELECTORS.load(name)
    assert per_instance(chosen(other)) == pytest.approx(per_instance(chosen(asked))[order])


@pytest.mark.parametrize("name", NAMES)
def test_what_is_missing_does_no_harm_elsewhere(name: str) -> None:
    asked = candidates()
    scores = asked.scores.copy()
    scores[:, 0, 3] = np.nan
    scores[:, :, 7] = np.nan
    texts = tuple((None, *of_row[1:]) for of_row in asked.texts)
    worth = per_instance(SELECTORS.load(name)(replace(asked, scores=scores, texts=texts)))
    rest = [k for k in range(15) if k not in (0, 3, 7)]
    assert np.isfinite(worth[rest]).all()


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"diversity", "random", "disagreement"}))
def test_a_board_without_scores_is_refused_where_scores_are_needed(name: str) -> None:
    asked = replace(candidates(), scores=np.empty((0, 4, 15)), metrics=(), metric=None)
    with pytest.raises(NotEnoughData, match="score the board first"):
        SELECTORS.load(name)(asked)


def test_one_metric_cannot_disagree() -> None:
    asked = replace(candidates(), scores=np.zeros((1, 4, 15)), metrics=("a",), metric=0)
    with pytest.raises(NotEnoughData, match="can't disagree"):
        SELECTORS.load("disagreement")(asked)


def test_outputs_that_share_no_words_are_the_most_diverse() -> None:
    texts = (("a b", "a b", "a b c d", "", None), ("c d", "a b", "a b", "", "x"))
    asked = replace(candidates(instances=5, generators=2), texts=texts)
    worth = SELECTORS.load("diversity")(asked)
    assert worth[:4] == pytest.approx([1.0, 0.0, 1 - 4 / 6, 0.0])
    assert np.isnan(worth[4])


def test_an_unknown_selector_is_named() -> None:
    with pytest.raises(UnknownName, match="no selector named 'varience'; did you mean variance"):
        SELECTORS.load("varience")


def test_a_worth_of_another_shape_or_below_zero_is_refused() -> None:
    @selector()
    def too_few(candidates: Candidates) -> np.ndarray:
        """Two of them."""
        return np.ones(2)

    @selector("below")
    def beneath(candidates: Candidates) -> np.ndarray:
        """Less than nothing."""
        return -np.ones(15)

    assert (too_few.name, beneath.name) == ("too-few", "below")
    with pytest.raises(InvalidInput, match="one for each of 15 instances"):
        too_few(candidates())
    with pytest.raises(InvalidInput, match="below 0"):
        beneath(candidates())
