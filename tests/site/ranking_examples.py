"""A ranking of three metrics and three generators in which each column lacks something."""

from __future__ import annotations

from billboards.analyses.overrating import OverratingEstimate, OverratingReport
from billboards.analyses.rank import GeneratorStanding, MetricStanding, Ranking


def metric(name: str, rank: int | None, r: float | None, *, cluster: int | None = None) -> MetricStanding:
    interval = None if r is None else (r - 0.1, r + 0.1)
    reason = "no judged output has a score" if r is None else None
    return MetricStanding(
        name=name,
        signature=f"{name}|v1",
        rank=rank,
        correlation=r,
        n=40,
        interval=interval,
        references=(),
        origin="own",
        source_name=None,
        reference_free=False,
        is_statistic=False,
        cluster=cluster,
        reason=reason,
    )


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
    board="b",
    board_version="v",
    statistic="pearson",
    grouping="pooled",
    aggregate="overall",
    part="whole board",
    references=(),
    seed=0,
    draws=50,
    metrics=(metric("A", 1, 0.6, cluster=1), metric("B", 1, 0.58, cluster=1), metric("C", None, None)),
    generators=(
        generator("one", 1, 70.0, A=9.0, B=None, C=1.0),
        generator("two", 2, None, A=8.0, B=0.25, C=2.0),
        generator("three", None, 50.0, A=None, B=0.75, C=3.0),
    ),
    ranked_by="A",
    ensemble=None,
)
OVERRATING = OverratingReport(
    board="b",
    human="Cleo",
    references=(),
    aggregate="overall",
    metrics=(
        OverratingEstimate(name="A", signature="A|v1", beta0=0.5, se=0.1, interval90=(0.3, 0.7), n=40, instances=8),
        OverratingEstimate(name="B", signature="B|v1", beta0=-0.1, se=0.1, interval90=(-0.3, 0.1), n=40, instances=8),
    ),
    missing={"C": "no scores"},
)
