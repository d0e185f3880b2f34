"""Where pooled agreement comes from: how hard items are, how good generators are, and the judging of single outputs.

A score of generator g on item i is a mean, an item's effect, a generator's effect and a rest, μ + a_i + b_g + e_gi; so
is a judgment, and the covariance of the two has three components c_item, c_generator and c_rest. They are estimated by
the method of moments (Henderson 1953, Biometrics 9, method 3; Cronbach et al. 1972, generalizability theory), an
analysis of variance with products for squares. Items come first: S = Σ (x - x̄)(y - ȳ) over all N outputs; within items
the generators' effects are fitted by least squares, R is what these explain, and E what is left. Then

    E[E] = c_rest · (N - I - q),  E[R] = c_generator · (N - I) + c_rest · q,
    E[S] = c_item · (N - Σ m_i²/N) + c_generator · (N - Σ n_g²/N) + c_rest · (N - 1)

with I items of m_i outputs, n_g outputs of generator g, and q the rank of the generators' contrasts (G - 1 where every
generator can be compared with every other). Solved from left to right they give components without the share that a
mean of few outputs has of its outputs' chance. The three terms of the last line, over sqrt(S_xx · S_yy), add up to the
pooled Pearson exactly, whatever is missing. A component may be below 0: a metric may be right about generators and
wrong about items, and a variance of nearly 0 may be estimated just below it.

Every draw of a bootstrap weights whole items; sums over items are one product of weights with what each item adds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.stats.alignment import aligned
from billboards.stats.correlation import resampling_weights

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
#: The parts, in the order of the last axis of results.
PARTS = ("items", "generators", "outputs")
#: Numbers of a block of draws that are held at a time.
_BLOCK = 4_000_000


@dataclass(frozen=True, kw_only=True)
class AgreementParts:
    """Pooled Pearson of each metric and its three parts (metrics × 3), which add up to it; so do shares of variance.

    `drawn` holds the parts, the scores' shares and people's shares in every draw (draws × metrics × 3 × 3). NaN where
    a metric or people don't vary, or where no two outputs of an item can be compared.
    """

    r: Floats
    n: NDArray[np.int64]
    parts: Floats
    #: Shares of the variance of a metric's own scores.
    scores: Floats
    #: Shares of the variance of people's judgments, on the outputs that the metric scores.
    people: Floats
    drawn: Floats

    @property
    def intervals(self) -> Floats:
        """95% percentile intervals (2 × metrics × 3 × 3) of parts, scores' shares and people's shares."""
        if not len(self.drawn):
            return np.full((2, *self.drawn.shape[1:]), np.nan)
        defined = np.isfinite(self.drawn).any(axis=0)
        drawn = np.where(defined, self.drawn, 0.0)
        quantile = np.quantile if np.isfinite(drawn).all() else np.nanquantile
        bounds: Floats = quantile(drawn, (0.025, 0.975), axis=0)
        return np.where(defined, bounds, np.nan)


def agreement_parts(
    scores: Floats, human: Floats, *, unit: NDArray[np.intp] | None = None, draws: int = 0, seed: int = 0
) -> AgreementParts:
    """The parts of each metric's (metrics × rows × instances) pooled agreement with people (rows × instances).

    `unit` names what each instance is drawn with, such as its document; each alone where there is none. The same draws
    serve all metrics.
    """
    scores, human = aligned(scores, human)
    metrics, instances = len(scores), human.shape[1]
    unit = np.arange(instances) if unit is None else np.unique(unit, return_inverse=True)[1]
    result, drawn = np.full((metrics, 3, 3), np.nan), np.full((draws, metrics, 3, 3), np.nan)
    n = np.zeros(metrics, np.int64)
    for members, used in _alike(np.isfinite(scores) & np.isfinite(human)):
        design = _Design(used)
        table = _standardised(np.where(used, np.concatenate((scores[members], human[None])), 0.0), used)
        n[members] = int(used.sum())
        result[members] = design.parts(table, np.ones((1, instances)))[0]
        for block, weights in _weights(unit, draws, seed, len(table) * len(human)):
            drawn[block, members] = design.parts(table, weights)
    return AgreementParts(
        r=result[:, 0].sum(axis=1),
        n=n,
        parts=result[:, 0],
        scores=result[:, 1],
        people=result[:, 2],
        drawn=drawn,
    )


def _alike(present: Bools) -> Iterator[tuple[list[int], Bools]]:
    """Metrics that score the same judged outputs, with these."""
    groups: dict[bytes, list[int]] = {}
    for k, mask in enumerate(present):
        groups.setdefault(np.packbits(mask).tobytes(), []).append(k)
    yield from ((members, present[members[0]]) for members in groups.values())


def _weights(unit: NDArray[np.intp], draws: int, seed: int, numbers: int) -> Iterator[tuple[slice, Floats]]:
    """How often each instance is in each draw, some draws at a time; a draw will need so many numbers beside."""
    random = np.random.default_rng(seed)
    units = int(unit.max(initial=-1)) + 1
    step = max(1, _BLOCK // max(len(unit), numbers))
    for start in range(0, draws if units > 1 else 0, step):
        size = min(step, draws - start)
        yield slice(start, start + size), resampling_weights(random, units, size)[:, unit]


def _standardised(table: Floats, used: Bools) -> Floats:
    """Values (columns × rows × instances) with mean 0 and spread 1 over the outputs used, 0 elsewhere."""
    count = max(int(used.sum()), 1)
    centred = np.where(used, table - table.sum(axis=(1, 2), keepdims=True) / count, 0.0)
    spread = np.sqrt((centred**2).sum(axis=(1, 2), keepdims=True) / count)
    size = np.abs(table).max(axis=(1, 2), keepdims=True, initial=0.0)
    standard: Floats = np.where(spread > 1e-12 * size, centred / np.where(spread > 0, spread, 1.0), np.nan)
    return standard


class _Design:
    """Which outputs there are, and what follows of it for every weighting of the items."""

    def __init__(self, used: Bools) -> None:
        self.rows = np.flatnonzero(used.any(axis=1))
        self.used = used[self.rows].astype(np.float64)
        self.size = self.used.sum(axis=0)
        self.inverse = np.divide(1.0, self.size, out=np.zeros_like(self.size), where=self.size > 0)
        #: Where every item has every generator, contrasts are of the plain means.
        self.complete = bool((self.used[:, self.size > 0] > 0).all())

    def parts(self, table: Floats, weights: Floats) -> Floats:
        """Parts of r, scores' shares and people's shares (draws × metrics × 3 × 3); people are the table's last column.

        Of an item that is drawn w times, every sum is weighted by w: its copies are items of their own.
        """
        table = table[:, self.rows]
        outputs, items = weights @ self.size, weights @ (self.size > 0).astype(np.float64)
        of_row = weights @ self.used.T
        mean = table.sum(axis=1) * self.inverse
        apart = np.where(self.used > 0, table - mean[:, None], 0.0)
        whole = self._products(table, table.sum(axis=1), weights, outputs)
        within = self._products(apart, None, weights, outputs)
        effects, rank = self._explained(apart, weights, of_row)
        free = outputs - items - rank
        with np.errstate(invalid="ignore", divide="ignore"):
            rest = (within - effects) / np.where(free > 0, free, np.nan)[:, None, None]
            generator = (effects - rank[:, None, None] * rest) / (outputs - items)[:, None, None]
            of_generators = generator * (outputs - (of_row**2).sum(axis=1) / outputs)[:, None, None]
            of_outputs = rest * (outputs - 1)[:, None, None]
            terms = np.stack((whole - of_generators - of_outputs, of_generators, of_outputs), axis=-1)
            own, people = whole[:, :, 1], whole[:, -1:, 0]
            varies = (own[:, :-1] > 1e-12 * outputs[:, None]) & (people > 1e-12 * outputs[:, None])
            scale = np.stack(
                (np.sqrt(own[:, :-1] * people), own[:, :-1], np.broadcast_to(people, own[:, :-1].shape)), -1
            )
        of_people = np.broadcast_to(terms[:, -1:, 0], terms[:, :-1, 0].shape)
        every = np.stack((terms[:, :-1, 0], terms[:, :-1, 1], of_people), axis=2)
        # Where nothing varies there is nothing to divide by, and the answer is not a number.
        return np.where(varies[:, :, None, None], every / np.where(varies[:, :, None], scale, 1.0)[..., None], np.nan)

    @staticmethod
    def _products(table: Floats, totals: Floats | None, weights: Floats, outputs: Floats) -> Floats:
        """Σxy and Σxx of every column x with the last one y, less those of the overall means (draws × columns × 2)."""
        with_people, squares = (table * table[-1:]).sum(axis=1), (table * table).sum(axis=1)
        sums = np.stack((weights @ with_people.T, weights @ squares.T), axis=-1)
        if totals is None:
            return sums
        total = weights @ totals.T
        means = np.stack((total * total[:, -1:], total * total), axis=-1) / outputs[:, None, None]
        return np.asarray(sums - means)

    def _explained(self, apart: Floats, weights: Floats, of_row: Floats) -> tuple[Floats, Floats]:
        """What generators' effects explain within items (draws × columns × 2), and the rank of their contrasts."""
        sums = (weights @ apart.reshape(-1, weights.shape[1]).T).reshape(len(weights), len(apart), -1)
        if self.complete:
            items = weights @ (self.size > 0).astype(np.float64)
            rank = np.full(len(weights), float(max(len(self.rows) - 1, 0)))
            return _with_last(sums, sums / np.maximum(items, 1)[:, None, None]), rank
        values, axes = np.linalg.eigh(self._contrasts(weights, of_row))
        kept = values > 1e-9 * np.maximum(values[:, -1:], 1e-300)
        turned = sums @ axes
        solved = np.divide(turned, values[:, None], out=np.zeros_like(turned), where=kept[:, None])
        return _with_last(turned, solved), kept.sum(axis=1).astype(np.float64)

    def _contrasts(self, weights: Floats, of_row: Floats) -> Floats:
        """Generators' normal equations with the items' means taken out, of every draw (draws × rows × rows)."""
        rooted = self.used * np.sqrt(self.inverse)
        left = np.stack([(rooted * weight) @ rooted.T for weight in weights])
        return np.asarray(np.eye(len(rooted)) * of_row[:, None] - left)


def _with_last(sums: Floats, solved: Floats) -> Floats:
    """Σ over generators of each column's sums times the last one's solution, and times its own."""
    return np.stack(((sums * solved[:, -1:]).sum(axis=2), (sums * solved).sum(axis=2)), axis=-1)
