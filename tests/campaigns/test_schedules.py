"""Schedules of comparisons: each pair and each order equally often, or where two are not told apart yet."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from billboards.campaigns.schedules import KEPT, Coming, adapt_pairs, answered, balanced_pairs, balanced_sets
from billboards.stats.bradley_terry import Outcomes, count_pairs, fit_strengths


@pytest.mark.parametrize("entries", [2, 3, 4, 5, 7, 8])
def test_a_cycle_of_rounds_has_every_pair_once_and_two_cycles_both_orders(entries: int) -> None:
    cycle = entries + entries % 2 - 1
    rounds = list(balanced_pairs(entries, 2 * cycle, random.Random(1)))
    once = Counter(frozenset(pair) for pairs in rounds[:cycle] for pair in pairs)
    assert set(once.values()) == {1}
    assert len(once) == entries * (entries - 1) // 2
    orders = Counter(pair for pairs in rounds for pair in pairs)
    assert set(orders.values()) == {1}
    assert len(orders) == entries * (entries - 1)
    for pairs in rounds:
        names = [name for pair in pairs for name in pair]
        assert len(set(names)) == len(names) == entries - entries % 2


@pytest.mark.parametrize("rounds", [10, 23, 100])
def test_whenever_one_stops_pairs_orders_and_first_places_differ_by_little(rounds: int) -> None:
    made = [pair for pairs in balanced_pairs(6, rounds, random.Random(2)) for pair in pairs]
    met = Counter(frozenset(pair) for pair in made)
    assert max(met.values()) - min(met.values()) <= 1
    orders = Counter(made)
    assert all(abs(orders[a, b] - orders[b, a]) <= 1 for a, b in orders)
    first = Counter(pair[0] for pair in made)
    assert max(first.values()) - min(first.values()) <= 6


def test_a_schedule_follows_from_its_seed() -> None:
    first, again, other = (list(balanced_pairs(7, 20, random.Random(seed))) for seed in (3, 3, 4))
    assert first == again
    assert first != other


@pytest.mark.parametrize(("entries", "size"), [(4, 4), (7, 3), (9, 4), (12, 4)])
def test_sets_have_everybody_beside_everybody_about_equally_often(entries: int, size: int) -> None:
    rounds = list(balanced_sets(entries, size, 120, random.Random(5)))
    used, met, places = Counter[int](), Counter[frozenset[int]](), Counter[tuple[int, int]]()
    for sets in rounds:
        assert len(sets) == entries // size
        for members in sets:
            assert len(set(members)) == size
            used.update(members)
            met.update(frozenset((a, b)) for k, a in enumerate(members) for b in members[k + 1 :])
            places.update((member, place) for place, member in enumerate(members))
    assert max(used.values()) - min(used.values()) <= 1
    mean = sum(met.values()) / (entries * (entries - 1) / 2)
    assert len(met) == entries * (entries - 1) // 2
    assert max(met.values()) < 1.25 * mean + 2
    assert min(met.values()) > 0.75 * mean - 2
    assert max(places.values()) - min(places.values()) <= 3


def coming(entries: int, count: int, planned: tuple[int, int] = (0, 1)) -> list[Coming]:
    every = frozenset((a, b) for a in range(entries) for b in range(a + 1, entries))
    return [Coming(instance=f"i{k}", planned=planned, possible=every) for k in range(count)]


def test_comparisons_go_to_neighbours_that_are_not_told_apart() -> None:
    theta = np.array([3.0, 0.1, 0.0, -3.0])
    chosen = adapt_pairs(theta, np.eye(4) * 0.05, coming(4, 20, planned=(0, 3)), random.Random(1))
    adapted = [pair for k, pair in enumerate(chosen) if k % KEPT != KEPT - 1]
    assert Counter(adapted).most_common(1)[0][0] == (1, 2)
    assert chosen[KEPT - 1 :: KEPT] == [(0, 3)] * (20 // KEPT), "some stay as planned"


def test_where_all_are_told_apart_everything_stays_as_planned() -> None:
    chosen = adapt_pairs(np.array([3.0, 0.0, -3.0]), np.eye(3) * 0.01, coming(3, 8), random.Random(1))
    assert chosen == [(0, 1)] * 8


def test_a_pair_is_asked_about_once_on_an_instance() -> None:
    every = frozenset((a, b) for a in range(4) for b in range(a + 1, 4))
    same = [Coming(instance="i", planned=(0, 1), possible=every) for _ in range(5)]
    chosen = adapt_pairs(np.zeros(4), np.eye(4), same, random.Random(1))
    assert len(set(chosen)) == 5
    only = [Coming(instance="i", planned=(0, 1), possible=frozenset({(2, 3)})) for _ in range(2)]
    assert adapt_pairs(np.zeros(4), np.eye(4), only, random.Random(1)) == [(2, 3), (0, 1)]


def test_the_same_seed_and_strengths_give_the_same_plan() -> None:
    first, again, other = (
        adapt_pairs(np.zeros(6), np.eye(6), coming(6, 30), random.Random(seed)) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_an_answered_comparison_narrows_as_a_refit_does() -> None:
    random_numbers = np.random.default_rng(1)
    first = random_numbers.integers(0, 4, 400)
    second = (first + random_numbers.integers(1, 4, 400)) % 4
    result = np.where(random_numbers.random(400) < 0.5, 1, -1)
    counts = count_pairs(Outcomes(first=first, second=second, result=result), 4)
    fitted = fit_strengths(counts)
    narrowed = answered(fitted.theta, fitted.covariance, (0, 1))
    x = np.array([1.0, -1.0, 0.0, 0.0])
    p = 1 / (1 + np.exp(fitted.theta[1] - fitted.theta[0]))
    expected = np.linalg.pinv(np.linalg.pinv(fitted.covariance) + p * (1 - p) * np.outer(x, x))
    np.testing.assert_allclose(narrowed, expected, atol=1e-10)
