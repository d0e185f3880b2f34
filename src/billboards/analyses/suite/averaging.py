"""Means over the columns of a suite, only where they make sense.

Columns of correctness measure one thing on different tasks, so a metric's values there may be averaged; other
dimensions are unrelated, and so are Pearson's r and the Kendall of preferences. Every average of a block is over the
same columns, and the ranking over all boards is over these too: a metric that lacks one of them has no average, rather
than one over easier boards, and the table says which it lacks. A mean that mixes correlations with preferences, where
somebody asks for it, stands in the ranking alone, which says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from billboards.analyses.suite.results import (
    BLOCKS,
    FamilyPoint,
    PreferencesIn,
    Suite,
    SuiteAverage,
    SuiteCell,
    SuiteColumn,
    SuiteRow,
    SuiteStatistic,
)

Cells = Mapping[tuple[str, str, str], SuiteCell]


def by_place(cells: Sequence[SuiteCell]) -> Cells:
    """Cells by block, metric and column."""
    return {(cell.block, cell.metric, cell.column): cell for cell in cells}


def suite_averages(
    columns: Sequence[SuiteColumn],
    rows: Sequence[SuiteRow],
    cells: Cells,
    statistics: Sequence[SuiteStatistic],
    preferences: PreferencesIn,
) -> Iterator[SuiteAverage]:
    """The average of each row that has all columns, by statistic; none over a single column."""
    for statistic in statistics:
        if preferences == "mixed" and any(c.given == "preferences" and not fits(c, statistic) for c in columns):
            continue
        for block in BLOCKS:
            some = [row for row in rows if row.block == block]
            fitting = [c for c in columns if fits(c, statistic) and _used(cells, some, c, statistic)]
            for row in some if len(fitting) > 1 else ():
                values = [_value(cells, row, column, statistic) for column in fitting]
                present = [value for value in values if value is not None]
                if len(present) == len(fitting):
                    mean = float(np.average(present, weights=[column.weight for column in fitting]))
                    keys = tuple(column.key for column in fitting)
                    yield SuiteAverage(row.metric, block, statistic, mean, keys)


def fits(column: SuiteColumn, statistic: SuiteStatistic) -> bool:
    """Whether a column of correctness may be averaged with values by a statistic.

    Kendall's coefficients weigh pairs in order against pairs out of order, as preferences do, and pairwise accuracy of
    outputs is the share of these; others are of another kind.
    """
    return column.role == "correctness" and (column.given == "values" or is_of_pairs(statistic))


def is_of_pairs(statistic: SuiteStatistic) -> bool:
    """Whether a statistic is of the same kind as what preferences give."""
    return statistic in ("kendall", "accuracy/by-item") or statistic.startswith("kendall-")


def shown_measure(column: SuiteColumn, statistic: SuiteStatistic) -> str:
    """The measure that a column shows where a statistic is asked for: preferences have some of their own."""
    if column.given == "values":
        return statistic
    return "accuracy" if statistic == "accuracy/by-item" else "preferences"


def _used(cells: Cells, rows: Sequence[SuiteRow], column: SuiteColumn, statistic: SuiteStatistic) -> bool:
    """Whether any of the rows has a value in a column."""
    return any(_value(cells, row, column, statistic) is not None for row in rows)


def _value(cells: Cells, row: SuiteRow, column: SuiteColumn, statistic: SuiteStatistic) -> float | None:
    cell = cells.get((row.block, row.metric, column.key))
    measure = None if cell is None else cell.measures.get(shown_measure(column, statistic))
    return None if measure is None else measure.value


def family_points(suite: Suite, columns: Sequence[SuiteColumn], cells: Cells) -> Iterator[FamilyPoint]:
    """The mean of each family on the columns that say how difficult their task is, easiest first."""
    placed = [column for column in columns if column.difficulty is not None and column.role == "correctness"]
    for column in sorted(placed, key=lambda column: column.difficulty or 0.0):
        for family, metrics in suite.families.items():
            values = {metric: _value(cells, SuiteRow(metric, "all"), column, "pearson") for metric in metrics}
            present = {metric: value for metric, value in values.items() if value is not None}
            if present:
                yield FamilyPoint(family, column.key, float(np.mean(list(present.values()))), tuple(present))
