"""Rank metrics by their correlation with people, and generators by the best metric, the ensemble or people.

Rankings: what a board says at one moment, kept as it was said.

A ranking is an immutable snapshot with everything that went into it; the same inputs give the same id.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from billboards.analyses._analysis import analysis
from billboards.analyses._disclosed import (
    CORRELATES,
    Disclosure,
    disclosed_ensemble,
    disclosed_generators,
    disclosed_leaders,
    disclosed_lines,
    disclosed_metrics,
    told_words,
)
from billboards.analyses._entries import named_references
from billboards.analyses._families import AUTO, FEWEST_PRESENT, SMALL, FamilyOption, family_where_hidden, instances_in
from billboards.analyses._kept_rows import KeptRows, RankedColumn, RankedRows
from billboards.analyses._labels import relabelled
from billboards.analyses._people import PEOPLE, PeopleRanking, PeopleStanding, rank_by_people
from billboards.analyses._preferences import WMT_GROUPING, WMT_STATISTIC, agreement_with_preferences
from billboards.analyses._probation import Measured, PrivateShare, alarms, exposed, exposure, measured_on
from billboards.analyses._reference_lines import ReferenceLine, peoples_agreement, reference_lines, rows_ranked
from billboards.analyses._standing_out import StandsOut, check_baseline, stands_out
from billboards.analyses._view import Floats, JudgedMatrix, View, WholeMatrix, judged_matrix, whole_matrix
from billboards.analyses._within_items import Leaders, agreement_within, leaders, leaders_words, stand_within
from billboards.analyses.ensemble import (
    ENSEMBLE,
    Ensemble,
    Method,
    combine,
    ensemble_inputs,
    ensemble_scores,
    ensemble_table,
    fit_view,
    tried_words,
    unseen_words,
)
from billboards.board import Board, Column, Origin, ReferenceSet, Slice, digest
from billboards.board.cells import CellStore, ColumnKey, with_parts
from billboards.board.corpus import corpus_values, has_corpus_value
from billboards.board.judgments import standardisation_notes
from billboards.board.matrix import BoardColumns, column_named
from billboards.board.scores import natural
from billboards.errors import InvalidInput, NotEnoughData, UnknownName
from billboards.metrics.labels import column_label
from billboards.options import Named
from billboards.reading import some
from billboards.show.table import (
    DOUBTED,
    FLAGGED,
    HUMAN,
    REFERENCE_FREE,
    SCORES_ONLY,
    STATISTIC,
    MarkNotes,
    Table,
    TableColumn,
    column_digits,
    finite,
    reason_notes,
)
from billboards.show.words import headed, interval_text, listed, one_line, part_note, sided, value_text
from billboards.stats.bootstrap import Interval, Resampled, bootstrap_pearson
from billboards.stats.clusters import Clustered, places
from billboards.stats.correlation import Correlations, pearson_with_intervals
from billboards.stats.disclosure import hardly_varies
from billboards.stats.grouped import Grouping
from billboards.stats.preferences import Ties, tied_shares
from billboards.stats.significance import LEVEL, Sides, cluster_rows, permute_correlations, permute_values
from billboards.stats.yardsticks import Yardstick, agreements, compare_by
from billboards.stats.yardsticks import yardstick as yardstick_of

if TYPE_CHECKING:
    import altair as alt

    from billboards.show.plot import Points, Theme


#: What ranks metrics unless somebody asks for another statistic.
PEARSON = Yardstick()


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricStanding:
    """One metric's place: its correlation with people, on how many pairs, how sure.

    Metrics of one `cluster` can't be told apart on this board, and share a rank.
    """

    name: str
    signature: str
    rank: int | None
    correlation: float | None
    n: int
    interval: Interval | None
    references: tuple[str, ...]
    origin: Origin
    source_name: str | None
    reference_free: bool
    is_statistic: bool = False
    cluster: int | None = None
    reason: str | None = None
    #: The metric that leads, where these are its other scores: own beside imported ones that differ, or the reverse.
    beside: str | None = None
    #: Generators whose scores were computed here to complete imported ones that own scores equal.
    completed: tuple[str, ...] = ()
    #: Of the outputs with own and imported scores, the share where the two are equal.
    equal: float | None = None
    #: What a paper cites for corpus values, such as sacreBLEU's own signature.
    corpus_signature: str | None = None
    #: Which way its users read its scores, which generators' means follow; inside, higher is better everywhere.
    higher_is_better: bool = True
    #: Whether somebody sent its scores without what computes them: it leads no ranking and joins no ensemble.
    scores_only: bool = False
    #: What speaks against taking its agreement at its word, in sentences that go on after its name.
    flags: tuple[str, ...] = ()
    #: Whether it may lead and join ensembles, whatever speaks against it.
    counts: bool = True
    #: Agreement with the judgments that are public, where metrics are measured on a private share, and on how many.
    public: float | None = None
    public_n: int = 0
    #: How surprising a difference between the two is for a metric that has seen neither, corrected for all metrics.
    exposure: float | None = None
    #: Agreement with the judgments before these, where newer ones rank, and on how many.
    before: float | None = None
    before_n: int = 0
    #: Agreement within items: over pairs of outputs of one instance, of which there are so many.
    within: float | None = None
    within_n: int = 0
    within_interval: Interval | None = None
    #: The share of the pairs that it ties, where people compared outputs.
    tied: float | None = None

    @property
    def drop(self) -> float | None:
        """How much less it agrees with the new judgments than with those before."""
        return None if self.before is None or self.correlation is None else self.before - self.correlation

    @property
    def label(self) -> str:
        """What stands above its column: its name, and for BERTScore the model, too."""
        return column_label(self.name, self.signature) if self.origin == "own" else self.name


@dataclass(frozen=True, kw_only=True, slots=True)
class GeneratorStanding:
    """One generator's place under the metric that leads, with its mean under every metric as its users know it.

    Generators of one `cluster` can't be told apart by that metric on these instances, and share a rank.
    """

    name: str
    kind: str
    rank: int | None
    scores: Mapping[str, float | None]
    covered: Mapping[str, int]
    human: float | None
    judged: int
    reason: str | None = None
    cluster: int | None = None
    #: The value of all outputs together under each metric that is defined on a corpus, as its users know it.
    corpus: Mapping[str, float] = field(default_factory=dict)
    #: 95% intervals over resampled instances, of the corpus value where there is one, else of the mean.
    interval: Mapping[str, Interval] = field(default_factory=dict)
    #: What speaks against its outputs being what they should be.
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class CommonStanding:
    """One generator's place in the ranking of all."""

    name: str
    kind: str
    rank: int | None
    score: float | None
    cluster: int | None = None


@dataclass(frozen=True, kw_only=True)
class CommonRanking:
    """All generators, by the best metric or ensemble that scores every one of them; never mixed with the other ranking.

    It is there when what leads can't score somebody, `unscored`, as a newcomer whose released scores don't exist.
    """

    ranked_by: str
    correlation: float | None
    n: int
    unscored: tuple[str, ...]
    generators: tuple[CommonStanding, ...]
    ensemble: Ensemble | None = None


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """What a board says at one moment.

    `ranked_by` is a metric, `ensemble` or `people`; the field `people` is what they said, whoever ranks.
    `alternative` is the ensemble fitted the other way (the paper's lasso, or the best subset) on the same scores.
    `newcomers` says which ranking a new generator gets a place in: that of what leads, where that can be computed here,
    or the common one; None where neither can place it.
    """

    DOCUMENT: ClassVar[str] = "ranking"

    board: str
    board_version: str
    statistic: str
    grouping: str
    aggregate: str
    part: str
    references: tuple[str, ...]
    seed: int
    draws: int
    metrics: tuple[MetricStanding, ...]
    generators: tuple[GeneratorStanding, ...]
    ranked_by: str | None
    ensemble: Ensemble | None
    notes: tuple[str, ...] = ()
    alternative: Ensemble | None = None
    lines: tuple[ReferenceLine, ...] = ()
    resampled: Resampled = "instances"
    common: CommonRanking | None = None
    newcomers: Literal["leader", "common"] | None = None
    people: PeopleRanking | None = None
    sides: Sides = "one"
    #: How the judgments are shared out, where metrics are measured on a private share.
    private: PrivateShare | None = None
    #: The judgments before, where agreement with them stands beside.
    before: str | None = None
    #: Who leads over all outputs and who within items, where these are two metrics.
    leaders: Leaders | None = None
    #: What a pair counts that a metric ties, where people compared outputs.
    ties: Ties = "wrong"
    #: Who is best in each column of the tables, or not significantly worse; None where that is not told.
    outstanding: StandsOut | None = None

    @cached_property
    def lower(self) -> frozenset[str]:
        """Metrics of which a lower score is better."""
        return frozenset(metric.name for metric in self.metrics if not metric.higher_is_better)

    @property
    def labels(self) -> dict[str, str]:
        """What stands above the columns of metrics that are headed by more than their names."""
        return {metric.name: metric.label for metric in self.metrics if metric.label != metric.name}

    @cached_property
    def shown(self) -> Ranking:
        """The same ranking with the labels of metrics for their names, to be shown and no more."""
        return relabelled(self, self.labels)

    def oriented(self, name: str, score: float | None) -> float | None:
        """A generator's mean under a metric, turned so that higher is better."""
        return score if score is None or name not in self.lower else 0.0 - score


def correlations_with_intervals(
    board: Board, part: Slice, scores: Floats, human: Floats, *, resampled: Resampled, draws: int, seed: int
) -> Correlations:
    """Pooled Pearson of each metric on a part of the board, with 95% intervals over what is resampled."""
    if resampled == "instances" or not draws:
        return pearson_with_intervals(scores, human, draws=draws, seed=seed)
    correlations = pearson_with_intervals(scores, human, draws=0)
    drawn = resampled_correlations(board, part, scores, human, resampled=resampled, draws=draws, seed=seed)
    defined = np.zeros(len(correlations.r), bool) if drawn is None else np.isfinite(drawn).any(axis=0)
    if drawn is None or not defined.any():
        return correlations
    low, high = np.full((2, len(correlations.r)), np.nan)
    low[defined], high[defined] = np.nanquantile(drawn[:, defined], (0.025, 0.975), axis=0)
    return replace(correlations, low=low, high=high)


def resampled_correlations(
    board: Board, part: Slice, scores: Floats, human: Floats, *, resampled: Resampled, draws: int, seed: int
) -> Floats | None:
    """Pooled Pearson of each metric in every draw; None where there are not two units to draw from."""
    documents = [board.documents[k] for k in board.select(part)]
    judged = np.isfinite(human)
    generators, instances = int(judged.any(axis=1).sum()), np.flatnonzero(judged.any(axis=0))
    units = {
        "instances": len(instances),
        "documents": len({documents[k] for k in instances}),
        "generators": generators,
        "both": min(generators, len(instances)),
    }
    if not draws or units[resampled] < 2:
        return None
    return bootstrap_pearson(scores, human, unit=resampled, documents=documents, draws=draws, seed=seed)


_Standing = TypeVar("_Standing", bound=MetricStanding | GeneratorStanding)


def rank_metrics(
    columns: Sequence[Column],
    correlations: Correlations,
    tests: Floats | None = None,
    refused: Mapping[str, str] | None = None,
    out: Collection[int] = (),
) -> tuple[MetricStanding, ...]:
    """Metrics in order of correlation; those without one, or out by their position, last, unranked, with the reason.

    `tests` holds the p-value of a test between every two metrics; without it, only equal correlations share a rank.
    `refused` names columns that get no correlation, each with the reason.
    """
    refused = refused or {}
    if refused:
        correlations = _without_refused(columns, correlations, refused)
    compete = np.array([k not in out for k in range(len(columns))], bool)
    order, ranks, clusters = places(np.where(compete, correlations.r, np.nan), tests)
    standings = [
        MetricStanding(
            name=column.name,
            signature=column.signature,
            rank=ranks[k],
            correlation=None if np.isnan(correlations.r[k]) else float(correlations.r[k]),
            n=int(correlations.n[k]),
            interval=None
            if np.isnan(correlations.low[k])
            else (float(correlations.low[k]), float(correlations.high[k])),
            references=column.references,
            origin=column.origin,
            source_name=column.source_name,
            reference_free=column.reference_free,
            is_statistic=column.is_statistic,
            cluster=clusters.get(k),
            reason=refused.get(column.name)
            or _why_undefined(correlations, k)
            or ("on probation" if k in out else None),
            beside=column.beside,
            completed=column.completed,
            equal=column.equal,
            higher_is_better=column.higher_is_better,
            scores_only=column.scores_only,
        )
        for k, column in enumerate(columns)
    ]
    return _in_order(standings, order)


def rank_generators(
    board: Board,
    view: WholeMatrix,
    ranked: RankedRows,
    ranked_by: str | None,
    sides: Sides = "two",
    out: Mapping[str, str] | None = None,
) -> tuple[GeneratorStanding, ...]:
    """Generators by their mean under what ranks them; who was scored on less than others, or is `out`, has no rank."""
    out = out or {}
    rows = [k for k, row in enumerate(board.rows) if row.generator is not None]
    competing = [k for k in rows if not board.rows[k].is_optimised]
    full = {name: int(ranked.means(name).finite[competing].max(initial=0)) for name in ranked.columns}
    means, tests = np.full(len(rows), np.nan), None
    if ranked_by is not None and rows:
        leading = ranked.means(ranked_by)
        covered = leading.finite[rows]
        real = np.array([not board.rows[k].is_optimised and board.rows[k].name not in out for k in rows], bool)
        complete = (covered > 0) & (covered == full[ranked_by]) & real
        means[complete] = leading.mean[rows][complete]
        tests = _tests_between(ranked, ranked_by, rows, complete, sides) if ranked.draws else None
    order, ranks, clusters = places(means, tests)
    told = _Told(board=board, view=view, ranked=ranked, full=full, ranked_by=ranked_by, out=out)
    standings = [told.standing(k, ranks[place], clusters.get(place)) for place, k in enumerate(rows)]
    return _in_order(standings, order)


def _without_refused(columns: Sequence[Column], correlations: Correlations, refused: Collection[str]) -> Correlations:
    out = np.array([column.name in refused for column in columns], bool)
    r, low, high = (np.where(out, np.nan, each) for each in (correlations.r, correlations.low, correlations.high))
    return replace(correlations, r=r, low=low, high=high)


def _hardly_varying(matrix: JudgedMatrix, options: RankingOptions) -> dict[str, str]:
    """Columns whose variance lies in so few outputs that a correlation would tell what people said of these."""
    if not options.disclosure.judgments:
        return {}
    shares = None if matrix.pairs is None else matrix.pairs.share_won(matrix.human.shape)
    judged = np.isfinite(matrix.judged_human if shares is None else shares)
    columns = zip(matrix.scores.columns, matrix.scores.values, strict=True)
    reasons = {column.name: hardly_varies(np.where(judged, values, np.nan)) for column, values in columns}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def _why_undefined(correlations: Correlations, k: int) -> str | None:
    if not np.isnan(correlations.r[k]):
        return None
    if correlations.n[k] == 0:
        return "no judged output has a score"
    if correlations.n[k] == 1:
        return "only one judged output has a score"
    return "the scores or the judgments don't vary"


def _tests_between(
    ranked: RankedRows, name: str, rows: Sequence[int], complete: NDArray[np.bool_], sides: Sides
) -> Floats | Clustered:
    """What draws clusters of the rows that get a place; the others have gaps and are tested with nobody."""
    members = np.flatnonzero(complete)
    taking_part = [rows[int(k)] for k in members]
    if taking_part and ranked.means(name).finite[taking_part[0]] == ranked.instances:
        signed = ranked.signed(name, taking_part)
        place = {int(k): number for number, k in enumerate(members)}

        def clustered(order: Sequence[int]) -> dict[int, int]:
            of_members = cluster_rows(
                [place[k] for k in order], signed, ranked.instances, seed=ranked.seed, sides=sides
            )
            return {int(members[number]): cluster for number, cluster in of_members.items()}

        return clustered
    values = ranked.columns[name].read(taking_part)
    tests = np.full((len(rows), len(rows)), np.nan)
    tests[np.ix_(complete, complete)] = permute_values(values, draws=ranked.draws, seed=ranked.seed, sides=sides).p
    return tests


@dataclass(frozen=True, kw_only=True)
class _Told:
    """What is said of a generator beside its place."""

    board: Board
    view: WholeMatrix
    ranked: RankedRows
    full: Mapping[str, int]
    ranked_by: str | None
    out: Mapping[str, str]

    @cached_property
    def means(self) -> list[tuple[str, list[float], list[int]]]:
        """Of each column its name, and means and counts of all rows as its users know them."""
        lower = {column.name for column in self.view.scores.columns if not column.higher_is_better}
        told = []
        for name in self.ranked.columns:
            means = self.ranked.means(name)
            oriented = natural(means.mean, higher_is_better=name not in lower)
            told.append((name, oriented.tolist(), means.finite.tolist()))
        return told

    def standing(self, k: int, rank: int | None, cluster: int | None) -> GeneratorStanding:
        row = self.board.rows[k]
        covered = {name: counts[k] for name, _, counts in self.means}
        reason = None
        if row.generator is not None and row.is_optimised:
            reason = f"optimised by {row.generator.optimised_by}: shown, never ranked among the others"
        elif row.name in self.out:
            reason = f"kept out by the board's owner: {self.out[row.name]}"
        elif rank is None and self.ranked_by is not None:
            is_reference = self.board.is_reference(row, self.view.references)
            reason = (
                "the text is among the references"
                if is_reference
                else f"{self.ranked_by} scores {covered[self.ranked_by]} of {self.full[self.ranked_by]} instances"
            )
        human = self.view.human[k]
        return GeneratorStanding(
            name=row.name,
            kind="machine" if row.generator is None else row.generator.kind,
            rank=rank,
            scores={name: means[k] if counts[k] else None for name, means, counts in self.means},
            covered=covered,
            human=_mean(human),
            judged=_count(human),
            reason=reason,
            cluster=cluster,
        )


def _count(values: Floats) -> int:
    return int(np.isfinite(values).sum())


def _mean(values: Floats) -> float | None:
    defined = np.isfinite(values)
    return float(values[defined].mean()) if defined.any() else None


def _in_order(standings: Sequence[_Standing], order: Sequence[int]) -> tuple[_Standing, ...]:
    """The ranked ones best first, then the others by name."""
    ranked = [standings[k] for k in order]
    rest = [standing for standing in standings if standing.rank is None]
    return (*ranked, *sorted(rest, key=lambda standing: standing.name))


#: The version of how rankings are computed. Raise it with every change that may give other numbers on the same board:
#: sites then rank their boards anew.
METHOD = 5
#: Why a metric that something speaks against has no rank and leads none.
ON_PROBATION = "is on probation"
#: A correlation that asks for the sign where there is no interval.
CLEARLY_NEGATIVE = -0.2
#: How a note ends that says which metric agrees best and may not lead.
NOT_ALONE = "it correlates best but does not rank generators alone"
#: Why a generator has no place among those that people judged.
NOT_JUDGED = "not judged by people"


@dataclass(frozen=True, kw_only=True)
class RankingOptions:
    """Everything that decides a ranking beside the board itself, the same for every door.

    A board's owner sets defaults on a site; whoever asks for something else changes single options with `replace`.
    """

    aggregate: str | None = None
    references: ReferenceSet | None = None
    part: Slice = field(default_factory=Slice)
    k: int = 3
    lam: float | None = None
    method: Method = AUTO
    #: What ranks the generators, by name, instead of what agrees best with people: a metric, "ensemble" or "people".
    by: str | None = None
    resampled: Resampled = "instances"
    draws: int = 1000
    seed: int = 0
    #: Whether tests ask if two entries differ, or (one) if the one ahead is better.
    sides: Sides = "two"
    #: Metrics that may not rank the generators alone, each with the reason, unless asked for by name.
    barred: Mapping[str, str] = field(default_factory=dict)
    #: What stays hidden from those who will read the ranking: numbers that rest on it are rounded.
    disclosure: Disclosure = field(default_factory=Disclosure)
    #: Metrics that something speaks against: they neither lead nor join ensembles unless the board's owner says so.
    flagged: Mapping[str, str] = field(default_factory=dict)
    #: Metrics that something should be said of, and that count all the same.
    marked: Mapping[str, str] = field(default_factory=dict)
    #: Generators that get no rank, each with the reason.
    out: Mapping[str, str] = field(default_factory=dict)
    #: Doubts about generators' outputs.
    doubts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: An aggregate or dimension of earlier judgments, agreement with which is shown beside.
    before: str | None = None
    #: By what metrics are held against people where these gave values.
    yardstick: Yardstick = PEARSON
    #: What a pair counts that a metric ties, where people compared outputs.
    ties: Ties = "wrong"
    #: A generator or metric that the others are tested against.
    baseline: str | None = None


def rank_board(
    board: Board,
    store: CellStore | None,
    options: RankingOptions | None = None,
    *,
    kept: KeptRows | None = None,
    **changes: Any,
) -> Ranking:
    """Everything a board says: metrics, ensemble and generators, ranked, and reference lines for the metrics.

    kept: what the last ranking of this board worked out, so that only what is new costs anything.
    """
    options = replace(options or RankingOptions(), **changes)
    kept = kept or KeptRows()
    asked, owners = (None if by is None else column_named(board, store, by) for by in (options.by, board.by))
    options = replace(options, by=asked, before=options.before or board.before)
    store = with_parts(store, [options.by or owners])
    whole = whole_matrix(
        board, store, aggregate=options.aggregate, references=options.references, part=options.part or Slice()
    )
    leading_names = [column.name for column in whole.scores.columns if column.beside is None]
    check_baseline(options.baseline, [g.name for g in board.generators], leading_names)
    # Whoever is out, and doubts about outputs, change nothing of what is said of metrics.
    of_metrics = replace(options, out={}, doubts={})
    judged = kept.once(
        "judged", _judged_key(board, whole, of_metrics), lambda: _rank_judged(board, store, whole, of_metrics)
    )
    options = replace(options, out=_without_place(board, options), method=judged.method)
    metrics, ensemble, alternative = (judged.metrics, *_of_version(board, judged.ensemble, judged.alternative))
    leader = _chosen_leader(board, metrics, ensemble, options, judged.people, owners)
    shown = _with_shares(whole)
    ranked = _ranked_rows(board, shown.scores, shown.part, ensemble, kept, options)
    own = _corpus_columns(board, store, shown.scores)
    ranked.prepare(resampled=[name for name in ranked.columns if name not in own])
    generators = _place_generators(board, shown, ranked, judged.people, leader, options)
    generators = tuple(replace(g, doubts=tuple(options.doubts.get(g.name, ()))) for g in generators)
    generators, signatures = _with_corpus_values(board, store, shown, ranked, own, generators)
    generators = disclosed_generators(generators, ensemble, options.disclosure)
    metrics = tuple(replace(m, corpus_signature=signatures.get(m.name)) for m in metrics)
    outstanding = None
    # Nothing of what is hidden is told by who stands out.
    if not options.disclosure:
        tests = _tests_by_name(judged.names, judged.tests)
        outstanding = stands_out(board, store, shown, ranked, metrics, generators, tests, options)
    common = _rank_everyone(board, shown, judged.everything, metrics, generators, leader, kept, options)
    kept.forget_others({row.version for row in board.rows})
    return Ranking(
        board=board.name,
        board_version=board.version,
        statistic=options.yardstick.statistic if whole.pairs is None else WMT_STATISTIC,
        grouping=options.yardstick.grouping if whole.pairs is None else WMT_GROUPING,
        aggregate=whole.aggregate,
        part=str(whole.part),
        references=whole.references,
        seed=options.seed,
        draws=options.draws,
        metrics=metrics,
        generators=generators,
        ranked_by=leader.name,
        ensemble=ensemble,
        notes=(*judged.notes, *leader.notes, *_notes_on_metrics(board, metrics, options)),
        alternative=alternative,
        lines=judged.lines,
        resampled=options.resampled,
        common=common,
        newcomers=_place_of_newcomers(whole.scores, ensemble, leader, metrics, board, options),
        people=judged.people,
        sides=options.sides,
        private=judged.share,
        before=options.before,
        leaders=judged.leaders,
        ties=options.ties,
        outstanding=outstanding,
    )


def _notes_on_metrics(board: Board, metrics: Sequence[MetricStanding], options: RankingOptions) -> Iterator[str]:
    """Which metric is kept back, whose sign is doubtful, and how judgments were standardised."""
    for name, why in options.disclosure.kept_back.items():
        yield f"{one_line(name)} {why}: the best is told again"
    yield from _doubtful_signs(metrics)
    yield from _how_standardised(board, options.aggregate)


@dataclass(frozen=True, kw_only=True)
class _JudgedHalf:
    """What a ranking says of metrics and ensembles, which rests on the judged rows alone."""

    #: The matrix of these rows, the columns that don't lead included, with the judgments that metrics are measured on.
    everything: JudgedMatrix
    names: tuple[str, ...]
    tests: Floats | None
    metrics: tuple[MetricStanding, ...]
    ensemble: Ensemble | None
    alternative: Ensemble | None
    method: Method
    people: PeopleRanking | None
    lines: tuple[ReferenceLine, ...]
    leaders: Leaders | None
    share: PrivateShare | None
    notes: tuple[str, ...]


def _of_version(board: Board, *ensembles: Ensemble | None) -> tuple[Ensemble | None, ...]:
    """Ensembles that were fitted on the judged rows of an earlier version of the board, as of this version."""
    return tuple(None if each is None else replace(each, board_version=board.version) for each in ensembles)


def _judged_key(board: Board, whole: WholeMatrix, options: RankingOptions) -> str:
    """A digest of everything that the half of a ranking rests on which no unjudged generator changes."""
    rows = whole.measured_rows
    facts = [
        board.version_of(board.rows[k] for k in rows),
        repr([(board.rows[k].is_optimised, bool(whole.judged[k]), k) for k in rows]),
        repr((board.ranks, board.references, board.metrics, board.trust, board.before, board.free_may_rank)),
        repr(options),
    ]
    for column in whole.scores.columns:
        versions = whole.scores.versions(column.name)
        scored = whole.scores.row_names(column.name) if versions is None else [versions[k] for k in rows]
        facts.append(repr((column, scored)))
    return digest(facts)


def _rank_judged(board: Board, store: CellStore | None, whole: WholeMatrix, options: RankingOptions) -> _JudgedHalf:
    """The half of a ranking that rests on the judged rows alone."""
    aggregate, part = options.aggregate, options.part or Slice()
    is_judged = board.ranks is not None or aggregate is not None
    people = rank_by_people(
        board,
        aggregate=aggregate,
        part=part,
        documents=options.resampled == "documents",
        draws=options.draws,
        seed=options.seed,
        sides=options.sides,
        baseline=options.baseline,
    )
    # Before the matrix is there: on a large board each of the two needs much memory for a while.
    lines = reference_lines(board, part, aggregate, options.references, seed=options.seed) if is_judged else ()
    everything = whole.measured()
    matrix = replace(everything, scores=everything.scores.leading())
    measured = measured_on(board, matrix)
    _check_yardstick(board, options, hidden=bool(options.disclosure) or measured.share is not None)
    notes = [note for note in (measured.note,) if note is not None]
    refused = _hardly_varying(measured.matrix, options)
    correlations, tests = _agreement(board, measured.matrix, options)
    probation = _probation(board, matrix, measured, options, correlations)
    notes += map(told_words, probation.notes) if options.disclosure.judgments else probation.notes
    metrics = probation.of(rank_metrics(matrix.scores.columns, correlations, tests, refused, probation.out))
    metrics = stand_within(
        metrics, measured.matrix, agreement_within(board, measured.matrix, options, draws=options.draws)
    )
    metrics = _with_ties(metrics, measured.matrix)
    trusted = _trusted(measured.matrix, metrics)
    hidden = measured.share is not None or bool(options.disclosure)
    options = replace(options, method=family_where_hidden(options.method, hidden=hidden))
    ensemble = _try_ensemble(board, trusted, options, notes)
    taken = options.method if ensemble is None else ensemble.method
    other: Method = "lasso" if taken == "best-subset" else "best-subset"
    alternative = (
        None
        if options.disclosure.judgments
        else _try_ensemble(board, trusted, replace(options, method=other, lam=None), [])
    )
    metrics = (*metrics, *_stand_beside(board, measured_on(board, everything).matrix, options))
    # Before anything is chosen by them: who leads, and in which order, must not say more than the numbers.
    metrics = disclosed_metrics(_with_before(board, store, metrics, options), options.disclosure)
    leading = leaders(metrics, measured.matrix, tests, draws=options.draws, seed=options.seed, sides=options.sides)
    return _JudgedHalf(
        everything=replace(everything, human=measured.matrix.human),
        names=matrix.scores.names,
        tests=tests,
        metrics=metrics,
        ensemble=ensemble,
        alternative=alternative,
        method=options.method,
        people=people,
        lines=disclosed_lines(lines, options.disclosure),
        leaders=disclosed_leaders(leading, metrics, options.disclosure),
        share=measured.share,
        notes=tuple(notes),
    )


def _ranked_rows(
    board: Board,
    scores: BoardColumns,
    part: Slice,
    ensemble: Ensemble | None,
    kept: KeptRows,
    options: RankingOptions,
) -> RankedRows:
    """The columns that generators have values under, the ensemble's among them."""
    columns = {column.name: _ranked_column(scores, column.name) for column in scores.columns}
    if ensemble is not None:
        columns[ENSEMBLE] = _ensemble_column(board, scores, part, ensemble, columns)
    instances = len(board.instances) if scores.instances is None else len(scores.instances)
    return RankedRows(
        kept=kept, columns=columns, count=len(board.rows), instances=instances, draws=options.draws, seed=options.seed
    )


def _ranked_column(scores: BoardColumns, name: str) -> RankedColumn:
    versions, key = scores.versions(name), scores.key(name)
    nothing: tuple[str | None, ...] = (None,) * len(scores.rows)
    return RankedColumn(
        name=name,
        identity=None if versions is None or key is None else (key.column.signature, key.context, scores.instances),
        versions=nothing if versions is None else versions,
        read=partial(scores.read, name),
    )


def _ensemble_column(
    board: Board, scores: BoardColumns, part: Slice, ensemble: Ensemble, columns: Mapping[str, RankedColumn]
) -> RankedColumn:
    """The ensemble as a column; of a small one single rows can be worked out."""
    inputs = [columns[name] for name in ensemble_inputs(ensemble, scores)]
    if not ensemble.is_small:
        values = ensemble_scores(ensemble, scores, board, part)
        nothing = (None,) * len(board.rows)
        return RankedColumn(name=ENSEMBLE, identity=None, versions=nothing, read=lambda rows: values[list(rows)])
    numbers = repr((ensemble.weights, ensemble.centres, ensemble.scales, ensemble.intercept))
    identities = tuple(column.identity for column in inputs)
    return RankedColumn(
        name=ENSEMBLE,
        identity=None if None in identities else (ENSEMBLE, numbers, identities),
        versions=[
            row.version if all(column.versions[k] is not None for column in inputs) else None
            for k, row in enumerate(board.rows)
        ],
        read=lambda rows: combine(ensemble, {column.name: column.read(rows) for column in inputs}),
    )


def _corpus_columns(board: Board, store: CellStore | None, scores: BoardColumns) -> dict[str, ColumnKey]:
    """The columns whose values come from all outputs together, with where their cells are kept."""
    keys = {} if store is None else {name: scores.key(name) for name in scores.names}
    return {name: key for name, key in keys.items() if key is not None and has_corpus_value(board, key)}


@dataclass(frozen=True, kw_only=True)
class RankedMetrics:
    """The metrics of a board as a ranking has them, what they were measured on, and the p of every two columns."""

    metrics: tuple[MetricStanding, ...]
    matrix: JudgedMatrix
    correlations: Correlations
    tests: Floats | None


def rank_only_metrics(board: Board, store: CellStore | None, options: RankingOptions) -> RankedMetrics:
    """What `rank_board` says of metrics, without generators and ensembles."""
    everything = judged_matrix(
        board, store, aggregate=options.aggregate, references=options.references, part=options.part, beside=True
    )
    matrix = replace(everything, scores=everything.scores.leading())
    measured = measured_on(board, matrix)
    _check_yardstick(board, options, hidden=bool(options.disclosure) or measured.share is not None)
    refused = _hardly_varying(measured.matrix, options)
    correlations, tests = _agreement(board, measured.matrix, options)
    probation = _probation(board, matrix, measured, options, correlations)
    metrics = probation.of(rank_metrics(matrix.scores.columns, correlations, tests, refused, probation.out))
    return RankedMetrics(metrics=metrics, matrix=measured.matrix, correlations=correlations, tests=tests)


def _check_yardstick(board: Board, options: RankingOptions, *, hidden: bool) -> None:
    """Refuse other statistics where they could tell of hidden judgments, or draw what they can't."""
    if options.yardstick == PEARSON and options.ties == "wrong":
        return
    if hidden:
        raise InvalidInput(
            f"{board.name} keeps judgments hidden: its metrics are ranked by pooled Pearson alone, so that nobody can "
            "put what several statistics say together"
        )
    if options.resampled != "instances" and options.yardstick != PEARSON:
        raise InvalidInput(
            f"intervals of {options.yardstick.words} come from drawing instances again, not {options.resampled}"
        )


def _tests_by_name(names: Sequence[str], tests: Floats | None) -> dict[tuple[str, str], float]:
    """P-values by the names of two metrics."""
    if tests is None:
        return {}
    places = range(len(names))
    return {(names[a], names[b]): float(tests[a, b]) for a in places for b in places}


def _without_place(board: Board, options: RankingOptions) -> dict[str, str]:
    """Generators without a rank, each with the reason: who asks may add some to those that the owner bars."""
    names = {row.name for row in board.rows if row.generator is not None}
    return {**options.out, **{name: why for name, why in board.trust.barred.items() if name in names}}


@dataclass(frozen=True, kw_only=True)
class _Probation:
    """What speaks against each metric, by its column's name, and its agreement on the public judgments."""

    by_name: Mapping[str, Mapping[str, Any]]
    #: Positions of the columns that don't count.
    out: frozenset[int]
    notes: tuple[str, ...] = ()

    def of(self, standings: Iterable[MetricStanding]) -> tuple[MetricStanding, ...]:
        return tuple(replace(standing, **self.by_name[standing.name]) for standing in standings)


def _probation(
    board: Board,
    matrix: JudgedMatrix,
    measured: Measured,
    options: RankingOptions,
    correlations: Correlations,
) -> _Probation:
    # People's own agreement is a pooled Pearson: other statistics have nothing to do with it.
    is_plain = matrix.aggregate and matrix.scores.columns and options.yardstick == PEARSON
    people = peoples_agreement(board, matrix.part, matrix.aggregate, matrix.references) if is_plain else None
    alarm = alarms(correlations, people)
    shares = None if measured.share is None else exposure(board, matrix, seed=options.seed)
    public = None if measured.public is None else _agreement(board, measured.public, replace(options, draws=0))[0]
    rules, by_name, out = board.trust, {}, set()
    for k, column in enumerate(matrix.scores.columns):
        name = column.name
        against = (
            rules.barred.get(name),
            options.flagged.get(name),
            None if column.is_statistic else alarm.flags.get(k),
            exposed(shares, k),
        )
        flags = tuple(flag for flag in against if flag is not None)
        out |= set() if rules.counts(name, flags) else {k}
        by_name[name] = {
            "flags": (*flags, *filter(None, [options.marked.get(name), alarm.marks.get(k)])),
            "counts": k not in out,
            "public": None if public is None else finite(float(public.r[k])),
            "public_n": 0 if public is None else int(public.n[k]),
            "exposure": None if shares is None else finite(float(shares.corrected[k])),
        }
    return _Probation(by_name=by_name, out=frozenset(out), notes=() if alarm.note is None else (alarm.note,))


def _with_ties(metrics: Sequence[MetricStanding], matrix: JudgedMatrix) -> tuple[MetricStanding, ...]:
    """Metrics with the share of pairs that they tie, where people compared outputs."""
    if matrix.pairs is None:
        return tuple(metrics)
    decided = matrix.pairs.decided
    shares = tied_shares(matrix.scores.values, decided.better, decided.worse, decided.instance)
    by_name = {name: finite(float(share)) for name, share in zip(matrix.scores.names, shares, strict=True)}
    return tuple(replace(standing, tied=by_name.get(standing.name)) for standing in metrics)


def _trusted(matrix: JudgedMatrix, metrics: Sequence[MetricStanding]) -> JudgedMatrix:
    """The columns of metrics that may join an ensemble as far as nothing speaks against them."""
    out = {m.name for m in metrics if not m.counts}
    keep = [k for k, column in enumerate(matrix.scores.columns) if column.name not in out]
    return matrix if len(keep) == len(matrix.scores.columns) else replace(matrix, scores=matrix.scores.select(keep))


def _with_before(
    board: Board, store: CellStore | None, metrics: Sequence[MetricStanding], options: RankingOptions
) -> tuple[MetricStanding, ...]:
    """Metrics with their agreement with earlier judgments, where somebody asks for it."""
    if options.before is None:
        return tuple(metrics)
    matrix = whole_matrix(
        board, store, aggregate=options.before, references=options.references, part=options.part
    ).measured()
    correlations, _ = _agreement(board, matrix, replace(options, draws=0))
    correlations = _without_refused(matrix.scores.columns, correlations, _hardly_varying(matrix, options))
    place = {column.name: k for k, column in enumerate(matrix.scores.columns)}
    return tuple(
        replace(m, before=finite(float(correlations.r[place[m.name]])), before_n=int(correlations.n[place[m.name]]))
        for m in metrics
    )


def _with_corpus_values(
    board: Board,
    store: CellStore | None,
    matrix: WholeMatrix,
    ranked: RankedRows,
    own: Mapping[str, ColumnKey],
    generators: Sequence[GeneratorStanding],
) -> tuple[tuple[GeneratorStanding, ...], Mapping[str, str]]:
    """Generators with their corpus values and intervals, and the signatures of the former by metric.

    own: the metrics that are defined on a corpus.
    """
    instances = list(board.select(matrix.part)) if matrix.part else None
    columns = (
        ()
        if store is None
        else corpus_values(
            board,
            store,
            list(own.values()),
            instances=instances,
            draws=ranked.draws,
            kept=lambda key: ranked.kept.table(
                ("corpus", key.column.signature, key.context, repr(instances), ranked.draws)
            ),
        )
    )
    corpus: dict[str, dict[str, float]] = {}
    intervals: dict[str, dict[str, Interval]] = {}
    signatures = {}
    for name, column in zip(own, columns, strict=True):
        if column.signature is not None:
            signatures[name] = column.signature
        for row, value in column.values.items():
            corpus.setdefault(row, {})[name] = value.value
            if math.isfinite(value.low):
                intervals.setdefault(row, {})[name] = (value.low, value.high)
    lower = {column.name for column in matrix.scores.columns if not column.higher_is_better}
    for name in ranked.columns if ranked.draws else ():
        if name in signatures:
            continue
        of_rows = ranked.intervals(name)
        turned = -of_rows[:, ::-1] if name in lower else of_rows
        for row, (low, high) in zip(matrix.scores.rows, turned.tolist(), strict=True):
            if not math.isnan(low):
                intervals.setdefault(row, {}).setdefault(name, (low, high))
    valued = tuple(
        replace(g, corpus=corpus.get(g.name, {}), interval={**intervals.get(g.name, {}), **g.interval})
        for g in generators
    )
    return valued, signatures


def _how_standardised(board: Board, aggregate: str | None) -> tuple[str, ...]:
    """What to know of the judgments where they are z-scores."""
    if board.ranks is None and aggregate is None:
        return ()
    return tuple(standardisation_notes(board.judgments, board.aggregate(aggregate), board.dimensions))


def _doubtful_signs(metrics: Sequence[MetricStanding]) -> tuple[str, ...]:
    """Whether lower is better, asked of metrics that clearly disagree with people and that nobody said it of."""
    notes = []
    for m in metrics:
        clearly = m.interval[1] < 0 if m.interval is not None else (m.correlation or 0.0) < CLEARLY_NEGATIVE
        if m.correlation is not None and clearly and m.higher_is_better and not m.is_statistic and m.beside is None:
            how = _how_to_turn(m)
            r = value_text(m.correlation, 3)
            notes.append(f"{one_line(m.name)} {CORRELATES} {r}: is a lower score better? If so, {how}")
    return tuple(notes)


def _how_to_turn(metric: MetricStanding) -> str:
    """What tells a board that lower scores of a metric are better."""
    if metric.scores_only:
        return "submit its scores again and say so (--lower-is-better)"
    if metric.origin == "imported":
        return f"write higher_is_better = false under [scores.{metric.source_name}] in board.toml"
    return "declare it (HIGHER_IS_BETTER = False in a file, higher_is_better=False in Python)"


def _stand_beside(board: Board, matrix: JudgedMatrix, options: RankingOptions) -> tuple[MetricStanding, ...]:
    """Columns that don't lead under their metric's name: how far they agree with people, and no rank."""
    places = [k for k, column in enumerate(matrix.scores.columns) if column.beside is not None]
    if not places:
        return ()
    chosen = replace(matrix, scores=matrix.scores.select(places))
    correlations, _ = _agreement(board, chosen, replace(options, draws=0))
    standings = rank_metrics(chosen.scores.columns, correlations, refused=_hardly_varying(chosen, options))
    standings = stand_within(standings, chosen, agreement_within(board, chosen, options, draws=0))
    return tuple(
        replace(m, rank=None, cluster=None, reason=m.reason or f"{m.beside} leads under this name") for m in standings
    )


def _rank_everyone(
    board: Board,
    matrix: WholeMatrix,
    judged: JudgedMatrix,
    metrics: Sequence[MetricStanding],
    generators: Sequence[GeneratorStanding],
    leader: Leader,
    kept: KeptRows,
    options: RankingOptions,
) -> CommonRanking | None:
    """The ranking of all whose outputs are complete, where what leads can't score some of them; None where it can."""
    ranked = {standing.name for standing in generators if standing.rank is not None}
    takes_part = rows_ranked(board, matrix.references)
    rows = [
        k
        for k, row in enumerate(board.rows)
        if takes_part[k] and row.generator is not None and row.name not in options.out
    ]
    behind = [k for k in rows if board.rows[k].name not in ranked]
    if leader.name is None or not behind:
        return None
    # Texts are read only of those that have no place: whoever left outputs out can't be compared.
    instances = instances_in(board, matrix.part)
    written = {k: sum(board.rows[k].texts[i] is not None for i in instances) for k in behind}
    scores = matrix.scores
    values = _ranked_rows(board, scores, matrix.part, None, kept, options)
    finite = [values.means(name).finite for name in scores.names]
    most = max(*(int(counts[rows].max(initial=0)) for counts in finite), *written.values(), 0)
    everyone = [k for k in rows if written.get(k, most) == most]
    unscored = tuple(board.rows[k].name for k in everyone if k in written)
    if not unscored:
        return None
    full = [counts[everyone] for counts in finite]
    able = [k for k in range(len(scores.columns)) if (full[k] == full[k].max()).all() and full[k].max() > 0]
    out = {m.name for m in metrics if not m.counts}
    able = [k for k in able if scores.columns[k].name not in out]
    names = {scores.columns[k].name for k in able}
    # Where own scores differ from released ones, theirs is the name here only if the released ones don't score all.
    able = [k for k in able if scores.columns[k].beside not in names]
    columns = tuple(replace(scores.columns[k], beside=None) for k in able)
    of_all = replace(matrix, scores=replace(scores.select(able), columns=columns))
    measured = replace(judged, scores=replace(judged.scores.select(able), columns=columns))
    # A small one: what takes gaps has scored everyone already.
    method = options.method if options.method in SMALL else "lasso"
    ensemble = _try_ensemble(board, measured, replace(options, lam=None, method=method), [])
    standings = [replace(m, beside=None) for m in metrics if m.name in of_all.scores.names]
    best = choose_leader(board, standings, ensemble, replace(options, by=None))
    if best.name is None:
        return None
    by_all = _ranked_rows(board, of_all.scores, matrix.part, ensemble, kept, options)
    placed = rank_generators(board, of_all, by_all, best.name, options.sides, options.out)
    placed = disclosed_generators(placed, ensemble, options.disclosure)
    alone = next((m for m in standings if m.name == best.name), None)
    return CommonRanking(
        ranked_by=best.name,
        correlation=alone.correlation if alone is not None else ensemble.correlation if ensemble is not None else None,
        n=alone.n if alone is not None else ensemble.n if ensemble is not None else 0,
        unscored=unscored,
        generators=tuple(
            CommonStanding(name=g.name, kind=g.kind, rank=g.rank, score=g.scores.get(best.name), cluster=g.cluster)
            for g in placed
            if g.rank is not None
        ),
        ensemble=ensemble if best.name == ENSEMBLE else None,
    )


def _place_of_newcomers(
    scores: BoardColumns,
    ensemble: Ensemble | None,
    leader: Leader,
    metrics: Sequence[MetricStanding],
    board: Board,
    options: RankingOptions,
) -> Literal["leader", "common"] | None:
    """Which ranking has a place for a new generator, whose scores must be computed here."""
    if leader.name is None:
        return None
    leading = ensemble.inputs if leader.name == ENSEMBLE and ensemble is not None else (leader.name,)
    takes_gaps = leader.name == ENSEMBLE and ensemble is not None and not ensemble.is_small
    needed = math.ceil(FEWEST_PRESENT * len(leading)) if takes_gaps else len(leading)
    # Nobody has judged a newcomer: until people do, only the common ranking can have its place.
    if leader.name != PEOPLE and sum(scores.key(name) is not None for name in leading) >= needed:
        return "leader"
    # What the board names can be computed, also where it is not yet.
    own = [
        replace(m, beside=None)
        for m in metrics
        if m.correlation is not None and (scores.key(m.name) is not None or m.name in board.metrics)
    ]
    return "common" if any(why_not_leading(m, board, options) is None for m in own) else None


def _place_generators(
    board: Board,
    matrix: WholeMatrix,
    ranked: RankedRows,
    people: PeopleRanking | None,
    leader: Leader,
    options: RankingOptions,
) -> tuple[GeneratorStanding, ...]:
    """Generators by what leads: a metric, the ensemble, or people."""
    if leader.name != PEOPLE or people is None:
        return rank_generators(board, matrix, ranked, leader.name, options.sides, options.out)
    standings = rank_generators(board, matrix, ranked, None, out=options.out)
    judged = people.overall.standings
    placed = {g.name: g if g.name in options.out else _by_people(g, judged.get(g.name)) for g in standings}
    order = [name for name, standing in judged.items() if standing.rank is not None and name not in options.out]
    return (*(placed[name] for name in order), *(g for g in placed.values() if g.rank is None))


def _by_people(standing: GeneratorStanding, judged: PeopleStanding | None) -> GeneratorStanding:
    if judged is None:
        return replace(standing, reason=standing.reason or NOT_JUDGED)
    own = {} if judged.interval is None else {PEOPLE: judged.interval}
    return replace(standing, rank=judged.rank, cluster=judged.cluster, interval={**standing.interval, **own})


def _agreement(board: Board, matrix: JudgedMatrix, options: RankingOptions) -> tuple[Correlations, Floats | None]:
    """How far each metric agrees with people, by the statistic that fits what they gave, and tests between metrics."""
    scores, draws, seed = matrix.scores.values, options.draws, options.seed
    if matrix.pairs is not None:
        return agreement_with_preferences(
            board,
            matrix.part,
            scores,
            matrix.pairs,
            resampled=options.resampled,
            draws=draws,
            seed=seed,
            sides=options.sides,
            ties=options.ties,
        )
    human = matrix.judged_human
    if options.yardstick != PEARSON:
        agreed = agreements(scores, human, options.yardstick, draws=draws, seed=seed)
        low, high = (
            np.array([agreed.interval(k) or (np.nan, np.nan) for k in range(len(scores))], np.float64).reshape(-1, 2).T
        )
        correlations = Correlations(agreed.value, agreed.n, low, high)
        if not draws:
            return correlations, None
        return correlations, compare_by(scores, human, options.yardstick, draws=draws, seed=seed, sides=options.sides).p
    correlations = correlations_with_intervals(
        board, matrix.part, scores, human, resampled=options.resampled, draws=draws, seed=seed
    )
    if not draws:
        return correlations, None
    return correlations, permute_correlations(scores, human, draws=draws, seed=seed, sides=options.sides).p


def _with_shares(matrix: WholeMatrix) -> WholeMatrix:
    """A matrix that shows, where people compared outputs, the share of its comparisons that each output won."""
    return matrix if matrix.pairs is None else replace(matrix, human=matrix.pairs.share_won(matrix.human.shape))


def _try_ensemble(board: Board, matrix: JudgedMatrix, options: RankingOptions, notes: list[str]) -> Ensemble | None:
    if options.yardstick != PEARSON:
        notes.append(f"no ensemble: they are fitted for pooled Pearson, not for {options.yardstick.words}")
        return None
    kept_back = {**_hardly_varying(matrix, options), **options.disclosure.kept_back}
    if kept_back:
        places = [k for k, column in enumerate(matrix.scores.columns) if column.name not in kept_back]
        matrix = replace(matrix, scores=matrix.scores.select(places))
    try:
        fitted = fit_view(board, matrix, k=options.k, lam=options.lam, method=options.method).ensemble
        if kept_back:
            fitted = replace(fitted, left_out={**fitted.left_out, **kept_back})
        return disclosed_ensemble(fitted, options.disclosure)
    except NotEnoughData as error:
        notes.append(f"no ensemble: {error}")
        return None


# Who ranks a board. A metric may lead unless one of these stands against it; the first that does is the reason given.


def _is_statistic(metric: MetricStanding, _: Board, __: RankingOptions) -> str | None:
    return "is a statistic of the text, not a judgment of its quality" if metric.is_statistic else None


def _is_flagged(metric: MetricStanding, _: Board, __: RankingOptions) -> str | None:
    return None if metric.counts else ON_PROBATION


def _is_barred(metric: MetricStanding, _: Board, options: RankingOptions) -> str | None:
    return options.barred.get(metric.name)


def _stands_beside(metric: MetricStanding, _: Board, __: RankingOptions) -> str | None:
    return None if metric.beside is None else f"holds other scores of {metric.beside}, which leads under this name"


def _is_scores_only(metric: MetricStanding, _: Board, __: RankingOptions) -> str | None:
    return "comes as scores only, so it can't score generators that come later" if metric.scores_only else None


def _is_called_people(metric: MetricStanding, _: Board, __: RankingOptions) -> str | None:
    return "bears the name that stands for people; rename it" if metric.name == PEOPLE else None


def _uses_no_reference(metric: MetricStanding, board: Board, _: RankingOptions) -> str | None:
    return "uses no reference" if metric.reference_free and not board.free_may_rank else None


#: What keeps a metric from ranking generators alone, by name; asking for it by name overrides all of them.
AGAINST_LEADING: Mapping[str, Callable[[MetricStanding, Board, RankingOptions], str | None]] = {
    "statistic": _is_statistic,
    "flagged": _is_flagged,
    "barred": _is_barred,
    "beside": _stands_beside,
    "scores-only": _is_scores_only,
    "people": _is_called_people,
    "reference-free": _uses_no_reference,
}


@dataclass(frozen=True, kw_only=True)
class Leader:
    """What ranks the generators, and what should be said of that."""

    name: str | None
    notes: tuple[str, ...] = ()


def _chosen_leader(
    board: Board,
    metrics: Sequence[MetricStanding],
    ensemble: Ensemble | None,
    options: RankingOptions,
    people: PeopleRanking | None,
    owners: str | None,
) -> Leader:
    """What leads; the board's own choice where nobody asks for another, unless that can't be had."""
    if options.by is not None or owners is None:
        return choose_leader(board, metrics, ensemble, options, people)
    try:
        return choose_leader(board, metrics, ensemble, replace(options, by=owners), people)
    except InvalidInput as error:
        leader = choose_leader(board, metrics, ensemble, options, people)
        return replace(leader, notes=(*leader.notes, f"not ranked by {board.by}, as the board asks: {error}"))


def choose_leader(
    board: Board,
    metrics: Sequence[MetricStanding],
    ensemble: Ensemble | None,
    options: RankingOptions,
    people: PeopleRanking | None = None,
) -> Leader:
    """What was asked for; else the ensemble where it agrees better than any metric that may lead; else the best one."""
    if options.by is not None:
        return Leader(name=_asked_for(options.by, metrics, ensemble, people))
    measured = [m for m in metrics if m.correlation is not None and not m.is_statistic]
    measured.sort(key=_correlation, reverse=True)
    able = [m for m in measured if why_not_leading(m, board, options) is None]
    best = able[0] if able else None
    notes = _passed_over(measured, best, board, options)
    if ensemble is not None and ensemble.correlation is not None and ensemble.correlation > _correlation(best):
        return Leader(name=ENSEMBLE, notes=notes)
    if best is None:
        none = "generators are not ranked: no metric has a correlation with judgments; choose one with --by"
        return Leader(name=None, notes=(*notes, none))
    if best.reference_free:
        why = "the board has none" if not board.references else "the board's owner allows it"
        notes = (*notes, f"{best.name} uses no reference and ranks the generators: {why}")
    return Leader(name=best.name, notes=notes)


def why_not_leading(metric: MetricStanding, board: Board, options: RankingOptions) -> str | None:
    """The first reason why a metric may not rank generators alone; None where it may."""
    reasons = (stands_against(metric, board, options) for stands_against in AGAINST_LEADING.values())
    return next((reason for reason in reasons if reason is not None), None)


def _asked_for(
    by: str, metrics: Sequence[MetricStanding], ensemble: Ensemble | None, people: PeopleRanking | None
) -> str:
    """What somebody means by a name; `people` is people, whatever a metric is called."""
    if by == PEOPLE:
        if people is None:
            raise NotEnoughData("generators can't be ranked by people: nobody judged any of them; choose a metric")
        return PEOPLE
    if by == ENSEMBLE and ensemble is not None:
        return by
    for metric in metrics:
        if by in (metric.name, metric.source_name):
            return metric.name
    names = [metric.name for metric in metrics if metric.name != PEOPLE]
    raise UnknownName("metric", by, [*names, *((PEOPLE,) if people is not None else ())])


def _passed_over(
    measured: Sequence[MetricStanding], best: MetricStanding | None, board: Board, options: RankingOptions
) -> tuple[str, ...]:
    """That a metric agrees better than the one that leads, and why it does not lead."""
    for metric in measured if best is not None else ():
        why = why_not_leading(metric, board, options)
        if why is not None and _correlation(metric) > _correlation(best):
            return (f"{metric.name} {why}: {NOT_ALONE}",)
    return ()


def _correlation(metric: MetricStanding | None) -> float:
    return -math.inf if metric is None or metric.correlation is None else metric.correlation


def metric_table(ranking: Ranking) -> Table:
    """Metrics by their correlation with people, the ensemble in a note because it is no metric among others."""
    notes, ranking = MarkNotes(), ranking.shown
    rows = tuple(_metric_row(standing, notes) for standing in ranking.metrics)
    columns = (
        TableColumn("rank", "#", kind="rank"),
        TableColumn("name", "metric", "left", kind="name"),
        TableColumn("correlation", "correlation", digits=3, better="higher"),
        TableColumn("interval", "95% interval", digits=3, kind="interval", priority=1),
        TableColumn("within", "within items", digits=3, visible=_any(rows, "within"), better="higher"),
        TableColumn(
            "within_interval",
            "95% interval",
            digits=3,
            kind="interval",
            priority=2,
            visible=_any(rows, "within_interval"),
        ),
        TableColumn("within_n", "pairs within items", visible=False),
        TableColumn("public", "on public ones", digits=3, priority=1, visible=ranking.private is not None),
        TableColumn("exposure", "p", kind="p", priority=2, visible=_any(rows, "exposure")),
        TableColumn("before", "before", digits=3, priority=1, visible=ranking.before is not None),
        TableColumn("drop", "drop", digits=3, priority=1, visible=ranking.before is not None),
        TableColumn("n", "n", priority=3, paper=False),
        TableColumn("tied", "pairs tied", digits=3, priority=3, visible=_any(rows, "tied")),
        TableColumn("references", "references", "left", priority=4, paper=False),
        TableColumn("reference_free", "reference-free", visible=False),
        TableColumn("is_statistic", "statistic", visible=False),
        TableColumn("higher_is_better", "higher is better", visible=False),
        TableColumn("scores_only", "scores only", visible=False),
        TableColumn("origin", "scores", "left", priority=5, paper=False),
        TableColumn("source_name", "source name", "left", visible=False),
        TableColumn("reason", "why not", "left", visible=False),
        TableColumn("flags", "against it", "left", visible=False),
        TableColumn("cluster", "cluster", priority=6, visible=_any(rows, "cluster"), paper=False),
        TableColumn("signature", "signature", "left", priority=7, paper=False),
        TableColumn("completed", "completed here", visible=False),
    )
    people = (
        f"{_kind(ranking)} with people ({ranking.aggregate})"
        if ranking.aggregate
        else " correlation, without judgments"
    )
    title = f"{ranking.board}: metrics by {statistic_name(ranking)}{people}"
    why_not = reason_notes("No rank for", {m.name: m.reason for m in ranking.metrics if m.beside is None})
    remarks = (
        *_pairs_note(ranking),
        *within_notes(ranking),
        *_ensemble_note(ranking),
        *_completed_notes(ranking),
        *_cluster_note(ranking, ranking.metrics),
        *share_notes(ranking),
        *flag_notes(ranking),
        *why_not,
        *notes.texts(),
        *part_note(ranking.part),
    )
    asides = {*within_notes(ranking), *_ensemble_note(ranking), *_completed_notes(ranking), *share_notes(ranking)}
    return Table(
        title,
        columns,
        rows,
        (*remarks, *_baseline_note(ranking, metrics=True)),
        "metrics",
        asides=tuple(note for note in remarks if note in asides),
        block="cluster",
        notes_of=dict.fromkeys(_cluster_note(ranking, ranking.metrics), "rank"),
        **_metrics_standing_out(ranking),
    )


def _metrics_standing_out(ranking: Ranking) -> dict[str, Any]:
    """Which metrics are best, or not significantly worse, and which differ from the baseline."""
    outstanding = ranking.outstanding
    if outstanding is None:
        return {}
    names = [m.name for m in ranking.metrics]
    own = {m.name: m.correlation for m in ranking.metrics if m.beside is None}
    return {
        "best": {"correlation": frozenset(names.index(name) for name in outstanding.metrics if name in names)},
        "best_note": _bold_note(ranking, metrics=True),
        "marks": {"correlation": _signs(names, own, outstanding.p_metrics, own.get(outstanding.baseline or ""))},
    }


def _bold_note(ranking: Ranking, *, metrics: bool) -> str:
    tests = _tests_of_columns(ranking, metrics=metrics)
    return f"Bold: the best of a column, and all not significantly worse ({tests})."


def _tests_of_columns(ranking: Ranking, *, metrics: bool) -> str:
    randomised = not metrics and ranking.outstanding is not None and ranking.outstanding.corpus
    swapped = "; of corpus values: approximate randomisation" if randomised else ""
    return f"paired permutation tests, {sided(ranking.sides)}, p ≤ .05, {ranking.draws:,} draws{swapped}"


def _baseline_note(ranking: Ranking, *, metrics: bool) -> tuple[str, ...]:
    """What the signs mean, where there is a baseline among these entries."""
    outstanding = ranking.outstanding
    entries = ranking.metrics if metrics else ranking.generators
    if outstanding is None or outstanding.baseline not in {entry.name for entry in entries}:
        return ()
    tests = _tests_of_columns(ranking, metrics=metrics)
    name = one_line(outstanding.baseline or "")
    return (f"{BETTER}, {WORSE}: significantly better or worse than {name} ({tests}).",)


def _signs(
    names: Sequence[str], values: Mapping[str, float | None], p: Mapping[str, float], base: float | None
) -> dict[int, str]:
    """A sign behind each value that differs significantly from the baseline's; higher is better."""
    signs = {}
    for k, name in enumerate(names):
        value = values.get(name)
        if value is not None and base is not None and value != base and p.get(name, 1.0) <= LEVEL:
            signs[k] = BETTER if value > base else WORSE
    return signs


#: What stands behind a value that is significantly better or worse than the baseline's.
BETTER, WORSE = "+", "−"


def generator_table(ranking: Ranking, human: bool = True) -> Table:
    """Generators by the metric that leads, with every other metric's mean behind it, best metric first."""
    notes, ranking = MarkNotes(), ranking.shown
    names = _score_names(ranking)
    rows = tuple(
        {**_generator_row(standing, names, ranking.ranked_by, notes), **_people_cells(ranking, standing.name)}
        for standing in ranking.generators
    )
    people = f"people ({ranking.aggregate})" if ranking.aggregate else "people"
    judged = (
        TableColumn(
            "human", people, digits=column_digits(rows, "human"), visible=bool(ranking.aggregate), better="higher"
        ),
        *_people_columns(ranking, rows),
        TableColumn("judged", "judged", priority=4, visible=bool(ranking.aggregate), paper=False),
    )
    columns = (
        TableColumn("rank", "#", kind="rank"),
        TableColumn("name", "generator", "left", kind="name"),
        TableColumn("kind", "kind", "left", visible=False),
        TableColumn("cluster", "cluster", visible=False),
        *_score_columns(ranking, rows, notes),
        TableColumn("reason", "why not", "left", visible=False),
    )
    if human:
        place = 6 if ranking.ranked_by in _score_names(ranking) else 4
        columns = (*columns[:place], *judged, *columns[place:])
    title = f"{ranking.board}: generators by {leader_name(ranking) or 'no metric yet'}"
    placed = () if ranking.common is None else ranking.common.unscored
    reasons = {
        g.name: f"{g.reason}; the common ranking has a place for it" if g.name in placed else g.reason
        for g in ranking.generators
    }
    why_not = reason_notes("No rank for", reasons)
    won = (*_won_note(ranking), *people_notes(ranking)) if human else ()
    remarks = (
        *won,
        *((newcomer_words(ranking),) if ranking.newcomers != "leader" and ranking.ranked_by is not None else ()),
        *_corpus_note(ranking),
        *(_cluster_note(ranking, ranking.generators) if ranking.ranked_by != PEOPLE else ()),
        *why_not,
        *_coverage_notes(ranking),
        *doubt_notes(ranking),
        *notes.texts(),
        *part_note(ranking.part),
    )
    asides = {*people_notes(ranking), *_corpus_note(ranking), *_coverage_notes(ranking), *why_not}
    asides.add(newcomer_words(ranking))
    return Table(
        title,
        columns,
        rows,
        (*remarks, *_baseline_note(ranking, metrics=False)),
        "generators",
        asides=tuple(note for note in remarks if note in asides),
        block="cluster",
        notes_of=dict.fromkeys(_cluster_note(ranking, ranking.generators), "rank"),
        **_generators_standing_out(ranking, human=human),
    )


def _generators_standing_out(ranking: Ranking, *, human: bool) -> dict[str, Any]:
    """Which generators are best in each column, or not significantly worse, and which differ from the baseline."""
    outstanding = ranking.outstanding
    if outstanding is None:
        return {}
    names = [g.name for g in ranking.generators]
    base = next((g for g in ranking.generators if g.name == outstanding.baseline), None)
    statistics = {m.name for m in ranking.metrics if m.is_statistic}
    quality = ((column, leading) for column, leading in outstanding.generators.items() if column not in statistics)
    best = {_score_key(column): leading for column, leading in quality}
    best |= {_corpus_key(column): leading for column, leading in outstanding.corpus.items()}
    marks: dict[str, dict[int, str]] = {}
    if base is not None:
        for column, p in outstanding.p_generators.items():
            if column in statistics:
                continue
            scores = {g.name: ranking.oriented(column, g.scores.get(column)) for g in ranking.generators}
            marks[_score_key(column)] = _signs(names, scores, p, scores[base.name])
        for column, p in outstanding.p_corpus.items():
            values = {g.name: ranking.oriented(column, g.corpus.get(column)) for g in ranking.generators}
            marks[_corpus_key(column)] = _signs(names, values, p, values[base.name])
    if human and ranking.people is not None:
        people = {"human": ranking.people.overall, **{f"human:{c.name}": c for c in ranking.people.dimensions}}
        for key, judged in people.items():
            best[key] = tuple(standing.name for standing in judged.generators if standing.best)
            if base is not None:
                means = {standing.name: standing.mean for standing in judged.generators}
                p = {s.name: s.p_baseline for s in judged.generators if s.p_baseline is not None}
                marks[key] = _signs(names, means, p, means.get(base.name))
    return {
        "best": {key: frozenset(names.index(n) for n in leading if n in names) for key, leading in best.items()},
        "best_note": _bold_note(ranking, metrics=False),
        "marks": {key: signs for key, signs in marks.items() if signs},
    }


def common_table(ranking: Ranking, common: CommonRanking) -> Table:
    """All generators, by what scores every one of them."""
    rows = tuple(
        {"rank": g.rank, "name": g.name, "kind": g.kind, "score": finite(g.score), "cluster": g.cluster}
        for g in common.generators
    )
    columns = (
        TableColumn("rank", "#", kind="rank"),
        TableColumn("name", "generator", "left", kind="name"),
        TableColumn("kind", "kind", "left", visible=False),
        TableColumn("score", _head(ranking, common.ranked_by), digits=column_digits(rows, "score")),
        TableColumn("cluster", "cluster", visible=False),
    )
    name = "the common ensemble" if common.ensemble is not None else one_line(common.ranked_by)
    title = f"{ranking.board}: all generators by {name}"
    made_of = "" if common.ensemble is None else f" ({common.ensemble.formula})"
    notes = (
        f"{_cannot(ranking)} {listed(list(map(one_line, common.unscored)))}; "
        f"{name}{made_of} scores everyone. Its correlation with people is {value_text(common.correlation, 3)} "
        f"(n = {common.n:,}).",
    )
    return Table(title, columns, rows, (*notes, *part_note(ranking.part)), "common")


def newcomer_words(ranking: Ranking) -> str:
    """Which ranking has a place for a new generator, said before anybody sends one in."""
    if ranking.ranked_by is None:
        return "Generators are not ranked yet, so a new one has no place either."
    leads = one_line(ranking.ranked_by)
    if ranking.ranked_by == PEOPLE:
        common = "it gets its place in the common ranking" if ranking.newcomers == "common" else "it has no place"
        return f"Generators are ranked by people: until they have judged a new one, {common}."
    if ranking.newcomers == "leader":
        return f"A new generator is ranked with the others, by {leads}."
    if ranking.newcomers == "common":
        return (
            f"{leads} can't be computed here for new outputs: a new generator gets its place in the common ranking, by "
            "the best metric or ensemble that scores everyone. Scores that were computed elsewhere can be added."
        )
    return (
        f"{leads} can't be computed here for new outputs, and neither can any other metric that may rank: a new "
        "generator has no place until scores are added."
    )


def _cannot(ranking: Ranking) -> str:
    """Why what leads places only some."""
    return "People did not judge" if ranking.ranked_by == PEOPLE else f"{one_line(ranking.ranked_by or '')} can't score"


def lines_table(ranking: Ranking) -> Table:
    """What is no metric, measured like one: sentinels that see too little to judge, and annotators held out."""
    columns = (
        TableColumn("name", "reference line", align="left"),
        TableColumn("kind", "kind", align="left"),
        TableColumn("correlation", "correlation", digits=3),
        TableColumn("within", "within items", digits=3, visible=any(line.within is not None for line in ranking.lines)),
        TableColumn("n", "n"),
        TableColumn("summary", "what it is", align="left", priority=2),
    )
    rows = tuple(
        {
            "name": line.name,
            "kind": line.kind,
            "correlation": finite(line.correlation),
            "within": finite(line.within),
            "n": line.n,
            "summary": line.summary,
        }
        for line in ranking.lines
    )
    title = f"{ranking.board}: reference lines"
    return Table(title, columns, rows, _beaten_note(ranking), "lines")


def _metric_row(standing: MetricStanding, notes: MarkNotes) -> Mapping[str, object]:
    return {
        "rank": standing.rank,
        "name": standing.name,
        "mark": notes.mark(metric_mark(standing)),
        "correlation": finite(standing.correlation),
        "interval": standing.interval,
        "within": finite(standing.within),
        "within_interval": standing.within_interval,
        "within_n": standing.within_n or None,
        "n": standing.n,
        "cluster": standing.cluster,
        "references": standing.references,
        "reference_free": standing.reference_free,
        "is_statistic": standing.is_statistic,
        "tied": standing.tied,
        "origin": standing.origin,
        "source_name": standing.source_name,
        "completed": len(standing.completed) or None,
        "higher_is_better": standing.higher_is_better,
        "scores_only": standing.scores_only,
        "public": finite(standing.public),
        "exposure": finite(standing.exposure),
        "before": finite(standing.before),
        "drop": finite(standing.drop),
        "flags": "; ".join(standing.flags) or None,
        "reason": standing.reason,
        "signature": standing.signature,
    }


def _generator_row(
    standing: GeneratorStanding, names: Iterable[str], ranked_by: str | None, notes: MarkNotes
) -> Mapping[str, object]:
    own = {
        "rank": standing.rank,
        "name": standing.name,
        "kind": standing.kind,
        "mark": notes.mark(DOUBTED if standing.doubts else HUMAN if standing.kind == "human" else ""),
        "human": finite(standing.human),
        "judged": standing.judged,
        "cluster": standing.cluster,
        "interval": standing.interval.get(ranked_by) if ranked_by is not None else None,
        "reason": standing.reason,
    }
    corpus = {_corpus_key(name): finite(value) for name, value in standing.corpus.items()}
    return own | {_score_key(name): finite(standing.scores.get(name)) for name in names} | corpus


def _people_cells(ranking: Ranking, generator: str) -> Mapping[str, object]:
    """What people said of a generator beside its mean: its rank, how sure that is, and each dimension's mean."""
    if ranking.people is None:
        return {}
    standing = ranking.people.overall.standings.get(generator)
    own = {} if standing is None else {_RANK: standing.rank, _INTERVAL: standing.interval, _BY: standing.annotators}
    return own | {f"human:{c.name}": finite(c.mean(generator)) for c in ranking.people.dimensions}


def _people_columns(ranking: Ranking, rows: Sequence[Mapping[str, object]]) -> Iterable[TableColumn]:
    people = ranking.people
    if people is None:
        return
    digits = column_digits(rows, "human")
    yield TableColumn(_INTERVAL, "people's 95%", digits=digits, kind="interval", priority=1)
    if ranking.ranked_by != PEOPLE:
        yield TableColumn(_RANK, "people's #", kind="rank", priority=2, paper=False)
    yield TableColumn(_BY, "annotators", priority=5, visible=_any(rows, _BY), paper=False)
    for place, column in enumerate(people.dimensions):
        key, name = f"human:{column.name}", one_line(column.name)
        header = f"people: {name}" if name in _score_names(ranking) else name
        priority = 2 if ranking.ranked_by == PEOPLE else 3 + place
        yield TableColumn(key, header, digits=column_digits(rows, key), priority=priority, better="higher")


_RANK, _INTERVAL, _BY = "human_rank", "human_interval", "annotators"
_OWN_KEYS = ("rank", "name", "kind", "mark", "human", "judged", "cluster", "interval", "reason", _RANK, _INTERVAL, _BY)


def _score_key(metric: str) -> str:
    """A metric may be called `rank` or `name`; its column must not be taken for the generator's own."""
    return f"score:{metric}" if metric in _OWN_KEYS or metric.startswith("human:") else metric


def _corpus_key(metric: str) -> str:
    return f"corpus:{metric}"


def _head(ranking: Ranking, name: str) -> str:
    """A metric's name over its column, with an arrow where lower is better."""
    return headed(one_line(name), higher_is_better=name not in ranking.lower)


def _score_names(ranking: Ranking) -> list[str]:
    """Every metric with a mean, the one that ranks first, then as the metrics stand, then what is no metric there."""
    having = dict.fromkeys(name for standing in ranking.generators for name in standing.scores)
    order = [ranking.ranked_by, *(m.name for m in ranking.metrics), *having]
    return [name for name in dict.fromkeys(order) if name is not None and name in having]


def _score_columns(ranking: Ranking, rows: Sequence[Mapping[str, object]], notes: MarkNotes) -> Iterable[TableColumn]:
    marks = {standing.name: metric_mark(standing) for standing in ranking.metrics}
    statistics = {standing.name for standing in ranking.metrics if standing.is_statistic}
    for place, name in enumerate(_score_names(ranking)):
        key = _score_key(name)
        better: Literal["higher", "lower"] | None = "lower" if name in ranking.lower else "higher"
        # A statistic of the text is no quality, of which there would be a best.
        better = None if name in statistics else better
        in_papers = name not in statistics
        header = f"{_head(ranking, name)} {notes.mark(marks.get(name, ''))}".rstrip()
        behind = 1 if ranking.ranked_by == PEOPLE else 0
        priority = 0 if name == ranking.ranked_by else place + 2 + behind
        if any(_corpus_key(name) in row for row in rows):
            corpus = _corpus_key(name)
            yield TableColumn(corpus, header, digits=column_digits(rows, corpus), priority=priority, better=better)
            in_papers = False
            if name == ranking.ranked_by:
                yield _interval_column(rows, corpus)
            header, priority = f"{header} of sentences", priority + (2 if name == ranking.ranked_by else 0)
        digits = column_digits(rows, key)
        yield TableColumn(key, header, digits=digits, priority=priority, better=better, paper=in_papers)
        if name == ranking.ranked_by and priority == 0:
            yield _interval_column(rows, key)


def _interval_column(rows: Sequence[Mapping[str, object]], key: str) -> TableColumn:
    """The interval of what ranks, in as many digits as the value before it."""
    digits = column_digits(rows, key)
    return TableColumn(
        "interval", "95% interval", digits=digits, kind="interval", priority=1, visible=_any(rows, "interval")
    )


def _any(rows: Sequence[Mapping[str, object]], key: str) -> bool:
    return any(row.get(key) is not None for row in rows)


def _pairs_note(ranking: Ranking) -> tuple[str, ...]:
    """How to read a ranking by preferences."""
    if ranking.grouping != "preferences":
        return ()
    tied: Mapping[Ties, str] = {
        "wrong": "a metric that ties a pair has it wrong",
        "half": "a pair that a metric ties counts half for C and half for D",
        "left-out": "a pair that a metric ties doesn't count",
    }
    return (
        "(C - D)/(C + D) over n pairs of outputs, of which people found one better: C in their order, D not; "
        f"{tied[ranking.ties]}.",
    )


#: What agreement within items is.
WITHIN_MEANING = (
    "Within items: the correlation of differences between two outputs of one instance; a metric gains "
    "nothing there by telling hard instances from easy ones."
)


def within_notes(ranking: Ranking) -> tuple[str, ...]:
    """What agreement within items is, and that it has another leader than the pooled one."""
    if all(m.within is None for m in ranking.metrics):
        return ()
    words = leaders_words(ranking)
    return (WITHIN_MEANING,) if words is None else (WITHIN_MEANING, words)


def _ensemble_note(ranking: Ranking) -> tuple[str, ...]:
    if ranking.ensemble is None:
        return ()
    combination = ranking.ensemble.formula
    correlation = value_text(ranking.ensemble.correlation, 3)
    unseen = unseen_words(ranking.ensemble)
    fitted = f"Ensemble {combination}: {correlation} on {unseen} it has not seen ({ranking.ensemble.signature})."
    other = ranking.alternative
    if other is None:
        return (fitted, *tried_words(ranking.ensemble))
    name = "Best subset" if other.method == "best-subset" else "Lasso"
    weights, r = other.formula, value_text(other.correlation, 3)
    beside = f"{name} {weights}: {r} on generators it has not seen (--ensemble {other.method} ranks by it)."
    return (fitted, beside, *tried_words(ranking.ensemble))


def _completed_notes(ranking: Ranking) -> Iterable[str]:
    """Where own scores stand in the gaps of imported ones, and where the two differ."""
    completed: dict[tuple[str, ...], list[str]] = {}
    for metric in ranking.metrics:
        if metric.completed:
            completed.setdefault(metric.completed, []).append(one_line(metric.name))
    for generators, names in completed.items():
        least = min(m.equal or 0.0 for m in ranking.metrics if m.name in names)
        yield (
            f"{listed(names)}: released scores, completed for {some(list(map(one_line, generators)))} by scores "
            f"computed here, which equal the released ones on {least:.1%} of the outputs that have both."
        )
    for metric in ranking.metrics:
        if metric.beside is not None:
            same = "no output has both" if metric.equal is None else f"equal on {metric.equal:.1%} of the outputs"
            leading = "released scores" if metric.origin == "own" else "scores computed here"
            yield (
                f"{one_line(metric.name)} stands beside {one_line(metric.beside)}, whose {leading} lead, because "
                f"the two differ ({same}): a board's `lead` chooses."
            )


def _corpus_note(ranking: Ranking) -> tuple[str, ...]:
    """What a corpus value is, where there are some."""
    names = [m.name for m in ranking.metrics if any(m.name in g.corpus for g in ranking.generators)]
    if not names:
        return ()
    ranks = " Generators are ranked by the mean of sentences." if ranking.ranked_by in names else ""
    return (f'{listed(list(map(one_line, names)))}: of all outputs together; "of sentences" is their mean.{ranks}',)


def share_notes(ranking: Ranking) -> Iterable[str]:
    """What agreement was measured on, where not on all judgments, and what stands beside."""
    share = ranking.private
    if share is not None:
        yield (
            f"Agreement is measured on the private share of the judgments ({share.private:,} instances; "
            f"{share.public:,} are public). p: how likely so large a difference is for a metric that has seen neither."
        )
    if ranking.before is not None:
        yield f"Before: agreement with the judgments before these ({one_line(ranking.before)}); drop: how much is gone."


def flag_notes(ranking: Ranking) -> Iterable[str]:
    """What speaks against metrics, and whether they count all the same."""
    for metric in ranking.metrics:
        if metric.flags:
            counts = " It counts all the same." if metric.counts else " It leads no ranking and joins no ensemble."
            yield f"{one_line(metric.name)} {'; it '.join(map(one_line, metric.flags))}.{counts}".replace("?.", "?")


def doubt_notes(ranking: Ranking) -> Iterable[str]:
    """What speaks against generators' outputs."""
    for generator in ranking.generators:
        if generator.doubts:
            yield f"{one_line(generator.name)}: {'; '.join(map(one_line, generator.doubts))}."


def leader_name(ranking: Ranking) -> str | None:
    """What ranks the generators, in words: people with the judgments that are meant."""
    if ranking.ranked_by == PEOPLE:
        return f"people ({one_line(ranking.aggregate)})"
    return None if ranking.ranked_by is None else one_line(ranking.shown.ranked_by or "")


def leading_value(ranking: Ranking, standing: GeneratorStanding) -> float | None:
    """A generator's mean under what ranks: its score, or what people said."""
    if ranking.ranked_by is None:
        return None
    return standing.human if ranking.ranked_by == PEOPLE else standing.scores.get(ranking.ranked_by)


def what_ranks(ranking: Ranking) -> str:
    """The first line of every answer: what the generators are ranked by, and on what that rests."""
    people = ranking.people
    if ranking.ranked_by is None:
        return "generators are not ranked"
    if ranking.ranked_by != PEOPLE or people is None:
        return f"ranked by {leader_name(ranking)}"
    judgments = sum(standing.judgments for standing in people.overall.generators)
    what = "shares of comparisons won, in percent" if people.overall.wins else "means of judgments, higher is better"
    return f"ranked by {leader_name(ranking)}: {what}, {judgments:,} judgments"


def people_notes(ranking: Ranking) -> Iterable[str]:
    """How sure people's means are, and who was judged on less than others."""
    people = ranking.people
    if people is None:
        return
    unit = "documents" if ranking.resampled == "documents" else "instances"
    standings = [standing for standing in people.overall.generators if standing.interval is not None]
    crossed = [s for s in standings if (s.annotators or 0) > 1]
    over = unit if not crossed else f"{unit} and annotators"
    if standings:
        some_only = f" (of {listed([s.name for s in standings if s not in crossed][:3])} over {unit} alone)"
        yield f"People's intervals are over {over}{some_only if crossed and len(crossed) < len(standings) else ''}."
    full = max((s.instances for s in people.overall.generators), default=0)
    fewer = [
        f"{one_line(s.name)} ({s.instances:,} of {full:,})" for s in people.overall.generators if s.instances < full
    ]
    if fewer:
        others = f" and {len(fewer) - 3} more" if len(fewer) > 3 else ""
        yield f"Judged on fewer instances than others: {', '.join(fewer[:3])}{others}."


def _cluster_note(
    ranking: Ranking, standings: Sequence[MetricStanding] | Sequence[GeneratorStanding]
) -> tuple[str, ...]:
    """What was tested, where ranks rest on tests."""
    if all(standing.cluster is None for standing in standings):
        return ()
    return (f"Shared ranks: not told apart by {tested_words(ranking)}.",)


def tested_words(ranking: Ranking) -> str:
    """The tests that ranks rest on, in words."""
    return f"{sided(ranking.sides)} permutation tests at p ≤ .05 ({ranking.draws:,} draws)"


def _won_note(ranking: Ranking) -> tuple[str, ...]:
    if ranking.grouping != "preferences":
        return ()
    return ("People: comparisons that a generator's outputs won, in percent, a tie counting half.",)


def _coverage_notes(ranking: Ranking) -> tuple[str, ...]:
    """Who was scored on fewer instances than others, so that a mean over less is not read as a mean over all."""
    full = max((n for standing in ranking.generators for n in standing.covered.values()), default=0)
    partial = [
        f"{one_line(standing.name)} ({min(fewer):,} of {full:,})"
        for standing in ranking.generators
        if (fewer := [n for n in standing.covered.values() if 0 < n < full])
    ]
    if not partial:
        return ()
    others = f" and {len(partial) - 3} more" if len(partial) > 3 else ""
    return (f"Means over fewer instances than the others: {', '.join(partial[:3])}{others}.",)


def _beaten_note(ranking: Ranking) -> tuple[str, ...]:
    """Says so when something that does not judge at all does better than the best metric."""
    best = max((m.correlation for m in ranking.metrics if m.correlation is not None), default=None)
    above = [s for s in ranking.lines if s.kind == "sentinel" and best is not None and (s.correlation or 0) > best]
    if not above:
        return ()
    return (
        f"A sentinel that sees no reference ({', '.join(s.name for s in above)}) agrees better with people than every "
        "metric: much of the pooled correlation on this board can be had without judging.",
        *_fallen_note(ranking, above),
    )


def _fallen_note(ranking: Ranking, above: Sequence[ReferenceLine]) -> tuple[str, ...]:
    """What such sentinels are worth within items, beside the best metric there."""
    best = max((m.within for m in ranking.metrics if m.within is not None and not m.is_statistic), default=None)
    if best is None:
        return ()
    fallen = [f"{s.name} {'can tell nothing apart' if s.within is None else value_text(s.within, 3)}" for s in above]
    return (f"Within items: {listed(fallen)}; the best metric {value_text(best, 3)}.",)


def resampled_text(resampled: Resampled) -> str:
    """What a bootstrap draws, in words."""
    return "instances and generators" if resampled == "both" else resampled


def _kind(ranking: Ranking) -> str:
    """What follows a statistic's name: some are correlations by name, others say what they are."""
    usual = ranking.grouping == "preferences" or (ranking.statistic, ranking.grouping) == ("pearson", "pooled")
    return " correlation" if usual else ","


def statistic_name(ranking: Ranking) -> str:
    """The statistic as prose spells it: people's names with a capital."""
    if ranking.grouping == "preferences":
        return "WMT's Kendall"
    if (ranking.statistic, ranking.grouping) != ("pearson", "pooled"):
        return yardstick_of(ranking.statistic, ranking.grouping).words
    return "Pearson"


def metric_mark(standing: MetricStanding) -> str:
    """What stands behind a metric's name: doubts, that it is a mere statistic, scores only, or uses no references."""
    if standing.flags:
        return FLAGGED
    if standing.is_statistic:
        return STATISTIC
    if standing.scores_only:
        return SCORES_ONLY
    return REFERENCE_FREE if standing.reference_free else ""


#: What most papers report, the most used first (Billboards, Fig. 4), to set the best metric against.
POPULAR = ("BLEU", "ROUGE-L", "ROUGE-2", "ROUGE-1", "CIDEr", "METEOR", "chrF", "chrF++", "TER")
#: Generators in a picture of their places under two metrics: more than this nobody can follow.
MOST_SWAPS = 50


def correlated(ranking: Ranking) -> list[MetricStanding]:
    """The metrics that have a correlation, the best first."""
    measured = [m for m in ranking.metrics if m.correlation is not None and math.isfinite(m.correlation)]
    return sorted(measured, key=lambda m: -(m.correlation or 0.0))


def best_metric(ranking: Ranking) -> MetricStanding | None:
    """The metric that agrees best with people; a statistic of the text is none, nor what is kept out."""
    return next((m for m in correlated(ranking) if m.counts and not m.is_statistic), None)


def popular_metric(ranking: Ranking) -> MetricStanding | None:
    """The popular metric to compare the best one with, else the one that agrees least."""
    best = best_metric(ranking)
    others = [m for m in correlated(ranking) if m is not best and not m.is_statistic]
    popular = [m for name in POPULAR for m in others if m.name == name]
    return next(iter(popular), others[-1] if others else None)


def best_metric_words(ranking: Ranking) -> str | None:
    """The finding of a metric ranking in one line."""
    best = best_metric(ranking)
    if best is None:
        return None
    words = f"{one_line(best.name)} agrees best with people ({value_text(best.correlation, 3)})"
    ensemble = ranking.ensemble
    if ensemble is None or ensemble.correlation is None:
        return words
    return f"{words}; the ensemble reaches {value_text(ensemble.correlation, 3)}"


def _best_metric(ranking: Ranking) -> str | None:
    best = best_metric(ranking)
    if best is None:
        return None
    measured = [m for m in correlated(ranking) if not m.is_statistic]
    interval = "" if best.interval is None else f"95% interval {interval_text(best.interval, 3)}, "
    sentence = (
        f"Of {len(measured)} metrics, {one_line(best.name)} agrees best with people: its {statistic_name(ranking)} "
        f"correlation with the human judgments ({one_line(ranking.aggregate)}) is {value_text(best.correlation, 3)} "
        f"({interval}n = {best.n:,})."
    )
    alike = [m.name for m in measured if m is not best and m.cluster is not None and m.cluster == best.cluster]
    return f"{sentence} Not told apart from it: {listed(alike)}." if alike else sentence


def _ensemble(ranking: Ranking) -> str | None:
    ensemble, best = ranking.ensemble, best_metric(ranking)
    if ensemble is None or ensemble.correlation is None or best is None or best.correlation is None:
        return None
    difference = ensemble.correlation - best.correlation
    more = "more" if difference >= 0 else "less"
    return (
        f"An ensemble of {len(ensemble.inputs)} metrics, {ensemble.formula}, reaches "
        f"{value_text(ensemble.correlation, 3)} on {unseen_words(ensemble)} it has not seen: "
        f"{abs(difference):.3f} {more} than {one_line(best.name)} alone."
    )


def _generators(ranking: Ranking) -> str | None:
    ranked = [g for g in ranking.generators if g.rank is not None]
    if not ranked or ranking.ranked_by is None:
        return None
    top = sorted(ranked, key=lambda g: g.rank or 0)[:3]
    names = listed([f"{g.name} ({value_text(leading_value(ranking, g))})" for g in top])
    lead = "leads" if len(top) == 1 else "lead"
    return f"Ranked by {leader_name(ranking)}, {names} {lead} {len(ranked)} generators."


def citation(ranking: Ranking) -> str:
    """What a paper states so that the numbers can be found again."""
    best = best_metric(ranking)
    lines = [f"board      {ranking.board}, version {ranking.board_version}, {ranking.part}"]
    lines += [f"ensemble   {ranking.ensemble.signature}"] if ranking.ensemble else []
    lines += [f"metric     {best.name}: {best.signature}"] if best else []
    judged = f"judgments {ranking.aggregate}, " if ranking.aggregate else ""
    lines += [f"statistic  {ranking.statistic}, {ranking.grouping}, {judged}seed {ranking.seed}"]
    return "\n".join(map(one_line, lines))


def scatter(
    human: Floats,
    scores: Floats,
    generators: Sequence[str],
    metric_name: str,
    *,
    human_name: str = "people",
    human_generators: Collection[str] = (),
    correlation: float | None = None,
    sample: int = 1500,
    seed: int = 0,
    theme: Theme = "light",
) -> alt.LayerChart:
    """A metric against people, a point per judged output; arrays are generators × instances, NaN where missing.

    The trend is fitted to every pair, though at most `sample` of them are drawn.
    """
    from billboards.show.plot import themed

    row, instance = np.nonzero(np.isfinite(human) & np.isfinite(scores))
    if len(row) < 2:
        raise NotEnoughData(f"{metric_name}: {len(row)} outputs have both a score and a judgment; nothing to draw")
    x, y = human[row, instance], scores[row, instance]
    who = [one_line(generators[int(k)]) for k in row]
    people = set(map(one_line, human_generators))
    points: Points = [
        {"x": _short(x[k]), "y": _short(y[k]), "generator": who[k], "people": who[k] in people}
        for k in _sampled(len(row), sample, seed)
    ]
    chart = _scatter_layers(points, _trend(x, y), one_line(metric_name), one_line(human_name), theme)
    agreement = "" if correlation is None else f" (correlation {value_text(correlation, 3)})"
    drawn = f"{len(points):,} of {len(row):,}" if len(points) < len(row) else f"All {len(row):,}"
    triangles = " Triangles: written by people." if any(point["people"] for point in points) else ""
    subtitle = f"{drawn} judged outputs; the line is the trend of all.{triangles}"
    return themed(chart, theme, f"{one_line(metric_name)} against people{agreement}", subtitle, subtitle)


def correlation_bars(ranking: Ranking, *, theme: Theme = "light") -> alt.LayerChart:
    """Metrics by their correlation with people, with intervals, the ensemble among them in the accent colour."""
    import altair as alt

    from billboards.show.plot import PALETTES, ROW, WIDTH, role_colour, themed

    bars = _bars(ranking.shown)
    if not bars:
        people = f"people ({ranking.aggregate})" if ranking.aggregate else "people"
        raise NotEnoughData(f"{ranking.board}: no metric has a correlation with {people}; nothing to draw")
    colours = PALETTES[theme]
    names = [bar["name"] for bar in bars]
    y = alt.Y("name:N", sort=names, title=None)
    x = alt.X(
        "value:Q",
        title=f"{statistic_name(ranking)}{_kind(ranking)} with people ({one_line(ranking.aggregate)})",
        axis=alt.Axis(tickCount=6),
    )
    roles = role_colour({"ensemble": colours.accent, "metric": colours.plain, "statistic": colours.grid})
    tooltip = [
        alt.Tooltip("name:N", title="metric"),
        alt.Tooltip("value:Q", format=".3f", title="correlation"),
        alt.Tooltip("interval:N", title="95% interval"),
        alt.Tooltip("n:Q", format=","),
    ]
    base = alt.Chart(alt.InlineData(values=bars))
    lengths = base.mark_bar(height={"band": 0.66}, cornerRadiusEnd=2, stroke=colours.plain).encode(
        x, y, roles, tooltip=tooltip
    )
    whiskers = base.mark_rule(color=colours.text, strokeWidth=1.2).encode(alt.X("low:Q"), y, alt.X2("high:Q"))
    figures = base.mark_text(align="left", dx=5, color=colours.text).encode(alt.X("end:Q"), y, text="label:N")
    chart = (lengths + whiskers + figures).properties(width=WIDTH, height=ROW * len(bars))
    notes = {
        FLAGGED: "something speaks against it",
        REFERENCE_FREE: "uses no references",
        STATISTIC: "a statistic of the text",
        SCORES_ONLY: "scores only",
    }
    marks = [f" {mark} {note}." for mark, note in notes.items() if any(name.endswith(mark) for name in names)]
    intervals = "Lines are 95% intervals." if any(bar.get("low") is not None for bar in bars) else ""
    words = "; ".join(f"{bar['name']} {bar['label']}" for bar in bars)
    title = best_metric_words(ranking) or f"No metric of {one_line(ranking.board)} judges quality"
    return themed(chart, theme, title, "".join((intervals, *marks)).strip(), words)


def _scatter_layers(points: Points, trend: Points, metric: str, human: str, theme: Theme) -> alt.LayerChart:
    import altair as alt

    from billboards.show.plot import PALETTES, WIDTH

    colours = PALETTES[theme]
    x = alt.X("x:Q", title=human, scale=alt.Scale(zero=False, nice=True), axis=alt.Axis(tickCount=6))
    y = alt.Y("y:Q", title=metric, scale=alt.Scale(zero=False, nice=True), axis=alt.Axis(grid=True))
    kinds = [False, True]
    who = alt.Color("people:N", scale=alt.Scale(domain=kinds, range=[colours.accent, colours.people]), legend=None)
    shape = alt.Shape("people:N", scale=alt.Scale(domain=kinds, range=["circle", "triangle-up"]), legend=None)
    base = alt.Chart(alt.InlineData(values=points))
    tooltip = ["generator:N", "x:Q", "y:Q"]
    dots = base.mark_point(filled=True, size=14, opacity=0.45).encode(x, y, who, shape, tooltip=tooltip)
    line = alt.Chart(alt.InlineData(values=trend)).mark_line(color=colours.text, strokeWidth=2).encode(x, y)
    return (dots + line).properties(width=WIDTH, height=260)


def _sampled(count: int, sample: int, seed: int) -> NDArray[np.int64]:
    """Which of so many points to draw: all of them, or a seeded sample in its order."""
    if count <= sample:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, sample, replace=False))


def _trend(x: Floats, y: Floats) -> Points:
    """The least-squares line from the lowest to the highest judgment; none where all judgments are alike."""
    low, high = float(x.min()), float(x.max())
    if low == high:
        return []
    slope, intercept = np.polyfit(x, y, 1)
    return [{"x": end, "y": float(intercept + slope * end)} for end in (low, high)]


def _short(value: float) -> float:
    """A coordinate in as many figures as a picture can show."""
    return float(f"{value:.5g}")


def _bars(ranking: Ranking) -> Points:
    """What `correlation_bars` draws, longest first; `end` is where a bar's figure stands."""
    from billboards.show.plot import distinct

    bars: Points = []
    for m in correlated(ranking):
        low, high = m.interval or (None, None)
        role = "statistic" if m.is_statistic else "metric"
        name = f"{m.name} {metric_mark(m)}".rstrip()
        bar: dict[str, Any] = {"name": name, "value": m.correlation, "low": low, "high": high, "role": role, "n": m.n}
        bars.append(bar | {"metric": m.name, "interval": interval_text(m.interval, 3) if m.interval else "not known"})
    ensemble = ranking.ensemble
    if ensemble is not None and ensemble.correlation is not None:
        bar = {"name": "ensemble", "value": ensemble.correlation, "role": "ensemble", "n": ensemble.n}
        bars.append(bar | {"metric": ENSEMBLE, "interval": "not known"})
    bars.sort(key=lambda bar: -bar["value"])
    for bar, name in zip(bars, distinct(bar["name"] for bar in bars), strict=True):
        end = max(0.0, bar["value"], bar.get("high") or 0.0)
        bar |= {"name": name, "label": value_text(bar["value"], 3), "end": end}
    return bars


@analysis(paper="Billboards, section 2.1")
def rank(
    view: View,
    *,
    references: Annotated[
        str | Sequence[str] | None, Named(metavar="A,B"), "use scores against these references (default: the board's)"
    ] = None,
    by: Annotated[
        str | None,
        Named(metavar="METRIC", metrics="scored"),
        "rank generators by this metric instead of the best one, or by people",
    ] = None,
    k: Annotated[int, Ge(1), Named(metavar="N"), "tune lambda so that N metrics take part"] = 3,
    lam: Annotated[
        float | None, Ge(0), Named(name="lambda", metavar="X"), "use this lambda (scikit-learn's alpha) instead"
    ] = None,
    method: FamilyOption = AUTO,
    draws: Annotated[int, Ge(0), Named(metavar="N"), "bootstrap draws for intervals"] = 1000,
    resampled: Annotated[
        Resampled,
        Named(name="resample"),
        "what the bootstrap draws anew for intervals: the result is to hold for others of these",
    ] = "instances",
    seed: Annotated[int, Ge(0), Named(metavar="N"), "seed of what is random"] = 0,
    sides: Annotated[Sides, "tests ask whether two entries differ, or (one) whether the one ahead is better"] = "two",
    before: Annotated[
        str | None,
        Named(metavar="NAME"),
        "show agreement with these earlier judgments beside: an aggregate or dimension of the board",
    ] = None,
    statistic: Annotated[
        str,
        Named(metavar="NAME"),
        "what ranks metrics: pearson, spearman, kendall-b, kendall-c, kendall-wmt, acc-eq, pdp, accuracy or spa",
    ] = "pearson",
    grouping: Annotated[
        Grouping | None, "how outputs are grouped for the statistic: by default pooled, or as it needs"
    ] = None,
    ties: Annotated[Ties, "how to count pairs that people compared and that a metric scores alike"] = "wrong",
    baseline: Annotated[
        str | None,
        Named(metavar="NAME"),
        "mark what is significantly better (+) or worse (−) than this generator, or this metric",
    ] = None,
) -> Ranking:
    """Rank metrics by their correlation with people, and generators by the best metric, the ensemble or people.

    Each new ensemble gets a signature that papers can cite.
    """
    names = named_references(references)
    options = RankingOptions(
        aggregate=view.aggregate,
        references=None if names is None else view.counted.check_references(names),
        part=view.part,
        k=k,
        lam=lam,
        method=method,
        by=by,
        resampled=resampled,
        draws=draws,
        seed=seed,
        sides=sides,
        before=before,
        baseline=baseline,
        marked=_flagged_by_audits(view),
        yardstick=yardstick_of(statistic, grouping),
        ties=ties,
    )
    _check_yardstick(view.board, options, hidden=view.judgments_hidden)
    ranking = rank_board(view.counted, view.cells, options)
    return ranking if view.archive is None else view.archive.numbered(ranking)


def _flagged_by_audits(view: View) -> dict[str, str]:
    """Metrics that a kept audit flags."""
    audits = () if view.archive is None else view.archive.audits()
    return {audit.metric: "is flagged by its audit" for audit in audits if audit.level == "flagged"}


@rank.table
def _rank_tables(ranking: Ranking) -> list[Table]:
    tables = [metric_table(ranking), generator_table(ranking)]
    if ranking.common is not None:
        tables.append(common_table(ranking, ranking.common))
    if ranking.ensemble is not None:
        tables.insert(1, ensemble_table(ranking.ensemble))
    if ranking.lines:
        tables.insert(1, lines_table(ranking))
    return tables


@rank.chart
def _bars_of_agreement(ranking: Ranking, theme: Theme) -> alt.LayerChart | None:
    return correlation_bars(ranking, theme=theme) if best_metric(ranking) else None


@rank.words
def rank_words(ranking: Ranking) -> list[str]:
    """What a ranking says, in sentences."""
    sentences = (_best_metric(ranking), leaders_words(ranking), _ensemble(ranking), _generators(ranking))
    return [sentence for sentence in sentences if sentence]


@rank.notes
def _rank_notes(_: View, ranking: Ranking) -> list[str]:
    unscored = [] if ranking.metrics else ["no scores yet: `billboards score BOARD` computes them"]
    return [what_ranks(ranking), *unscored, *ranking.notes]


@rank.keep
def _keep_ranking(view: View, ranking: Ranking) -> Ranking:
    assert view.archive is not None
    return view.archive.keep(ranking)
