"""Where the difference between generators, or between metrics, lies: by length, domain, document and tag.

A board's instances are sorted into buckets by what its readers may read of them. In each bucket generators are compared
by their means on the instances that all of them have, metrics by their correlation with people on the outputs that all
have scored, with the same functions as on the whole board. Intervals come from drawing a bucket's instances again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.analyses._view import JudgedMatrix
from billboards.board import Board
from billboards.stats.bootstrap import Interval, bootstrap_pearson
from billboards.stats.correlation import pearson, resampling_weights
from billboards.stats.reliability import percentile_interval

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Kind = Literal["length", "domain", "document", "tag"]
KINDS: tuple[Kind, ...] = ("length", "domain", "document", "tag")
#: Buckets of a kind that are compared, those with most instances; and instances that a bucket needs at least.
MOST_BUCKETS, FEWEST = 12, 5
#: Draws of an interval, and their seed.
DRAWS, SEED = 500, 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """Some instances of a board, and what each of the compared has on them.

    The difference is the first minus the second.
    """

    kind: Kind
    name: str
    #: Instances, or for metrics judged outputs, that all of the compared have.
    n: int
    values: tuple[float | None, ...]
    difference: float | None
    interval: Interval | None

    @property
    def is_clear(self) -> bool:
        """Whether the interval of the difference leaves out 0."""
        return self.interval is not None and (self.interval[0] > 0 or self.interval[1] < 0)


def buckets_of(board: Board) -> dict[Kind, dict[str, Ints]]:
    """The positions of instances by length, domain, document and tag; a kind with one bucket tells nothing."""
    named: dict[Kind, dict[str, list[int]]] = {"domain": {}, "document": {}, "tag": {}}
    for k, instance in enumerate(board.instances):
        if instance.domain is not None:
            named["domain"].setdefault(instance.domain, []).append(k)
        if instance.document is not None:
            named["document"].setdefault(instance.document, []).append(k)
        for tag in instance.tags:
            named["tag"].setdefault(tag, []).append(k)
    every: dict[Kind, dict[str, Ints]] = {"length": _by_length(board)}
    for kind, places in named.items():
        enough = {name: np.array(positions) for name, positions in places.items() if len(positions) >= FEWEST}
        largest = sorted(enough, key=lambda name: (-len(enough[name]), name))[:MOST_BUCKETS]
        every[kind] = {name: enough[name] for name in sorted(largest)}
    return {kind: values for kind, values in every.items() if len(values) > 1 or (kind == "tag" and values)}


def _by_length(board: Board) -> dict[str, Ints]:
    """Quarters of the instances by how many words their input has, or where there is none their first reference."""
    texts = [i.input or (i.references[0].text if i.references else "") for i in board.instances]
    lengths = np.array([len(text.split()) for text in texts])
    if not lengths.any():
        return {}
    edges = np.unique(np.quantile(lengths, (0.25, 0.5, 0.75), method="lower"))
    quarter = np.searchsorted(edges, lengths, side="left")
    values = {}
    for k in range(len(edges) + 1):
        positions = np.flatnonzero(quarter == k)
        if len(positions) >= FEWEST:
            low, high = int(lengths[positions].min()), int(lengths[positions].max())
            values[f"{low} words" if low == high else f"{low} to {high} words"] = positions
    return values


def generator_buckets(buckets: Mapping[Kind, Mapping[str, Ints]], scores: Floats) -> tuple[Bucket, ...]:
    """Generators (rows of `scores`, as readers know them, by instance) compared in every bucket."""
    compared = []
    for kind, named in buckets.items():
        for name, positions in named.items():
            part = scores[:, positions]
            part = part[:, np.isfinite(part).all(axis=0)]
            if part.shape[1] < FEWEST:
                continue
            means = part.mean(axis=1)
            drawn = resampling_weights(np.random.default_rng(SEED), part.shape[1], DRAWS) @ (part[0] - part[1])
            compared.append(
                Bucket(
                    kind=kind,
                    name=name,
                    n=part.shape[1],
                    values=tuple(map(float, means)),
                    difference=float(means[0] - means[1]),
                    interval=_defined(percentile_interval(drawn / part.shape[1])),
                )
            )
    return tuple(compared)


def metric_buckets(
    view: JudgedMatrix, buckets: Mapping[Kind, Mapping[str, Ints]], names: Sequence[str]
) -> tuple[Bucket, ...]:
    """Metrics' pooled correlations with people in every bucket."""
    scores, human = np.stack([view.scores.of(name) for name in names]), view.judged_human
    used = np.isfinite(scores).all(axis=0) & np.isfinite(human)
    scores, human = np.where(used, scores, np.nan), np.where(used, human, np.nan)
    compared = []
    for kind, named in buckets.items():
        for name, positions in named.items():
            n = int(used[:, positions].sum())
            if n < 2 * FEWEST:
                continue
            part, people = scores[:, :, positions], human[:, positions]
            r, _ = pearson(part, people)
            several = np.isfinite(people).any(axis=0).sum() > 1
            drawn = bootstrap_pearson(part[:2], people, unit="instances", draws=DRAWS, seed=SEED) if several else None
            values = tuple(None if np.isnan(value) else float(value) for value in r)
            defined = values[0] is not None and values[1] is not None
            compared.append(
                Bucket(
                    kind=kind,
                    name=name,
                    n=n,
                    values=values,
                    difference=float(r[0] - r[1]) if defined else None,
                    interval=None if drawn is None else _defined(percentile_interval(drawn[:, 0] - drawn[:, 1])),
                )
            )
    return tuple(compared)


def _defined(interval: Interval) -> Interval | None:
    return None if np.isnan(interval[0]) else interval
