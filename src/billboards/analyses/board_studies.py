"""The studies a report shows by default, kept quick: each asked once, of the entries at the top.

Hybrids of all generators; people's mean of the first judged generators from few labels; what it takes to tell the first
two metrics, and the first two judged generators, apart; and the judgments that rank against another source. What a
board doesn't allow, and what was not asked, is said with the command that asks it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from billboards.analyses.agreement import study_agreement
from billboards.analyses.estimating import estimate_generator
from billboards.analyses.hybrids import study_hybrids
from billboards.analyses.power import power_of_generators, power_of_metrics
from billboards.analyses.ranking_results import Ranking
from billboards.analyses.study_results import BoardStudies, MeanEstimate, PowerStudy
from billboards.board import Board, Slice
from billboards.board.cells import CellStore
from billboards.errors import NotEnoughData

#: Labels that a mean is estimated from, and for how many generators.
LABELS, GENERATORS = 100, 10
#: Outputs shown of each corner of disagreement.
SHOWN = 5

_Study = TypeVar("_Study")


def study_board(board: Board, store: CellStore | None, ranking: Ranking, *, part: Slice | None = None) -> BoardStudies:
    """Every study that the board of a ranking allows, on the same judgments, part and seed."""
    if not ranking.aggregate:
        return BoardStudies(left_out=("Studies of metrics need judgments, and this board has none.",))
    return _Studies(board, store, ranking, part).all()


class _Studies:
    """One board's studies, and what has to be said of those that are not there."""

    def __init__(self, board: Board, store: CellStore | None, ranking: Ranking, part: Slice | None) -> None:
        self.board, self.store, self.ranking, self.part = board, store, ranking, part
        self.left_out: list[str] = []
        self.judged = [g.name for g in ranking.generators if g.human is not None and g.kind != "optimised"]
        self.metrics = [m.name for m in ranking.metrics if m.correlation is not None and not m.is_statistic]

    def all(self) -> BoardStudies:
        aggregate, part, seed = self.ranking.aggregate, self.part, self.ranking.seed
        hybrids = self._tried(
            "Hybrid systems",
            lambda: study_hybrids(self.board, self.store, aggregate=aggregate, part=part, seed=seed),
        )
        estimates, power = self._estimates(), self._power()
        source = _other_source(self.board, aggregate)
        agreement = source and self._tried(
            f"Agreement of {source} with {aggregate}",
            lambda: study_agreement(self.board, source or "", aggregate, part=part, shown=SHOWN),
        )
        return BoardStudies(hybrids, estimates, power, agreement or None, tuple(self.left_out))

    def _tried(self, what: str, study: Callable[[], _Study]) -> _Study | None:
        try:
            return study()
        except NotEnoughData as error:
            self.left_out.append(f"{what}: {error}.")
            return None

    def _estimates(self) -> tuple[MeanEstimate, ...]:
        found = [self._tried(f"People's mean of {name}", self._estimate(name)) for name in self.judged[:GENERATORS]]
        if len(self.judged) > GENERATORS:
            others = len(self.judged) - GENERATORS
            self.left_out.append(
                f"People's means of {others} more generators; billboards estimate BOARD GENERATOR --labels N gives one."
            )
        return tuple(one for one in found if one is not None)

    def _estimate(self, generator: str) -> Callable[[], MeanEstimate]:
        """From so many labels, or from half of them where there are fewer than twice as many."""
        available = next(g.judged for g in self.ranking.generators if g.name == generator)
        how = "ensemble" if self.ranking.ensemble is not None else (self.metrics or ["ensemble"])[0]
        return lambda: estimate_generator(
            self.board,
            self.store,
            generator,
            labels=min(LABELS, max(available // 2, 2)),
            metric=how,
            aggregate=self.ranking.aggregate,
            part=self.part,
            seed=self.ranking.seed,
        )

    def _power(self) -> tuple[PowerStudy, ...]:
        """Of the first two metrics, and of the first two judged generators."""
        found = []
        for names, measure in ((self.metrics, power_of_metrics), (self.judged, power_of_generators)):
            if len(names) > 1:
                found.append(self._tried(f"Power for {names[0]} and {names[1]}", self._apart(measure, names)))
        if found:
            self.left_out.append("Power for any other two metrics or generators; billboards power BOARD A B gives it.")
        return tuple(one for one in found if one is not None)

    def _apart(self, measure: Callable[..., PowerStudy], names: list[str]) -> Callable[[], PowerStudy]:
        return lambda: measure(
            self.board, self.store, names[0], names[1], aggregate=self.ranking.aggregate, part=self.part
        )


def _other_source(board: Board, aggregate: str) -> str | None:
    """Another aggregate, or a dimension that is no part of this one: a source of judgments to hold against it."""
    own = board.aggregate(aggregate)
    aggregates = [name for name in board.aggregates if name != aggregate]
    dimensions = [name for name in board.dimensions if name not in own.dimensions and name != aggregate]
    return next(iter((*aggregates, *dimensions)), None)
