"""Whether a difference is real: between two metrics or generators, between all metrics, and under other statistics.

Two names are taken for generators where the board has such generators, and for metrics otherwise.
"""

from __future__ import annotations

from typing import Any

from billboards.analyses import comparison_tables as comparisons
from billboards.analyses import documents
from billboards.analyses.compare import compare_generators, compare_metrics
from billboards.analyses.comparison_results import (
    GeneratorComparison,
    MetricComparison,
    MetricPairs,
    Sensitivity,
    Unit,
)
from billboards.analyses.home import cells_of
from billboards.analyses.metric_pairs import compare_all_metrics
from billboards.analyses.ranking_results import Resampled
from billboards.analyses.sensitivity import measure_sensitivity
from billboards.api.result import Result
from billboards.board import Board, Slice
from billboards.errors import InvalidInput
from billboards.show.table import Table


def sensitivity(
    board: Board,
    *,
    aggregate: str | None = None,
    part: Slice | None = None,
    draws: int = 1000,
    seed: int = 0,
    values: bool = False,
) -> Result[Sensitivity]:
    """The metric ranking under every statistic, grouping and dimension, and without each generator in turn.

    Its tables are of ranks, or with `values` of every statistic's value, p and n.
    """
    found = measure_sensitivity(board, cells_of(board), aggregate=aggregate, part=part, draws=draws, seed=seed)
    ranks = (comparisons.sensitivity_table(found), comparisons.conditions_table(found))
    shown = (comparisons.values_table(found),) if values else ranks
    return Result(found, shown, documents.sensitivity_document(found))


def compare(
    board: Board,
    first: str,
    second: str,
    *,
    aggregate: str | None = None,
    part: Slice | None = None,
    by: str | None = None,
    unit: Unit = "both",
    resampled: Resampled = "instances",
    draws: int = 1000,
    seed: int = 0,
    shown: int = 10,
) -> Result[MetricComparison] | Result[GeneratorComparison]:
    """Two metrics or two generators: is the difference real, and which outputs decide it?

    `by` is what decides between generators, `unit` what the permutation test between metrics exchanges, and
    `resampled` what the bootstrap of their difference draws.
    """
    how: dict[str, Any] = {"aggregate": aggregate, "part": part, "draws": draws, "seed": seed, "shown": shown}
    if are_generators(board, first, second):
        pair = compare_generators(board, cells_of(board), first, second, by=by, **how)
        table = comparisons.generator_comparison_table(pair)
        return Result(pair, (table, *_deciding(pair)), documents.comparison_document(pair))
    found = compare_metrics(board, cells_of(board), first, second, unit=unit, resampled=resampled, **how)
    table = comparisons.metric_comparison_table(found)
    return Result(found, (table, *_deciding(found)), documents.comparison_document(found))


def compare_all(
    board: Board,
    *,
    aggregate: str | None = None,
    part: Slice | None = None,
    unit: Unit = "both",
    draws: int = 10_000,
    seed: int = 0,
) -> Result[MetricPairs]:
    """Every two metrics, with p-values corrected for there being so many pairs (Holm, Benjamini-Hochberg)."""
    found = compare_all_metrics(
        board, cells_of(board), aggregate=aggregate, part=part, unit=unit, draws=draws, seed=seed
    )
    return Result(found, (comparisons.metric_pairs_table(found),), documents.pairs_document(found))


def are_generators(board: Board, first: str, second: str) -> bool:
    """Whether both names are generators'; one that is and one that isn't can't be compared."""
    generators = {generator.name for generator in board.generators}
    if (first in generators) != (second in generators):
        one, other = (first, second) if first in generators else (second, first)
        raise InvalidInput(f"{one} is a generator and {other} is none: name two metrics or two generators")
    return first in generators


def _deciding(found: MetricComparison | GeneratorComparison) -> tuple[Table, ...]:
    names = (found.first, found.second)
    return (
        comparisons.deciding_table(f"Outputs that speak most for {found.first}", found.for_first, names),
        comparisons.deciding_table(f"Outputs that speak most for {found.second}", found.for_second, names),
    )
