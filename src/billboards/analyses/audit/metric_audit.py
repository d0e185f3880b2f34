"""An audit of one metric on one board: optimise it, and ask everyone else about the result.

The steps are the paper's: where the optimised output lands (§5.1), whether people stand below machines (§5.2), and
whether the metric is a comparison with its own output (§5.3). All numbers are over the machines of the board; intervals
come from the same resampled instances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.audit.bench import Bench, Budget, text_row
from billboards.analyses.audit.bias import human_places, human_rows
from billboards.analyses.audit.concluding import Evidence, conclude, row_name
from billboards.analyses.audit.gallery import exhibits
from billboards.analyses.audit.kinship import equivalence, kinship, pseudo_scores
from billboards.analyses.audit.landing import Compared, Field, Judge, compare, compare_random, is_comparable
from billboards.analyses.audit.optimised import Optimised, Optimiser
from billboards.analyses.audit.outside_judges import field_of, judge_metrics, judge_people, quality_of
from billboards.analyses.audit.reranking import rerank_pool
from billboards.analyses.audit.results import HumanPlace, MetricAudit
from billboards.analyses.audit.subject import Subject, program
from billboards.analyses.overrating import OverratingReport
from billboards.board import Outputs
from billboards.errors import InvalidInput
from billboards.metrics.base import Metric
from billboards.stats.system_level import instance_weights

Floats = NDArray[np.float64]
Interval = tuple[float, float]
DRAWS = 1000


@dataclass(frozen=True)
class AuditedRow:
    """An audit, and the row that was made for it."""

    audit: MetricAudit
    row: Outputs


def audit_metric(
    bench: Bench,
    subject: Subject,
    optimiser: Optimiser | None,
    judges: Sequence[Metric],
    *,
    overrating: OverratingReport | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> AuditedRow:
    """Audit a metric by one attack; without an optimiser, by reranking over the scores that are there."""
    spent = bench.budget.spent
    board, field = bench.board, field_of(bench, subject)
    programs = [judge for judge in judges if judge.card.needs_references and judge.signature != subject.signature]
    optimised = _optimise(bench, subject, field, optimiser)
    row = text_row(board, row_name(subject, optimised), optimised.texts, "optimised", subject.name)
    weights = instance_weights(len(board.instances), draws=draws, seed=seed)

    own = _under_own(bench, subject, field, optimised, row)
    metrics = judge_metrics(bench, field, optimised, row, programs)
    judged = [*metrics, *judge_people(board, field, optimised, row)]
    machines, names = own.judge.scores[field.machines], [field.names[k] for k in field.machine_places]
    pseudo = [pseudo_scores(bench, field, optimised, judge) for judge in programs]
    quality = quality_of(board, field, metrics)
    evidence = Evidence(
        own=own,
        judged=judged,
        bias=_bias(bench, subject, field, programs),
        equivalence=tuple(equivalence(names, machines, scores, weights) for scores in pseudo),
        kinship=kinship(names, machines, pseudo, quality, weights),
        quality=", ".join(judge.name for judge in quality),
        overrating=_overrated(subject, overrating),
        gallery=exhibits(bench, optimised.texts, own.own, _persons(bench, subject, field), judged),
        notes=_notes(bench, optimised, programs),
        random=_random_line(bench, subject, field, optimised, [own, *judged]),
    )
    pairs = bench.budget.spent - spent
    return AuditedRow(conclude(board, subject, field, optimised, evidence, weights, pairs=pairs, seed=seed), row)


def _optimise(bench: Bench, subject: Subject, field: Field, optimiser: Optimiser | None) -> Optimised:
    if subject.metric is not None and optimiser is not None:
        return optimiser.optimise(bench, subject.metric)
    if subject.needs_references:
        raise InvalidInput(
            f"{subject.name} needs references, and only its scores are here: finding outputs for it without seeing "
            "references takes its program"
        )
    return rerank_pool(bench.board, field.rows, subject.scores(bench, field.rows))


def _under_own(bench: Bench, subject: Subject, field: Field, optimised: Optimised, row: Outputs) -> Compared:
    """The optimised output under the metric it was made for."""
    alone = None
    if optimised.pool is None and subject.metric is not None:
        alone = bench.scores(subject.metric, [row])[0]
    scores = subject.scores(bench, field.rows)
    judge = Judge(subject.name, scores, subject.metric, alone, higher_is_better=subject.higher_is_better)
    return compare(field, optimised, judge)


def _random_line(
    bench: Bench, subject: Subject, field: Field, optimised: Optimised, judged: Sequence[Compared]
) -> tuple[Compared, ...]:
    """A random choice from the same candidates under the metric and under each judge that can say something.

    It stands beside the attack and is no part of it: what it takes is not taken from the budget.
    """
    free = replace(bench, budget=Budget())
    row = None
    if optimised.pool is None and any(optimised.random_texts):
        row = text_row(bench.board, f"random.{subject.name}.{optimised.method}", optimised.random_texts)
    lines = []
    for compared in judged:
        metric = compared.judge.metric
        alone = free.scores(metric, [row])[0] if row is not None and metric is not None else None
        lines.append(compare_random(field, optimised, compared.judge, alone))
    return tuple(line for line in lines if line is not None and is_comparable(line))


def _bias(bench: Bench, subject: Subject, field: Field, programs: Sequence[Metric]) -> tuple[HumanPlace, ...]:
    """People under the metric, and under the reference-based ones that are asked."""
    others = (place for metric in programs for place in human_places(bench, program(metric), field))
    return (*human_places(bench, subject, field), *others)


def _persons(bench: Bench, subject: Subject, field: Field) -> list[tuple[Outputs, Floats]]:
    """Human texts with the metric's scores of them; a reference-based metric can't score its own references."""
    board = bench.board
    if subject.metric is not None and not subject.needs_references:
        rows = human_rows(board)
        return list(zip(rows, bench.scores(subject.metric, rows) if rows else (), strict=True))
    scores = subject.scores(bench, field.rows)
    return [(board.rows[k], own) for k, own, m in zip(field.rows, scores, field.machines, strict=True) if not m]


def _overrated(subject: Subject, report: OverratingReport | None) -> tuple[float | None, Interval | None]:
    for estimate in () if report is None else report.metrics:
        if estimate.signature == subject.signature:
            return estimate.beta0, estimate.interval90
    return None, None


def _notes(bench: Bench, optimised: Optimised, programs: Sequence[Metric]) -> tuple[str, ...]:
    notes = []
    if not optimised.complete:
        notes.append("the budget ended the search early; a longer one can only find better outputs")
    if not bench.board.references:
        notes.append("the board has no references, so no reference-based metric can say how good the outputs are")
    elif not programs:
        notes.append("no reference-based metric was asked; name some with --against")
    return tuple(notes)
