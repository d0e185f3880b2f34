"""Agreement on pairs of generators: pairwise system accuracy, and soft pairwise accuracy (SPA).

Pairwise accuracy (Kocmi et al. 2021) asks of every two generators whether a metric's means put them in the order of
people's means. SPA (Thompson et al. 2024) asks how surely: the mean of 1 - |p_h - p_m|, where p is the one-sided
p-value, under people and under the metric, that the first generator is no better than the second. It comes from a
paired permutation test that swaps the two generators' scores of an instance with probability ½, with the same swaps for
people and metrics. Both look at the instances that the two generators share, with scores and judgments of both.

A swap that leaves the difference as it was counts half. So p of the second over the first is exactly 1 - p of the first
over the second, the order of rows does not matter, and a metric that cannot tell two generators apart has p = ½.
Counted in full, a constant metric would have p = 1 and an SPA that depends on how rows are sorted. (mt-metrics-eval
counts ties in full but adds in single precision, where rounding decides them, about half each way: with its seed and
draws the values differ by less than .0001 on WMT23.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.stats.alignment import aligned, group_centred, jointly

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Sums that differ by less than this part of the sum of their terms' sizes are equal but for rounding.
_ROUNDING = 1e-12
#: Draws are worked on in blocks of at most this many numbers.
_BLOCK = 2_000_000

#: From scores and swaps: for each row, what every draw takes from its lead over the later rows.
TakenAway = Callable[[Floats, Floats], Iterator[Floats]]


@dataclass(frozen=True)
class SystemAgreement:
    """Agreement of each metric with people on pairs of generators, and the pairs used; NaN where there is none."""

    value: Floats
    n: Integers


def system_pairwise_accuracy(scores: Floats, human: Floats) -> SystemAgreement:
    """The share of generator pairs in the same order by a metric's means as by people's; a tie agrees with a tie."""
    scores, human = aligned(scores, human)
    pairs = (jointly(metric, human) for metric in scores)
    return _agreement([np.where(_shared(x), _order(x) == _order(y), np.nan) for x, y in pairs])


def soft_pairwise_accuracy(scores: Floats, human: Floats, *, draws: int = 1000, seed: int = 0) -> SystemAgreement:
    """SPA of each metric (metrics × rows × instances) with people (rows × instances), from `draws` random swaps."""
    return _agreement(list(_soft_agreements(scores, human, draws, seed)))


def soft_pairwise_agreements(scores: Floats, human: Floats, *, draws: int = 1000, seed: int = 0) -> Floats:
    """What SPA is the mean of: 1 - |p_h - p_m| of every pair of generators, as metrics × pairs, NaN without any."""
    first, second = np.triu_indices(human.shape[0], 1)
    return np.array([each[first, second] for each in _soft_agreements(scores, human, draws, seed)]).reshape(
        len(scores), len(first)
    )


def _soft_agreements(scores: Floats, human: Floats, draws: int, seed: int) -> Iterator[Floats]:
    scores, human = aligned(scores, human)
    if draws < 1:
        raise InvalidInput(f"a permutation test needs at least 1 draw; got {draws}")
    judged = np.flatnonzero(~np.isnan(human).all(axis=0))
    scores, human = scores[:, :, judged], human[:, judged]
    swaps = random_swaps(draws, len(judged), seed)
    missing = np.isnan(scores) | np.isnan(human)
    # Metrics that have the same scores missing, as most do, share the test of people's judgments.
    masks: dict[bytes, int] = {}
    which = [masks.setdefault(mask.tobytes(), len(masks)) for mask in missing]
    people = np.where(missing[[which.index(k) for k in masks.values()]], np.nan, human)
    p_human = one_sided_p(people, swaps)
    p_metric = one_sided_p(np.where(missing, np.nan, scores), swaps)
    yield from (1 - np.abs(p_human[k] - p) for k, p in zip(which, p_metric, strict=True))


def random_swaps(draws: int, instances: int, seed: int) -> NDArray[np.bool_]:
    """Which instances each draw swaps, each with probability ½, as draws × instances."""
    return np.random.default_rng(seed).random((draws, instances), np.float32) <= 0.5


def one_sided_p(values: Floats, swaps: NDArray[np.bool_]) -> Floats:
    """p-values that a row is no better than a later one: metrics × rows × instances to metrics × rows × rows.

    NaN elsewhere, and where two rows share no instance. A draw's difference is at least the observed one when what its
    swaps take away, Σ (a - b) over swapped instances, is at most 0.
    """
    missing = np.isnan(values)
    whole = (missing == missing[:, :1]).all(axis=(1, 2))
    p = np.empty((len(values), values.shape[1], values.shape[1]))
    p[whole] = _p_of(values[whole], swaps, _by_rows)
    p[~whole] = _p_of(values[~whole], swaps, _by_pairs)
    return np.where(_shared(values), p, np.nan)


def _p_of(values: Floats, swaps: NDArray[np.bool_], taken_away: TakenAway) -> Floats:
    metrics, rows, instances = values.shape
    limits = _limits(group_centred(values))[..., None]
    count = np.zeros((metrics, rows, rows))
    for block in _blocks(swaps, max(instances, metrics * rows)):
        for a, taken in enumerate(taken_away(values, block)):
            count[:, a, a + 1 :] += _at_most_0(taken, limits[:, a, a + 1 :])
    return count / (2 * len(swaps))


def _by_rows(values: Floats, swaps: Floats) -> Iterator[Floats]:
    """What draws take away from each row against the later ones, where all rows of a metric have the same instances.

    The difference of two sums, and all sums are one matrix product.
    """
    metrics, rows, instances = values.shape
    sums = (group_centred(values).reshape(-1, instances) @ swaps.T).reshape(metrics, rows, len(swaps))
    for a in range(rows - 1):
        yield sums[:, a, None] - sums[:, a + 1 :]


def _by_pairs(values: Floats, swaps: Floats) -> Iterator[Floats]:
    """The same where each pair of rows has instances of its own."""
    metrics, rows, instances = values.shape
    for a in range(rows - 1):
        differences = np.nan_to_num(values[:, a, None] - values[:, a + 1 :])
        yield (differences.reshape(-1, instances) @ swaps.T).reshape(metrics, rows - a - 1, len(swaps))


def _at_most_0(taken: Floats, limit: Floats) -> Integers:
    """Twice the number below 0 along the last axis, and once the number at 0."""
    count: Integers = np.count_nonzero(taken <= limit, axis=-1) + np.count_nonzero(taken < -limit, axis=-1)
    return count


def _blocks(swaps: NDArray[np.bool_], width: int) -> Iterator[Floats]:
    """The draws as numbers, so many at a time that each of them may need `width` numbers and memory stays bounded."""
    step = max(1, _BLOCK // max(width, 1))
    for start in range(0, len(swaps), step):
        yield swaps[start : start + step].astype(np.float64)


def _shared(values: Floats) -> NDArray[np.bool_]:
    """Which pairs of a row and a later one have an instance in common: … × rows × instances to … × rows × rows."""
    present = (~np.isnan(values)).astype(np.float64)
    return np.triu(present @ np.swapaxes(present, -1, -2) > 0, 1)


def _order(values: Floats) -> Floats:
    """Which of two rows has the higher mean on the instances they share: 1 the first, -1 the second, 0 neither."""
    present = (~np.isnan(values)).astype(np.float64)
    centred = group_centred(values)
    sums = centred @ present.T
    lead = sums - sums.T
    return np.where(np.abs(lead) <= _limits(centred), 0.0, np.sign(lead))


def _limits(centred: Floats) -> Floats:
    """Up to what difference the sums of two rows are equal, for every two rows."""
    sizes = np.abs(centred).sum(axis=-1)
    limits: Floats = _ROUNDING * (sizes[..., :, None] + sizes[..., None, :])
    return limits


def _agreement(agreements: Sequence[Floats]) -> SystemAgreement:
    """The mean over pairs of generators, and their number."""
    n = np.array([np.count_nonzero(~np.isnan(agreement)) for agreement in agreements], np.int64)
    value = [np.nansum(agreement) / count if count else np.nan for agreement, count in zip(agreements, n, strict=True)]
    return SystemAgreement(np.array(value, np.float64), n)
