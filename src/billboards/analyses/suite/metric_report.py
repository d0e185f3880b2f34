"""One metric over all boards of a suite: agreement, rivals, firmness, overrating, speed, and the worst failures.

Everything is measured on the scores that there are; what overrating needs beyond them (a board scored without a
person's own text among the references) is computed for this metric alone.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from billboards.analyses.overrating import (
    OverratingEstimate,
    human_generators,
    measure_overrating,
    references_without,
    rows_compared,
)
from billboards.analyses.sensitivity import Condition, measure_sensitivity
from billboards.analyses.suite.checked_boards import OpenBoard
from billboards.analyses.suite.chosen import Chosen
from billboards.analyses.suite.dimension_agreement import load_columns
from billboards.analyses.suite.failures import worst_failures
from billboards.analyses.suite.metric_ranking import rank_suite
from billboards.analyses.suite.report_results import MetricOnBoard, MetricOnColumn, MetricReport, Speed
from billboards.analyses.suite.results import (
    PEARSON,
    Block,
    Suite,
    SuiteRanking,
    SuiteResult,
    SuiteRow,
    measure_key,
)
from billboards.analyses.suite.rivals import Rival, Source, place_on_board, verdict_of
from billboards.analyses.suite.tables import DRAWS, column_groups, measure_suite
from billboards.board.missing_cells import Cell, cell_batch, column_key, score_board
from billboards.errors import InvalidInput, NotEnoughData, UnknownName
from billboards.metrics.base import Metric, score_checked
from billboards.metrics.cards import card_facts
from billboards.metrics.executor import InProcess
from billboards.stats.preferences import Ties
from billboards.stats.significance import Sides
from billboards.stats.yardsticks import Yardstick

LEVEL = 0.05
#: Outputs that a metric is timed on where nobody timed it before.
SAMPLE = 100
#: Draws of SPA among the conditions of sensitivity: only ranks are taken from it.
SENSITIVITY_DRAWS = 200
#: Failures of each kind and board.
SHOWN = 3


def report_metric(
    suite: Suite,
    boards: Sequence[OpenBoard],
    chosen: Sequence[Chosen],
    name: str,
    *,
    draws: int = DRAWS,
    sides: Sides = "two",
    seed: int = 0,
    shown: int = SHOWN,
    ranked: bool = False,
    among: Collection[str] | None = None,
) -> MetricReport:
    """The report on one of the chosen metrics.

    ranked: whether its places on boards are those of `billboards rank`, among all columns that are there, instead of
    those among the chosen metrics on the outputs that all of these have scored.
    among: the metrics that it is compared with then (default: all).
    """
    row = next((row for row in chosen if row.name == name), None)
    if row is None:
        raise UnknownName("metric", name, [row.name for row in chosen])
    if not row.on:
        raise InvalidInput(f"{name} runs on none of the boards: {next(iter(row.missing.values()))}")
    block = row.blocks[0]
    # Only its own cells are shown: measuring every other metric as well would take most of the time.
    result = measure_suite(suite, boards, [row], draws=draws, seed=seed)
    overall = _try_ranking(suite, boards, chosen, block, None, draws, seed, sides, about=name)
    standing = None if overall is None else next((s for s in overall.standings if s.metric == name), None)
    compared_how = _Ranked(how=suite.yardsticks[0] if suite.yardsticks else PEARSON, ties=suite.ties, among=among)
    columns = tuple(
        _on_columns(suite, boards, chosen, row, result, draws, seed, sides, compared_how if ranked else None)
    )
    rivals = _rivals_overall(overall, name, chosen, boards)
    beats, beaten_by = _told_apart(overall, name)
    return MetricReport(
        suite=suite.name,
        metric=name,
        card=card_facts(next(iter(row.on.values()))),
        standing=standing,
        of=0 if overall is None else sum(s.rank is not None for s in overall.standings),
        beats=beats,
        beaten_by=beaten_by,
        columns=columns,
        boards=tuple(_on_board(member, row, row.on[member.key], shown) for member in boards if member.key in row.on),
        missing=row.missing,
        draws=draws,
        seed=seed,
        drafts=result.drafts,
        rivals=rivals,
        left_out=(
            {} if overall is None else {s.metric: s.reason for s in overall.standings if s.rank is None and s.reason}
        ),
        columns_left_out={} if overall is None else overall.left_out,
        compared=_compared(columns, rivals),
        statistic=measure_key(compared_how.how),
    )


@dataclass(frozen=True, kw_only=True)
class _Ranked:
    """How metrics are ranked on single boards."""

    how: Yardstick
    ties: Ties
    among: Collection[str] | None


def _rivals_overall(
    overall: SuiteRanking | None, name: str, chosen: Sequence[Chosen], boards: Sequence[OpenBoard]
) -> tuple[Rival, ...]:
    """Every other metric with a place over all boards, the one that is furthest ahead first."""
    if overall is None or name not in overall.p:
        return ()
    values = {s.metric: s.value for s in overall.standings if s.rank is not None and s.value is not None}
    rivals = []
    for row in chosen:
        if row.name == name or row.name not in values or name not in values:
            continue
        difference = values[name] - values[row.name]
        p = overall.p[name][row.name] if difference >= 0 else overall.p[row.name][name]
        rivals.append(
            Rival(
                metric=row.name,
                source=_source(row, boards),
                verdict=verdict_of(difference, p),
                difference=difference,
                interval=overall.leads.get(row.name),
                p=p,
                n=sum(overall.n.values()),
                value=values[row.name],
                is_statistic=row.is_statistic,
            )
        )
    return tuple(sorted(rivals, key=lambda rival: rival.difference))


def _source(row: Chosen, boards: Sequence[OpenBoard]) -> Source:
    if row.on:
        return "computed here"
    columns = [c for member in boards for c in member.board.imported if row.name in (c.name, c.source_name)]
    return "sent as scores" if any(column.scores_only for column in columns) else "imported"


def _compared(columns: Sequence[MetricOnColumn], rivals: Sequence[Rival]) -> dict[str, tuple[str, ...]]:
    """The metrics compared with anywhere, by where their scores are from; one that was computed somewhere counts so."""
    sources: dict[str, str] = {}
    for rival in (*rivals, *(rival for column in columns for rival in column.rivals)):
        if sources.get(rival.metric) != "computed here":
            sources[rival.metric] = rival.source
    kinds = dict.fromkeys(sources.values())
    return {kind: tuple(name for name, source in sources.items() if source == kind) for kind in kinds}


def _try_ranking(
    suite: Suite,
    boards: Sequence[OpenBoard],
    chosen: Sequence[Chosen],
    block: Block,
    only: str | None,
    draws: int,
    seed: int,
    sides: Sides,
    about: str | None = None,
) -> SuiteRanking | None:
    """The ranking with all references, or where references take no part also that; None where it has no answer."""
    where: Block = "all" if block == "none" else block
    try:
        return rank_suite(
            suite, boards, chosen, block=where, only=only, about=about, draws=draws, seed=seed, sides=sides
        )
    except NotEnoughData:
        return None


def _told_apart(ranking: SuiteRanking | None, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The metrics that this one beats significantly, and those that beat it."""
    if ranking is None or name not in ranking.p:
        return (), ()
    values = {standing.metric: standing.value or 0.0 for standing in ranking.standings}
    told = [other for other, p in ranking.p[name].items() if min(p or 1.0, ranking.p[other][name] or 1.0) <= LEVEL]
    beats = tuple(other for other in told if values[name] > values[other])
    return beats, tuple(other for other in told if values[name] < values[other])


def _on_columns(
    suite: Suite,
    boards: Sequence[OpenBoard],
    chosen: Sequence[Chosen],
    row: Chosen,
    result: SuiteResult,
    draws: int,
    seed: int,
    sides: Sides,
    ranked: _Ranked | None,
) -> Iterator[MetricOnColumn]:
    for column, parts in column_groups(boards):
        cells = [result.cell(SuiteRow(row.name, block), column) for block in row.blocks]
        for block, cell in zip(row.blocks, cells, strict=True):
            if cell is None or not cell.measures:
                yield MetricOnColumn(column=column, block=block, reason=None if cell is None else cell.reason)
                continue
            entry = MetricOnColumn(column=column, block=block, measures=cell.measures, n=cell.n)
            if ranked is not None and len(parts) == 1:
                entry = _as_ranked(entry, row, parts[0][0], chosen, ranked, draws, seed, sides)
                if entry.rank is not None:
                    here = _only_boards([parts[0][0]], chosen)
                    yield entry if block == "one" else _firm(entry, row, here, parts[0][0])
                    continue
            here = _only_boards([member for member, _, _ in parts], chosen)
            members = [member for member, _, _ in parts]
            ranking = _try_ranking(suite, members, here, block, column.key, draws, seed, sides)
            entry = entry if ranking is None else _placed(entry, row.name, ranking)
            yield entry if len(parts) > 1 or block == "one" else _firm(entry, row, here, parts[0][0])


def _only_boards(boards: Sequence[OpenBoard], chosen: Sequence[Chosen]) -> list[Chosen]:
    """The metrics that run on every one of these boards."""
    return [metric for metric in chosen if all(board.key in metric.on for board in boards)]


def _as_ranked(
    entry: MetricOnColumn,
    row: Chosen,
    member: OpenBoard,
    chosen: Sequence[Chosen],
    ranked: _Ranked,
    draws: int,
    seed: int,
    sides: Sides,
) -> MetricOnColumn:
    """An entry with the place that `billboards rank` gives, and every other metric there."""
    metric = row.on.get(member.key)
    if metric is None:
        return entry
    among = None
    if ranked.among is not None:
        named = [other for other in chosen if other.name in ranked.among]
        among = {n for other in named for n in (other.name, _column_name(other, member))}
    where: Block = "all" if entry.block == "none" else entry.block
    place = place_on_board(
        member,
        entry.column.dimension,
        metric.name,
        references=member.references(where) or None,
        among=among,
        how=ranked.how if entry.column.given == "values" else PEARSON,
        ties=ranked.ties,
        draws=draws,
        seed=seed,
        sides=sides,
    )
    if place is None:
        return entry
    return replace(
        entry,
        rank=place.rank,
        of=place.of,
        best=place.best,
        best_value=place.best_value,
        beats=tuple(rival.metric for rival in place.rivals if rival.verdict == "beats"),
        beaten_by=tuple(rival.metric for rival in place.rivals if rival.verdict == "loses to"),
        shared=place.shared,
        rivals=place.rivals,
        unranked=place.unranked,
    )


def _column_name(row: Chosen, member: OpenBoard) -> str:
    metric = row.on.get(member.key)
    return row.name if metric is None else metric.name


def _placed(entry: MetricOnColumn, name: str, ranking: SuiteRanking) -> MetricOnColumn:
    ranked = [standing for standing in ranking.standings if standing.rank is not None]
    own = next((standing for standing in ranked if standing.metric == name), None)
    if own is None:
        return entry
    beats, beaten_by = _told_apart(ranking, name)
    first = ranked[0]
    return replace(
        entry,
        rank=own.rank,
        of=len(ranked),
        best=first.metric,
        best_value=first.value,
        beats=beats,
        beaten_by=beaten_by,
    )


def _firm(entry: MetricOnColumn, row: Chosen, chosen: Sequence[Chosen], member: OpenBoard) -> MetricOnColumn:
    """How far the place among these metrics moves under other statistics and without single generators."""
    if entry.column.given == "preferences":
        return entry
    dimension, board = entry.column.dimension, member.key
    try:
        conditions = measure_sensitivity(
            member.board, member.home.cells, aggregate=dimension, draws=SENSITIVITY_DRAWS
        ).conditions
    except NotEnoughData:
        return entry
    names = {metric.on[board].name for metric in chosen}
    places = [place for condition in conditions if (place := _place(condition, row.on[board].name, names)) is not None]
    return replace(entry, ranks=(min(places), max(places)), conditions=len(places)) if places else entry


def _place(condition: Condition, name: str, names: Collection[str]) -> int | None:
    """A metric's place among some under one condition; equal values share one."""
    own = condition.values.get(name)
    others = [condition.values.get(other) for other in names if other != name]
    return None if own is None else 1 + sum(value is not None and value > own + 1e-12 for value in others)


def _on_board(member: OpenBoard, row: Chosen, metric: Metric, shown: int) -> MetricOnBoard:
    block = row.blocks[0]
    human, estimate = _overrating(member, metric)
    columns = load_columns(member, block, [row])
    dimension = (*member.correctness, *member.others)[0]
    high, low = worst_failures(member, columns.values[0], dimension, shown) if columns.names else ((), ())
    speed = _speed(member, metric, block)
    return MetricOnBoard(
        board=member.label,
        metric=metric.name,
        signature=metric.signature,
        overrating=estimate,
        human=human,
        speed=speed,
        too_high=high,
        too_low=low,
    )


def _overrating(member: OpenBoard, metric: Metric) -> tuple[str | None, OverratingEstimate | None]:
    """How much a metric overrates machines over the first judged person, where there is one."""
    board = member.board
    dimension = (*member.correctness, *member.others)[0]
    people = human_generators(board) if member.given(dimension) == "values" and board.ranks is not None else ()
    if not people or metric.card.is_statistic:
        return None, None
    human = people[0]
    try:
        references = references_without(board, human, None)
        rows = rows_compared(board, human, dimension)
        score_board(board, member.home.cells, [metric], InProcess(), references=references, rows=rows)
        report = measure_overrating(
            board, member.home.cells, human, references=references, aggregate=dimension, only=metric.name
        )
    except (NotEnoughData, InvalidInput):
        return None, None
    return human, next((estimate for estimate in report.metrics if estimate.name == metric.name), None)


def _speed(member: OpenBoard, metric: Metric, block: Block) -> Speed | None:
    """Outputs per second, as it was when they were scored, or else on a sample."""
    key = column_key(member.board, metric, member.references(block))
    seconds = member.home.cells.seconds(key)
    cells = member.home.cells.load(key, seconds)
    outputs = sum(int(np.isfinite(scores).sum()) for scores in cells.values())
    if outputs and sum(seconds.values()) > 0:
        return Speed(outputs / sum(seconds.values()), outputs, "while scoring")
    if not member.judged_rows:
        return None
    batch, _ = cell_batch(member.board, Cell(metric, key, member.judged_rows[0]))
    batch = batch.part(0, SAMPLE)
    start = time.perf_counter()
    score_checked(metric, batch)
    return Speed(len(batch) / max(time.perf_counter() - start, 1e-9), len(batch), "on a sample")
