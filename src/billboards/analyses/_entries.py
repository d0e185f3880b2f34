"""Names that options give: two metrics or two generators, the best of them, and sets of references."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from billboards.analyses._view import View
from billboards.board import Board
from billboards.errors import InvalidInput, NotEnoughData


def are_generators(board: Board, first: str, second: str) -> bool:
    """Whether both names are generators'; one that is and one that isn't can't be compared."""
    generators = {generator.name for generator in board.generators}
    if (first in generators) != (second in generators):
        generator, other = (first, second) if first in generators else (second, first)
        raise InvalidInput(f"{generator} is a generator and {other} is none: name two metrics or two generators")
    return first in generators


def two_entries(view: View, first: str | None, second: str | None) -> tuple[str, str]:
    """The two entries named, or the two best metrics where nothing is."""
    if first is not None and second is not None:
        return first, second
    if first is not None:
        raise InvalidInput(f"{first} must be told apart from another: name two metrics or two generators")
    best = best_metrics(view)
    if len(best) < 2:
        raise NotEnoughData(f"board {view.board.name} has no two metrics with a correlation; name two entries")
    return best[0], best[1]


def best_metrics(view: View) -> list[str]:
    """The metrics that have a correlation with people, the best first; statistics are none."""
    from billboards.analyses.rank import RankingOptions, rank_board

    options = RankingOptions(aggregate=view.aggregate, part=view.part, draws=0)
    ranking = rank_board(view.counted, view.cells, options)
    return [m.name for m in ranking.metrics if m.correlation is not None and not m.is_statistic]


def judged_generators(view: View) -> list[str]:
    """Generators that people judged, the best first."""
    if view.counted.ranks is None and view.aggregate is None:
        return []
    matrix = view.matrix()
    judged = [
        (float(np.nanmean(matrix.human[k])), row.name)
        for k, row in enumerate(view.counted.rows)
        if row.generator is not None and not row.is_optimised and np.isfinite(matrix.human[k]).any()
    ]
    return [name for _, name in sorted(judged, key=lambda pair: -pair[0])]


def named_references(references: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """References by name, as a list or as `A,B`; None is the default set."""
    if references is None:
        return None
    names = references.split(",") if isinstance(references, str) else references
    return tuple(name.strip() for name in names)
