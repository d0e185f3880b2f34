"""A suite's results as tables: correctness and the other dimensions, in blocks, and one ranking over all boards.

Values are shown in hundredths, as the papers print them. A table shows values, p-values or intervals; its records for
CSV and data frames hold all three, and the number of outputs or pairs that each value rests on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from billboards.analyses.suite.averaging import fits, shown_measure
from billboards.analyses.suite.results import (
    ROLES,
    Measure,
    Role,
    SuiteCell,
    SuiteColumn,
    SuiteRanking,
    SuiteResult,
    SuiteRow,
    SuiteStatistic,
)
from billboards.show.table import NOTES, REFERENCE_FREE, STATISTIC, Table, TableColumn, reason_notes
from billboards.show.words import listed, one_line, sided
from billboards.stats.preferences import Ties
from billboards.stats.yardsticks import yardstick

Shown = Literal["values", "p", "intervals"]

STATISTICS: Mapping[SuiteStatistic, str] = {"pearson": "Pearson’s r", "kendall": "Kendall’s tau-b"}
_TIED: Mapping[Ties, str] = {
    "wrong": "counts as wrong, as in WMT",
    "half": "counts as half right",
    "left-out": "doesn’t count",
}
#: A metric that ties more than this share of the pairs is named.
MANY_TIES = 0.05
_ROLES: Mapping[Role, str] = {"correctness": "correctness", "other": "other dimensions"}
_BLOCKS = "References: all, one (the first of each board), or none."


def suite_tables(
    result: SuiteResult, statistic: SuiteStatistic | None = None, shown: Shown = "values"
) -> tuple[Table, ...]:
    """Both tables by one statistic, or by each that the suite names; a suite without other dimensions has one."""
    used = [role for role in ROLES if any(column.role == role for column in result.columns)]
    statistics = (result.yardsticks or ("pearson",)) if statistic is None else (statistic,)
    return tuple(suite_table(result, role, each, shown) for each in statistics for role in used)


def statistic_words(statistic: SuiteStatistic) -> str:
    """A measure's name as a title writes it; what pooled is goes without saying."""
    return STATISTICS.get(statistic) or yardstick(statistic).words


def suite_table(result: SuiteResult, role: Role, statistic: SuiteStatistic, shown: Shown = "values") -> Table:
    """Metrics by column, block by block."""
    columns = [column for column in result.columns if column.role == role]
    averages = {(a.block, a.metric): a for a in result.averages if a.statistic == statistic and role == "correctness"}
    rows = []
    for row in result.rows:
        cells = {column.key: _cell_of(result, row, column) for column in columns}
        if any(cell.measures for cell in cells.values()):
            rows.append(_table_row(row, columns, cells, statistic))
            if average := averages.get((row.block, row.metric)):
                rows[-1]["average"] = 100 * average.value
    table_columns = (
        TableColumn("name", "metric", "left", kind="name"),
        TableColumn("block", "refs", "left"),
        *(shown_column for k, column in enumerate(columns, 1) for shown_column in _columns(column, shown, k)),
        TableColumn("average", "average", digits=1, visible=shown == "values" and bool(averages), better="higher"),
    )
    what = {"values": "", "p": ", p-values", "intervals": ", 95% intervals"}[shown]
    title = f"{one_line(result.title or result.suite)}: {_ROLES[role]}, {statistic_words(statistic)} × 100{what}"
    notes = tuple(_notes(result, columns, statistic, role, shown))
    asides = (*reason_notes("Not run:", result.missing), *reason_notes("Left out:", _left_out(result, columns)))
    name = role if statistic in STATISTICS else f"{role}-{statistic.replace('/', '-')}"
    return Table(title, table_columns, tuple(rows), notes, name, asides=asides, block="block")


def _cell_of(result: SuiteResult, row: SuiteRow, column: SuiteColumn) -> SuiteCell:
    return result.cell(row, column) or SuiteCell(metric=row.metric, column=column.key, block=row.block)


def measure_of(cell: SuiteCell, column: SuiteColumn, statistic: SuiteStatistic) -> Measure | None:
    """The measure that a column shows where a statistic is asked for: preferences have one of their own."""
    return cell.measures.get(shown_measure(column, statistic))


def _table_row(
    row: SuiteRow, columns: list[SuiteColumn], cells: Mapping[str, SuiteCell], statistic: SuiteStatistic
) -> dict[str, object]:
    mark = STATISTIC if row.is_statistic else REFERENCE_FREE if row.block == "none" else ""
    line: dict[str, object] = {"block": row.block, "name": row.metric, "mark": mark}
    for column in columns:
        cell = cells[column.key]
        measure = measure_of(cell, column, statistic)
        if measure is not None:
            low, high = measure.interval or (None, None)
            ends = None if low is None or high is None else (100 * low, 100 * high)
            line |= {column.key: 100 * measure.value, f"{column.key} p": measure.p, f"{column.key} 95%": ends}
            line[f"{column.key} n"] = cell.n
            line[f"{column.key} ties"] = None if cell.tied is None else 100 * cell.tied
    return line


def _columns(column: SuiteColumn, shown: Shown, place: int) -> Iterator[TableColumn]:
    """A column's value, p, interval and n, of which one is shown; where it is narrow, the last columns go first."""
    heads, header = column_heads(column)
    values = TableColumn(column.key, header, digits=1, priority=place, heads=heads, visible=shown == "values")
    yield replace(values, better="higher")
    yield replace(values, key=f"{column.key} p", digits=None, kind="p", visible=shown == "p")
    yield replace(values, key=f"{column.key} 95%", kind="interval", visible=shown == "intervals")
    yield TableColumn(f"{column.key} n", f"{column_header(column)} n", visible=False)
    if column.given == "preferences":
        yield TableColumn(f"{column.key} ties", f"{column_header(column)} ties %", digits=1, priority=place)


def column_heads(column: SuiteColumn) -> tuple[tuple[str, ...], str]:
    """A column's head and those above it: the task above boards, the board above its dimensions."""
    if column.role == "correctness":
        return ((one_line(column.task),) if column.task else ()), one_line(column.label)
    return (one_line(column.label),), one_line(column.dimension)


def column_header(column: SuiteColumn) -> str:
    """A column's name: the board's alone where correctness is meant, else with the dimension."""
    return one_line(column.label if column.role == "correctness" else f"{column.label} {column.dimension}")


def _notes(
    result: SuiteResult, columns: list[SuiteColumn], statistic: SuiteStatistic, role: Role, shown: Shown
) -> Iterator[str]:
    yield _BLOCKS
    compared = [column_header(column) for column in columns if column.given == "preferences"]
    if compared:
        yield f"{listed(compared)}: people gave preferences; {_pairs_words(statistic)}, × 100."
        yield from tie_notes(result.ties, {c.metric: c.tied for c in result.cells if c.tied is not None})
    grouped = [column for column in columns if len(column.weights) > 1]
    for column in grouped:
        yield f"{one_line(column.label)}: mean over {listed(list(column.weights), 12)}."
    if role == "correctness" and shown == "values":
        yield from _average_notes(result, columns, statistic)
    yield from substitute_notes(result)
    yield from draft_notes(result.drafts)
    yield from reason_notes("Not run:", result.missing)
    yield from reason_notes("Left out:", _left_out(result, columns))
    if any(row.is_statistic for row in result.rows):
        yield NOTES[STATISTIC]
    if any(row.block == "none" and not row.is_statistic for row in result.rows):
        yield NOTES[REFERENCE_FREE]


def _average_notes(result: SuiteResult, columns: Sequence[SuiteColumn], statistic: SuiteStatistic) -> Iterator[str]:
    """What the averages of each block are over, who has none, and what no average has."""
    over = {a.block: a.columns for a in result.averages if a.statistic == statistic}
    for keys in dict.fromkeys(over.values()):
        blocks = [block for block, its in over.items() if its == keys]
        where = "" if len(set(over.values())) == 1 else f" with references {listed(blocks)}"
        named = [column_header(column) for column in columns if column.key in keys]
        yield f"Average{where} over {listed(named, 12)}; a metric that lacks one of them has none."
        empty = [column_header(column) for column in columns if column.key not in keys and fits(column, statistic)]
        if empty:
            yield f"Left out of the average{where}: {listed(empty, 12)}, where no metric has a value."
    other_kind = [column_header(column) for column in columns if not fits(column, statistic)]
    if over and other_kind:
        yield f"Left out of the average: {listed(other_kind, 12)}, where the statistic is of another kind."
    yield from _without_average(result, columns, statistic)


def _pairs_words(statistic: SuiteStatistic) -> str:
    return "pairs in people’s order" if statistic == "accuracy/by-item" else "(C − D)/(C + D) over pairs"


def tie_notes(ties: Ties, tied: Mapping[str, float | None]) -> Iterator[str]:
    """What a pair counts that a metric ties, and which metrics tie many."""
    yield f"A pair that a metric ties {_TIED[ties]}."
    many = {name: share for name, share in tied.items() if share is not None and share > MANY_TIES}
    if many:
        named = [
            f"{one_line(name)} {100 * share:.0f}%" for name, share in sorted(many.items(), key=lambda item: -item[1])
        ]
        other = "; with ties = “half” each of these counts half" if ties == "wrong" else ""
        yield f"Pairs tied: {listed(named, 12)}{other}."


def _without_average(result: SuiteResult, columns: Sequence[SuiteColumn], statistic: SuiteStatistic) -> Iterator[str]:
    """Who has a row and no average, and what is lacking."""
    averages = [a for a in result.averages if a.statistic == statistic]
    for row in result.rows:
        over = next((a.columns for a in averages if a.block == row.block), None)
        if over is None or any((a.metric, a.block) == (row.metric, row.block) for a in averages):
            continue
        lacks = [
            column_header(column)
            for column in columns
            if column.key in over and measure_of(_cell_of(result, row, column), column, statistic) is None
        ]
        yield f"No average for {one_line(row.metric)} ({row.block}): no value on {listed(lacks, 6)}."


def draft_notes(drafts: Sequence[str]) -> Iterator[str]:
    """Which boards are drafts."""
    if drafts:
        yield f"Drafts, whose data cards lack facts that readers need: {listed(drafts, 12)}."


def substitute_notes(result: SuiteResult) -> Iterator[str]:
    """Which metrics were run otherwise than they are called, and where."""
    for metric, boards in result.substitutes.items():
        by_name: dict[str, list[str]] = {}
        for board, used in boards.items():
            by_name.setdefault(used, []).append(board)
        for used, where in by_name.items():
            yield f"{one_line(metric)} is {one_line(used)} on {listed(where, 12)}."


def _left_out(result: SuiteResult, columns: list[SuiteColumn]) -> dict[str, str | None]:
    """Why a metric that has a row lacks a column.

    Scores that came with a board often know all references alone: then there is no row with one reference, and nothing
    to explain beside the value that is shown.
    """
    keys = {column.key for column in columns}
    rows = {(row.metric, row.block) for row in result.rows}
    shown = {(cell.metric, cell.column) for cell in result.cells if cell.measures}
    reasons: dict[str, str | None] = {}
    for cell in result.cells:
        is_shown = (cell.metric, cell.block) not in rows and (cell.metric, cell.column) in shown
        if cell.column in keys and cell.reason is not None and cell.metric not in result.missing and not is_shown:
            reasons.setdefault(cell.metric, cell.reason)
    return reasons


def suite_ranking_table(ranking: SuiteRanking) -> Table:
    """Metrics by their weighted mean over the columns of a suite."""
    rows: list[dict[str, object]] = []
    for standing in ranking.standings:
        mark = STATISTIC if standing.is_statistic else REFERENCE_FREE if standing.reference_free else ""
        ends = None if standing.interval is None else (100 * standing.interval[0], 100 * standing.interval[1])
        row: dict[str, object] = {"rank": standing.rank, "name": standing.metric, "mark": mark, "interval": ends}
        row |= {"value": None if standing.value is None else 100 * standing.value, "cluster": standing.cluster}
        row["reason"] = standing.reason
        row |= {key: None if value is None else 100 * value for key, value in standing.values.items()}
        rows.append(row)
    columns = (
        TableColumn("rank", "#", kind="rank"),
        TableColumn("name", "metric", "left", kind="name"),
        TableColumn("value", "mean", digits=1, better="higher"),
        TableColumn("interval", "95% interval", digits=1, kind="interval"),
        TableColumn("cluster", "cluster", priority=2, paper=False),
        *(
            TableColumn(column.key, column_header(column), digits=1, priority=1, better="higher")
            for column in ranking.columns
        ),
        TableColumn("reason", "why not", "left", visible=False),
    )
    title = f"{one_line(ranking.suite)}: metrics over all boards ({_ROLES[ranking.role]}, references: {ranking.block})"
    name = f"ranking-{ranking.role}-{ranking.block}"
    first = frozenset(k for k, row in enumerate(rows) if row["cluster"] == 1)
    return Table(
        title,
        columns,
        tuple(rows),
        tuple(_ranking_notes(ranking)),
        name,
        best={"value": first},
        best_note="Bold: the first cluster.",
        block="cluster",
    )


def _ranking_notes(ranking: SuiteRanking) -> Iterator[str]:
    if ranking.yardsticks != ("pearson",):
        words = listed([statistic_words(each) for each in ranking.yardsticks], 6)
        preset = f", preset {ranking.preset}" if ranking.preset else ""
        yield f"By {words}{preset}{': the mean of these' if len(ranking.yardsticks) > 1 else ''}."
    weights = {column_header(column): column.weight for column in ranking.columns}
    even = len(set(weights.values())) == 1
    counted = "all columns count alike" if even else ", ".join(f"{name} {weight:g}" for name, weight in weights.items())
    yield f"Weighted mean, × 100; weights: {counted}. Every metric is measured on the outputs that all have scored."
    yield (
        f"Metrics of one cluster can’t be told apart: exchanged at random on every board at once, "
        f"{ranking.draws:,} times, p > .05."
    )
    yield f"Tests between metrics are {sided(ranking.sides)}."
    compared = [column_header(column) for column in ranking.columns if column.given == "preferences"]
    if compared and len(compared) < len(ranking.columns):
        yield f"The mean mixes correlations with (C − D)/(C + D) over pairs, on {listed(compared, 12)}."
    if compared:
        yield from tie_notes(ranking.ties, {})
    for key, reason in ranking.left_out.items():
        yield f"Left out of the mean: {one_line(key.partition(':')[0])}, because {reason}."
    yield from reason_notes("No rank for", {standing.metric: standing.reason for standing in ranking.standings})
    if any(standing.is_statistic for standing in ranking.standings):
        yield NOTES[STATISTIC]
    if any(standing.reference_free and not standing.is_statistic for standing in ranking.standings):
        yield NOTES[REFERENCE_FREE]
