"""Audits of several metrics of one board, one after the other, on the same bench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from billboards.analyses.audit.attacking import attack_metric
from billboards.analyses.audit.bench import Bench, Budget
from billboards.analyses.audit.choosing import (
    Search,
    chosen_judges,
    default_budget,
    default_subjects,
    optimisers_for,
    subject_named,
)
from billboards.analyses.audit.metric_audit import DRAWS, AuditedRow
from billboards.analyses.overrating import OverratingReport, human_generators, measure_overrating
from billboards.errors import InvalidInput, MetricFailed, MissingPart
from billboards.metrics.base import Metric
from billboards.metrics.discovery import Spec


@dataclass(frozen=True)
class BoardAudit:
    """What was found, and why some metrics could not be audited."""

    audited: tuple[AuditedRow, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)


def audit_board(
    bench: Bench,
    metrics: Sequence[Spec] | None = None,
    *,
    against: Sequence[Spec] | None = None,
    search: Search | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> BoardAudit:
    """Audit metrics, by default every reference-free one; one that can't be audited doesn't stop the others.

    The bench's budget is that of each metric, so that one that takes much takes nothing from the others.
    """
    specs: Sequence[Spec] = default_subjects(bench.board) if metrics is None else metrics
    judges, overrating = chosen_judges(bench.board, against), _overrating(bench)
    audited, left_out = [], {}
    for spec in specs:
        name = spec.name if isinstance(spec, Metric) else getattr(spec, "__name__", str(spec))
        try:
            subject = subject_named(bench.board, spec)
            limit = bench.budget.limit or default_budget(bench.board, subject)
            own = replace(bench, budget=Budget(limit), seed=seed)
            optimisers = optimisers_for(own, subject, search or Search())
            entry = attack_metric(own, subject, optimisers, judges, overrating=overrating, draws=draws, seed=seed)
        except (InvalidInput, MissingPart, MetricFailed) as error:
            if len(specs) == 1:
                raise
            left_out[name] = str(error)
        else:
            audited.append(entry)
    if not audited:
        raise InvalidInput("; ".join(f"{name}: {why}" for name, why in left_out.items()))
    return BoardAudit(tuple(audited), left_out)


def _overrating(bench: Bench) -> OverratingReport | None:
    """Overrating of machines over the first judged person, to stand beside the bias."""
    people = human_generators(bench.board) if bench.board.ranks is not None else ()
    return measure_overrating(bench.board, bench.store, people[0]) if people else None
