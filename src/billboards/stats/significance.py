"""Is the difference real? Tests between two metrics that were judged on the same outputs.

PERM-BOTH and its kin (Deutsch et al. 2021) ask how often a difference in correlation as large as the one seen arises
when the two metrics' standardised scores are exchanged at random: cell by cell (`both`), or for whole instances or
whole generators. Exchanging is linear: with signs s = ±1 the sums behind both correlations after an exchange are made
of Σs·x, Σs·x² and Σs·x·h of each metric, so one product of a sign matrix with those three columns per metric serves
every pair of metrics and every draw at once. P-values carry the +1 correction: no draw ever proves impossibility.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.errors import NotEnoughData

Floats = NDArray[np.float64]
Unit = Literal["both", "instances", "generators"]

#: Signs drawn at a time; bounds memory on large boards.
_BLOCK = 8_000_000


@dataclass(frozen=True)
class PairTests:
    """For every ordered pair (a, b): the difference r_a - r_b and the one-sided p-value that a is better.

    The diagonal holds 0 and 1; a pair with too few common cells or a metric that does not vary holds NaN.
    """

    difference: Floats
    p: Floats
    n: NDArray[np.int64]


def permute_correlations(
    scores: Floats, human: Floats, *, unit: Unit = "both", draws: int = 1000, seed: int = 0
) -> PairTests:
    """Permutation tests of pooled Pearson between all pairs of metrics (metrics × rows × instances)."""
    there = np.isfinite(scores) & np.isfinite(human)

    def test(members: list[int], used: NDArray[np.bool_]) -> PairTests:
        return _permute_complete(scores[members][:, used], human[used], _units(used, unit), draws, seed)

    return _all_pairs(there, test)


def _all_pairs(there: NDArray[np.bool_], test: Callable[[list[int], NDArray[np.bool_]], PairTests]) -> PairTests:
    """Every pair on what both have: entries that lack the same things together, the others two by two."""
    entries = len(there)
    whole = PairTests(np.zeros((entries, entries)), np.ones((entries, entries)), np.full((entries, entries), -1))
    for members in _alike(there):
        _put(whole, members, members, test(members, there[members[0]]))
    for a, b in zip(*np.nonzero(np.triu(whole.n < 0, 1)), strict=True):
        pair = [int(a), int(b)]
        found = test(pair, there[a] & there[b])
        _put(whole, pair[:1], pair[1:], PairTests(found.difference[:1, 1:], found.p[:1, 1:], found.n[:1, 1:]))
        _put(whole, pair[1:], pair[:1], PairTests(found.difference[1:, :1], found.p[1:, :1], found.n[1:, :1]))
    return whole


def _alike(there: NDArray[np.bool_]) -> list[list[int]]:
    """Entries that lack the same things."""
    groups: dict[bytes, list[int]] = {}
    for k, mask in enumerate(there):
        groups.setdefault(np.packbits(mask).tobytes(), []).append(k)
    return list(groups.values())


def _put(whole: PairTests, rows: list[int], columns: list[int], part: PairTests) -> None:
    block = np.ix_(rows, columns)
    whole.difference[block], whole.p[block], whole.n[block] = part.difference, part.p, part.n


def _units(used: NDArray[np.bool_], unit: Unit) -> NDArray[np.intp]:
    """Which cells are exchanged together, as numbers from 0."""
    rows, instances = np.nonzero(used)
    if unit == "both":
        return np.arange(len(rows))
    chosen = instances if unit == "instances" else rows
    return np.unique(chosen, return_inverse=True)[1].astype(np.intp)


def _permute_complete(x: Floats, h: Floats, group: NDArray[np.intp], draws: int, seed: int) -> PairTests:
    """The tests on cells that all these metrics share (metrics × cells)."""
    metrics, cells = x.shape
    sizes = np.full((metrics, metrics), cells)
    centred = x - x.mean(axis=1, keepdims=True) if cells else x
    spread = np.sqrt((centred**2).mean(axis=1)) if cells else np.zeros(metrics)
    varies = spread > 1e-12 * np.maximum(np.abs(x).max(axis=1, initial=0.0), 1e-300)
    if cells < 3 or np.ptp(h) == 0:
        undefined = np.full((metrics, metrics), np.nan)
        return PairTests(undefined, undefined, sizes)
    z = np.where(varies[:, None], centred / np.where(varies, spread, 1.0)[:, None], np.nan)
    h = (h - h.mean()) / h.std()
    r = z @ h / cells
    signed = _signed_sums(z, h, group, draws, seed)
    difference = r[:, None] - r[None, :]
    count = np.stack([_at_least(signed, z, h, k, difference[k]) for k in range(metrics)])
    p = np.where(np.isnan(difference), np.nan, (1 + count) / (1 + draws))
    np.fill_diagonal(p, np.where(varies, 1.0, np.nan))
    return PairTests(difference, p, sizes)


def _signed_sums(z: Floats, h: Floats, group: NDArray[np.intp], draws: int, seed: int) -> Floats:
    """Σs·z, Σs·z² and Σs·z·h of every metric in every draw, as draws × metrics × 3."""
    metrics, cells = z.shape
    columns = np.stack((z.T, (z * z).T, (z * h).T), axis=2).reshape(cells, -1)
    units = int(group.max()) + 1
    if units < cells:
        order = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[order], np.arange(units))
        columns = np.add.reduceat(columns[order], starts, axis=0)
    columns = columns.astype(np.float32)
    random = np.random.default_rng(seed)
    size = max(1, _BLOCK // units)
    parts = [random_signs(random, min(size, draws - start), units) @ columns for start in range(0, draws, size)]
    return np.concatenate(parts).astype(np.float64).reshape(draws, metrics, 3) if parts else np.empty((0, metrics, 3))


def random_signs(random: np.random.Generator, draws: int, units: int) -> NDArray[np.float32]:
    """±1 with equal chance, from single random bits."""
    bits = np.unpackbits(np.frombuffer(random.bytes(draws * -(-units // 8)), np.uint8)).reshape(draws, -1)[:, :units]
    signs: NDArray[np.float32] = bits.astype(np.float32)
    signs *= 2
    signs -= 1
    return signs


def _at_least(signed: Floats, z: Floats, h: Floats, k: int, observed: Floats) -> Floats:
    """In how many draws the exchanged difference of metric k and each other one reaches the observed one.

    With m = (a+b)/2 and d = (a-b)/2 the exchanged metrics are m ± s·d. Standardised metrics have Σm = 0, and
    Σ(m² + d²) = Σ(a² + b²)/2 = n.
    """
    cells = len(h)
    mean = (signed[:, k : k + 1, 0] - signed[:, :, 0]) / 2 / cells
    square = (signed[:, k : k + 1, 1] - signed[:, :, 1]) / 2 / cells
    cross = (signed[:, k : k + 1, 2] - signed[:, :, 2]) / 2 / cells
    middle = ((z[k] + z) / 2) @ h / cells
    with np.errstate(invalid="ignore", divide="ignore"):
        first = (middle + cross) / np.sqrt(1 + square - mean**2)
        second = (middle - cross) / np.sqrt(1 - square - mean**2)
    # Signs are multiplied in single precision; a tie with the observed difference must count as reached.
    count: Floats = (first - second >= observed - 1e-6).sum(axis=0).astype(np.float64)
    return count


def permute_values(values: Floats, *, draws: int = 1000, seed: int = 0) -> PairTests:
    """Paired permutation tests between the means of rows (entries × units): does a have the higher mean than b?

    The two entries' values of a unit are exchanged with probability ½. For generators the units are instances and the
    values scores; for acc_eq (the pairs permutation) they are the correctness of each pair of outputs.
    """

    def test(members: list[int], used: NDArray[np.bool_]) -> PairTests:
        return _permute_rows(values[members][:, used], draws, seed)

    return _all_pairs(np.isfinite(values), test)


def _permute_rows(columns: Floats, draws: int, seed: int) -> PairTests:
    entries, units = columns.shape
    sizes = np.full((entries, entries), units)
    if units == 0:
        undefined = np.full((entries, entries), np.nan)
        return PairTests(undefined, undefined, sizes)
    centred = columns - columns.mean(axis=0)
    mean = columns.mean(axis=1)
    difference = mean[:, None] - mean[None, :]
    random = np.random.default_rng(seed)
    count = np.zeros((entries, entries))
    reached = difference - 1e-12 * np.abs(centred).max()
    size = max(1, _BLOCK // units)
    for start in range(0, draws, size):
        drawn = random_signs(random, min(size, draws - start), units).astype(np.float64) @ centred.T / units
        for k in range(entries):
            count[k] += (drawn[:, k : k + 1] - drawn >= reached[k]).sum(axis=0)
    p = (1 + count) / (1 + draws)
    np.fill_diagonal(p, 1.0)
    return PairTests(difference, p, sizes)


def williams(r_a: float, r_b: float, r_ab: float, n: int) -> float:
    """One-sided p-value that metric a correlates better than b with the same judgments (Williams 1959)."""
    from scipy.stats import t as student

    if n <= 3:
        raise NotEnoughData(f"Williams' test needs more than 3 outputs; there are {n}")
    if abs(r_ab) >= 1:
        return 1.0 if r_a <= r_b else 0.0
    # Near-perfect correlations round to a determinant just below the 0 that bounds it.
    determinant = max(1 - r_a**2 - r_b**2 - r_ab**2 + 2 * r_a * r_b * r_ab, 0.0)
    middle = ((r_a + r_b) / 2) ** 2 * (1 - r_ab) ** 3
    statistic = (r_a - r_b) * np.sqrt((n - 1) * (1 + r_ab) / (2 * determinant * (n - 1) / (n - 3) + middle))
    return float(student.sf(statistic, n - 3))


def fisher_z(r_a: float, n_a: int, r_b: float, n_b: int) -> float:
    """One-sided p-value that correlation a exceeds b, measured on different outputs (Fisher's transformation)."""
    from scipy.stats import norm

    if min(n_a, n_b) <= 3:
        raise NotEnoughData(f"Fisher's test needs more than 3 outputs on both sides; there are {n_a} and {n_b}")
    with np.errstate(divide="ignore"):
        difference = np.arctanh(r_a) - np.arctanh(r_b)
    return float(norm.sf(difference / np.sqrt(1 / (n_a - 3) + 1 / (n_b - 3)))) if not np.isnan(difference) else 0.5
