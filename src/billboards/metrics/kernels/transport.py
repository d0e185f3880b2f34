"""Exact optimal transport by compiled code on all cores: many small problems in one call (`_transport.c`).

A problem is what there is on rows, what is wanted in columns, and what a unit costs from each row to each column. The
problems may stream by: a bunch of bounded size is solved at a time, on all cores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput, MetricFailed
from billboards.metrics.kernels.calling import F64, I64, Kernel
from billboards.metrics.kernels.threads import in_parts

Floats = NDArray[np.float64]

#: Costs that are laid end to end for one call, as many as 32 MiB hold.
BUNCH = 1 << 22

_costs = Kernel("_transport", "transport_costs", (F64, I64, F64, I64, F64, I64, int, int, F64))


@dataclass(frozen=True)
class Transport:
    """Costs (rows × columns), and the weights of rows and of columns: 0 or above, not all 0; only shares matter."""

    cost: Floats
    supply: Floats
    demand: Floats

    def __post_init__(self) -> None:
        if self.cost.shape != (len(self.supply), len(self.demand)) or not self.cost.size:
            raise InvalidInput(
                f"transport: costs of shape {self.cost.shape} for {len(self.supply)} supplies and "
                f"{len(self.demand)} demands"
            )


def least_costs(problems: Iterable[Transport]) -> Floats:
    """The cost of each problem's cheapest flow, supply and demand scaled to sum to 1."""
    return np.concatenate([np.empty(0), *map(_solve, _bunches(problems))])


def _bunches(problems: Iterable[Transport]) -> Iterator[list[Transport]]:
    bunch: list[Transport] = []
    numbers = 0
    for problem in problems:
        bunch.append(problem)
        numbers += problem.cost.size
        if numbers >= BUNCH:
            yield bunch
            bunch, numbers = [], 0
    if bunch:
        yield bunch


def _solve(problems: Sequence[Transport]) -> Floats:
    costs = np.empty(len(problems))
    given = (
        *_end_to_end([problem.cost.ravel() for problem in problems]),
        *_end_to_end([problem.supply for problem in problems]),
        *_end_to_end([problem.demand for problem in problems]),
    )
    in_parts(lambda start, stop: _costs(*given, start, stop, costs), len(problems), smallest=8)
    if np.isnan(costs).any():
        rows, columns = problems[int(np.isnan(costs).argmax())].cost.shape
        raise MetricFailed(f"no cheapest flow was found between {rows} and {columns} weights: please report this")
    return costs


def _end_to_end(parts: Sequence[Floats]) -> tuple[Floats, NDArray[np.int64]]:
    offsets = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    return np.concatenate([np.empty(0), *parts]), offsets
