"""Several labels of an output made one, in four ways.

Several labels of an output made one by mean, majority, Dawid-Skene and MACE, and what that does to generators.

Where the methods agree, the plain mean will do. Where they don't, look at the annotators whom the models don't trust.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from billboards.analyses._analysis import analysis
from billboards.analyses._view import View
from billboards.analyses.ratings._ratings import CampaignsOption, DimensionsOption, RatingColumns, ratings_of, together
from billboards.errors import MissingPart, NotEnoughData
from billboards.options import Named
from billboards.show.table import Table, TableColumn, reason_notes
from billboards.stats.aggregation import METHODS, Consensus, Method, aggregate_ratings
from billboards.stats.ratings import UNKNOWN, Ratings


@dataclass(frozen=True, slots=True)
class ConsensusMean:
    """A generator's mean over outputs under every aggregation of several labels, on 0-100."""

    generator: str
    outputs: int
    means: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class ConsensusStudy:
    """Several labels of an output made one in several ways, and how far each annotator is trusted by the models."""

    DOCUMENT: ClassVar[str] = "consensus"

    source: str
    dimension: str
    methods: tuple[str, ...]
    seed: int
    generators: tuple[ConsensusMean, ...]
    skill: Mapping[str, Mapping[str, float | None]]
    left_out: Mapping[str, str] = field(default_factory=dict)


#: Models of annotators treat values as categories; more of them than this are no categories.
MOST_VALUES = 20


def study_consensus(
    columns: RatingColumns, methods: Sequence[Method] | None = None, *, seed: int = 0
) -> ConsensusStudy:
    """Each generator's mean under every aggregation, over the outputs that two or more have rated.

    Without `methods`, all that these ratings allow; the others are left out with the reason.
    """
    shared = np.bincount(columns.output)[columns.output] > 1
    if not shared.any():
        raise NotEnoughData(f"{columns.source}: no output has two labels on {columns.dimension.name}; take their mean")
    selection = columns.only(shared)
    by_method, left_out = _aggregated(
        selection, METHODS if methods is None else methods, seed, strict=methods is not None
    )
    first = np.unique(selection.output, return_index=True)[1]
    generator = selection.generator[first]
    return ConsensusStudy(
        source=columns.source,
        dimension=columns.dimension.name,
        methods=tuple(by_method),
        seed=seed,
        generators=tuple(
            ConsensusMean(
                "all outputs" if k == UNKNOWN else selection.generators[k],
                int((generator == k).sum()),
                {method: float(consensus.value[generator == k].mean()) for method, consensus in by_method.items()},
            )
            for k in np.unique(generator).tolist()
        ),
        skill={
            name: _skills(selection, consensus)
            for name, consensus in by_method.items()
            if np.isfinite(consensus.skill).any()
        },
        left_out=left_out,
    )


def _aggregated(
    columns: RatingColumns, methods: Sequence[Method], seed: int, *, strict: bool
) -> tuple[dict[str, Consensus], dict[str, str]]:
    """The consensus by every method, and why some have none; `strict` raises instead."""
    ratings = Ratings(np.unique(columns.output, return_inverse=True)[1], columns.annotator, columns.on_100)
    by_method: dict[str, Consensus] = {}
    left_out: dict[str, str] = {}
    for method in methods:
        try:
            _check_categories(columns, method)
            by_method[method] = aggregate_ratings(ratings, method, seed=seed)
        except (NotEnoughData, MissingPart) as error:
            if strict:
                raise
            left_out[method] = str(error)
    return by_method, left_out


def _check_categories(columns: RatingColumns, method: Method) -> None:
    values = len(np.unique(columns.value))
    if method in ("dawid-skene", "mace") and values > MOST_VALUES:
        raise NotEnoughData(
            f"{columns.dimension.name} has {values} different values, and a model of categories can take {MOST_VALUES}"
        )


def _skills(columns: RatingColumns, consensus: Consensus) -> dict[str, float | None]:
    people = np.unique(columns.annotator).tolist()
    return {columns.annotators[k]: float(consensus.skill[k]) for k in people}


def consensus_tables(study: ConsensusStudy) -> tuple[Table, ...]:
    """Generators under every aggregation, and whom the models trust."""
    columns = (
        TableColumn("generator", "generator", "left"),
        *(TableColumn(method, method, digits=2) for method in study.methods),
        TableColumn("outputs", "outputs"),
        TableColumn("dimension", "dimension", visible=False),
    )
    rows = tuple(
        {"generator": entry.generator, "outputs": entry.outputs, "dimension": study.dimension, **entry.means}
        for entry in study.generators
    )
    notes = reason_notes("Left out:", study.left_out)
    shown = [Table(f"{study.source}: {study.dimension}, several labels made one", columns, rows, notes)]
    if study.skill:
        skills = (
            TableColumn("annotator", "annotator", "left"),
            *(TableColumn(method, method, digits=3) for method in study.skill),
        )
        names = sorted({name for skill in study.skill.values() for name in skill}, key=lambda name: _skill(study, name))
        people = tuple({"annotator": name, **{m: skill[name] for m, skill in study.skill.items()}} for name in names)
        note = "Dawid-Skene: how often the right value was said. MACE: chance of not guessing. Least trusted first."
        shown.append(Table(f"{study.source}: annotators as the models see them", skills, people, (note,)))
    return tuple(shown)


def _skill(study: ConsensusStudy, name: str) -> float:
    return sum(skill[name] or 0.0 for skill in study.skill.values())


@dataclass(frozen=True, kw_only=True)
class ConsensusStudies:
    """Several labels made one on several dimensions, a study for each."""

    dimensions: tuple[ConsensusStudy, ...]

    def document(self) -> dict[str, Any]:
        return together(self.dimensions)


@analysis("ratings consensus", view=())
def consensus(
    view: View,
    *,
    dimension: DimensionsOption = None,
    campaign: CampaignsOption = None,
    methods: Annotated[
        tuple[Method, ...] | None, Named(name="method"), "may be repeated (default: all that the ratings allow)"
    ] = None,
    seed: Annotated[int, Ge(0), Named(metavar="N"), "seed of what is random"] = 0,
) -> ConsensusStudy | ConsensusStudies:
    """Several labels of an output made one, in four ways."""
    studies = tuple(study_consensus(c, methods, seed=seed) for c in ratings_of(view, dimension, campaign))
    return studies[0] if len(studies) == 1 else ConsensusStudies(dimensions=studies)


@consensus.table
def _consensus_tables(result: ConsensusStudy | ConsensusStudies) -> list[Table]:
    studies = result.dimensions if isinstance(result, ConsensusStudies) else (result,)
    return [table for study in studies for table in consensus_tables(study)]
