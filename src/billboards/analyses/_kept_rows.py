"""What a ranking needs of every generator under every metric, worked out row by row and kept for the next ranking.

A row's scores under a metric never change, so its mean, its interval, its signed sums and whether it differs from the
best are worked out once. A ranking with one more generator reads and draws that generator's scores alone; nothing of a
row depends on the rows beside it, so that the numbers are those of a ranking from nothing. What rests on the judged
rows alone (agreement, ensembles, lines) is kept whole for as long as none of them changes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from billboards.stats.resampling import Resampling
from billboards.stats.significance import (
    LEVEL,
    Sides,
    SignedRows,
    permute_against,
    sign_rows,
    surely_differ,
)

Floats = NDArray[np.float64]
Made = TypeVar("Made")
#: With fewer rows, testing them all is quicker than looking for those that surely differ.
MANY = 100


@dataclass(frozen=True, kw_only=True)
class RankedColumn:
    """A metric's scores of all rows, or an ensemble's, read when they are needed; higher is better."""

    name: str
    #: What the scores are named by for ever; None where nothing of them may be kept.
    identity: Hashable | None
    #: The same of each row; None for a row of which nothing may be kept.
    versions: Sequence[str | None]
    #: Scores of some rows by position, as rows × instances.
    read: Callable[[Sequence[int]], Floats]


@dataclass(frozen=True)
class Means:
    """How much of each row is scored, and its mean, by position."""

    #: Finite scores, and scores that are not missing: the two differ where one is infinite.
    finite: NDArray[np.int64]
    present: NDArray[np.int64]
    mean: Floats
    #: The sum of squares around the mean.
    squares: Floats


@dataclass(frozen=True)
class KeptRows:
    """What is kept between two rankings of one board, of the rows of the last one."""

    _tables: dict[Hashable, dict[str, Floats]] = field(default_factory=dict)
    _whole: dict[str, tuple[Hashable, Any]] = field(default_factory=dict)
    _used: set[Hashable] = field(default_factory=set)

    def once(self, what: str, key: Hashable, make: Callable[[], Made]) -> Made:
        """A result that was made for the same key the last time, or a new one in its place."""
        kept = self._whole.get(what)
        if kept is not None and kept[0] == key:
            made: Made = kept[1]
            return made
        made = make()
        self._whole[what] = (key, made)
        return made

    def table(self, key: Hashable) -> MutableMapping[str, Any]:
        """What is kept of rows under a key, by their versions."""
        self._used.add(key)
        return self._tables.setdefault(key, {})

    def forget_others(self, versions: set[str]) -> None:
        """Keep nothing that was not asked for since the last time, and nothing of other rows than these."""
        for key in self._tables.keys() - self._used:
            del self._tables[key]
        self._used.clear()
        for table in self._tables.values():
            for version in table.keys() - versions:
                del table[version]

    def of_rows(
        self, column: RankedColumn, what: tuple[Hashable, ...], rows: Sequence[int], make: Callable[[Floats], Floats]
    ) -> Floats:
        """A line of numbers for each of these rows (rows × numbers), made of the scores of those not yet known."""
        known: MutableMapping[str, Floats] = {} if column.identity is None else self.table((column.identity, *what))
        missing = [k for k in rows if column.versions[k] is None or column.versions[k] not in known]
        made: dict[int, Floats] = {}
        if missing:
            lines = make(column.read(missing))
            made = dict(zip(missing, lines, strict=True))
            known |= {version: made[k] for k in missing if (version := column.versions[k]) is not None}
        return np.array([made[k] if k in made else known[str(column.versions[k])] for k in rows])


def mean_lines(scores: Floats) -> Floats:
    """Counts, mean and squares of rows, as `Means` has them."""
    finite = np.isfinite(scores)
    counts = finite.sum(axis=1)
    lines = np.empty((len(scores), 4))
    lines[:, 0], lines[:, 1] = counts, (~np.isnan(scores)).sum(axis=1)
    whole = counts == scores.shape[1]
    lines[:, 2:] = np.nan
    if whole.all():
        lines[:, 2:] = _moments(scores)
        return lines
    for k, row in enumerate(scores):
        if counts[k]:
            lines[k, 2:] = _moments(row[finite[k]][np.newaxis])
    return lines


def _moments(rows: Floats) -> Floats:
    mean = rows.mean(axis=1)
    apart = rows - mean[:, np.newaxis]
    return np.stack([mean, np.einsum("ij,ij->i", apart, apart)], axis=1)


@dataclass(frozen=True)
class RankedRows:
    """The columns of a ranking with what is kept of their rows."""

    kept: KeptRows
    columns: dict[str, RankedColumn]
    count: int
    instances: int
    draws: int
    seed: int

    @cached_property
    def _every(self) -> range:
        return range(self.count)

    @cached_property
    def _resampling(self) -> Resampling:
        return Resampling(self.draws)

    @cached_property
    def _means(self) -> dict[str, Means]:
        return {}

    def means(self, name: str) -> Means:
        """Counts and means of all rows under a metric, and their intervals, which need the same scores."""
        if name not in self._means:
            lines = self.kept.of_rows(self.columns[name], ("means",), self._every, mean_lines).reshape(-1, 4)
            counts = lines[:, :2].astype(np.int64)
            self._means[name] = Means(counts[:, 0], counts[:, 1], lines[:, 2], lines[:, 3])
        return self._means[name]

    def means_and_intervals(self, name: str) -> Floats:
        """The interval of each row's mean (rows × 2), NaN for a row without scores; see `Resampling`."""
        column, what = self.columns[name], ("means", "intervals", self.draws)

        def make(scores: Floats) -> Floats:
            return np.hstack([mean_lines(scores), self._intervals(scores)])

        lines = self.kept.of_rows(column, what, self._every, make).reshape(-1, 6)
        counts = lines[:, :2].astype(np.int64)
        self._means.setdefault(name, Means(counts[:, 0], counts[:, 1], lines[:, 2], lines[:, 3]))
        return lines[:, 4:]

    def _intervals(self, scores: Floats) -> Floats:
        bounds = np.full((len(scores), 2), np.nan)
        for rows, present in alike(np.isfinite(scores)):
            if present.any():
                whole = np.ascontiguousarray(scores[rows] if present.all() else scores[rows][:, present])
                bounds[rows] = self._resampling.mean_bounds(whole)
        return bounds

    def signed(self, name: str, rows: Sequence[int]) -> SignedRows:
        """What tests between the means of rows need, all of whose instances are scored."""

        def make(scores: Floats) -> Floats:
            drawn = sign_rows(scores, draws=self.draws, seed=self.seed)
            return np.column_stack([drawn.mean, drawn.largest, drawn.sums])

        what = ("signed", self.draws, self.seed)
        lines = self.kept.of_rows(self.columns[name], what, rows, make).reshape(len(rows), -1)
        return SignedRows(mean=lines[:, 0], largest=lines[:, 1], sums=lines[:, 2:])

    def not_worse(self, name: str, rows: Sequence[int], best: int, sides: Sides) -> Iterator[int]:
        """Of rows, those whose mean does not differ significantly from that of the best of them, which comes too."""
        column = self.columns[name]
        version = column.versions[best]
        key = (column.identity, "differs", version, self.draws, self.seed, sides)
        known = {} if column.identity is None or version is None else self.kept.table(key)
        open_rows = [k for k in rows if k != best and (column.versions[k] is None or column.versions[k] not in known)]
        differs = dict(zip(open_rows, self._differ(name, open_rows, best, sides), strict=True))
        known |= {version: value for k, value in differs.items() if (version := column.versions[k]) is not None}
        for k in rows:
            if k == best or not (differs[k] if k in differs else known[str(column.versions[k])]):
                yield k

    def _differ(self, name: str, rows: list[int], best: int, sides: Sides) -> list[bool]:
        means, differ = self.means(name), np.zeros(len(rows), bool)
        if len(rows) > MANY or self.count > MANY:
            whole = (means.finite[rows] == self.instances) & (means.finite[best] == self.instances)
            apart = means.mean[rows] - means.mean[best]
            # By the triangle inequality around the two means.
            squares = (np.sqrt(means.squares[rows]) + np.sqrt(means.squares[best])) ** 2 + self.instances * apart**2
            surely = surely_differ(apart, squares, self.instances, draws=self.draws, seed=self.seed)
            differ = whole & surely
        close = [k for k, is_far in enumerate(differ) if not is_far]
        if close:
            values = self.columns[name].read([best, *(rows[k] for k in close)])
            p = permute_against(values, 0, draws=self.draws, seed=self.seed, sides=sides)
            differ[close] = ~(p[1:] > LEVEL)
        return differ.tolist()


def alike(present: NDArray[np.bool_]) -> Iterator[tuple[list[int], NDArray[np.bool_]]]:
    """Rows that have scores for the same instances, and which these are."""
    groups: dict[bytes, list[int]] = {}
    for row, mask in enumerate(present):
        groups.setdefault(np.packbits(mask).tobytes(), []).append(row)
    for rows in groups.values():
        yield rows, present[rows[0]]
