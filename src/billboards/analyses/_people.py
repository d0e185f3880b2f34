"""Generators ranked by what people said of them: on the judgments that rank the board, and on each human dimension.

Means are on 0-100, higher is better, over the instances on which a generator was judged; of z-scores where judgments
are standardised; where people compared outputs, the share of its comparisons that a generator won, in percent.
Intervals are over instances, and over annotators where these are known persons (see `billboards.stats.people`); an
interval ends where the scale does. Everybody takes part whom people judged: a human's text needs no reference here, so
it may be one. What was optimised for a metric is shown and has no rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from billboards.analyses._preferences import pairs_in
from billboards.board import Aggregate, Board, Slice, is_preference, judged_values
from billboards.stats.bootstrap import Interval
from billboards.stats.clusters import places
from billboards.stats.people import UNKNOWN, PeopleMeans, people_means, people_tests
from billboards.stats.significance import LEVEL, Sides

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: What to rank by to rank by people; no metric of this name can rank generators.
PEOPLE = "people"


@dataclass(frozen=True, kw_only=True, slots=True)
class PeopleStanding:
    """One generator's place among those that people judged.

    `annotators` is None where they are not known; then the interval is over instances alone.
    """

    name: str
    kind: str
    rank: int | None
    mean: float
    interval: Interval | None
    judgments: int
    instances: int
    annotators: int | None
    cluster: int | None = None
    reason: str | None = None
    #: Whether nobody's mean is significantly higher than its: the best, and all that is not significantly worse.
    best: bool = False
    #: Of a test against the baseline, where there is one.
    p_baseline: float | None = None


@dataclass(frozen=True, kw_only=True)
class PeopleColumn:
    """What people said on an aggregate or a dimension, best generator first; `wins` where they compared outputs."""

    name: str
    dimensions: tuple[str, ...]
    generators: tuple[PeopleStanding, ...]
    wins: bool = False

    @cached_property
    def standings(self) -> Mapping[str, PeopleStanding]:
        """Every standing by its generator's name."""
        return {standing.name: standing for standing in self.generators}

    def mean(self, generator: str) -> float | None:
        """A generator's mean; None where nobody judged it."""
        standing = self.standings.get(generator)
        return None if standing is None else standing.mean


@dataclass(frozen=True, kw_only=True)
class PeopleRanking:
    """What people said of the generators: on what ranks the board, and on each dimension beside it."""

    overall: PeopleColumn
    dimensions: tuple[PeopleColumn, ...] = ()


@dataclass(frozen=True)
class _Tested:
    """How generators are tested against each other."""

    draws: int
    seed: int
    sides: Sides
    baseline: str | None = None


@dataclass(frozen=True)
class _Said:
    """Judgments as columns: values on one scale (judgments × dimensions), and of what, on what, by whom."""

    values: Floats
    row: Ints
    instance: Ints
    annotator: Ints


def rank_by_people(
    board: Board,
    *,
    aggregate: str | None,
    part: Slice,
    documents: bool = False,
    draws: int,
    seed: int,
    sides: Sides = "two",
    baseline: str | None = None,
) -> PeopleRanking | None:
    """The generators by what people said on a part of the board; None where nobody judged any of them there.

    documents: whether intervals draw instances of a document together
    baseline: a generator that the others are tested against
    """
    if board.ranks is None and aggregate is None:
        return None
    chosen = board.aggregate(aggregate)
    unit = _documents(board, part) if documents else None
    tested = _Tested(draws, seed, sides, baseline)
    overall = _column(board, chosen, part, unit, tested)
    if overall is None:
        return None
    others = (_column(board, dimension, part, unit, tested) for dimension in _dimensions(board, chosen))
    return PeopleRanking(overall=overall, dimensions=tuple(column for column in others if column is not None))


def _dimensions(board: Board, chosen: Aggregate) -> Iterator[Aggregate]:
    """Each dimension by itself, those of the aggregate first and as its campaigns judged them.

    Nothing is said twice: an aggregate of one dimension is that dimension, unless its ratings are standardised.
    """
    for name in chosen.dimensions if len(chosen.dimensions) > 1 or chosen.standardise else ():
        yield Aggregate(name, (name,), chosen.campaigns)
    for name in board.dimensions:
        if name not in chosen.dimensions:
            yield Aggregate(name, (name,))


def _column(board: Board, aggregate: Aggregate, part: Slice, unit: Ints | None, tested: _Tested) -> PeopleColumn | None:
    wins = is_preference(board, aggregate)
    answers = (_compared if wins else _rated)(board, aggregate, part)
    of_generator = np.array([row.generator is not None for row in board.rows], bool)
    used = of_generator[answers.row] & np.isfinite(answers.values).any(axis=1)
    rows, generator = np.unique(answers.row[used], return_inverse=True)
    if not len(rows):
        return None
    means = people_means(
        answers.values[used],
        generator.astype(np.int64),
        answers.instance[used],
        answers.annotator[used],
        shape=(len(rows), len(board.select(part))),
        unit=unit,
    )
    standings = _standings(board, rows, means, _limits(board, aggregate, wins), tested)
    if not standings:
        return None
    return PeopleColumn(name=aggregate.name, dimensions=aggregate.dimensions, generators=standings, wins=wins)


def _standings(
    board: Board, rows: Ints, means: PeopleMeans, limits: Interval, tested: _Tested
) -> tuple[PeopleStanding, ...]:
    """Everybody with a mean, best first, those without a rank last."""
    optimised = np.array([board.rows[k].is_optimised for k in rows], bool)
    takes_part = ~optimised & np.isfinite(means.mean)
    cells = np.where(takes_part[:, None], means.cells, np.nan)
    draws = tested.draws
    tests = people_tests(cells, draws=draws, seed=tested.seed, sides=tested.sides) if draws else None
    order, ranks, clusters = places(np.where(takes_part, means.mean, np.nan), tests)
    best = {k for k in order if tests is not None and (k == order[0] or tests[order[0], k] > LEVEL)}
    names = [board.rows[k].name for k in rows]
    baseline = names.index(tested.baseline) if tested.baseline in names else None
    against = np.full(len(rows), np.nan) if tests is None or baseline is None else _ahead(tests, means.mean, baseline)
    rest = [k for k in range(len(rows)) if optimised[k] and np.isfinite(means.mean[k])]
    return tuple(
        replace(
            _standing(board, int(rows[k]), means, k, limits, ranks[k], clusters.get(k)),
            best=k in best,
            p_baseline=float(against[k]) if np.isfinite(against[k]) and k != baseline else None,
        )
        for k in (*order, *rest)
    )


def _ahead(tests: Floats, means: Floats, baseline: int) -> Floats:
    """P-values against the baseline, of tests whether the one that is ahead is better where they have one side."""
    return np.where(means > means[baseline], tests[:, baseline], tests[baseline])


def _standing(
    board: Board, row: int, means: PeopleMeans, k: int, limits: Interval, rank: int | None, cluster: int | None
) -> PeopleStanding:
    generator = board.rows[row].generator
    assert generator is not None
    low, high = float(max(means.low[k], limits[0])), float(min(means.high[k], limits[1]))
    by = f"optimised by {generator.optimised_by}: shown, never ranked among the others"
    return PeopleStanding(
        name=generator.name,
        kind=generator.kind,
        rank=rank,
        mean=float(means.mean[k]),
        interval=None if np.isnan(means.low[k]) else (low, high),
        judgments=int(means.judgments[k]),
        instances=int(means.instances[k]),
        annotators=int(means.annotators[k]) or None,
        cluster=cluster,
        reason=by if generator.is_optimised else None,
    )


def _limits(board: Board, aggregate: Aggregate, wins: bool) -> Interval:
    """The ends of the scale on 0-100, where it has any; z-scores have none."""
    if wins:
        return 0.0, 100.0
    if aggregate.standardise is not None:
        return -np.inf, np.inf
    ends = []
    for name in aggregate.dimensions:
        dimension = board.dimensions[name]
        slope, intercept = dimension.affine()
        reach = (0.0, 1.0) if dimension.levels_of is not None else dimension.range
        if reach is None:
            return -np.inf, np.inf
        ends.append(sorted(slope * end + intercept for end in reach))
    low, high = np.mean(ends, axis=0).tolist()
    return low, high


def _rated(board: Board, aggregate: Aggregate, part: Slice) -> _Said:
    judgments, place = board.judgments, _place(board, part)
    values = judged_values(judgments, aggregate, board.dimensions)
    used = judgments.counted(aggregate.campaigns) & (place[judgments.instance] >= 0)
    return _Said(
        values[used],
        judgments.row[used].astype(np.int64),
        place[judgments.instance[used]],
        _persons(board)[used],
    )


def _compared(board: Board, aggregate: Aggregate, part: Slice) -> _Said:
    """Every comparison as a value of each of its two outputs: 100 for the better one, 50 where they are alike."""
    rows = np.array([not row.is_optimised for row in board.rows], bool)
    pairs = pairs_in(board, aggregate, part, rows)
    won = np.where(pairs.tied, 50.0, 100.0)
    # Who compared in an anonymous campaign is nobody in particular.
    nobody = np.setdiff1d(board.judgments.annotator, _persons(board))
    annotator = np.where(np.isin(pairs.annotator, nobody), UNKNOWN, pairs.annotator).astype(np.int64)
    return _Said(
        np.concatenate((won, 100.0 - won))[:, None],
        np.concatenate((pairs.better, pairs.worse)).astype(np.int64),
        np.concatenate((pairs.instance, pairs.instance)).astype(np.int64),
        np.concatenate((annotator, annotator)),
    )


def _place(board: Board, part: Slice) -> Ints:
    """Where each instance stands in the part; -1 outside."""
    place = np.full(len(board.instances), -1, np.int64)
    keep = board.select(part)
    place[list(keep)] = np.arange(len(keep))
    return place


def _persons(board: Board) -> Ints:
    """Who gave each judgment, -1 where that is not known or not a person."""
    judgments = board.judgments
    nobody = judgments.of_campaigns(board.anonymous) if board.anonymous else np.zeros(len(judgments), bool)
    return np.where(nobody, UNKNOWN, judgments.annotator).astype(np.int64)


def _documents(board: Board, part: Slice) -> Ints:
    """The document of every instance of a part as a number; an instance without one is its own."""
    names = [board.documents[k] for k in board.select(part)]
    return np.unique(names, return_inverse=True)[1].astype(np.int64)
