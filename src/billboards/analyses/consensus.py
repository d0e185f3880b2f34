"""Several labels of an output made one by mean, majority, Dawid-Skene and MACE, and what that does to generators.

Where the methods agree, the plain mean will do. Where they don't, look at the annotators whom the models don't trust.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from billboards.analyses.rating_results import ConsensusMean, ConsensusStudy
from billboards.analyses.rating_sources import RatingColumns
from billboards.errors import MissingPart, NotEnoughData
from billboards.stats.aggregation import METHODS, Consensus, Method, aggregate_ratings
from billboards.stats.ratings import UNKNOWN, Ratings

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
    known = columns.only(shared)
    found, left_out = _aggregated(known, METHODS if methods is None else methods, seed, strict=methods is not None)
    first = np.unique(known.output, return_index=True)[1]
    generator = known.generator[first]
    return ConsensusStudy(
        source=columns.source,
        dimension=columns.dimension.name,
        methods=tuple(found),
        seed=seed,
        generators=tuple(
            ConsensusMean(
                "all outputs" if k == UNKNOWN else known.generators[k],
                int((generator == k).sum()),
                {method: float(one.value[generator == k].mean()) for method, one in found.items()},
            )
            for k in np.unique(generator).tolist()
        ),
        skill={name: _skills(known, one) for name, one in found.items() if np.isfinite(one.skill).any()},
        left_out=left_out,
    )


def _aggregated(
    known: RatingColumns, methods: Sequence[Method], seed: int, *, strict: bool
) -> tuple[dict[str, Consensus], dict[str, str]]:
    """The consensus by every method, and why some have none; `strict` raises instead."""
    ratings = Ratings(np.unique(known.output, return_inverse=True)[1], known.annotator, known.on_100)
    found: dict[str, Consensus] = {}
    left_out: dict[str, str] = {}
    for method in methods:
        try:
            _check_categories(known, method)
            found[method] = aggregate_ratings(ratings, method, seed=seed)
        except (NotEnoughData, MissingPart) as error:
            if strict:
                raise
            left_out[method] = str(error)
    return found, left_out


def _check_categories(known: RatingColumns, method: Method) -> None:
    values = len(np.unique(known.value))
    if method in ("dawid-skene", "mace") and values > MOST_VALUES:
        raise NotEnoughData(
            f"{known.dimension.name} has {values} different values, and a model of categories can take {MOST_VALUES}"
        )


def _skills(known: RatingColumns, found: Consensus) -> dict[str, float | None]:
    people = np.unique(known.annotator).tolist()
    return {known.annotators[k]: float(found.skill[k]) for k in people}
