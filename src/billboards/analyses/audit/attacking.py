"""Every attack that suits a metric, and the strongest of them, which counts.

A metric may hide from one search and not from another, so all are tried, each against the same machines and judges. The
audit is that of the attack that speaks most against the metric; the others stand beside it. An attack that suits the
metric and could not be tried (the budget ended, the metric failed on its outputs) leaves a verdict open that would
else be clear.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from billboards.analyses.audit.bench import Bench
from billboards.analyses.audit.metric_audit import DRAWS, AuditedRow, audit_metric
from billboards.analyses.audit.optimised import Optimiser
from billboards.analyses.audit.subject import Subject
from billboards.analyses.audit.verdict import verdict_words
from billboards.analyses.overrating import OverratingReport
from billboards.errors import BillboardsError, InvalidInput, MetricFailed, MissingPart, NotEnoughData
from billboards.metrics.base import Metric

#: A search that is done in place of another: the exact one for the greedy one, and the other way round.
ALIKE = {"extract": "enumerate", "enumerate": "extract"}


def attack_metric(
    bench: Bench,
    subject: Subject,
    optimisers: Sequence[Optimiser | None],
    judges: Sequence[Metric],
    *,
    overrating: OverratingReport | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> AuditedRow:
    """Audit a metric by every optimiser; without any that can be tried, the first one's reason is raised."""
    tried: list[AuditedRow] = []
    not_tried: dict[str, str] = {}
    refused: list[str] = []
    first: BillboardsError | None = None
    for k, optimiser in enumerate(optimisers):
        method = "rerank" if optimiser is None else optimiser.method
        if len(optimisers) > 1:
            bench.show(k, len(optimisers), f"{subject.name} · attack {k + 1} of {len(optimisers)}, {method}")
        try:
            tried.append(audit_metric(bench, subject, optimiser, judges, overrating=overrating, draws=draws, seed=seed))
        except NotEnoughData as error:
            first = first or error  # it does not suit this board after all
        except InvalidInput as error:
            first, not_tried[method] = first or error, str(error)
        except (MetricFailed, MissingPart) as error:
            first, not_tried[method] = first or error, str(error)
            refused.append(method)
    if not tried:
        assert first is not None
        raise first
    return strongest(tried, not_tried, refused)


def strongest(tried: Sequence[AuditedRow], not_tried: Mapping[str, str], refused: Sequence[str] = ()) -> AuditedRow:
    """The attack that speaks most against the metric, with all others beside it.

    What the budget left out may be stood in for by a search that is alike; what the metric refused may not.
    """
    ordered = sorted(tried, key=lambda entry: entry.audit.severity, reverse=True)
    methods = {entry.audit.method for entry in tried}
    missing = [method for method in not_tried if method in refused or ALIKE.get(method) not in methods]
    best = ordered[0].audit
    audit = replace(
        best,
        level="inconclusive" if best.level == "clear" and missing else best.level,
        pairs=sum(entry.audit.pairs for entry in tried),
        attacks=tuple(attack for entry in ordered for attack in entry.audit.attacks),
        not_tried=dict(not_tried),
    )
    return AuditedRow(replace(audit, words=verdict_words(audit)), ordered[0].row)
