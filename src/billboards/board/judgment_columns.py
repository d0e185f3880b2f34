"""Collecting judgments one by one into the columns a board keeps them in.

A board may have a million judgments; typed arrays hold them in a few megabytes while they are read. Names of annotators
and campaigns are kept once, in order of first appearance, and referred to by number.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np

from billboards.board.judgments import Floats, Ints, Judgments
from billboards.errors import UnknownName


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
            self._dimensions,
            tuple(self._annotators),
            tuple(self._campaigns),
            np.array(self._instance, np.int32),
            np.array(self._row, np.int32),
            np.array(self._annotator, np.int32),
            np.array(self._campaign, np.int32),
            np.array(self._values, np.float64).reshape(len(self._instance), len(self._dimensions)),
            self._details,
        )


def _code(known: dict[str, int], name: str | None) -> int:
    return -1 if name is None else known.setdefault(name, len(known))


def join_judgments(one: Judgments, other: Judgments) -> Judgments:
    """All judgments of two sets on the same instances and rows, with the dimensions and names of both."""
    dimensions = tuple(dict.fromkeys((*one.dimensions, *other.dimensions)))
    annotators = tuple(dict.fromkeys((*one.annotators, *other.annotators)))
    campaigns = tuple(dict.fromkeys((*one.campaigns, *other.campaigns)))
    both = (one, other)
    return Judgments(
        dimensions,
        annotators,
        campaigns,
        np.concatenate([part.instance for part in both]),
        np.concatenate([part.row for part in both]),
        np.concatenate([_recode(part.annotator, part.annotators, annotators) for part in both]),
        np.concatenate([_recode(part.campaign, part.campaigns, campaigns) for part in both]),
        np.concatenate([_spread(part, dimensions) for part in both]),
        {**one.details, **{len(one) + k: detail for k, detail in other.details.items()}},
    )


def _recode(codes: Ints, names: tuple[str, ...], known: tuple[str, ...]) -> Ints:
    """Numbers into one list of names as numbers into another; -1 stays."""
    place = {name: k for k, name in enumerate(known)}
    table = np.array([*(place[name] for name in names), -1], np.int32)
    return table[codes]


def _spread(part: Judgments, dimensions: tuple[str, ...]) -> Floats:
    """The values under more dimensions, NaN where nothing was said."""
    values = np.full((len(part), len(dimensions)), np.nan)
    values[:, [dimensions.index(name) for name in part.dimensions]] = part.values.reshape(
        len(part), len(part.dimensions)
    )
    return values
