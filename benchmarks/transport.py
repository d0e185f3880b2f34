"""Exact transport beside POT's network simplex and scipy's linear programming, on the same problems in one run.

Words are random vectors, of which half lie near one of the other text, with random or with equal weights; costs are
their distances, as in MoverScore. Processor time per problem, one thread each. Then thousands of problems of the kinds
that break solvers (ties, no costs, equal weights, one row or column, the same words again) are held against both.

    python benchmarks/transport.py [--size 35] [--checked 5000]
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from billboards.metrics.kernels.threads import limit_threads
from billboards.metrics.kernels.transport import Transport, least_costs

Floats = NDArray[np.float64]
Solver = Callable[[Sequence[Transport]], Floats]

#: Words of each text, and how many problems ours and POT, and how many the linear programme, get.
SIZES = {10: (2000, 100), 35: (1000, 40), 100: (100, 6), 300: (10, 1)}
TOLERANCE = 1e-9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--size", type=int, action="append", choices=tuple(SIZES), help="only this one; may be repeated"
    )
    parser.add_argument(
        "--checked", type=int, default=5000, metavar="N", help="problems that are held against the peers"
    )
    arguments = parser.parse_args()
    # POT loads every framework it could work on; it needs none of them here.
    os.environ |= {f"POT_BACKEND_DISABLE_{name}": "1" for name in ("PYTORCH", "JAX", "TENSORFLOW", "CUPY")}
    limit_threads(1)
    of_peers = f"{'POT, µs':>9} {'ratio':>6} {'linprog, µs':>12} {'ratio':>6}"
    print(f"{'words, weights':16} {'ours, µs':>9} {of_peers}   difference")
    for size in arguments.size or SIZES:
        for even in (False, True):
            compare(size, even=even)
    limit_threads(None)
    check(arguments.checked)


def compare(size: int, *, even: bool) -> None:
    """The processor time of each on texts of so many words."""
    draw = np.random.default_rng(size)
    many, few = SIZES[size]
    problems = [texts(draw, size, even=even) for _ in range(many)]
    ours, own = timed(least_costs, problems)
    theirs, pot = timed(solve_with_pot, problems)
    programmes, linprog = timed(solve_with_linprog, problems[:few])
    difference = max(np.abs(ours - theirs).max(), np.abs(ours[:few] - programmes).max())
    name = f"{size}, {'equal' if even else 'random'}"
    of_peers = f"{pot:9,.0f} {pot / own:6.1f} {linprog:12,.0f} {linprog / own:6,.0f}"
    print(f"{name:16} {own:9,.0f} {of_peers}   {difference:.0e}", flush=True)


def texts(draw: np.random.Generator, size: int, *, even: bool) -> Transport:
    """Two texts of so many words."""
    words, others = draw.normal(size=(2, size, 64))
    others[: size // 2] = words[: size // 2] + 0.3 * others[: size // 2]
    words, others = (one / np.linalg.norm(one, axis=1, keepdims=True) for one in (words, others))
    supply, demand = np.ones((2, size)) if even else draw.random((2, size)) * 5
    return Transport(np.sqrt(np.clip(2 - 2 * words @ others.T, 0, 4)), supply, demand)


def timed(solve: Solver, problems: Sequence[Transport]) -> tuple[Floats, float]:
    """What a solver finds, and its microseconds per problem."""
    solve(problems[:1])
    start = time.process_time()
    found = solve(problems)
    return found, (time.process_time() - start) / len(problems) * 1e6


def solve_with_pot(problems: Sequence[Transport]) -> Floats:
    import ot

    return np.array([ot.emd2(share(one.supply), share(one.demand), one.cost) for one in problems])


def solve_with_linprog(problems: Sequence[Transport]) -> Floats:
    from scipy.optimize import linprog
    from scipy.sparse import eye_array, kron, vstack

    found = []
    for one in problems:
        rows, columns = one.cost.shape
        flows = vstack((kron(eye_array(rows), np.ones((1, columns))), kron(np.ones((1, rows)), eye_array(columns))))
        weights = np.concatenate((share(one.supply), share(one.demand)))
        exactly = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        # What the last column gets follows from the others.
        given: Any = {"A_eq": flows.tocsr()[:-1], "b_eq": weights[:-1], "method": "highs-ds", "options": exactly}
        found.append(linprog(one.cost.ravel(), **given).fun)
    return np.array(found)


def share(weights: Floats) -> Floats:
    shares: Floats = weights / weights.sum()
    return shares


def check(count: int) -> None:
    """Problems of every kind: the largest difference from POT, and on a tenth of them from the linear programme."""
    draw = np.random.default_rng(0)
    problems = [one_of_every_kind(draw, k) for k in range(count)]
    found = least_costs(problems)
    for name, solve, every in (("POT", solve_with_pot, 1), ("linprog", solve_with_linprog, 10)):
        difference = np.abs(found[::every] - solve(problems[::every])).max()
        verdict = "equal" if difference <= TOLERANCE else "DIFFERENT"
        print(
            f"{len(found[::every]):,} problems of every kind: {verdict} to {name}, largest difference {difference:.0e}"
        )


def one_of_every_kind(draw: np.random.Generator, k: int) -> Transport:
    rows, columns = ((1, 9), (9, 1), (1, 1), (12, 12))[k // 5 % 8] if k // 5 % 8 < 4 else draw.integers(2, 40, 2)
    words, others = (draw.integers(0, 3, (count, 3)).astype(float) for count in (rows, columns))
    cost = (
        draw.random((rows, columns)),
        np.round(draw.random((rows, columns)) * 3),
        np.zeros((rows, columns)),
        np.sqrt(((words[:, None] - others[None]) ** 2).sum(-1)),
        np.abs(np.arange(rows)[:, None] - np.arange(columns)[None]).astype(float),
    )[k % 5]
    supply, demand = (
        (np.ones(count), draw.random(count) + 1e-3, draw.integers(1, 4, count).astype(float))[k // 40 % 3]
        for count in (rows, columns)
    )
    return Transport(cost, supply, demand)


if __name__ == "__main__":
    main()
