"""Exact optimal transport: the least that moving one heap of weights onto another can cost.

MoverScore (§3.1) and word mover's distance are this number. It is found by linear programming, so it is the optimum and
no approximation; where both sides have the same number of equal weights, some optimum matches them one to one and is
found as an assignment.
"""

from __future__ import annotations

import numpy as np

from billboards.errors import MetricFailed
from billboards.metrics.base import Floats


def transport_cost(cost: Floats, supply: Floats, demand: Floats) -> float:
    """The cost of the cheapest flow from rows to columns; supply and demand are weights above 0, scaled to sum to 1."""
    give, take = supply / supply.sum(), demand / demand.sum()
    if 1 in cost.shape:
        return float(give @ cost @ take)
    if cost.shape[0] == cost.shape[1] and np.ptp(give) + np.ptp(take) < 1e-12:
        return _assignment_cost(cost)
    return _programme_cost(cost, give, take)


def _assignment_cost(cost: Floats) -> float:
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(cost)
    return float(cost[rows, columns].mean())


def _programme_cost(cost: Floats, give: Floats, take: Floats) -> float:
    from scipy.optimize import linprog
    from scipy.sparse import eye_array, kron, vstack

    rows, columns = cost.shape
    leaves = kron(eye_array(rows), np.ones((1, columns)))
    arrives = kron(np.ones((1, rows)), eye_array(columns))
    # What the last column gets follows from the others; stated twice, rounding could make it a contradiction.
    constraints = vstack((leaves, arrives)).tocsr()[:-1]
    weights = np.concatenate((give, take))[:-1]
    # The stubs don't know that the constraints may be sparse.
    found = linprog(cost.ravel(), A_eq=constraints, b_eq=weights, method="highs-ds")  # type: ignore[call-overload]
    if not found.success:
        raise MetricFailed(f"no cheapest flow was found between {rows} and {columns} weights: {found.message}")
    return float(found.fun)
