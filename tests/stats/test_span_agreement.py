"""Characters that two annotators marked, and differences between generators, against plain loops."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from billboards.errors import InvalidInput
from billboards.stats.spans import overlap, sign_test


def test_f1_of_characters_is_counted_over_outputs() -> None:
    found = overlap([({1, 2, 3}, {2, 3, 4, 5}), (set(), {9}), (set(), set())])
    assert (found.first, found.second, found.both) == (3, 5, 2)
    assert found.f1 == 0.5
    assert overlap([(set(), set())]).f1 is None


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_f1_is_scikit_learn_s(marked: list[tuple[bool, bool]]) -> None:
    first, second = ({k for k, pair in enumerate(marked) if pair[side]} for side in (0, 1))
    found = overlap([(first, second)]).f1
    if not first and not second:
        assert found is None
    else:
        expected = f1_score([pair[0] for pair in marked], [pair[1] for pair in marked], zero_division=0.0)
        assert found == pytest.approx(expected)


def test_the_p_value_is_that_of_all_exchanges_of_documents() -> None:
    differences = np.array([1.0, 2.0, -0.5, 0.25, np.nan, 3.0, -1.0])
    groups = ["a", "a", "b", "c", "c", "d", "b"]
    sums = [3.0, -1.5, 0.25, 3.0]
    ways = product((1, -1), repeat=4)
    by_hand = [abs(sum(sign * value for sign, value in zip(signs, sums, strict=True))) for signs in ways]
    expected = sum(total >= abs(sum(sums)) - 1e-12 for total in by_hand) / 16
    assert sign_test(differences, groups) == expected


def test_many_documents_are_drawn_and_come_near_the_exact_value() -> None:
    random = np.random.default_rng(3)
    few = random.normal(0.6, 1.0, 12)
    exact = sign_test(few)
    many = sign_test(np.append(few, 0.0), draws=20_000, seed=1)
    assert many == pytest.approx(exact, abs=0.01)
    assert sign_test(np.append(few, 0.0), draws=500, seed=1) == sign_test(np.append(few, 0.0), draws=500, seed=1)


def test_without_any_difference_there_is_nothing_to_test() -> None:
    with pytest.raises(InvalidInput, match="no difference"):
        sign_test([np.nan])
