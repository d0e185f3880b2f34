"""Who is on the front of quality against cost."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from billboards.stats.pareto import pareto_front


def test_who_is_beaten_on_both_sides_is_not_on_it_and_who_lacks_a_number_neither() -> None:
    quality = np.array([0.9, 0.8, 0.7, 0.95, np.nan, 0.99])
    cost = np.array([10.0, 1.0, 5.0, 100.0, 0.1, np.nan])
    assert pareto_front(quality, cost).tolist() == [True, True, False, True, False, False]


def test_equals_are_on_it_together_and_the_dearer_of_equal_quality_is_not() -> None:
    assert pareto_front(np.array([1.0, 1.0, 1.0]), np.array([2.0, 2.0, 3.0])).tolist() == [True, True, False]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_it_is_what_its_definition_says(entries: list[tuple[int, int]]) -> None:
    quality, cost = (np.array([entry[k] for entry in entries], float) for k in (0, 1))
    defined = [not any((p >= q and d < c) or (p > q and d <= c) for p, d in entries) for q, c in entries]
    assert pareto_front(quality, cost).tolist() == defined
