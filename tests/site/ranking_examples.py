"""A ranking of three metrics and three generators in which each column lacks something."""

from __future__ import annotations

from billboards.analyses.overrating import OverratingEstimate, OverratingReport
from billboards.analyses.rank import GeneratorStanding, MetricStanding, Ranking


def metric(name: str, rank: int | None, r: float | None, *, cluster: int | None = None) -> MetricStanding:
    interval = None if r is None else (r - 0.1, r + 0.1)
    reason = "no judged output has a score" if r is None else None
    return MetricStanding(name, f"{name}|v1", rank, r, 40, interval, (), "own", None, False, False, cluster, reason)


def generator(name: str, rank: int | None, human: float | None, **scores: float | None) -> GeneratorStanding:
    return GeneratorStanding(
        name=name,
        kind="machine",
        rank=rank,
        scores=scores,
        covered=dict.fromkeys(scores, 8),
        human=human,
        judged=8,
        reason=None,
        cluster=rank,
    )


RANKING = Ranking(
    "b",
    "v",
    "pearson",
    "pooled",
    "overall",
    "whole board",
    (),
    0,
    50,
    (metric("A", 1, 0.6, cluster=1), metric("B", 1, 0.58, cluster=1), metric("C", None, None)),
    (
        generator("one", 1, 70.0, A=9.0, B=None, C=1.0),
        generator("two", 2, None, A=8.0, B=0.25, C=2.0),
        generator("three", None, 50.0, A=None, B=0.75, C=3.0),
    ),
    "A",
    None,
)
OVERRATING = OverratingReport(
    "b",
    "Cleo",
    (),
    "overall",
    (
        OverratingEstimate("A", "A|v1", 0.5, 0.1, (0.3, 0.7), 40, 8),
        OverratingEstimate("B", "B|v1", -0.1, 0.1, (-0.3, 0.1), 40, 8),
    ),
    {"C": "no scores"},
)
