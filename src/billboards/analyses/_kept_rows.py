"""What a ranking needs of every generator under every metric, worked out row by row and kept for the next ranking.

A row's scores under a metric never change, so its mean, its interval, its signed sums and whether it differs from the
best are worked out once. A ranking with one more generator reads and draws that generator's scores alone; nothing of a
row depends on the rows beside it, so that the numbers are those of a ranking from nothing. What rests on the judged
rows alone (agreement, ensembles, lines) is kept whole for as long as none of them changes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from billboards.stats.resampling import Resampling
from billboards.stats.significance import (
    LEVEL,
    Sides,
    SignedRows,
    permute_differences,
    sign_rows,
    surely_differ,
)

Floats = NDArray[np.float64]
Made = TypeVar("Made")
#: With fewer rows, testing them all is quicker than looking for those that surely differ.
MANY = 30
#: Rows of scores that are worked on together, and of these at a time where they should stay in the processor's cache.
TOGETHER, AT_HAND = 256, 64
#: Numbers that `mean_lines` gives of a row.
MEANS = 4


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

    def resampling(self, draws: int) -> Resampling:
        """The draws of means' intervals, which are the same for every board."""
        return self.once("resampling", draws, lambda: Resampling(draws))

    def of_rows(
        self,
        columns: Sequence[RankedColumn],
        what: tuple[Hashable, ...],
        rows: Sequence[int],
        make: Callable[[Floats], Floats],
    ) -> dict[str, Floats]:
        """A line of numbers for each of these rows (rows × numbers) under each column, by its name.

        make: lines from the scores of rows; those of several columns are given together, as long as they are few.
        """
        tables = {c.name: {} if c.identity is None else self.table((c.identity, *what)) for c in columns}
        fresh: dict[str, dict[int, Floats]] = {}
        waiting: list[tuple[RankedColumn, list[int], Floats]] = []

        def work() -> None:
            lines = make(waiting[0][2] if len(waiting) == 1 else np.concatenate([scores for _, _, scores in waiting]))
            for column, missing, _ in waiting:
                own, lines = lines[: len(missing)], lines[len(missing) :]
                fresh[column.name] = dict(zip(missing, own, strict=True))
            waiting.clear()

        for column in columns:
            kept = tables[column.name]
            missing = [k for k in rows if column.versions[k] is None or column.versions[k] not in kept]
            if missing:
                waiting.append((column, missing, column.read(missing)))
            if sum(len(scores) for _, _, scores in waiting) >= TOGETHER:
                work()
        if waiting:
            work()
        made = {}
        for column in columns:
            kept, own = tables[column.name], fresh.get(column.name, {})
            kept.update({version: line for k, line in own.items() if (version := column.versions[k]) is not None})
            made[column.name] = np.array([own[k] if k in own else kept[str(column.versions[k])] for k in rows])
        return made


def mean_lines(scores: Floats) -> Floats:
    """Counts, mean and squares of rows, as `Means` has them."""
    finite = np.isfinite(scores)
    lines = np.empty((len(scores), MEANS))
    if finite.all() and scores.size:
        lines[:, :2] = scores.shape[1]
        for start in range(0, len(scores), AT_HAND):
            lines[start : start + AT_HAND, 2:] = _moments(scores[start : start + AT_HAND])
        return lines
    counts = finite.sum(axis=1)
    lines[:, 0], lines[:, 1] = counts, (~np.isnan(scores)).sum(axis=1)
    lines[:, 2:] = np.nan
    for k, row in enumerate(scores):
        if counts[k]:
            lines[k, 2:] = _moments(row[finite[k]][np.newaxis])
    return lines


def _moments(rows: Floats) -> Floats:
    mean = rows.mean(axis=1)
    apart = rows - mean[:, np.newaxis]
    return np.stack([mean, np.einsum("ij,ij->i", apart, apart)], axis=1)


@dataclass(frozen=True, kw_only=True)
class RankedRows:
    """The columns of a ranking with what is kept of their rows."""

    kept: KeptRows
    columns: dict[str, RankedColumn]
    count: int
    instances: int
    draws: int
    seed: int
    _means: dict[str, Means] = field(default_factory=dict)
    _bounds: dict[str, Floats] = field(default_factory=dict)

    def prepare(self, *, resampled: Collection[str]) -> None:
        """Work out means of all columns, and intervals of some, where they are not yet known."""
        names = [name for name in self.columns if name in resampled and self.draws]
        self._take(self._lines(names, ("means", "intervals", self.draws), self._with_intervals))
        self._take(self._lines([name for name in self.columns if name not in self._means], ("means",), mean_lines))

    def means(self, name: str) -> Means:
        """Counts and means of all rows under a metric."""
        if name not in self._means:
            self._take(self._lines([name], ("means",), mean_lines))
        return self._means[name]

    def intervals(self, name: str) -> Floats:
        """The interval of each row's mean (rows × 2), NaN for a row without scores; see `Resampling`."""
        if name not in self._bounds:
            self._take(self._lines([name], ("means", "intervals", self.draws), self._with_intervals))
        return self._bounds[name]

    def _lines(
        self, names: Sequence[str], what: tuple[Hashable, ...], make: Callable[[Floats], Floats]
    ) -> dict[str, Floats]:
        return self.kept.of_rows([self.columns[name] for name in names], what, range(self.count), make)

    def _take(self, lines: Mapping[str, Floats]) -> None:
        for name, of_rows in lines.items():
            numbers = of_rows.reshape(self.count, -1)
            counts = numbers[:, :2].astype(np.int64)
            self._means[name] = Means(counts[:, 0], counts[:, 1], numbers[:, 2], numbers[:, 3])
            if numbers.shape[1] == MEANS + 2:
                self._bounds[name] = numbers[:, MEANS:]

    def _with_intervals(self, scores: Floats) -> Floats:
        bounds = np.full((len(scores), 2), np.nan)
        for rows, present in alike(np.isfinite(scores)):
            if present.any():
                whole = scores if present.all() and len(rows) == len(scores) else scores[np.array(rows)][:, present]
                bounds[rows] = self.kept.resampling(self.draws).mean_bounds(whole)
        return np.hstack([mean_lines(scores), bounds])

    def signed(self, name: str, rows: Sequence[int]) -> SignedRows:
        """What tests between the means of rows need, all of whose instances are scored."""

        def make(scores: Floats) -> Floats:
            drawn = sign_rows(scores, draws=self.draws, seed=self.seed)
            return np.column_stack([drawn.mean, drawn.largest, drawn.sums])

        what = ("signed", self.draws, self.seed)
        lines = self.kept.of_rows([self.columns[name]], what, rows, make)[name].reshape(len(rows), -1)
        return SignedRows(mean=lines[:, 0], largest=lines[:, 1], sums=lines[:, 2:])

    def not_worse(
        self, best: Mapping[str, int], rows: Mapping[str, Sequence[int]], sides: Sides
    ) -> dict[str, list[int]]:
        """Of rows of each column, those whose mean does not differ significantly from that of the best of them.

        best: the best row of each column.
        rows: the rows that are compared with it; the best comes too.
        """
        differs = {name: self._decided_rows(name, best[name], sides) for name in best}
        asked = {
            name: [k for k in rows[name] if k != best[name] and self.columns[name].versions[k] not in differs[name]]
            for name in best
        }
        tested = self._differ(best, asked, sides)
        apart: dict[str, list[int]] = {}
        for name in best:
            versions, changed = self.columns[name].versions, differs[name]
            changed.update({v: is_so for k, is_so in tested[name].items() if (v := versions[k]) is not None})
            apart[name] = [
                k
                for k in rows[name]
                if k == best[name] or not (tested[name][k] if k in tested[name] else changed[str(versions[k])])
            ]
        return apart

    def _decided_rows(self, name: str, best: int, sides: Sides) -> MutableMapping[str, Any]:
        """Which rows are known to differ from the best of a column, by their versions."""
        column = self.columns[name]
        version = column.versions[best]
        if column.identity is None or version is None:
            return {}
        return self.kept.table((column.identity, "differs", version, self.draws, self.seed, sides))

    def _differ(
        self, best: Mapping[str, int], asked: Mapping[str, list[int]], sides: Sides
    ) -> dict[str, dict[int, bool]]:
        """Whether rows differ from the best of their column: surely, or by the tests of those that are close."""
        differ = {name: dict.fromkeys(self._surely(name, best[name], asked[name]), True) for name in asked}
        places: list[tuple[str, int]] = []
        waiting: list[Floats] = []

        def work() -> None:
            p = permute_differences(np.concatenate(waiting), draws=self.draws, seed=self.seed, sides=sides)
            for (name, k), value in zip(places, p, strict=True):
                differ[name][k] = not value > LEVEL
            places.clear()
            waiting.clear()

        for name, rows in asked.items():
            close = [k for k in rows if k not in differ[name]]
            if close:
                values = self.columns[name].read([best[name], *close])
                waiting.append(values[0] - values[1:])
                places += [(name, k) for k in close]
            if len(places) >= TOGETHER:
                work()
        if places:
            work()
        return differ

    def _surely(self, name: str, best: int, rows: list[int]) -> list[int]:
        """Rows that differ from the best without a test."""
        if self.count <= MANY or not rows:
            return []
        means = self.means(name)
        apart = means.mean[rows] - means.mean[best]
        # By the triangle inequality around the two means.
        squares = (np.sqrt(means.squares[rows]) + np.sqrt(means.squares[best])) ** 2 + self.instances * apart**2
        differ = surely_differ(apart, squares, self.instances, draws=self.draws, seed=self.seed)
        whole = (means.finite[rows] == self.instances) & (means.finite[best] == self.instances)
        return [rows[k] for k in np.flatnonzero(differ & whole)]


def alike(present: NDArray[np.bool_]) -> Iterator[tuple[list[int], NDArray[np.bool_]]]:
    """Rows that have scores for the same instances, and which these are."""
    if len(present) and present.all():
        yield list(range(len(present))), present[0]
        return
    groups: dict[bytes, list[int]] = {}
    for row, mask in enumerate(present):
        groups.setdefault(np.packbits(mask).tobytes(), []).append(row)
    for rows in groups.values():
        yield rows, present[rows[0]]
