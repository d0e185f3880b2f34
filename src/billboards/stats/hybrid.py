"""Hybrid systems (Graham and Liu 2016; BERTScore, §4 and Appendix F): thousands of mixtures of a few generators.

A hybrid takes, for every instance, the output of one generator drawn at random; its scores are the means over what it
took, so that a board with eight generators shows how metrics order ten thousand. Drawn among all generators, hybrids
differ only in luck, not in how much of a good generator they hold, and correlations are those within instances;
`parents=2` mixes two random generators each, which spreads hybrids as widely as generators. The second question is
model selection: of 100 hybrids, is the one the metric likes best also the one people like best? The paper answers with
100,000 draws; a place in a draw follows a hypergeometric law, so the mean they estimate is computed here exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.errors import NotEnoughData
from billboards.stats.correlation import pearson
from billboards.stats.significance import Sides, williams

Floats = NDArray[np.float64]

#: Instances are drawn together while their joint choices are at most this many: a table that stays in the cache.
_CHOICES = 512

#: Hybrids are compared with each other in blocks of at most this many pairs, so that memory stays bounded.
_BLOCK = 4_000_000


@dataclass(frozen=True)
class Hybrids:
    """Mean scores of mixtures: people's (hybrids) and the metrics' (metrics × hybrids), and the instances mixed."""

    human: Floats
    scores: Floats
    instances: int


@dataclass(frozen=True)
class HybridCorrelations:
    """Pearson and Kendall of each metric with people over hybrids, NaN where a side does not vary.

    `p[a, b]` is Williams' one-sided p-value that a correlates better than b. It treats the hybrids as independent
    systems, as the papers do; they are mixtures of the same few, so it says which metric orders these mixtures better
    and little about new generators.
    """

    pearson: Floats
    kendall: Floats
    p: Floats
    n: int


@dataclass(frozen=True)
class ModelSelection:
    """What happens to those who choose among `sample` random hybrids by a metric, one value per metric.

    `hits` is the chance that its pick is the one people like best (Hits@1), `mrr` the mean of 1 / the pick's place in
    people's order, `difference` how much people's score loses by it. NaN for a metric that does not vary.
    """

    hits: Floats
    mrr: Floats
    difference: Floats
    sample: int


def mix_hybrids(
    scores: Floats, human: Floats, *, count: int = 10_000, parents: int | None = None, seed: int = 0
) -> Hybrids:
    """Random mixtures of the generators of a board (metrics × rows × instances, and rows × instances).

    Each instance is drawn among the generators that people and all metrics have scored there (an infinity counts as
    missing), and instances where nobody has are left out. With `parents` each hybrid mixes only so many generators,
    drawn for it, and only instances take part that all generators have.
    """
    used = np.isfinite(scores).all(axis=0) & np.isfinite(human)
    rows = np.flatnonzero(used.any(axis=1))
    if not len(rows):
        raise NotEnoughData(_why_nothing(scores, human))
    columns = np.concatenate((human[None, rows], scores[:, rows]))
    centre = columns[:, used[rows]].mean(axis=1)
    columns -= centre[:, None, None]
    random = np.random.default_rng(seed)
    if parents is None:
        total, instances = _mix_all(columns, used[rows], count, random)
    else:
        total, instances = _mix_few(columns, used[rows], count, parents, random)
    means = total.T / instances + centre[:, None]
    return Hybrids(means[0], means[1:], instances)


def _why_nothing(scores: Floats, human: Floats) -> str:
    empty = [k for k, metric in enumerate(scores) if not (np.isfinite(metric) & np.isfinite(human)).any()]
    if empty:
        return f"metric number {empty[0]} has no score on a judged output, so no hybrid has all scores; leave it out"
    return "hybrids need outputs that people and all metrics have scored; there is none: leave metrics out"


def _mix_all(columns: Floats, used: NDArray[np.bool_], count: int, random: np.random.Generator) -> tuple[Floats, int]:
    """Sums over instances of what each hybrid drew among all generators, and the number of instances."""
    total = np.zeros((count, len(columns)))
    instances = np.flatnonzero(used.any(axis=0))
    for table in _joined(columns[:, used[:, k], k].T for k in instances):
        total += table[random.integers(len(table), size=count)]
    return total, len(instances)


def _joined(tables: Iterator[Floats]) -> Iterator[Floats]:
    """Sums over successive instances for every joint choice, so that one draw serves several instances."""
    current = next(tables)
    for table in tables:
        if len(current) * len(table) > _CHOICES:
            yield current
            current = table
        else:
            current = (current[:, None] + table[None]).reshape(-1, table.shape[1])
    yield current


def _mix_few(
    columns: Floats, used: NDArray[np.bool_], count: int, parents: int, random: np.random.Generator
) -> tuple[Floats, int]:
    """The same where each hybrid draws among a few generators of its own."""
    instances = np.flatnonzero(used.all(axis=0))
    if not 1 <= parents <= len(used) or not len(instances):
        raise NotEnoughData(
            f"hybrids of {parents} parents need as many generators, all of them scored and judged on the same "
            f"instances; there are {len(used)}, which share {len(instances)}"
        )
    members = np.argsort(random.random((count, len(used))), axis=1)[:, :parents]
    hybrid = np.arange(count)
    total = np.zeros((count, len(columns)))
    for k in instances:
        total += columns[:, members[hybrid, random.integers(parents, size=count)], k].T
    return total, len(instances)


def correlate_hybrids(hybrids: Hybrids, *, sides: Sides = "one") -> HybridCorrelations:
    """Every metric's correlations over hybrids, with Williams' test between all pairs."""
    from scipy.stats import kendalltau

    r = pearson(hybrids.scores[:, None], hybrids.human[None])[0]
    varies = np.flatnonzero(np.isfinite(r))
    kendall = np.full(len(r), np.nan)
    kendall[varies] = [kendalltau(hybrids.scores[k], hybrids.human).statistic for k in varies]
    p = np.full((len(r), len(r)), np.nan)
    p[np.ix_(varies, varies)] = _williams_of_all(r[varies], hybrids.scores[varies], sides)
    return HybridCorrelations(r, kendall, p, len(hybrids.human))


def _williams_of_all(r: Floats, scores: Floats, sides: Sides) -> Floats:
    """P-values between every two of these metrics, all of which vary."""
    metrics, n = scores.shape
    between = np.corrcoef(scores).reshape(metrics, metrics)
    p = np.ones((metrics, metrics))
    # Metrics that follow each other exactly differ by rounding only, which no test may call a difference.
    for a, b in np.argwhere(between < 1 - 1e-12):
        p[a, b] = williams(r[a], r[b], between[a, b], n, sides=sides)
    return p


def select_models(hybrids: Hybrids, *, sample: int = 100, seed: int = 0) -> ModelSelection:
    """Hits@1, MRR and the loss in people's score of each metric's pick among `sample` hybrids drawn without repeats.

    Equal metric scores are put in a random order once, by `seed`; equal human scores share the better place.
    """
    count = len(hybrids.human)
    if not 1 <= sample <= count:
        raise NotEnoughData(f"{sample} hybrids can't be drawn from {count}; choose a sample from 1 to {count}")
    chance = _first_chances(count, sample)
    best = float(chance @ np.sort(hybrids.human)[::-1])
    random = np.random.default_rng(seed)
    correlations = np.full((3, len(hybrids.scores)), np.nan)
    for k, metric in enumerate(hybrids.scores):
        if np.ptp(metric) > 1e-12 * np.abs(metric).max():
            order = np.lexsort((random.random(count), -metric))
            correlations[:, k] = _expected(hybrids.human[order], chance, sample, best)
    # Chances add up to 1 but for rounding.
    return ModelSelection(np.minimum(correlations[0], 1.0), np.minimum(correlations[1], 1.0), correlations[2], sample)


def _first_chances(count: int, sample: int) -> Floats:
    """The chance that each place of an order of `count` is the first one in a sample: C(count-1-m, sample-1) / C."""
    place = np.arange(count - 1)
    steps = np.maximum(count - sample - place, 0) / (count - 1 - place)
    return sample / count * np.concatenate(([1.0], np.cumprod(steps)))


def _expected(human: Floats, chance: Floats, sample: int, best: float) -> tuple[float, float, float]:
    """The three expectations for people's scores in a metric's order, best first.

    The other members of a sample come from the L hybrids after the pick, of which people prefer b to it. H of them are
    drawn, a hypergeometric number, and P(H = 0) and E[1 / (1 + H)] have closed forms.
    """
    able = np.flatnonzero(chance > 1e-15)
    after = (len(human) - 1 - able).astype(np.float64)
    preferred = _preferred_after(human, able)
    none = np.exp(_log_choose(after - preferred, sample - 1) - _log_choose(after, sample - 1))
    one_more = np.exp(_log_choose(after - preferred, sample) - _log_choose(after, sample - 1))
    inverse = ((after + 1) / sample - one_more) / (preferred + 1)
    weight = chance[able]
    return float(weight @ none), float(weight @ inverse), max(best - float(chance @ human), 0.0)


def _log_choose(n: Floats, k: int) -> Floats:
    """log of the binomial coefficient; -inf where k exceeds n."""
    from scipy.special import gammaln

    enough = n >= k
    rest = np.where(enough, n - k, 0.0)
    value: Floats = np.where(enough, gammaln(n + 1) - gammaln(k + 1) - gammaln(rest + 1), -np.inf)
    return value


def _preferred_after(human: Floats, places: NDArray[np.intp]) -> Floats:
    """How many later entries have a strictly higher value, for each of these places."""
    count = np.empty(len(places))
    size = max(1, _BLOCK // len(human))
    for start in range(0, len(places), size):
        block = places[start : start + size]
        first = int(block[0])
        later = np.arange(first, len(human)) > block[:, None]
        count[start : start + size] = (later & (human[first:] > human[block, None])).sum(axis=1)
    return count
