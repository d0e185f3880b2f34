"""The study of GENIE's section 4 on any labels: which way of asking gives the steadiest score for the same money?

Every dimension is studied by itself; generators are groups whose scores are judged apart and averaged. The paper's
three conclusions are tested on the figures found and reported as they come out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from billboards.analyses.rating_results import DesignFinding, DesignStanding, DesignStudy
from billboards.analyses.rating_sources import RatingColumns
from billboards.errors import NotEnoughData
from billboards.stats.designs import Labels, compare_designs, halved, labels_of


def study_designs(
    sources: Iterable[RatingColumns], *, several: int = 3, rounds: int = 500, seed: int = 0
) -> DesignStudy:
    """Designs compared on each dimension of a source, from the outputs that have at least `several` labels."""
    given = [(one, _labels(one, several)) for one in sources]
    if not given:
        raise NotEnoughData("designs are compared on a dimension or more; name one that people have rated")
    standings: list[DesignStanding] = []
    for columns, labels in given:
        found = compare_designs(labels, several=several, rounds=rounds, seed=seed)
        standings += [_standing(columns.dimension.name, one) for one in map(asdict, found)]
    return DesignStudy(
        source=given[0][0].source,
        several=several,
        half=min(halved(labels, several) for _, labels in given),
        rounds=rounds,
        seed=seed,
        items={one.dimension.name: len(labels.group) for one, labels in given},
        labels={one.dimension.name: int(labels.counts.sum()) for one, labels in given},
        groups=max(int(labels.group.max()) + 1 for _, labels in given),
        designs=tuple(standings),
        findings=tuple(finding for one, _ in given for finding in _findings(one.dimension.name, standings, several)),
    )


def _labels(columns: RatingColumns, several: int) -> Labels:
    try:
        return labels_of(columns.output, columns.on_unit, columns.generator, at_least=several)
    except NotEnoughData as error:
        raise NotEnoughData(f"{columns.source}, {columns.dimension.name}: {error}") from error


def _standing(dimension: str, values: Mapping[str, Any]) -> DesignStanding:
    plain: dict[str, Any] = {
        key: None if isinstance(one, float) and np.isnan(one) else one for key, one in values.items()
    }
    return DesignStanding(dimension=dimension, **plain)


def _findings(dimension: str, standings: Sequence[DesignStanding], several: int) -> list[DesignFinding]:
    """The paper's conclusions on the figures of one dimension."""
    mine = {(one.scale, one.aggregation, one.labels): one for one in standings if one.dimension == dimension}
    scales = list(dict.fromkeys(one.scale for one in mine.values()))
    alone = [mine[scale, "mean", 1].sd for scale in scales]
    shared = [mine[scale, "mean", several].sd for scale in scales]
    five, best = mine["five-level", "mean", 1], min(mine.values(), key=lambda one: one.sd)
    found = [
        DesignFinding(
            dimension,
            f"1 label of every item varies less than {several} of 1/{several} of them",
            all(one < other for one, other in zip(alone, shared, strict=True)),
            ", ".join(
                f"{s}: {a:.3f} < {b:.3f}" if a < b else f"{s}: {a:.3f} ≥ {b:.3f}"
                for s, a, b in zip(scales, alone, shared, strict=True)
            ),
        ),
        DesignFinding(
            dimension,
            "five levels, 1 label vary least of all binary and five-level designs",
            five.sd <= min(one.sd for one in mine.values() if one.scale != "as given"),
            f"{five.sd:.3f}; least: {best.scale}, {best.aggregation}, {best.labels} ({best.sd:.3f})",
        ),
        DesignFinding(
            dimension,
            "five levels and the mean are the steadiest from day to day, with 1 label and with several",
            all(_steadiest(mine, labels) for labels in (1, several)),
            f"{five.days:.3f} and {mine['five-level', 'mean', several].days:.3f}; binary: "
            f"{mine['binary', 'mean', 1].days:.3f} and {mine['binary', 'mean', several].days:.3f}",
        ),
    ]
    return [*found, *_telling_apart(dimension, mine)]


def _steadiest(mine: Mapping[tuple[str, str, int], DesignStanding], labels: int) -> bool:
    """Whether five levels and the mean differ least between halves, among two and five levels with so many labels."""
    others = [one.days for (scale, _, count), one in mine.items() if count == labels and scale != "as given"]
    return mine["five-level", "mean", labels].days <= min(others)


def _telling_apart(dimension: str, mine: Mapping[tuple[str, str, int], DesignStanding]) -> list[DesignFinding]:
    """Beyond the paper: a narrow scale also narrows the differences between generators."""
    five, two = mine["five-level", "mean", 1].separation, mine["binary", "mean", 1].separation
    if five is None or two is None:
        return []
    return [
        DesignFinding(
            dimension,
            "five levels tell generators apart better than two (not asked in the paper)",
            five > two,
            f"separation {five:.2f} against {two:.2f}",
        )
    ]
