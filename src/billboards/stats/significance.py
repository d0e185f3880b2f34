"""Is the difference real? Tests between two metrics that were judged on the same outputs.

PERM-BOTH and its kin (Deutsch et al. 2021) ask how often a difference in correlation as large as the one seen arises
when the two metrics' standardised scores are exchanged at random: cell by cell (`both`), or for whole instances or
whole generators. Exchanging is linear: with signs s = ±1 the sums behind both correlations after an exchange are made
of Σs·x, Σs·x² and Σs·x·h of each metric, so one product of a sign matrix with those three columns per metric serves
every pair of metrics and every draw at once. P-values carry the +1 correction: no draw ever proves impossibility.

A test with one side asks whether the entry named first is better, which must be said before anybody has looked. With
two sides it asks whether the two differ: draws count whose difference is as large either way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.errors import NotEnoughData

Floats = NDArray[np.float64]
Bits = NDArray[np.uint8]
Unit = Literal["both", "instances", "generators"]
#: Whether a test asks if the first is better (`one`), or if the two differ (`two`).
Sides = Literal["one", "two"]
#: Two entries differ significantly where luck does as much more seldom.
LEVEL = 0.05

#: Cells that are standardised, random bits that are drawn, and signs that are numbers at a time, so that memory beside
#: the matrix stays small however large the board.
_CELLS, _BITS, _SIGNS = 16_384, 8_000_000, 4_000_000
#: The largest matrix of signs whose eigenvalues are looked for, and how often a vector is multiplied for that.
_EIGENVALUES, _STEPS = 2000, 40


@dataclass(frozen=True)
class PairTests:
    """For every ordered pair (a, b): the difference r_a - r_b and the p-value that a is better, or that they differ.

    The diagonal holds 0 and 1; a pair with too few common cells or a metric that does not vary holds NaN.
    """

    difference: Floats
    p: Floats
    n: NDArray[np.int64]


def permute_correlations(
    scores: Floats, human: Floats, *, unit: Unit = "both", draws: int = 1000, seed: int = 0, sides: Sides = "one"
) -> PairTests:
    """Permutation tests of pooled Pearson between all pairs of metrics (metrics × rows × instances)."""
    present = np.isfinite(scores)
    present &= np.isfinite(human)

    def test(members: list[int], used: NDArray[np.bool_]) -> PairTests:
        return _permute_complete([scores[k] for k in members], human, used, unit, draws, seed, sides)

    return _all_pairs(present, test)


def _all_pairs(present: NDArray[np.bool_], test: Callable[[list[int], NDArray[np.bool_]], PairTests]) -> PairTests:
    """Every pair on what both have: entries that lack the same things together, the others two by two."""
    entries, alike = len(present), _alike(present)
    if len(alike) == 1:
        return test(alike[0], present[0])
    whole = PairTests(np.zeros((entries, entries)), np.ones((entries, entries)), np.full((entries, entries), -1))
    for members in alike:
        _put(whole, members, members, test(members, present[members[0]]))
    for a, b in zip(*np.nonzero(np.triu(whole.n < 0, 1)), strict=True):
        pair = [int(a), int(b)]
        tested = test(pair, present[a] & present[b])
        _put(whole, pair[:1], pair[1:], PairTests(tested.difference[:1, 1:], tested.p[:1, 1:], tested.n[:1, 1:]))
        _put(whole, pair[1:], pair[:1], PairTests(tested.difference[1:, :1], tested.p[1:, :1], tested.n[1:, :1]))
    return whole


def _alike(present: NDArray[np.bool_]) -> list[list[int]]:
    """Entries that lack the same things."""
    groups: dict[bytes, list[int]] = {}
    for k, mask in enumerate(present):
        groups.setdefault(np.packbits(mask).tobytes(), []).append(k)
    return list(groups.values())


def _put(whole: PairTests, rows: list[int], columns: list[int], part: PairTests) -> None:
    block = np.ix_(rows, columns)
    whole.difference[block], whole.p[block], whole.n[block] = part.difference, part.p, part.n


def _permute_complete(
    scores: Sequence[Floats],
    human: Floats,
    used: NDArray[np.bool_],
    unit: Unit,
    draws: int,
    seed: int,
    sides: Sides,
) -> PairTests:
    """The tests on cells that all these metrics (each rows × instances) share."""
    metrics = len(scores)
    r, cells, signed = _correlations_exchanged(scores, human, used, unit, draws, seed)
    if draws and not len(signed):
        undefined = np.full((metrics, metrics), np.nan)
        return PairTests(undefined, undefined, _everywhere(cells, metrics))
    difference = r[:, None] - r[None, :]
    count = np.stack([_at_least(signed, r, cells, k, difference[k], sides) for k in range(metrics)])
    p = np.where(np.isnan(difference), np.nan, (1 + count) / (1 + draws))
    np.fill_diagonal(p, np.where(np.isnan(r), np.nan, 1.0))
    return PairTests(difference, p, _everywhere(cells, metrics))


def _correlations_exchanged(
    scores: Sequence[Floats], human: Floats, used: NDArray[np.bool_], unit: Unit, draws: int, seed: int
) -> tuple[Floats, int, Floats]:
    """Correlations of metrics (each rows × instances) on the cells used, how many these are, and every draw's sums.

    There are no draws where the cells are fewer than three or the judgments don't vary.
    """
    metrics, cells = len(scores), int(used.sum())
    centre, spread = _moments(scores, used)
    middle, scale = _moments([human], used)
    if cells < 3 or np.isnan(scale[0]):
        return np.full(metrics, np.nan), cells, np.empty((0, metrics, 3))

    def standardised() -> Iterator[tuple[Floats, Floats]]:
        for x, h in _parts(scores, human, used):
            yield (x - centre[:, None]) / spread[:, None], (h - middle) / scale

    r = np.sum([z @ h for z, h in standardised()], axis=0) / cells
    columns = ((np.stack((z.T, (z * z).T, (z * h).T), axis=2).reshape(len(h), -1)) for z, h in standardised())
    units = columns if unit == "both" else iter([_by_unit(columns, _units(used, unit))])
    return r, cells, _signed_sums(units, draws, 3 * metrics, seed).reshape(draws, metrics, 3)


def _everywhere(n: int, entries: int) -> NDArray[np.int64]:
    """The same number for every pair, held once."""
    return np.broadcast_to(np.int64(n), (entries, entries))


def _moments(matrices: Sequence[Floats], used: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Mean and spread (population sd) of each matrix over the cells used; a spread of NaN where it does not vary."""
    tests = []
    for matrix in matrices:
        x = matrix[used]
        size = max(float(x.max(initial=0.0)), -float(x.min(initial=0.0)), 1e-300)
        mean = x.mean() if len(x) else np.nan
        x -= mean
        x *= x
        spread = np.sqrt(x.mean()) if len(x) else np.nan
        tests.append((mean, spread if spread > 1e-12 * size else np.nan))
    mean_of, spread_of = np.array(tests).reshape(-1, 2).T
    return mean_of, spread_of


def _parts(scores: Sequence[Floats], human: Floats, used: NDArray[np.bool_]) -> Iterator[tuple[Floats, Floats]]:
    """Scores (metrics × cells) and judgments of the cells used, some rows at a time."""
    rows = np.flatnonzero(used.any(axis=1))
    step = max(1, _CELLS // used.shape[1])
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        present = used[part]
        yield np.array([metric[part][present] for metric in scores]), human[part][present]


def _units(used: NDArray[np.bool_], unit: Unit) -> NDArray[np.intp]:
    """Which cells are exchanged together, as numbers from 0."""
    rows, instances = np.nonzero(used)
    chosen = instances if unit == "instances" else rows
    return np.unique(chosen, return_inverse=True)[1].astype(np.intp)


def _by_unit(parts: Iterator[Floats], group: NDArray[np.intp]) -> Floats:
    """The sums of units that are exchanged whole (units × columns) from parts of their cells, in order."""
    units, start, total = int(group.max()) + 1, 0, np.zeros(())
    for part in parts:
        own = group[start : start + len(part)]
        total = total + np.stack([np.bincount(own, column, units) for column in part.T], axis=1)
        start += len(part)
    return total


def _signed_sums(parts: Iterator[Floats], draws: int, columns: int, seed: int) -> Floats:
    """Σs·c of every column c in every draw, from parts of the units (units × columns), each with signs of its own."""
    random = np.random.default_rng(seed)
    total = np.zeros((draws, columns))
    for part in parts:
        single = part.astype(np.float32)
        for some, signs in _signs(random, draws, len(part), _SIGNS // len(part)):
            total[some] += signs @ single
            del signs  # or the next ones are made beside them
    return total


def _signs(
    random: np.random.Generator, draws: int, units: int, most: int
) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Signs of all units (draws × units), of at most so many draws at a time."""
    size, step = max(1, _BITS // units), max(1, most)
    for start in range(0, draws, size):
        bits = _random_bits(random, min(size, draws - start), units)
        for k in range(0, len(bits), step):
            some = bits[k : k + step]
            yield slice(start + k, start + k + len(some)), _as_signs(some, units)


def random_signs(random: np.random.Generator, draws: int, units: int) -> NDArray[np.float32]:
    """±1 with equal chance, from single random bits."""
    return _as_signs(_random_bits(random, draws, units), units)


def _random_bits(random: np.random.Generator, draws: int, units: int) -> Bits:
    """A random bit for each unit in each draw, eight in a byte."""
    return np.frombuffer(random.bytes(draws * -(-units // 8)), np.uint8).reshape(draws, -1)


def _as_signs(bits: Bits, units: int) -> NDArray[np.float32]:
    signs: NDArray[np.float32] = np.unpackbits(bits, axis=1, count=units).astype(np.float32)
    signs *= 2
    signs -= 1
    return signs


def _at_least(signed: Floats, r: Floats, cells: int, k: int, observed: Floats, sides: Sides) -> Floats:
    """In how many draws the exchanged difference of metric k and each other one reaches the observed one."""
    # Signs are multiplied in single precision; a tie with the observed difference must count as reached.
    return reached(_exchanged(signed, r, cells, k), observed, sides, slack=1e-6)


def reached(drawn: Floats, observed: Floats, sides: Sides, *, slack: float | Floats) -> Floats:
    """How many draws (the first axis) are as large as what was observed, either way where there are two sides."""
    if sides == "two":
        drawn, observed = np.abs(drawn, out=drawn), np.abs(observed)
    count: Floats = (drawn >= observed - slack).sum(axis=0).astype(np.float64)
    return count


def _exchanged(signed: Floats, r: Floats, cells: int, k: int) -> Floats:
    """The difference of metric k and each other one after every exchange, as draws × metrics.

    With m = (a+b)/2 and d = (a-b)/2 the exchanged metrics are m ± s·d. Standardised metrics have Σm = 0, and
    Σ(m² + d²) = Σ(a² + b²)/2 = n.
    """
    mean = (signed[:, k : k + 1, 0] - signed[:, :, 0]) / 2 / cells
    square = (signed[:, k : k + 1, 1] - signed[:, :, 1]) / 2 / cells
    cross = (signed[:, k : k + 1, 2] - signed[:, :, 2]) / 2 / cells
    middle = (r[k] + r) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        first = (middle + cross) / np.sqrt(1 + square - mean**2)
        second = (middle - cross) / np.sqrt(1 - square - mean**2)
    difference: Floats = first - second
    return difference


@dataclass(frozen=True)
class Exchanges:
    """Differences between every two metrics as they are (metrics × metrics), and after each exchange (draws first)."""

    difference: Floats
    drawn: Floats
    n: int


def exchange_correlations(
    scores: Floats, human: Floats, *, unit: Unit = "both", draws: int = 1000, seed: int = 0
) -> Exchanges:
    """The draws behind `permute_correlations`, on the cells that all metrics share, to be added up over boards."""
    used = np.isfinite(scores).all(axis=0) & np.isfinite(human)
    r, cells, signed = _correlations_exchanged(list(scores), human, used, unit, draws, seed)
    drawn = np.stack([_exchanged(signed, r, cells, k) for k in range(len(scores))], axis=1)
    return Exchanges(r[:, None] - r[None, :], drawn, cells)


def permute_values(values: Floats, *, draws: int = 1000, seed: int = 0, sides: Sides = "one") -> PairTests:
    """Paired permutation tests between the means of rows (entries × units): does a have the higher mean than b?

    The two entries' values of a unit are exchanged with probability ½. For generators the units are instances and the
    values scores; for acc_eq (the pairs permutation) they are the correctness of each pair of outputs.
    """

    def test(members: list[int], used: NDArray[np.bool_]) -> PairTests:
        return _permute_rows(values[np.ix_(np.array(members), np.flatnonzero(used))], draws, seed, sides)

    return _all_pairs(np.isfinite(values), test)


def _permute_rows(columns: Floats, draws: int, seed: int, sides: Sides) -> PairTests:
    """The tests on units that all these entries share; `columns` (entries × units) is used up."""
    entries, units = columns.shape
    if units == 0:
        undefined = np.full((entries, entries), np.nan)
        return PairTests(undefined, undefined, _everywhere(units, entries))
    mean = columns.mean(axis=1)
    columns -= columns.mean(axis=0)
    difference = mean[:, None] - mean[None, :]
    slack = 1e-12 * max(float(columns.max()), -float(columns.min()))
    p = np.ones((entries, entries))
    # Beside the signs there are differences of every entry, in double precision.
    most = _SIGNS // 8 // max(units, entries)
    for _, signs in _signs(np.random.default_rng(seed), draws, units, most):
        drawn = signs.astype(np.float64) @ columns.T
        drawn /= units
        for k in range(entries):
            p[k] += reached(drawn[:, k : k + 1] - drawn, difference[k], sides, slack=slack)
    p /= 1 + draws
    np.fill_diagonal(p, 1.0)
    return PairTests(difference, p, _everywhere(units, entries))


@dataclass(frozen=True, kw_only=True)
class SignedRows:
    """What `permute_values` needs of rows without gaps (entries first), each of which is drawn by itself.

    A row has the same numbers in whatever company it is drawn, so that they may be kept while others come and go.
    """

    mean: Floats
    #: Σs·(x - mean) of every draw.
    sums: Floats
    #: The largest distance from the mean.
    largest: Floats


def sign_rows(rows: Floats, *, draws: int, seed: int) -> SignedRows:
    """The signed sums of rows (entries × units, none missing) under the exchanges of `permute_values`."""
    mean = rows.mean(axis=1)
    apart = rows - mean[:, None]
    sums = np.empty((len(rows), draws))
    most = _SIGNS // 8 // max(rows.shape[1], len(rows), 1)
    for some, signs in _signs(np.random.default_rng(seed), draws, rows.shape[1], most):
        sums[:, some] = apart @ signs.astype(np.float64).T
    return SignedRows(mean=mean, sums=sums, largest=np.abs(apart).max(axis=1))


def cluster_rows(
    order: Sequence[int], rows: SignedRows, units: int, *, seed: int, sides: Sides, level: float = LEVEL
) -> dict[int, int]:
    """The clusters that `significance_clusters` draws of all p-values of `permute_values`, from fewer of these.

    A cluster asks for the tests between its members and the next entry alone.

    order: the entries, best first.
    units: how many values each row has.
    """
    draws = rows.sums.shape[1]
    signs = np.empty(draws)
    for some, drawn in _signs(np.random.default_rng(seed), draws, units, _SIGNS // units):
        signs[some] = drawn.sum(axis=1)
    shifted = (rows.sums + rows.mean[:, None] * signs) / units
    spread = float(np.ptp(rows.mean)) if len(rows.mean) else 0.0
    slack = 1e-12 * (float(rows.largest.max(initial=0.0)) + spread)
    clusters: dict[int, int] = {}
    current: list[int] = []
    number = 0
    block = max(1, -(-draws // 4))
    blocks = [slice(start, start + block) for start in range(0, draws, block)]

    def beaten(entry: int) -> bool:
        members = np.array(current)
        count = np.zeros(len(members))
        for some in blocks:
            apart = (shifted[members, some] - shifted[entry, some]).T
            count += reached(apart, rows.mean[members] - rows.mean[entry], sides, slack=slack)
            # Whom too many draws have reached can't be told apart, whatever the others say.
            far = (1 + count) / (1 + draws) <= level
            members, count = members[far], count[far]
            if not len(members):
                return False
        return True

    for entry in order:
        if not current or beaten(entry):
            number += 1
            current = []
        current.append(entry)
        clusters[entry] = number
    return clusters


@lru_cache(maxsize=8)
def _largest_square(draws: int, units: int, seed: int) -> float:
    """A number that Σ over draws of (Σs·d)² never exceeds, as a multiple of Σd²: the signs' largest eigenvalue, or a
    little more."""
    signs = np.concatenate([s for _, s in _signs(np.random.default_rng(seed), draws, units, draws)])
    # Sums of so few signs are exact in single precision.
    products = signs @ signs.T if draws <= units else signs.T @ signs
    return _above_eigenvalues(products.astype(np.float64)) * (1 + 1e-9)


def _above_eigenvalues(matrix: Floats) -> float:
    """A number that no eigenvalue of a symmetric matrix exceeds, a few percent above the largest.

    Multiplying a vector again and again leads near it from below. That a guess is not exceeded is proved by Cholesky's
    decomposition, which only what has no negative eigenvalue has. Both take a tenth of what all eigenvalues do.
    """
    vector = np.random.default_rng(0).normal(size=len(matrix))
    for _ in range(_STEPS):
        # No product of matrices: where there is other work, threads for so little wait longer than they compute.
        vector = np.einsum("ij,j->i", matrix, vector / np.linalg.norm(vector))
    guess = float(np.linalg.norm(vector))
    while True:
        guess *= 1.02
        try:
            np.linalg.cholesky(guess * np.eye(len(matrix)) - matrix)
        except np.linalg.LinAlgError:
            continue
        return guess


def surely_differ(difference: Floats, squares: Floats, units: int, *, draws: int, seed: int) -> NDArray[np.bool_]:
    """Whether `permute_against` would find two rows without gaps to differ, where that follows without its draws.

    If so many draws were as large as what was seen, the sum of their squares would be larger than the signs allow.

    difference: of the two means.
    squares: no less than the sum of squares of the two rows' differences, unit by unit.
    """
    if not draws or min(draws, units) > _EIGENVALUES:
        return np.zeros(len(difference), bool)
    seen = units * np.abs(difference)
    seen = np.maximum(seen - 1e-9 * np.sqrt(units * squares), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.where(seen > 0, _largest_square(draws, units, seed) * squares / seen**2, np.inf)
    differ: NDArray[np.bool_] = 1 + most * (1 + 1e-6) <= LEVEL * (1 + draws)
    return differ


def permute_against(values: Floats, entry: int, *, draws: int = 1000, seed: int = 0, sides: Sides = "two") -> Floats:
    """P-values of paired permutation tests between the mean of one row (entries × units) and that of each other.

    Each pair is tested on the units that both have. With two sides the question is whether the two differ, with one
    whether the one that is ahead is better. NaN where two share nothing, or values that are infinite; 1 for the entry
    itself.
    """
    with np.errstate(invalid="ignore"):
        apart = values[entry] - values
    shared = ~np.isnan(values) & ~np.isnan(values[entry])
    testable = shared.any(axis=1) & (np.isfinite(apart) == shared).all(axis=1)
    tested: Floats = permute_differences(apart, draws=draws, seed=seed, sides=sides)
    p: Floats = np.where(testable, tested, np.nan)
    p[entry] = 1.0
    return p


def permute_differences(apart: Floats, *, draws: int = 1000, seed: int = 0, sides: Sides = "two") -> Floats:
    """P-values of paired permutation tests from the differences of two rows, unit by unit (pairs × units).

    Units whose difference is not finite don't count; see `permute_against`.
    """
    sums = np.where(np.isfinite(apart), apart, 0.0)
    total = sums.sum(axis=1)
    observed = np.abs(total)
    ahead = np.where(total < 0, -1.0, 1.0)
    slack = 1e-9 * np.abs(sums).sum(axis=1)
    count = np.ones(len(sums))
    most = _SIGNS // 8 // max(*sums.shape, 1)
    for _, signs in _signs(np.random.default_rng(seed), draws, sums.shape[1], max(1, most)):
        drawn = (signs.astype(np.float64) @ sums.T) * ahead
        count += reached(drawn, observed, sides, slack=slack)
    p: Floats = count / (1 + draws)
    return p


def williams(r_a: float, r_b: float, r_ab: float, n: int, *, sides: Sides = "one") -> float:
    """P-value that metric a correlates better than b with the same judgments, or that they differ (Williams 1959)."""
    from scipy.stats import t as student

    if n <= 3:
        raise NotEnoughData(f"Williams' test needs more than 3 outputs; there are {n}")
    if sides == "two":
        r_a, r_b = max(r_a, r_b), min(r_a, r_b)
    if abs(r_ab) >= 1:
        return 1.0 if r_a <= r_b else 0.0
    # Near-perfect correlations round to a determinant just below the 0 that bounds it.
    determinant = max(1 - r_a**2 - r_b**2 - r_ab**2 + 2 * r_a * r_b * r_ab, 0.0)
    middle = ((r_a + r_b) / 2) ** 2 * (1 - r_ab) ** 3
    statistic = (r_a - r_b) * np.sqrt((n - 1) * (1 + r_ab) / (2 * determinant * (n - 1) / (n - 3) + middle))
    return float(student.sf(statistic, n - 3)) * (2 if sides == "two" else 1)


def fisher_z(r_a: float, n_a: int, r_b: float, n_b: int) -> float:
    """One-sided p-value that correlation a exceeds b, measured on different outputs (Fisher's transformation)."""
    from scipy.stats import norm

    if min(n_a, n_b) <= 3:
        raise NotEnoughData(f"Fisher's test needs more than 3 outputs on both sides; there are {n_a} and {n_b}")
    with np.errstate(divide="ignore"):
        difference = np.arctanh(r_a) - np.arctanh(r_b)
    return float(norm.sf(difference / np.sqrt(1 / (n_a - 3) + 1 / (n_b - 3)))) if not np.isnan(difference) else 0.5
