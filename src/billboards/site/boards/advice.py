"""What the boards of a site say of metrics, as far as a viewer may hear it, ready to be pooled.

It is read from the rankings as they are shown to this viewer: numbers that rest on hidden judgments are rounded there,
and metrics that a viewer may not see are not in them. A ranking keeps intervals and no covariances, so the errors of
metrics on one board go together as far as `SHARED` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from billboards.analyses.rank import MetricStanding
from billboards.analyses.suite.evidence import (
    INSTANT,
    REFERENCE_FREE,
    SCORES_ONLY,
    BoardAgreement,
    Cost,
    Evidence,
    MetricFacts,
    collection_of,
    error_of_interval,
    installed_cost,
    language_code,
    task_of,
)
from billboards.site.boards.masked import Look
from billboards.site.boards.registry import Registered

#: Boards that are opened, those that changed last: each takes a while.
MOST = 200

#: How long a cell of each of some signatures takes on a board.
Seconds = Callable[[Look, Sequence[str]], Mapping[str, float]]


@dataclass(frozen=True, kw_only=True)
class _Standing:
    """A metric on one board, and how many outputs it scored in a second there."""

    metric: MetricStanding
    speed: float | None


def latest(boards: Iterable[Registered]) -> list[str]:
    """The boards that are asked, by name."""
    newest = sorted(boards, key=lambda registered: -registered.changed)[:MOST]
    return sorted(registered.name for registered in newest)


def site_evidence(source: str, looks: Iterable[Look], seconds: Seconds) -> Evidence:
    """What boards say as a viewer sees them."""
    agreements, standings = [], dict[str, list[_Standing]]()
    for look in looks:
        measured = _measured(look)
        if not measured:
            continue
        agreements.append(_agreement(look, measured))
        times = seconds(look, [metric.signature for metric in measured])
        for metric in measured:
            took = times.get(metric.signature, 0.0)
            speed = len(look.board.instances) / took if took > 0 else None
            standings.setdefault(metric.name, []).append(_Standing(metric=metric, speed=speed))
    facts = tuple(_facts(name, several) for name, several in standings.items())
    return Evidence(source=source, boards=tuple(agreements), metrics=facts)


def _measured(look: Look) -> list[MetricStanding]:
    """The metrics whose agreement is told, but for statistics of texts and second scores of one metric."""
    ranking = look.ranking
    metrics = () if ranking is None else ranking.metrics
    return [m for m in metrics if m.correlation is not None and not m.is_statistic and m.beside is None]


def _agreement(look: Look, measured: Sequence[MetricStanding]) -> BoardAgreement:
    return BoardAgreement(
        board=look.name,
        task=task_of(look.board.card.task),
        language=language_code(look.board.output_language),
        metrics=tuple(metric.name for metric in measured),
        values=tuple(metric.correlation or 0.0 for metric in measured),
        errors=tuple(error_of_interval(metric.interval, metric.n) for metric in measured),
        collection=collection_of(look.board.card),
    )


def _facts(name: str, standings: Sequence[_Standing]) -> MetricFacts:
    metrics = [standing.metric for standing in standings]
    speeds = [standing.speed for standing in standings if standing.speed is not None]
    speed = min(speeds, default=None)
    lone = all(metric.scores_only for metric in metrics)
    flags = dict.fromkeys(flag for metric in metrics for flag in metric.flags)
    free = all(metric.reference_free for metric in metrics)
    return MetricFacts(
        name=name,
        needs_references=not free,
        cost=installed_cost(name) or _cost_of(speed),
        speed=speed,
        warnings=(*([REFERENCE_FREE] if free else ()), *flags, *([SCORES_ONLY] if lone else ())),
        usable=not lone and all(metric.counts for metric in metrics),
    )


def _cost_of(speed: float | None) -> Cost | None:
    """What a metric takes whose declaration says nothing, as it was measured."""
    if speed is None:
        return None
    return "instant" if speed >= INSTANT else "slow"
