"""Agreement within items: do a metric's differences between outputs of one instance follow people's?

PDP, the Pearson of pairwise differences, over all pairs of outputs within instances: Σ d_m·d_h / sqrt(Σ d_m² · Σ d_h²).
It is on the scale of the pooled Pearson, so that the two stand beside each other; what all outputs of an instance have
in common, such as its difficulty or length, earns nothing. A tie of either side adds 0, so there is a value as soon as
both sides differ anywhere within an instance, with two generators or with two hundred; a Pearson or a Kendall by item
has none wherever a side is constant in an item, and averages ±1 where an item has two outputs. With the six sums of an
instance (`stats.correlation`), the pairs of m outputs add m·Σxy - Σx·Σy, so no pair is formed, and every draw of a
bootstrap is a weighting of three numbers per instance.

Does one metric agree better within items than another? On the outputs that both score, values less their instance's
mean, times √m, have PDP as their Pearson; all of an instance's are exchanged together, since its pairs share outputs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from billboards.errors import InvalidInput
from billboards.stats.alignment import aligned, group_centred
from billboards.stats.bootstrap import UNITS, Unit, sums_by_document
from billboards.stats.correlation import Correlations, cell_sums, instance_sums, resampling_weights
from billboards.stats.significance import Sides, permute_correlations

Floats = NDArray[np.float64]
#: Differences within an instance smaller than this, of squares of the scale, are rounding.
_ROUNDING = 1e-13
#: Numbers of a block of draws that are held at a time.
_BLOCK = 500_000


def within_items(
    scores: Floats,
    human: Floats,
    *,
    unit: Unit = "instances",
    documents: ArrayLike | None = None,
    draws: int = 0,
    seed: int = 0,
) -> Correlations:
    """PDP of each metric (metrics × rows × instances) with people (rows × instances), the pairs, and 95% intervals.

    n counts pairs of outputs of one instance. Intervals are percentiles over what is drawn again, as the pooled ones.
    """
    if unit not in UNITS:
        raise InvalidInput(f"a bootstrap resamples one of {', '.join(UNITS)}, not {unit!r}")
    if unit == "documents" and (documents is None or len(np.asarray(documents)) != human.shape[1]):
        raise InvalidInput("a bootstrap over documents needs the document of every instance")
    scores, human = aligned(scores, human)
    sums = instance_sums(scores, human)
    outputs = np.rint(sums[..., 0]).astype(np.int64)
    pairs = pair_sums(sums)
    low, high = np.full((2, len(scores)), np.nan)
    if draws:
        drawn = _drawn(scores, human, pairs, unit, documents, draws, seed)
        defined = np.isfinite(drawn).any(axis=0) & _several(outputs > 1, unit, documents)
        if defined.any():
            low[defined], high[defined] = np.nanquantile(drawn[:, defined], (0.025, 0.975), axis=0)
    return Correlations(pdp_of_sums(pairs.sum(axis=1)), (outputs * (outputs - 1) // 2).sum(axis=1), low, high)


def within_groups(scores: Floats, human: Floats, group: NDArray[np.int64]) -> tuple[float, int]:
    """PDP of single outputs' scores with people's, where `group` names each output's instance, and the pairs."""
    used = np.isfinite(scores) & np.isfinite(human)
    _, place = np.unique(group[used], return_inverse=True)
    x, y = (values[used] - values[used].mean() if used.any() else values[used] for values in (scores, human))
    x, y = (values / (np.abs(values).max(initial=0.0) or 1.0) for values in (x, y))
    terms = (np.ones_like(x), x, y, x * x, y * y, x * y)
    sums: Floats = np.stack([np.bincount(place, term) for term in terms], axis=-1).astype(np.float64)
    outputs = np.rint(sums[:, 0]).astype(np.int64)
    return float(pdp_of_sums(pair_sums(sums).sum(axis=0))), int((outputs * (outputs - 1) // 2).sum())


def better_within_items(
    first: Floats, second: Floats, human: Floats, *, draws: int = 1000, seed: int = 0, sides: Sides = "two"
) -> float:
    """P-value that the first metric (rows × instances) agrees better within items than the second, or that they differ.

    On the outputs that both score; NaN where there is nothing to compare.
    """
    used = np.isfinite(first) & np.isfinite(second) & np.isfinite(human)
    used &= used.sum(axis=0) > 1
    root = np.sqrt(used.sum(axis=0))
    values = [np.where(used, group_centred(np.where(used, each, np.nan)) * root, np.nan) for each in (first, second)]
    people = np.where(used, group_centred(np.where(used, human, np.nan)) * root, np.nan)
    tests = permute_correlations(np.array(values), people, unit="instances", draws=draws, seed=seed, sides=sides)
    return float(tests.p[0, 1])


def _several(paired: NDArray[np.bool_], unit: Unit, documents: ArrayLike | None) -> NDArray[np.bool_]:
    """Which metrics have pairs in two units or more: one that is drawn again and again is no sample."""
    if unit == "generators":
        return np.asarray(paired.any(axis=1))
    of_units = paired if unit != "documents" else _of_documents(paired, documents)
    return np.asarray(of_units.sum(axis=1) > 1)


def _of_documents(paired: NDArray[np.bool_], documents: ArrayLike | None) -> NDArray[np.bool_]:
    """Which documents (metrics × documents) have a pair in any of their instances (metrics × instances)."""
    return np.asarray(sums_by_document(paired[:, :, None].astype(np.float64), documents)[:, :, 0] > 0)


def pair_sums(sums: Floats) -> Floats:
    """Σ d_m², Σ d_h² and Σ d_m·d_h over the pairs of each instance, from its six sums; 0 where a side is constant."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    of_scores, of_people = n * xx - x * x, n * yy - y * y
    of_scores = np.where(of_scores > _ROUNDING * n * xx, of_scores, 0.0)
    of_people = np.where(of_people > _ROUNDING * n * yy, of_people, 0.0)
    both = np.where((of_scores > 0) & (of_people > 0), n * xy - x * y, 0.0)
    return np.stack((of_scores, of_people, both), axis=-1)


def pdp_of_sums(pairs: Floats) -> Floats:
    """PDP from the sums over pairs; NaN where a side never differs."""
    of_scores, of_people, both = np.moveaxis(pairs, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = both / np.sqrt(of_scores * of_people)
    return np.where((of_scores > 0) & (of_people > 0), np.clip(value, -1.0, 1.0), np.nan)


def _drawn(
    scores: Floats, human: Floats, pairs: Floats, unit: Unit, documents: ArrayLike | None, draws: int, seed: int
) -> Floats:
    """PDP of each metric in every draw, as draws × metrics."""
    if unit in ("generators", "both"):
        judged = np.isfinite(human).any(axis=1)
        return _over_generators(scores[:, judged], human[judged], draws, seed, both=unit == "both")
    pairs = pairs if unit == "instances" else sums_by_document(pairs, documents)
    metrics, units, _ = pairs.shape
    flat = np.ascontiguousarray(np.moveaxis(pairs, 1, 0)).reshape(units, -1)
    random, drawn = np.random.default_rng(seed), np.empty((draws, metrics))
    step = max(1, _BLOCK // max(units, 1))
    for start in range(0, draws, step):
        weights = resampling_weights(random, units, min(step, draws - start))
        drawn[start : start + step] = pdp_of_sums((weights @ flat).reshape(len(weights), metrics, 3))
    return drawn


def _over_generators(scores: Floats, human: Floats, draws: int, seed: int, *, both: bool) -> Floats:
    """PDP where generators are drawn: a pair counts as often as its two generators together, and its instance, are."""
    rows, instances = human.shape
    random, drawn = np.random.default_rng(seed), np.empty((draws, len(scores)))
    cells = [cell_sums(metric, human).reshape(rows, -1) for metric in scores]
    step = max(1, _BLOCK // max(6 * instances, 1))
    for start in range(0, draws, step):
        size = min(step, draws - start)
        of_rows = resampling_weights(random, rows, size)
        of_instances = resampling_weights(random, instances, size) if both else np.ones((size, instances))
        for k, terms in enumerate(cells):
            pairs = pair_sums((of_rows @ terms).reshape(size, instances, 6))
            drawn[start : start + size, k] = pdp_of_sums((of_instances[:, :, None] * pairs).sum(axis=1))
    return drawn
