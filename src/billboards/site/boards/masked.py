"""A board as one audience may look at it: texts, numbers and the latest ranking, masked before a page sees them.

Numbers that take hidden references or judgments to compute (a metric's scores, a correlation) may be shown; the
references and judgments themselves, and anything from which these could be read back, may not: correlations have the
digits that they support, and single scores of a stranger's program that was given hidden texts are withheld. So every
page takes its texts from `board`, its scores from `matrix`, and asks `judged` before it shows what people said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from billboards.analyses._archive import Archive
from billboards.analyses._column_verdicts import read_verdicts
from billboards.analyses._disclosed import (
    Disclosure,
    disclosed,
    disclosed_audit,
    disclosed_ensemble,
    disclosed_overrating,
)
from billboards.analyses._findings import Findings
from billboards.analyses._view import View, judged_matrix
from billboards.analyses.agreement import AgreementStudy, other_source, study_agreement
from billboards.analyses.audit.results import MetricAudit
from billboards.analyses.compare import (
    DecidingOutput,
    GeneratorComparison,
    GeneratorPairs,
    MetricComparison,
    MetricPairs,
    compare_all_metrics,
    compare_every_two,
    compare_generators,
    compare_metrics,
)
from billboards.analyses.ensemble import Ensemble
from billboards.analyses.overrating import OverratingReport
from billboards.analyses.rank import Ranking, rank_board
from billboards.analyses.sensitivity import Sensitivity, measure_sensitivity
from billboards.board import Board
from billboards.errors import NotEnoughData, Refused
from billboards.show.documents import document_of, result_of
from billboards.show.words import listed, one_line
from billboards.site.boards import snapshots
from billboards.site.boards.live import LiveBoard
from billboards.site.boards.ranking_options import rank_by_owner, ranking_options, ruled
from billboards.site.boards.snapshots import Audience, Place, Side, Snapshot
from billboards.site.pages.board_view import Filter
from billboards.site.pages.explorer import Matrix
from billboards.site.pages.timelines import first_step
from billboards.stats.disclosure import FEW, MEAN_DIGITS, round_significant, round_to


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
    def shows_inputs(self) -> bool:
        """Whether this audience may read the inputs."""
        return self.live.audience == "owners" or not self.live.inputs_hidden

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
        return self.live.settings.about.title or self.board.card.title or self.board.name

    @cached_property
    def ranking(self) -> Ranking | None:
        """What the board says now, as far as this audience may hear it."""
        latest = self.live.latest
        return None if latest is None else self.masked(latest.ranking)

    @cached_property
    def overrating(self) -> OverratingReport | None:
        document = self.live.document
        report = None if document is None else document.get("overrating")
        return None if report is None else self.masked_overrating(result_of(OverratingReport, report))

    @cached_property
    def audits(self) -> dict[str, MetricAudit]:
        """What metrics reward, by name: as the folder's owner found out, else as the last ranking's scores say."""
        document = self.live.document or {}
        audits = ((name, result_of(MetricAudit, audit)) for name, audit in document.get("audits", {}).items())
        computed = {name: disclosed_audit(audit, self._disclosure) for name, audit in audits}
        home = self.live.board.home
        kept = () if home is None or not (self.judged and self.shows_inputs) else Archive(home).audits()
        return computed | {audit.metric: audit for audit in sorted(kept, key=lambda audit: audit.severity)}

    def ranking_document(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """A kept ranking's document as this audience is served it: as it was said, where nothing is to be masked."""
        ranking = result_of(Ranking, document)
        masked = self.masked(ranking)
        return dict(document) if masked is ranking else document_of(masked)

    def overrating_document(self, document: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """A kept report of overrating as this audience is served it, where there is one."""
        if document is None:
            return None
        report = result_of(OverratingReport, document)
        masked = self.masked_overrating(report)
        return dict(document) if masked is report else document_of(masked)

    def served_ranking(self, snapshot: Snapshot) -> dict[str, Any]:
        """The ranking of a snapshot as this audience is served it."""
        with self.live.site.database.reading() as connection:
            return self.ranking_document(snapshots.document(connection, snapshot)["ranking"])

    def masked(self, ranking: Ranking) -> Ranking:
        """A ranking without people's mean scores where those are hidden, and with the digits that may be told."""
        return disclosed(ranking, self._disclosure)

    def masked_overrating(self, report: OverratingReport) -> OverratingReport:
        """Overrating with the digits that may be told."""
        return disclosed_overrating(report, self._disclosure, [estimate.name for estimate in report.metrics])

    def masked_ensemble(self, ensemble: Ensemble) -> Ensemble:
        """An ensemble with the digits that may be told."""
        return disclosed_ensemble(ensemble, self._disclosure)

    def masked_places(self, places: Sequence[Place], side: Side) -> tuple[Place, ...]:
        """Past places with the digits that may be told: of correlations, and of means under what is withheld."""
        hidden = self._disclosure
        if side == "metric":
            return tuple(replace(p, value=_told(p.value, FEW)) if hidden.rounds((p.name,)) else p for p in places)
        if not hidden:
            return tuple(places)
        return tuple(
            replace(p, value=None if p.value is None else round_significant(p.value, MEAN_DIGITS)) for p in places
        )

    @cached_property
    def _disclosure(self) -> Disclosure:
        """What this audience must not be told, whatever it was before a ranking was kept."""
        return self.live.disclosure

    @cached_property
    def recomputed(self) -> dict[str, str]:
        """Metrics whose imported scores are not what their names say, each with what was found, by name."""
        verdicts = read_verdicts(self.live.board.home)
        metrics = () if self.ranking is None else self.ranking.metrics
        words = {metric.name: verdicts[metric.signature].words for metric in metrics if metric.signature in verdicts}
        return {name: text for name, text in words.items() if text}

    @property
    def withheld(self) -> dict[str, str]:
        """Metrics whose single scores this audience may not see, each with the reason."""
        return self.live.withheld

    @property
    def withheld_words(self) -> str:
        """Which metrics' single scores are withheld and why, as a sentence; empty where none are."""
        if not self.withheld:
            return ""
        names = listed([one_line(name) for name in self.withheld])
        whose, it = ("their", "they") if len(self.withheld) > 1 else ("its", "it")
        reasons = listed(
            sorted(
                {
                    reason.replace("it was", f"{it} {'were' if it == 'they' else 'was'}")
                    for reason in self.withheld.values()
                }
            )
        )
        return (
            f"Scores of single outputs by {names} are withheld until the organisers reveal what is hidden: {reasons}, "
            f"and {whose} scores could spell that out. Means and agreement with people are shown, rounded."
        )

    @cached_property
    def _counted(self) -> Board:
        """The board that scores are looked up on: metrics need the references even where nobody may read them."""
        full = self.live.board
        return full if self._sees_all else replace(full, judgments=self.board.judgments, trust=self.board.trust)

    @cached_property
    def _sees_all(self) -> bool:
        """Whether every judgment may be seen: none is hidden, and none is of the private share."""
        return self.judged and (self.live.audience == "owners" or self.live.board.trust.private_share is None)

    @cached_property
    def _counted_live(self) -> LiveBoard:
        """The live board with the judgments that may be counted here and now."""
        return replace(self.live, board=self._counted)

    @cached_property
    def view(self) -> View:
        """What analyses get to see: texts that may be read, and numbers that may be known."""
        return View(
            board=self.board, counted=self._counted, cells=self.live.told_cells, judgments_hidden=not self.judged
        )

    @cached_property
    def matrix(self) -> Matrix:
        """Every score, with people's where they may be seen."""
        ranking = self.ranking
        return Matrix(
            judged_matrix(self._counted, self.live.told_cells, beside=True),
            None if ranking is None else ranking.ensemble,
            self._counted,
        )

    def filtered(self, chosen: Filter) -> Ranking:
        """The board ranked anew on a part of it; refused where small parts would give hidden judgments away."""
        if not self.judged:
            raise Refused("this board keeps its judgments hidden, so it can't be ranked on parts of it")
        options = replace(
            ranking_options(self.live, self.trust),
            aggregate=chosen.aggregate,
            references=chosen.references,
            part=chosen.part,
        )
        # On a part of the board a withheld metric's mean could be a single score.
        live = replace(self._counted_live, cells=self.live.told_cells)
        if chosen.by is None:
            return rank_by_owner(live, options)
        return rank_board(ruled(live), live.cells, replace(options, by=chosen.by))

    @cached_property
    def trust(self) -> Findings:
        """What speaks against entries, as the latest ranking found out."""
        return Findings.read(self.live.document or {})

    @cached_property
    def sensitivity(self) -> Sensitivity | None:
        """The metric ranking under every condition, where judgments may be seen and there are some."""
        if not self.judged or self.ranking is None or all(m.correlation is None for m in self.ranking.metrics):
            return None
        return measure_sensitivity(self._counted, self.live.told_cells, draws=200, seed=self.live.settings.seed)

    @cached_property
    def sources(self) -> AgreementStudy | None:
        """The judgments that rank held against another source of judgments, where there is one to be seen."""
        board = self._counted
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
        comparison = compare_generators(self._counted, self.live.told_cells, first, second, by=by)
        return replace(
            comparison,
            for_first=tuple(self._readable(output, first, second) for output in comparison.for_first),
            for_second=tuple(self._readable(output, first, second) for output in comparison.for_second),
        )

    def compare_metrics(self, first: str, second: str) -> MetricComparison:
        """Two metrics, with the texts that may be read."""
        if not self.judged:
            raise Refused("this board keeps its judgments hidden: metrics are compared by their places in the ranking")
        comparison = compare_metrics(self._counted, self.live.told_cells, first, second)
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

    def compare_every_two(self, names: Sequence[str], by: str | None) -> GeneratorPairs:
        """Every two of several generators, under what this audience may know."""
        return compare_every_two(self._counted, self.live.told_cells, names, by=by)

    def compare_metrics_among(self, names: Sequence[str]) -> MetricPairs:
        """Every two of several metrics."""
        if not self.judged:
            raise Refused("this board keeps its judgments hidden: metrics are compared by their places in the ranking")
        return compare_all_metrics(self._counted, self.live.told_cells, among=names, draws=1000)

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


def _told(value: float | None, decimals: int) -> float | None:
    return None if value is None else round_to(value, decimals)
