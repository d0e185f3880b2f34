"""A board as one audience may look at it: texts, numbers and the latest ranking, masked before a page sees them.

Numbers that take hidden references or judgments to compute (a metric's scores, a correlation) may be shown; the
references and judgments themselves, and anything from which single judgments could be read back, may not. So every
page takes its texts from `board`, its scores from `matrix`, and asks `judged` before it shows what people said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from billboards.analyses._archive import Archive
from billboards.analyses._people import PEOPLE
from billboards.analyses._view import View, judged_matrix
from billboards.analyses.agreement import AgreementStudy, other_source, study_agreement
from billboards.analyses.audit.results import MetricAudit
from billboards.analyses.compare import (
    DecidingOutput,
    GeneratorComparison,
    MetricComparison,
    compare_generators,
    compare_metrics,
)
from billboards.analyses.overrating import OverratingReport
from billboards.analyses.rank import Ranking, rank_board
from billboards.analyses.sensitivity import Sensitivity, measure_sensitivity
from billboards.board import Board
from billboards.errors import NotEnoughData, Refused
from billboards.show.documents import result_of
from billboards.site.boards.live import LiveBoard
from billboards.site.boards.ranking import rank_by_owner, ranking_options, ruled
from billboards.site.boards.snapshots import Audience
from billboards.site.pages.board_view import Filter
from billboards.site.pages.explorer import Matrix
from billboards.site.pages.timelines import first_step
from billboards.stats.bootstrap import Interval


@dataclass(frozen=True)
class Look:
    """One audience's view of a live board."""

    live: LiveBoard

    @property
    def name(self) -> str:
        return self.live.name

    @cached_property
    def board(self) -> Board:
        """What may be read: without hidden references and judgments."""
        return self.live.shown

    @cached_property
    def judged(self) -> bool:
        """Whether this audience may see what people said of single outputs and generators."""
        return self.live.audience == "owners" or not self.live.settings.hidden_judgments

    @cached_property
    def referenced(self) -> bool:
        """Whether this audience may read the references."""
        return self.live.audience == "owners" or not self.live.settings.hidden_references

    @cached_property
    def past_audience(self) -> Audience:
        """Whose past rankings this audience reads: owners have their own only where they see more than everybody."""
        return self.live.audience if self.live.snapshot is None else self.live.snapshot.audience

    @property
    def first_step(self) -> int:
        """The first ranking that charts over time go back to."""
        return first_step(None if self.live.snapshot is None else self.live.snapshot.number)

    @cached_property
    def title(self) -> str:
        return self.board.card.title or self.board.name

    @cached_property
    def ranking(self) -> Ranking | None:
        """What the board says now, as far as this audience may hear it."""
        document = self.live.document
        return None if document is None else self.masked(result_of(Ranking, document["ranking"]))

    @cached_property
    def overrating(self) -> OverratingReport | None:
        document = self.live.document
        report = None if document is None else document.get("overrating")
        return None if report is None else result_of(OverratingReport, report)

    @cached_property
    def audits(self) -> dict[str, MetricAudit]:
        """What metrics reward, by name: as the folder's owner found out, else as the last ranking's scores say."""
        document = self.live.document or {}
        computed = {name: result_of(MetricAudit, audit) for name, audit in document.get("audits", {}).items()}
        home = self.live.board.home
        kept = () if home is None or not self.judged else Archive(home).audits()
        return computed | {audit.metric: audit for audit in sorted(kept, key=lambda audit: audit.attack or 0.0)}

    def masked(self, ranking: Ranking) -> Ranking:
        """A ranking without people's mean scores, where those are hidden."""
        if self.judged:
            return ranking
        generators = tuple(replace(generator, human=None, judged=0) for generator in ranking.generators)
        if ranking.ranked_by == PEOPLE:
            # A ranking from before the judgments were hidden: their order is theirs, too.
            hidden = (
                replace(g, rank=None, cluster=None, interval=_without(g.interval), reason="judgments are hidden")
                for g in generators
            )
            generators = tuple(sorted(hidden, key=lambda standing: standing.name))
        return replace(ranking, generators=generators, people=None)

    @cached_property
    def _counted(self) -> Board:
        """The board that scores are looked up on: metrics need the references even where nobody may read them."""
        return self.live.board if self.judged else replace(self.live.board, judgments=self.board.judgments)

    @cached_property
    def view(self) -> View:
        """What analyses get to see: texts that may be read, and numbers that may be known."""
        return View(board=self.board, counted=self._counted, cells=self.live.cells, judgments_hidden=not self.judged)

    @cached_property
    def matrix(self) -> Matrix:
        """Every score, with people's where they may be seen."""
        ranking = self.ranking
        return Matrix(
            judged_matrix(self._counted, self.live.cells, beside=True), None if ranking is None else ranking.ensemble
        )

    def filtered(self, chosen: Filter) -> Ranking:
        """The board ranked anew on a part of it; refused where small parts would give hidden judgments away."""
        if not self.judged:
            raise Refused("this board keeps its judgments hidden, so it can't be ranked on parts of it")
        options = replace(
            ranking_options(self.live, self.barred),
            aggregate=chosen.aggregate,
            references=chosen.references,
            part=chosen.part,
        )
        if chosen.by is None:
            return rank_by_owner(self.live, options)
        return rank_board(ruled(self.live), self.live.cells, replace(options, by=chosen.by))

    @cached_property
    def barred(self) -> dict[str, str]:
        """Metrics that may not lead, as the latest ranking found out."""
        return dict((self.live.document or {}).get("barred", {}))

    @cached_property
    def sensitivity(self) -> Sensitivity | None:
        """The metric ranking under every condition, where judgments may be seen and there are some."""
        if not self.judged or self.ranking is None or all(m.correlation is None for m in self.ranking.metrics):
            return None
        return measure_sensitivity(self.live.board, self.live.cells, draws=200, seed=self.live.settings.seed)

    @cached_property
    def sources(self) -> AgreementStudy | None:
        """The judgments that rank held against another source of judgments, where there is one to be seen."""
        board = self.live.board
        aggregate = None if self.ranking is None else self.ranking.aggregate
        # A ranking may be older than the board's settings.
        if not self.judged or aggregate is None or aggregate not in {*board.aggregates, *board.dimensions}:
            return None
        other = other_source(board, aggregate)
        try:
            return None if other is None else study_agreement(board, other, aggregate, shown=1)
        except NotEnoughData:
            return None

    def compare_generators(self, first: str, second: str, by: str | None) -> GeneratorComparison:
        """Two generators, with the texts that may be read."""
        comparison = compare_generators(self._counted, self.live.cells, first, second, by=by)
        return replace(
            comparison,
            for_first=tuple(self._readable(output, first, second) for output in comparison.for_first),
            for_second=tuple(self._readable(output, first, second) for output in comparison.for_second),
        )

    def compare_metrics(self, first: str, second: str) -> MetricComparison:
        """Two metrics, with the texts that may be read."""
        if not self.judged:
            raise Refused("this board keeps its judgments hidden: metrics are compared by their places in the ranking")
        comparison = compare_metrics(self.live.board, self.live.cells, first, second)
        return replace(
            comparison,
            for_first=tuple(
                self._readable(output, output.generator, output.other_generator or None)
                for output in comparison.for_first
            ),
            for_second=tuple(
                self._readable(output, output.generator, output.other_generator or None)
                for output in comparison.for_second
            ),
        )

    def _readable(self, output: DecidingOutput, row: str, other: str | None = None) -> DecidingOutput:
        """An output with its texts from the board as it may be read, where a hidden reference is nobody's output."""
        k = self.board.position[output.instance]
        references = self.board.instances[k].references
        return replace(
            output,
            output=self.board.row(row).texts[k] or "",
            other="" if other is None else self.board.row(other).texts[k] or "",
            reference=references[0].text if references else "",
        )


def _without(intervals: Mapping[str, Interval]) -> dict[str, Interval]:
    """Intervals of metrics alone."""
    return {name: interval for name, interval in intervals.items() if name != PEOPLE}
