"""Mix generators into thousands of hybrid systems: which metric orders them as people do, which picks the best?

Hybrid systems of a board: which metric orders thousands of mixtures as people do, and which picks their best.

The generators that are mixed are the judged ones whose text is not among the references, as in a ranking. A hybrid
needs every metric's score, so only metrics that score (nearly) everything take part; the others are named with the
reason, by the rule that also decides who may join an ensemble.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from billboards.analyses._analysis import analysis
from billboards.analyses._preferences import check_values
from billboards.analyses._view import View, judged_matrix
from billboards.analyses.ensemble import candidates
from billboards.board import Board, Slice
from billboards.board.cells import CellStore
from billboards.errors import InvalidInput, NotEnoughData
from billboards.options import Named
from billboards.reading import whole_number
from billboards.show.table import Table, TableColumn, reason_notes
from billboards.show.words import part_note, sided
from billboards.stats.clusters import places
from billboards.stats.hybrid import HybridCorrelations, ModelSelection, correlate_hybrids, mix_hybrids, select_models
from billboards.stats.significance import Sides


@dataclass(frozen=True, kw_only=True, slots=True)
class HybridStanding:
    """How well one metric orders hybrids, and what happens to those who choose among them by it.

    `p` is Williams' p-value between it and the best metric; the best one itself has none. `hits` is the chance that the
    metric's pick is people's, `difference` what people's score loses by it.
    """

    name: str
    rank: int | None
    cluster: int | None
    correlation: float | None
    kendall: float | None
    p: float | None
    hits: float | None
    mrr: float | None
    difference: float | None


@dataclass(frozen=True, kw_only=True)
class HybridStudy:
    """Metrics over random mixtures of a board's generators; `parents` is None where each mixes all of them."""

    DOCUMENT: ClassVar[str] = "hybrids"

    board: str
    aggregate: str
    part: str
    mixtures: int
    parents: int | None
    sample: int
    seed: int
    instances: int
    generators: tuple[str, ...]
    metrics: tuple[HybridStanding, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    sides: Sides = "one"


#: Williams' test compares two correlations over more than three systems.
FEWEST = 4


def study_hybrids(
    board: Board,
    store: CellStore | None,
    *,
    aggregate: str | None = None,
    part: Slice | None = None,
    mixtures: int = 10_000,
    parents: int | None = 2,
    sample: int = 100,
    seed: int = 0,
    sides: Sides = "two",
) -> HybridStudy:
    """Metrics by their correlation with people over random mixtures, and what choosing by each would cost."""
    _check(mixtures, sample)
    check_values(board, aggregate, "a mixture of outputs has no mean to order it by")
    view = judged_matrix(board, store, aggregate=aggregate, part=part)
    mixed = view.judged & np.array([row.generator is not None for row in board.rows], bool)
    if not mixed.any():
        raise NotEnoughData(f"board {board.name} has no judged generator to mix; hybrids need judgments")
    human = np.where(mixed[:, None], view.human, np.nan)
    chosen = candidates(view.scores, human)
    if not chosen.columns:
        reasons = "; ".join(f"{name}: {why}" for name, why in chosen.left_out.items()) or "there are no scores"
        raise NotEnoughData(f"board {board.name} has no metric to judge hybrids by ({reasons}); score it first")
    if np.ptp(human[np.isfinite(human)]) == 0:
        raise NotEnoughData(f"board {board.name}: every judgment is the same, so no hybrid is better than another")
    hybrids = mix_hybrids(view.scores.values[list(chosen.columns)], human, count=mixtures, parents=parents, seed=seed)
    names = [view.scores.names[k] for k in chosen.columns]
    correlations = correlate_hybrids(hybrids, sides=sides)
    selected = select_models(hybrids, sample=sample, seed=seed)
    return HybridStudy(
        board=board.name,
        aggregate=view.aggregate,
        part=str(view.part),
        mixtures=mixtures,
        parents=parents,
        sample=sample,
        seed=seed,
        instances=hybrids.instances,
        generators=tuple(row.name for row, taken in zip(board.rows, mixed, strict=True) if taken),
        metrics=_standings(names, correlations, selected),
        left_out=chosen.left_out,
        sides=sides,
    )


def _check(mixtures: int, sample: int) -> None:
    if mixtures < FEWEST:
        raise InvalidInput(f"{mixtures} mixtures can't be tested; ask for {FEWEST} or more")
    if not 1 <= sample <= mixtures:
        raise InvalidInput(f"a sample of {sample} can't be drawn from {mixtures} mixtures; choose 1 to {mixtures}")


def _standings(
    names: list[str], correlations: HybridCorrelations, selected: ModelSelection
) -> tuple[HybridStanding, ...]:
    """Metrics best first; those whose correlation is undefined last."""
    order, ranks, clusters = places(correlations.pearson, correlations.p)
    best = order[0] if order else None

    def standing(k: int) -> HybridStanding:
        return HybridStanding(
            name=names[k],
            rank=ranks[k],
            cluster=clusters.get(k),
            correlation=_defined(correlations.pearson[k]),
            kendall=_defined(correlations.kendall[k]),
            p=None if best is None or k == best else _defined(correlations.p[best, k]),
            hits=_defined(selected.hits[k]),
            mrr=_defined(selected.mrr[k]),
            difference=_defined(selected.difference[k]),
        )

    return tuple(map(standing, (*order, *(k for k in range(len(names)) if ranks[k] is None))))


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def hybrids_table(study: HybridStudy) -> Table:
    """Metrics by their correlation over hybrids, with what choosing by each would give."""
    columns = (
        TableColumn("rank", "#", kind="rank"),
        TableColumn("name", "metric", "left", kind="name"),
        TableColumn("correlation", "correlation", digits=3),
        TableColumn("kendall", "Kendall", digits=3, priority=3),
        TableColumn("p", "p", kind="p", priority=2),
        TableColumn("hits", "Hits@1", digits=3),
        TableColumn("mrr", "MRR", digits=3),
        TableColumn("difference", "people's loss", digits=3),
        TableColumn("cluster", "cluster", visible=False),
    )
    rows = tuple(
        {
            "rank": standing.rank,
            "name": standing.name,
            "correlation": standing.correlation,
            "kendall": standing.kendall,
            "p": standing.p,
            "hits": standing.hits,
            "mrr": standing.mrr,
            "difference": standing.difference,
            "cluster": standing.cluster,
        }
        for standing in study.metrics
    )
    title = f"{study.board}: metrics over {study.mixtures:,} hybrid systems ({study.aggregate})"
    return Table(title, columns, rows, (*_hybrid_facts(study), *part_note(study.part)))


def _hybrid_facts(study: HybridStudy) -> tuple[str, ...]:
    of = "all" if study.parents is None else f"{study.parents} of"
    asked = "better" if study.sides == "one" else "differently"
    return (
        f"Each hybrid mixes {of} {len(study.generators)} generators, instance by instance ({study.instances:,}).",
        f"p: Williams' {sided(study.sides)} test that the best metric correlates {asked}; metrics it can't tell apart "
        "share a rank. "
        "Hybrids of the same few generators say little about new ones.",
        f"Hits@1, MRR and people's loss: expected when choosing among {study.sample:,} hybrids by the metric.",
        *reason_notes("Left out:", study.left_out),
    )


@analysis(group="how good are the metrics?", paper="Graham and Liu 2016; BERTScore, section 4 and Appendix F")
def hybrids(
    view: View,
    *,
    mixtures: Annotated[int, Ge(1), Named(metavar="N"), "hybrids to draw"] = 10_000,
    parents: Annotated[
        int | str | None, Named(metavar="N"), "generators that a hybrid mixes, drawn for it, or `all`"
    ] = 2,
    sample: Annotated[int, Ge(1), Named(metavar="N"), "hybrids to choose among"] = 100,
    seed: Annotated[int, Ge(0), Named(metavar="N"), "seed of what is random"] = 0,
    sides: Annotated[Sides, "tests ask whether two metrics differ, or (one) whether the better one is"] = "two",
) -> HybridStudy:
    """Mix generators into thousands of hybrid systems: which metric orders them as people do, which picks the best?"""
    return study_hybrids(
        view.counted,
        view.cells,
        aggregate=view.aggregate,
        part=view.part,
        mixtures=mixtures,
        parents=_parents(parents),
        sample=sample,
        seed=seed,
        sides=sides,
    )


hybrids.table(hybrids_table)


def _parents(parents: int | str | None) -> int | None:
    if parents is None or parents == "all":
        return None
    number = whole_number(str(parents))
    if not number:
        raise InvalidInput(f"parents: {parents!r} is not a whole number above 0; say how many, or `all`")
    return number
