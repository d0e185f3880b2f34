"""Metrics that have seen the judgments: agreement on published judgments beside that on a share kept private.

A metric that was fitted to judgments, or looks them up, agrees better with those it has seen than with those it has
not. Documents are dealt into two shares by a seed; honest metrics agree with both alike, apart from luck and from one
share being easier, which moves all of them. So a metric's difference is taken beside the middle one of the others, and
its p-value is the share of other deals of the same documents in which that is at least as large: where nothing was
seen, all deals are alike, so the test holds its level exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.bootstrap import sums_by_document
from billboards.stats.clusters import holm
from billboards.stats.correlation import instance_sums, pearson_of_sums

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Documents that each share needs: fewer can be dealt in too few ways to find anything.
FEWEST = 5
#: Deals behind a p-value: so many, or so many for each metric. Holm's correction multiplies the smallest p-value that
#: there can be by the number of metrics, and at 1% something must still be found.
DEALS, DEALS_EACH = 5000, 200
#: Deals that are worked out at a time.
_BLOCK = 250


@dataclass(frozen=True, kw_only=True)
class Exposure:
    """Each metric's agreement on both shares; NaN where it is not defined."""

    public: Floats
    private: Floats
    #: Judged outputs of each share that the metric has scored.
    public_n: NDArray[np.int64]
    private_n: NDArray[np.int64]
    #: Public less private agreement, beside the middle difference of the other metrics.
    excess: Floats
    #: The share of deals with at least this excess, and the same after Holm's correction for all metrics.
    p: Floats
    corrected: Floats


def private_documents(documents: Sequence[str], share: float, seed: int) -> Bools:
    """Which instances belong to the private share: whole documents, dealt by a seed, about this share of instances.

    documents: the document of every instance.
    share: the share of instances, between 0 and 1.
    seed: the seed, which is a secret where the share is one.
    """
    if not 0 < share < 1:
        raise InvalidInput(f"a private share is between 0 and 1; got {share:g}")
    names, place, sizes = np.unique(np.asarray(documents, str), return_inverse=True, return_counts=True)
    private = np.zeros(len(names), bool)
    taken, wanted = 0, share * len(documents)
    for k in np.random.default_rng(seed).permutation(len(names)):
        # The document that crosses the line is taken where that comes nearer to it.
        if abs(taken + sizes[k] - wanted) < abs(taken - wanted):
            private[k] = True
            taken += int(sizes[k])
    return private[place]


def compare_shares(
    scores: Floats, human: Floats, documents: Sequence[str], private: Bools, *, deals: int | None = None, seed: int = 0
) -> Exposure:
    """Agreement on the public and the private share, and how surprising each metric's difference is.

    scores: metrics × rows × instances.
    human: rows × instances; NaN where nothing was judged.
    documents: the document of every instance.
    private: whether an instance belongs to the private share; whole documents do.
    deals: further deals of the documents behind the p-values (default: 5,000, or 200 for each metric).
    seed: the seed of these deals.
    """
    deals = max(DEALS, DEALS_EACH * len(scores)) if deals is None else deals
    names, place = np.unique(np.asarray(documents, str), return_inverse=True)
    judged = np.isfinite(human).any(axis=0)
    by_document = sums_by_document(instance_sums(scores, human), np.asarray(documents, str))
    hidden = np.bincount(place, private, minlength=len(names)) > 0
    if (np.bincount(place, ~private, minlength=len(names))[hidden] > 0).any():
        raise InvalidInput("a document is private as a whole or not at all")
    used = np.bincount(place, judged, minlength=len(names)) > 0
    counts = [int((used & side).sum()) for side in (~hidden, hidden)]
    if min(counts) < FEWEST:
        raise NotEnoughData(
            f"each share needs judgments of {FEWEST} documents; found {counts[0]} public and {counts[1]} private ones"
        )
    total = by_document.sum(axis=1)
    private_sums = by_document[:, hidden].sum(axis=1)
    public_sums = total - private_sums
    public, inside = pearson_of_sums(public_sums), pearson_of_sums(private_sums)
    excess = _beside_others((public - inside)[np.newaxis])[0]
    at_least = _count_deals(by_document[:, used], total, int(hidden[used].sum()), excess, deals, seed)
    p = np.where(np.isnan(excess), np.nan, (1 + at_least) / (1 + deals))
    return Exposure(
        public=public,
        private=inside,
        public_n=np.rint(public_sums[:, 0]).astype(np.int64),
        private_n=np.rint(private_sums[:, 0]).astype(np.int64),
        excess=excess,
        p=p,
        corrected=holm(p),
    )


def _count_deals(
    by_document: Floats, total: Floats, hidden: int, excess: Floats, deals: int, seed: int
) -> NDArray[np.int64]:
    """In how many deals of as many private documents each metric's excess is at least what was seen."""
    random = np.random.default_rng(seed)
    metrics, documents, _ = by_document.shape
    flat = by_document.transpose(1, 0, 2).reshape(documents, -1)
    at_least = np.zeros(metrics, np.int64)
    for start in range(0, deals, _BLOCK):
        size = min(_BLOCK, deals - start)
        order = random.permuted(np.tile(np.arange(documents), (size, 1)), axis=1)
        dealt = (order < hidden).astype(float)
        inside = (dealt @ flat).reshape(size, metrics, 6)
        difference = pearson_of_sums(total - inside) - pearson_of_sums(inside)
        # Rounding must not make the deal that was seen smaller than itself.
        at_least += (_beside_others(difference) >= excess - 1e-12).sum(axis=0)
    return at_least


def _beside_others(differences: Floats) -> Floats:
    """Each metric's difference less the middle one of the others (deals × metrics); of a single metric as it is."""
    defined = np.isfinite(differences)
    ordered = np.sort(np.where(defined, differences, np.inf), axis=1)
    count = defined.sum(axis=1, keepdims=True)
    by_size = np.argsort(np.where(defined, differences, np.inf), axis=1, kind="stable")
    rank = np.argsort(by_size, axis=1)
    others = count - 1
    # The place of the middle among the others, in the order of all: one further from this metric's own place on.
    low, high = (others - 1) // 2, others // 2
    low, high = (place + (place >= rank) for place in (low, high))
    last = differences.shape[1] - 1
    middle = (
        np.take_along_axis(ordered, np.clip(low, 0, last), axis=1)
        + np.take_along_axis(ordered, np.clip(high, 0, last), axis=1)
    ) / 2
    return np.where(defined, differences - np.where(others > 0, middle, 0.0), np.nan)
