"""Studies of judging itself: mixtures of generators, means from few labels, how much data, which judgments.

Each asks what a board's judgments and metrics are worth for a decision that is still to be made.
"""

from __future__ import annotations

from billboards.analyses import documents
from billboards.analyses import study_tables as studies
from billboards.analyses.agreement import study_agreement
from billboards.analyses.estimating import estimate_generator
from billboards.analyses.home import cells_of
from billboards.analyses.hybrids import study_hybrids
from billboards.analyses.power import power_of_generators, power_of_metrics
from billboards.analyses.study_results import AgreementStudy, HybridStudy, MeanEstimate, PowerStudy
from billboards.api.comparing import are_generators
from billboards.api.result import Result
from billboards.board import Board, Slice
from billboards.stats.estimate import Target


def hybrids(
    board: Board,
    *,
    aggregate: str | None = None,
    part: Slice | None = None,
    mixtures: int = 10_000,
    parents: int | None = 2,
    sample: int = 100,
    seed: int = 0,
) -> Result[HybridStudy]:
    """Metrics over random mixtures of generators: how well each orders them, and how good its pick is."""
    found = study_hybrids(
        board,
        cells_of(board),
        aggregate=aggregate,
        part=part,
        mixtures=mixtures,
        parents=parents,
        sample=sample,
        seed=seed,
    )
    return Result(found, (studies.hybrids_table(found),), documents.hybrids_document(found))


def estimate(
    board: Board,
    generator: str,
    *,
    labels: int | None = None,
    metric: str = "ensemble",
    target: Target | None = None,
    aggregate: str | None = None,
    part: Slice | None = None,
    seed: int = 0,
) -> Result[MeanEstimate]:
    """A generator's mean human score from some or all of its labels, with a metric as control variate."""
    found = estimate_generator(
        board,
        cells_of(board),
        generator,
        labels=labels,
        metric=metric,
        target=target,
        aggregate=aggregate,
        part=part,
        seed=seed,
    )
    return Result(found, (studies.estimate_table(found),), documents.estimate_document(found))


def power(
    board: Board,
    first: str,
    second: str,
    *,
    aggregate: str | None = None,
    part: Slice | None = None,
    power: float = 0.8,
    level: float = 0.05,
) -> Result[PowerStudy]:
    """How many instances, labels or generators it takes to tell two generators or two metrics apart."""
    measure = power_of_generators if are_generators(board, first, second) else power_of_metrics
    found = measure(board, cells_of(board), first, second, aggregate=aggregate, part=part, power=power, level=level)
    return Result(found, (studies.power_table(found),), documents.power_document(found))


def agreement(
    board: Board, first: str, second: str, *, part: Slice | None = None, shown: int = 10
) -> Result[AgreementStudy]:
    """Two aggregates or dimensions of judgments: how far they agree, and the outputs on which they don't."""
    found = study_agreement(board, first, second, part=part, shown=shown)
    shown_tables = (studies.agreement_table(found), *studies.corner_tables(found))
    return Result(found, shown_tables, documents.agreement_document(found))
