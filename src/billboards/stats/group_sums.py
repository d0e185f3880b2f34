"""What a mixed model needs of its rows: cross products of [X y] within groups and of the groups' means.

Groups of one size are alike to the likelihood, so their means are summed together. Whatever is fitted afterwards reads
these sums and no row, for many targets at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.errors import NotEnoughData

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Sums:
    """Cross products of [X y] within groups, and of the groups' means (times size) for each group size.

    `within` is columns × columns and `between` sizes × columns × columns, with an axis for the targets y before them.
    """

    n: int
    sizes: Floats
    counts: Floats
    within: Floats
    between: Floats

    @property
    def total(self) -> Floats:
        """Cross products over all rows."""
        total: Floats = self.within + self.between.sum(axis=-3)
        return total

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return int(self.counts.sum())


def gather_rows(table: Floats, group: NDArray[np.intp], columns: int) -> Sums:
    """The sums of a table of `columns` design columns, then targets (columns × rows), in any order of the groups."""
    order = np.argsort(group, kind="stable")
    table, group = table[:, order], group[order]
    starts = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1])))
    size = np.diff(np.append(starts, len(group)))
    means = np.add.reduceat(table, starts, axis=1) / size
    return _summed(table - np.repeat(means, size, axis=1), means, size, columns)


def gather_grid(table: Floats, used: Bools, columns: int) -> Sums:
    """The sums of a table of `columns` design columns, then targets, laid out as columns × rows × groups.

    Only cells `used` (rows × groups) count; the table is 0 elsewhere.
    """
    size = used.sum(axis=0)
    means = table.sum(axis=1) / np.maximum(size, 1)
    centred = table - means[:, None]
    if not used.all():
        centred *= used
    filled = size > 0
    return _summed(centred.reshape(len(table), -1), means[:, filled], size[filled], columns)


def _summed(centred: Floats, means: Floats, size: NDArray[np.intp], columns: int) -> Sums:
    """From columns × rows less their groups' means, columns × groups of means, and the groups' sizes."""
    means = means * np.sqrt(size)
    sizes, kind, counts = np.unique(size, return_inverse=True, return_counts=True)
    alike = (means if len(sizes) == 1 else means[:, kind == k] for k in range(len(sizes)))
    between = np.stack([_products(part, columns) for part in alike], axis=1)
    within = _products(centred, columns)
    return Sums(int(size.sum()), sizes.astype(float), counts.astype(float), within, between)


def _products(table: Floats, columns: int) -> Floats:
    """Cross products of [X y] for each target y; those between targets are of no use."""
    x, y = table[:columns], table[columns:]
    products = np.empty((len(y), columns + 1, columns + 1))
    products[:, :-1, :-1] = x @ x.T
    products[:, -1, :-1] = products[:, :-1, -1] = y @ x.T
    products[:, -1, -1] = np.einsum("ij,ij->i", y, y)
    return products


def mean_weights(sizes: Floats, log_ratio: Floats) -> tuple[Floats, Floats, Floats]:
    """u = 1/(1+mρ) for each ratio and group size, with its first and second derivative in log ρ."""
    u = 1 / (1 + sizes * np.exp(log_ratio)[..., None])
    slope = -u * (1 - u)
    return u, slope, slope * (2 * u - 1)


def check_design(products: Floats, n: int) -> None:
    """Refuse fixed effects that the rows don't determine, from their cross products."""
    columns = len(products)
    scale = np.sqrt(np.diag(products))
    identified = bool((scale > 0).all())
    # Columns are compared at the same length, so that the units of a covariate don't matter.
    if n <= columns or not identified or np.linalg.eigvalsh(products / np.outer(scale, scale)).min(initial=1.0) < 1e-12:
        raise NotEnoughData(f"{n} rows don't determine {columns} fixed effects; a column repeats the others")
