"""What a suite says: the cells of both tables, measured board by board and put together for groups of boards.

A group of boards (the language pairs of one campaign) makes one column: the weighted mean over its boards, where the
metric has a value on every one of them. Boards are different data, so the squares of their standard errors add up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from billboards.analyses.suite.averaging import by_place, family_points, suite_averages
from billboards.analyses.suite.checked_boards import OpenBoard
from billboards.analyses.suite.chosen import Chosen
from billboards.analyses.suite.dimension_agreement import WIDTH, Columns, Measured, load_columns, measure
from billboards.analyses.suite.results import (
    BLOCKS,
    Block,
    Measure,
    Role,
    Suite,
    SuiteCell,
    SuiteColumn,
    SuiteResult,
    SuiteRow,
    measure_key,
)

DRAWS = 1000


@dataclass(frozen=True)
class _Part:
    """One dimension of one board, and what every metric reached there in every block."""

    member: OpenBoard
    dimension: str
    role: Role
    measured: Mapping[Block, Mapping[str, Measured]]


def measure_suite(
    suite: Suite, boards: Sequence[OpenBoard], chosen: Sequence[Chosen], *, draws: int = DRAWS, seed: int = 0
) -> SuiteResult:
    """Both tables of a suite from the scores that there are."""
    parts = [part for k, member in enumerate(boards) for part in _measured(suite, member, chosen, draws, seed + k)]
    statistics = tuple(dict.fromkeys(("pearson", "kendall", *map(measure_key, suite.yardsticks))))
    rows = tuple(_rows(suite, chosen))
    grouped = _grouped(parts)
    columns = tuple(_column(group) for group in grouped)
    cells = [_cell(row, column, group, chosen) for column, group in zip(columns, grouped, strict=True) for row in rows]
    single = [
        _cell(row, _column([part]), [part], chosen)
        for group in grouped
        if len(group) > 1
        for part in group
        for row in rows
    ]
    placed = by_place(cells)
    substitutes = {row.name: row.substitutes for row in chosen if row.substitutes}
    measured = {cell.metric for cell in cells if cell.measures}
    missing = {row.name: next(iter(row.missing.values())) for row in chosen if not row.on and row.name not in measured}
    return SuiteResult(
        suite=suite.name,
        title=suite.title,
        columns=columns,
        rows=tuple(row for row in rows if any(cell.measures for cell in cells if _is_of(cell, row))),
        cells=tuple(cell for cell in cells if cell.measures or cell.reason),
        parts=tuple(cell for cell in single if cell.measures),
        averages=tuple(suite_averages(columns, rows, placed, statistics, suite.preferences)),
        families=tuple(family_points(suite, columns, placed)),
        boards={member.label: member.board.version for member in boards},
        substitutes=substitutes,
        missing=missing,
        draws=draws,
        seed=seed,
        drafts=tuple(member.label for member in boards if member.board.is_draft),
        yardsticks=tuple(map(measure_key, suite.yardsticks)),
        preset=suite.preset,
        ties=suite.ties,
        preferences=suite.preferences,
    )


def _measured(suite: Suite, member: OpenBoard, chosen: Sequence[Chosen], draws: int, seed: int) -> Iterator[_Part]:
    """Every dimension of a board; a board with a single reference is measured once for both blocks."""
    columns: dict[Block, Columns] = {}
    for block in BLOCKS:
        rows = [row for row in chosen if block in row.blocks]
        same = block == "one" and member.references("one") == member.references("all")
        columns[block] = columns["all"] if same else load_columns(member, block, rows)
    for dimension, role in member.dimensions:
        measured: dict[Block, Mapping[str, Measured]] = {}
        for block in BLOCKS:
            same = block == "one" and columns["one"] is columns["all"]
            measured[block] = (
                measured["all"]
                if same
                else measure(
                    member,
                    columns[block],
                    dimension,
                    draws=draws,
                    seed=seed,
                    yardsticks=suite.yardsticks,
                    ties=suite.ties,
                )
            )
        yield _Part(member, dimension, role, measured)


def _rows(suite: Suite, chosen: Sequence[Chosen]) -> Iterator[SuiteRow]:
    families = {metric: family for family, metrics in suite.families.items() for metric in metrics}
    for block in BLOCKS:
        for row in chosen:
            if block in row.blocks:
                yield SuiteRow(row.name, block, families.get(row.name), row.is_statistic)


def _is_of(cell: SuiteCell, row: SuiteRow) -> bool:
    return (cell.metric, cell.block) == (row.metric, row.block)


def column_groups(boards: Sequence[OpenBoard]) -> list[tuple[SuiteColumn, list[tuple[OpenBoard, str, float]]]]:
    """Every column, with the boards and the dimension that make it and how much each board counts there."""
    parts = [_Part(member, dimension, role, {}) for member in boards for dimension, role in member.dimensions]
    groups = []
    for group in _grouped(parts):
        column = _column(group)
        groups.append((column, [(part.member, part.dimension, column.weights[part.member.label]) for part in group]))
    return groups


def _grouped(parts: Sequence[_Part]) -> list[list[_Part]]:
    """Parts that make one column: the same dimension of the boards of one group."""
    groups: dict[tuple[str, str, str, str], list[_Part]] = {}
    for part in parts:
        group = part.member.entry.group or part.member.label
        groups.setdefault((part.role, group, part.dimension, part.member.given(part.dimension)), []).append(part)
    return list(groups.values())


def _column(group: Sequence[_Part]) -> SuiteColumn:
    first = group[0]
    entry = first.member.entry
    label = first.member.label if len(group) == 1 else entry.group or first.member.label
    weight = sum(part.member.entry.weight for part in group)
    return SuiteColumn(
        key=f"{label}:{first.dimension}",
        label=label,
        dimension=first.dimension,
        role=first.role,
        given=first.member.given(first.dimension),
        weights={part.member.label: part.member.entry.weight / weight for part in group},
        weight=weight / len(group),
        task=entry.task,
        difficulty=entry.difficulty,
    )


def _cell(row: SuiteRow, column: SuiteColumn, group: Sequence[_Part], chosen: Sequence[Chosen]) -> SuiteCell:
    """A row's cell in a column: measured on every board of the column, or empty with the reason."""
    measured = [part.measured[row.block].get(row.metric) for part in group]
    present = [entry for entry in measured if entry is not None]
    if len(present) < len(group):
        lacking = next(part for part, entry in zip(group, measured, strict=True) if entry is None)
        reason = _why(row, lacking.member, chosen)
        return SuiteCell(metric=row.metric, column=column.key, block=row.block, reason=reason)
    weights = list(column.weights.values())
    statistics = [name for name in present[0].measures if all(name in entry.measures for entry in present)]
    measures = {name: _mean([entry.measures[name] for entry in present], weights) for name in statistics}
    signatures = tuple(dict.fromkeys(entry.signature for entry in present))
    tied = [entry.tied for entry in present if entry.tied is not None]
    return SuiteCell(
        metric=row.metric,
        column=column.key,
        block=row.block,
        measures=measures,
        n=sum(entry.n for entry in present),
        signatures=signatures,
        tied=sum(tied) / len(tied) if tied else None,
    )


def _why(row: SuiteRow, member: OpenBoard, chosen: Sequence[Chosen]) -> str:
    metric = next(entry for entry in chosen if entry.name == row.metric)
    if member.key in metric.missing:
        return f"{member.label}: {metric.missing[member.key]}"
    if row.block != "none" and not member.board.references:
        return f"{member.label} has no references"
    on = metric.on[member.key]
    if on.card.needs_input and not any(i.input or i.image for i in member.board.instances):
        return f"{member.label} has no inputs"
    return f"no scores on {member.label}, or none that vary"


def _mean(measures: Sequence[Measure], weights: Sequence[float]) -> Measure:
    """The weighted mean over boards; p and interval from the standard errors of all."""
    if len(measures) == 1:
        return measures[0]
    value = sum(weight * measure.value for weight, measure in zip(weights, measures, strict=True))
    errors = [measure.se for measure in measures if measure.se is not None]
    if len(errors) < len(measures):
        return Measure(value)
    se = math.sqrt(sum((weight * error) ** 2 for weight, error in zip(weights, errors, strict=True)))
    p = math.erfc(abs(value) / se / math.sqrt(2)) if se > 0 else None
    return Measure(value, p, se, (value - WIDTH * se, value + WIDTH * se))
