"""What people said: append-only judgments, and the aggregates that are derived from them.

A judgment is one annotator's word on one output (or on several, for preferences), with a value per dimension. All
judgments of a board are kept as columns, because a board may have a million of them; what few judgments carry (spans,
preferences, times) is kept aside by row. `JudgmentColumns` collects them one by one: typed arrays hold a million in a
few megabytes while they are read, and names of annotators and campaigns are kept once, in order of first appearance.
Nothing is averaged before an `Aggregate` says how.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from math import isnan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput, UnknownName

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
UNKNOWN = -1
_BLOCK = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgment:
    """One judgment as a person reads it."""

    instance: str
    outputs: tuple[str, ...]
    values: Mapping[str, float]
    annotator: str | None = None
    campaign: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True, repr=False)
class Judgments:
    """All judgments of a board as columns.

    `instance` and `row` are positions on the board; `annotator` and `campaign` index the names beside them, with -1
    for unknown; `values` has a column per dimension and NaN where nothing was said. `details` holds, for the few that
    have any, `others` (positions of further outputs that were compared), `prefers` or `order` with the `dimension` they
    are on, `spans`, `test` (the kind of test question), `time` and `template`.
    """

    dimensions: tuple[str, ...] = ()
    annotators: tuple[str, ...] = ()
    campaigns: tuple[str, ...] = ()
    instance: Ints = field(default_factory=lambda: np.empty(0, np.int32))
    row: Ints = field(default_factory=lambda: np.empty(0, np.int32))
    annotator: Ints = field(default_factory=lambda: np.empty(0, np.int32))
    campaign: Ints = field(default_factory=lambda: np.empty(0, np.int32))
    values: Floats = field(default_factory=lambda: np.empty((0, 0)))
    details: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.instance)

    def __repr__(self) -> str:
        return f"<Judgments: {len(self):,} on {', '.join(self.dimensions) or 'no dimension'}>"

    @property
    def version(self) -> str:
        """A digest of all judgments, in order."""
        total = hashlib.sha256(repr((self.dimensions, self.annotators, self.campaigns)).encode())
        for column in (self.instance, self.row, self.annotator, self.campaign):
            total.update(np.ascontiguousarray(column, "<i4").tobytes())
        total.update(np.ascontiguousarray(self.values, "<f8").tobytes())
        total.update(repr(sorted(self.details.items())).encode())
        return total.hexdigest()[:16]

    def each(self, instance_ids: tuple[str, ...], row_names: tuple[str, ...]) -> Iterator[Judgment]:
        """Every judgment in words, in the order it was given."""
        for k, (instance, row, annotator, campaign, values) in enumerate(self._lines()):
            details = dict(self.details.get(k, ()))
            yield Judgment(
                instance=instance_ids[instance],
                outputs=(row_names[row], *(row_names[r] for r in details.pop("others", ()))),
                values={d: value for d, value in zip(self.dimensions, values, strict=True) if not isnan(value)},
                annotator=_named(self.annotators, annotator),
                campaign=_named(self.campaigns, campaign),
                details=details,
            )

    def _lines(self) -> Iterator[tuple[int, int, int, int, list[float]]]:
        """The columns line by line as Python's numbers, a block at a time: faster than one by one, smaller than all."""
        columns = (self.instance, self.row, self.annotator, self.campaign, self.values)
        for start in range(0, len(self), _BLOCK):
            yield from zip(*(column[start : start + _BLOCK].tolist() for column in columns), strict=True)

    def counted(self, campaigns: tuple[str, ...] | None = None) -> NDArray[np.bool_]:
        """Which judgments count towards results: not test questions, and of the campaigns asked for."""
        mask = self.of_single_outputs()
        mask[[k for k, detail in self.details.items() if detail.get("test")]] = False
        return mask & self.of_campaigns(campaigns)

    def of_single_outputs(self) -> NDArray[np.bool_]:
        """Which judgments speak of one output, and don't compare several."""
        mask = np.ones(len(self), bool)
        mask[[k for k, detail in self.details.items() if detail.get("others")]] = False
        return mask

    def of_campaigns(self, campaigns: tuple[str, ...] | None) -> NDArray[np.bool_]:
        """Which judgments belong to these campaigns; all of them where none are named."""
        if campaigns is None:
            return np.ones(len(self), bool)
        return np.isin(self.campaign, [k for k, name in enumerate(self.campaigns) if name in campaigns])

    def on(self, dimension: Dimension) -> Floats:
        """Every judgment's value on a dimension, its own or read off the levels of another; NaN where there is none."""
        source = dimension.name if dimension.levels_of is None else dimension.levels_of
        if source not in self.dimensions:
            return np.full(len(self), np.nan)
        values: Floats = self.values[:, self.dimensions.index(source)]
        if dimension.levels_of is None:
            return values
        reached = (values >= (dimension.at_least or 0.0)).astype(np.float64)
        return np.where(np.isnan(values), np.nan, reached)

    def means(
        self, dimension: Dimension | str, shape: tuple[int, int], campaigns: tuple[str, ...] | None = None
    ) -> Floats:
        """Mean over annotators on one dimension, as rows × instances, NaN where nobody judged."""
        return self.cell_means(
            self.on(Dimension(dimension) if isinstance(dimension, str) else dimension), shape, campaigns
        )

    def cell_means(self, values: Floats, shape: tuple[int, int], campaigns: tuple[str, ...] | None = None) -> Floats:
        """Mean of a value per judgment over those that count, as rows × instances, NaN where there is none."""
        used = self.counted(campaigns) & ~np.isnan(values)
        cell = self.row[used].astype(np.int64) * shape[1] + self.instance[used]
        count = np.bincount(cell, minlength=shape[0] * shape[1])
        total = np.bincount(cell, weights=values[used], minlength=shape[0] * shape[1])
        means = np.full(shape[0] * shape[1], np.nan)
        np.divide(total, count, out=means, where=count > 0)
        return means.reshape(shape)


def _named(names: tuple[str, ...], k: int) -> str | None:
    return None if k == UNKNOWN else names[k]


@dataclass(frozen=True, slots=True)
class Dimension:
    """A quality that was judged, with its scale and the affine map of that scale to 0-100.

    The map is (slope, intercept). MQM's -25..0 has (4, 100); a 1-5 scale in the paper's way has (20, 0). Without one
    the declared range is stretched to 0-100, and without a range values are taken as they are.

    A dimension can be read off the levels of another (`levels_of`): 1 where a judgment there reaches `at_least`, else
    0. One whose `kind` is "preference" has no values: people said which of several outputs is better.
    """

    name: str
    _: KW_ONLY
    range: tuple[float, float] | None = None
    higher_is_better: bool = True
    to_100: tuple[float, float] | None = None
    definition: str | None = None
    kind: Literal["rating", "preference"] = "rating"
    levels_of: str | None = None
    at_least: float | None = None

    def derivation(self) -> tuple[str | float, ...]:
        """What tells the dimension from a plain rating; empty for one."""
        kind = () if self.kind == "rating" else (self.kind,)
        return kind if self.levels_of is None else (*kind, self.levels_of, self.at_least or 0.0)

    def affine(self) -> tuple[float, float]:
        """Slope and intercept of the map to 0-100, oriented so that higher is better."""
        if self.to_100 is not None:
            return self.to_100
        if self.levels_of is not None:
            return (100.0, 0.0) if self.higher_is_better else (-100.0, 100.0)
        if self.range is None:
            return (1.0, 0.0) if self.higher_is_better else (-1.0, 0.0)
        low, high = self.range
        slope = 100.0 / (high - low)
        return (slope, -low * slope) if self.higher_is_better else (-slope, high * slope)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """How single judgments become one number per output: mean over annotators, then over dimensions, on 0-100.

    An output that lacks any one of the dimensions has no aggregate; it is missing, not averaged over less.

    With `standardise` the mean is of z-scores instead: an annotator's ratings on a dimension less their mean, over
    their standard deviation, which divides by n - `ddof`. WMT's direct assessment has ddof 1, Simplicity-DA 0.
    """

    name: str
    dimensions: tuple[str, ...]
    campaigns: tuple[str, ...] | None = None
    _: KW_ONLY
    standardise: Literal["annotator"] | None = None
    ddof: int = 1


def human_scores(
    judgments: Judgments, aggregate: Aggregate, dimensions: Mapping[str, Dimension], shape: tuple[int, int]
) -> Floats:
    """An aggregate as rows × instances, higher is better, NaN where it is missing; on 0-100 unless standardised."""
    total = np.zeros(shape)
    for name in aggregate.dimensions:
        if aggregate.standardise is None:
            slope, intercept = dimensions[name].affine()
            total += judgments.means(dimensions[name], shape, aggregate.campaigns) * slope + intercept
        else:
            z = standardised(judgments, aggregate, dimensions[name]).values
            total += judgments.cell_means(z, shape, aggregate.campaigns)
    return total / len(aggregate.dimensions)


def judged_values(judgments: Judgments, aggregate: Aggregate, dimensions: Mapping[str, Dimension]) -> Floats:
    """What each judgment says on the dimensions of an aggregate (judgments × dimensions), higher is better.

    On 0-100 unless standardised; NaN where nothing was said. Which of them count, `Judgments.counted` tells.
    """
    columns = []
    for name in aggregate.dimensions:
        if aggregate.standardise is None:
            slope, intercept = dimensions[name].affine()
            columns.append(slope * judgments.on(dimensions[name]) + intercept)
        else:
            columns.append(standardised(judgments, aggregate, dimensions[name]).values)
    return np.stack(columns, axis=1)


@dataclass(frozen=True, kw_only=True)
class Standardised:
    """Every judgment's z-score on a dimension, NaN where there is none, and what was left out.

    `nameless` counts ratings that name no annotator; `annotators` and `ratings` are those with a single rating or
    without any spread, who have no z-scores. Test questions are in the mean and spread of an annotator, as at WMT, and
    are not counted here.
    """

    values: Floats
    nameless: int
    annotators: int
    ratings: int


def standardised(judgments: Judgments, aggregate: Aggregate, dimension: Dimension) -> Standardised:
    """The ratings of an aggregate's campaigns on a dimension as z-scores of their annotators, higher is better."""
    raw = judgments.on(dimension)
    counted = judgments.counted(aggregate.campaigns)
    rated = judgments.of_campaigns(aggregate.campaigns) & judgments.of_single_outputs() & ~np.isnan(raw)
    used = np.flatnonzero(rated & (judgments.annotator != UNKNOWN))
    nameless = int((rated & counted).sum() - counted[used].sum())
    if nameless and not len(used):
        raise InvalidInput(
            f"aggregate {aggregate.name} standardises by annotator, but no judgment on {dimension.name} names its "
            "annotator; add the annotators, or take `standardise` out of board.toml"
        )
    people, who = np.unique(judgments.annotator[used], return_inverse=True)
    values, count = raw[used], np.bincount(who, minlength=len(people))
    centre = np.bincount(who, values, len(people)) / count
    # Around the mean, so that large values lose no digits.
    squares = np.bincount(who, (values - centre[who]) ** 2, len(people))
    low, high = np.full(len(people), np.inf), np.full(len(people), -np.inf)
    np.minimum.at(low, who, values)
    np.maximum.at(high, who, values)
    spread = np.full(len(people), np.nan)
    varied = (high > low) & (squares > 0)
    spread[varied] = np.sqrt(squares[varied] / (count[varied] - aggregate.ddof))
    z = np.full(len(judgments), np.nan)
    z[used] = (values - centre[who]) / spread[who] * (1.0 if dimension.higher_is_better else -1.0)
    flat = ~varied[who] & counted[used]
    return Standardised(
        values=z, nameless=nameless, annotators=len(np.unique(who[flat])), ratings=int(np.count_nonzero(flat))
    )


def standardisation_notes(
    judgments: Judgments, aggregate: Aggregate, dimensions: Mapping[str, Dimension]
) -> Iterator[str]:
    """What readers of a standardised aggregate should know: its scale, and the ratings that have no z-score."""
    if aggregate.standardise is None:
        return
    divisor = "n - 1" if aggregate.ddof == 1 else "n"
    yield (
        f"{aggregate.name} is the mean of z-scores: each annotator's ratings less their mean, over their standard "
        f"deviation (divided by {divisor})"
    )
    for name in aggregate.dimensions:
        z = standardised(judgments, aggregate, dimensions[name])
        if z.nameless:
            yield f"{aggregate.name} leaves out {z.nameless:,} ratings on {name} that name no annotator"
        if z.ratings:
            yield (
                f"{aggregate.name} leaves out {z.ratings:,} ratings on {name} by {z.annotators:,} annotators with one "
                "rating only or always the same, who have no standard deviation"
            )


class JudgmentColumns:
    """A growing set of judgments; `build` freezes it."""

    def __init__(self, dimensions: tuple[str, ...]) -> None:
        self._dimensions = dimensions
        self._known = frozenset(dimensions)
        self._instance, self._row = array("i"), array("i")
        self._annotator, self._campaign = array("i"), array("i")
        self._values = array("d")
        self._annotators: dict[str, int] = {}
        self._campaigns: dict[str, int] = {}
        self._details: dict[int, Mapping[str, Any]] = {}

    def add(
        self,
        instance: int,
        row: int,
        values: Mapping[str, float],
        *,
        annotator: str | None = None,
        campaign: str | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        """One judgment, with the board positions of its instance and row; a value of NaN is one that was not given."""
        if not values.keys() <= self._known:
            raise UnknownName("dimension", min(values.keys() - self._known), self._known)
        if details:
            self._details[len(self._instance)] = details
        self._instance.append(instance)
        self._row.append(row)
        self._annotator.append(_code(self._annotators, annotator))
        self._campaign.append(_code(self._campaigns, campaign))
        for name in self._dimensions:
            self._values.append(values.get(name, math.nan))

    def has_campaign(self, name: str) -> bool:
        """Whether a judgment of this campaign was added before."""
        return name in self._campaigns

    def build(self) -> Judgments:
        return Judgments(
            dimensions=self._dimensions,
            annotators=tuple(self._annotators),
            campaigns=tuple(self._campaigns),
            instance=np.array(self._instance, np.int32),
            row=np.array(self._row, np.int32),
            annotator=np.array(self._annotator, np.int32),
            campaign=np.array(self._campaign, np.int32),
            values=np.array(self._values, np.float64).reshape(len(self._instance), len(self._dimensions)),
            details=self._details,
        )


def _code(codes: dict[str, int], name: str | None) -> int:
    return -1 if name is None else codes.setdefault(name, len(codes))


def join_judgments(first: Judgments, second: Judgments) -> Judgments:
    """All judgments of two sets on the same instances and rows, with the dimensions and names of both."""
    dimensions = tuple(dict.fromkeys((*first.dimensions, *second.dimensions)))
    annotators = tuple(dict.fromkeys((*first.annotators, *second.annotators)))
    campaigns = tuple(dict.fromkeys((*first.campaigns, *second.campaigns)))
    both = (first, second)
    return Judgments(
        dimensions=dimensions,
        annotators=annotators,
        campaigns=campaigns,
        instance=np.concatenate([part.instance for part in both]),
        row=np.concatenate([part.row for part in both]),
        annotator=np.concatenate([_recode(part.annotator, part.annotators, annotators) for part in both]),
        campaign=np.concatenate([_recode(part.campaign, part.campaigns, campaigns) for part in both]),
        values=np.concatenate([_spread(part, dimensions) for part in both]),
        details={**first.details, **{len(first) + k: detail for k, detail in second.details.items()}},
    )


def _recode(codes: Ints, names: tuple[str, ...], wanted: tuple[str, ...]) -> Ints:
    """Numbers into one list of names as numbers into another; -1 stays."""
    place = {name: k for k, name in enumerate(wanted)}
    table = np.array([*(place[name] for name in names), -1], np.int32)
    return table[codes]


def _spread(part: Judgments, dimensions: tuple[str, ...]) -> Floats:
    """The values under more dimensions, NaN where nothing was said."""
    values = np.full((len(part), len(dimensions)), np.nan)
    values[:, [dimensions.index(name) for name in part.dimensions]] = part.values.reshape(
        len(part), len(part.dimensions)
    )
    return values
