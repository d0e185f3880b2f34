"""Exact transport: followed by hand, beside POT's and scipy's on problems of every kind, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.metrics.kernels import transport
from billboards.metrics.kernels.transport import Transport, least_costs

Floats = NDArray[np.float64]


def problem(cost: Any, supply: Any, demand: Any) -> Transport:
    return Transport(*(np.asarray(one, np.float64) for one in (cost, supply, demand)))


def test_a_transport_can_be_followed_by_hand() -> None:
    cost = [[0, 1], [4, 2]]
    # Three quarters lie in the first row; half is wanted in the first column, so a quarter of them goes to the second.
    found = least_costs([problem(cost, [3, 1], [1, 1]), problem(cost, [1, 1], [1, 1]), problem(cost, [1, 0], [0, 5])])
    assert found == pytest.approx([0.25 * 1 + 0.25 * 2, 1.0, 1.0], abs=1e-15)


def test_identical_heaps_lie_nowhere_apart() -> None:
    words = np.random.default_rng(0).normal(size=(30, 8))
    cost = np.sqrt(((words[:, None] - words[None]) ** 2).sum(-1))
    weights = np.arange(1.0, 31.0)
    assert least_costs([problem(cost, weights, weights)])[0] == pytest.approx(0.0, abs=1e-15)


def random_costs(draw: np.random.Generator, rows: int, columns: int) -> Floats:
    return draw.random((rows, columns))


def few_costs(draw: np.random.Generator, rows: int, columns: int) -> Floats:
    return draw.integers(0, 3, (rows, columns)).astype(float)


def no_costs(draw: np.random.Generator, rows: int, columns: int) -> Floats:
    return np.zeros((rows, columns))


def large_costs(draw: np.random.Generator, rows: int, columns: int) -> Floats:
    return draw.random((rows, columns)) * 1000


def repeated_words(draw: np.random.Generator, rows: int, columns: int) -> Floats:
    """Distances between words of which many are the same."""
    words, others = (draw.integers(0, 3, (count, 3)).astype(float) for count in (rows, columns))
    distances: Floats = np.sqrt(((words[:, None] - others[None]) ** 2).sum(-1))
    return distances


COSTS = (random_costs, few_costs, no_costs, large_costs, repeated_words)
WEIGHTS: tuple[Callable[[np.random.Generator, int], Floats], ...] = (
    lambda draw, count: draw.random(count) + 0.001,
    lambda draw, count: np.ones(count),
    lambda draw, count: draw.integers(1, 4, count).astype(float),
    lambda draw, count: np.power(10.0, draw.integers(-3, 3, count).astype(float)),
)
SHAPES = [(1, 1), (1, 9), (9, 1), (2, 2), (7, 7), (25, 25), (9, 14), (31, 20)]


def problems_of_every_kind(times: int) -> Iterator[Transport]:
    draw = np.random.default_rng(7)
    for _ in range(times):
        for rows, columns in SHAPES:
            for make_costs in COSTS:
                for weigh in WEIGHTS:
                    yield problem(make_costs(draw, rows, columns), weigh(draw, rows), weigh(draw, columns))


def share(weights: Floats) -> Floats:
    shares: Floats = weights / weights.sum()
    return shares


def largest_difference(problems: list[Transport], peer: Callable[[Transport], float]) -> float:
    """Between ours and a peer's, in proportion to the largest cost of a problem."""
    theirs = np.array([peer(one) for one in problems])
    scale = np.array([max(1.0, np.abs(one.cost).max()) for one in problems])
    return float((np.abs(least_costs(problems) - theirs) / scale).max())


def test_problems_of_every_kind_have_the_cost_that_pot_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    # POT loads every framework it could work on; it needs none of them here.
    for framework in ("PYTORCH", "JAX", "TENSORFLOW", "CUPY"):
        monkeypatch.setenv(f"POT_BACKEND_DISABLE_{framework}", "1")
    ot = pytest.importorskip("ot", reason="POT is not installed: pip install POT")
    problems = list(problems_of_every_kind(10))
    assert len(problems) == 1600
    assert largest_difference(problems, lambda one: ot.emd2(share(one.supply), share(one.demand), one.cost)) < 1e-9


def programme_cost(one: Transport) -> float:
    from scipy.optimize import linprog

    rows, columns = one.cost.shape
    flows = np.vstack((np.kron(np.eye(rows), np.ones(columns)), np.kron(np.ones(rows), np.eye(columns))))
    weights = np.concatenate((share(one.supply), share(one.demand)))
    exactly = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    # What the last column gets follows from the others; stated twice, rounding could make it a contradiction.
    given: Any = {"A_eq": flows[:-1], "b_eq": weights[:-1], "options": exactly}
    found: Any = linprog(one.cost.ravel(), **given)
    return float(found.fun)


def test_problems_of_every_kind_have_the_cost_that_linear_programming_finds() -> None:
    problems = list(problems_of_every_kind(1))
    # Costs may lie below 0, too, which POT doesn't always take.
    below = [problem(one.cost - 1, one.supply, one.demand) for one in problems[::3]]
    assert largest_difference(problems + below, programme_cost) < 1e-9


def test_weights_that_are_worlds_apart_are_moved_nevertheless() -> None:
    weights = 10.0 ** np.arange(-20, 4)
    cost = np.abs(np.arange(24)[:, None] - np.arange(24)[None]).astype(float)
    # Everything moves one place: the weights of the first 23 columns are those of the last 23 rows.
    found = least_costs([problem(cost, weights, weights), problem(cost, weights, np.roll(weights, -1))])
    assert found == pytest.approx([0.0, 1.0], abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_cost_lies_below_any_flow_and_above_any_potentials(data: st.DataObject) -> None:
    """Weak duality brackets the optimum without another solver: even shares above, row and column minima below."""
    shape = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    cost = data.draw(hnp.arrays(np.float64, shape, elements=st.floats(-5, 5, width=32)))
    weights = (hnp.arrays(np.float64, n, elements=st.floats(0.125, 9, width=32)) for n in shape)
    supply, demand = map(data.draw, weights)
    (found,) = least_costs([Transport(cost, supply, demand)])
    give, take = supply / supply.sum(), demand / demand.sum()
    of_columns = cost.min(0)
    of_rows = (cost - of_columns).min(1)
    assert give @ of_rows + take @ of_columns - 1e-12 <= found <= give @ cost @ take + 1e-12


def test_problems_may_stream_by_in_bunches(monkeypatch: pytest.MonkeyPatch) -> None:
    problems = list(problems_of_every_kind(1))
    together = least_costs(problems)
    monkeypatch.setattr(transport, "BUNCH", 100)
    np.testing.assert_array_equal(least_costs(iter(problems)), together)
    assert len(least_costs([])) == 0


@pytest.mark.parametrize(
    "one",
    [
        problem([[1.0, np.nan]], [1], [1, 1]),
        problem([[1.0, np.inf]], [1], [1, 1]),
        problem([[1.0, 1.0]], [1], [0, 0]),
        problem([[1.0, 1.0]], [1], [2, -1]),
        problem([[1.0, 1.0]], [np.inf], [1, 1]),
        problem([[1.0, 1.0]], [np.nan], [1, 1]),
    ],
)
def test_what_is_no_weight_or_no_cost_is_refused(one: Transport) -> None:
    with pytest.raises(InvalidInput, match="transport_costs: lengths, offsets or indices of the arrays don't fit"):
        least_costs([one])


@pytest.mark.parametrize(("cost", "supply", "demand"), [(np.zeros((2, 3)), 3, 2), (np.zeros((0, 1)), 0, 1)])
def test_costs_must_have_a_row_for_each_supply_and_a_column_for_each_demand(
    cost: Floats, supply: int, demand: int
) -> None:
    with pytest.raises(InvalidInput, match=r"transport: costs of shape \(\d, \d\) for \d supplies and \d demands"):
        Transport(cost, np.ones(supply), np.ones(demand))
