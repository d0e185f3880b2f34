"""What people said of each generator: mean, how sure it is, and who can be told apart.

A generator's mean is over the instances on which it was judged, each with the mean of its judgments. Other instances
would have given another mean, and so would other annotators: some are severe. The variance of the mean is that of all
pairs of judgments that share an instance or an annotator (two-way clusters; Cameron, Gelbach and Miller 2011), each
part corrected for the few clusters it comes from, and the interval is Student's with the degrees of freedom of the
parts (Bell and McCaffrey 2002, joined as Satterthwaite does, with fewer where both parts matter). Drawing annotators
again (a crossed bootstrap) is too narrow where they are few: with three it covers 80% of the time, this interval 93 to
97%, whether annotators differ or not (`benchmarks/people_coverage.py`). Where annotators are not known, or there is
only one, only instances count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.stats.significance import Sides, permute_values

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

UNKNOWN = -1


@dataclass(frozen=True, kw_only=True)
class PeopleMeans:
    """Generators' means with 95% intervals, NaN where nobody judged or one instance can't tell how sure a mean is.

    `cells` are the means of single outputs (generators × instances). Counts are of judgments, instances and annotators;
    `annotators` is 0 where any judgment of a generator has none, and `crossed` says whether annotators count in the
    interval.
    """

    mean: Floats
    low: Floats
    high: Floats
    cells: Floats
    judgments: Ints
    instances: Ints
    annotators: Ints
    crossed: Bools


def people_means(
    values: Floats,
    generator: Ints,
    instance: Ints,
    annotator: Ints,
    *,
    shape: tuple[int, int],
    unit: Ints | None = None,
) -> PeopleMeans:
    """Means of `values` (judgments × dimensions, on one scale; NaN where nothing was said) for each of the generators.

    generator, instance, annotator: of each judgment, numbered from 0; an annotator of -1 is not known
    shape: how many generators and instances there are
    unit: what each instance is drawn with, as its document; by default with nothing else

    An output that lacks one of the dimensions is left out.
    """
    judged = _complete(values, generator * shape[1] + instance, shape)
    used = judged[generator, instance] & np.isfinite(values).any(axis=1)
    values = values[used]
    generator, instance, annotator = (column[used] for column in (generator, instance, annotator))
    cells, weight, value = _weighed(values, generator * shape[1] + instance, judged)
    size = judged.sum(axis=1)
    weight /= size[generator, None]
    share = np.stack([np.bincount(generator, w * v, shape[0]) for w, v in zip(weight.T, value.T, strict=True)], axis=1)
    mean = np.where(size > 0, share.sum(axis=1), np.nan)
    # Each dimension is centred by itself: who was asked for one of them only is not thereby severe.
    residual = (weight * (value - share[generator] * values.shape[1])).sum(axis=1)
    people = _annotators(generator, annotator, shape[0])
    spread = _Spread(weight.sum(axis=1), residual, generator, shape[0])
    half, crossed = _half_widths(spread, instance if unit is None else unit[instance], annotator, people)
    return PeopleMeans(
        mean=mean,
        low=mean - half,
        high=mean + half,
        cells=cells,
        judgments=np.bincount(generator, minlength=shape[0]),
        instances=size,
        annotators=people,
        crossed=crossed,
    )


def _complete(values: Floats, cell: Ints, shape: tuple[int, int]) -> Bools:
    """Which outputs (generators × instances) were judged on every dimension."""
    complete = np.ones(shape[0] * shape[1], bool)
    for column in values.T:
        complete &= np.bincount(cell[np.isfinite(column)], minlength=len(complete)) > 0
    return complete.reshape(shape)


def _weighed(values: Floats, cell: Ints, judged: Bools) -> tuple[Floats, Floats, Floats]:
    """Means of outputs, and each value's weight in its output's, with 0 for values that are missing."""
    present = np.isfinite(values)
    weight, value = np.zeros(values.shape), np.where(present, values, 0.0)
    for k, seen in enumerate(present.T):
        count = np.bincount(cell[seen], minlength=judged.size)
        weight[seen, k] = 1 / (count[cell[seen]] * values.shape[1])
    cells = np.bincount(cell, (weight * value).sum(axis=1), judged.size).reshape(judged.shape)
    return np.where(judged, cells, np.nan), weight, value


@dataclass(frozen=True)
class _Spread:
    """What each judgment adds to its generator's mean: its weight there, and that times its distance from the mean."""

    weight: Floats
    residual: Floats
    generator: Ints
    generators: int

    def variance(self, code: Ints, within: Ints | None = None) -> tuple[Floats, Floats]:
        """The variance of each mean when judgments of one code belong together, and its degrees of freedom.

        Clusters have effects of one variance and, where `within` numbers their parts, independent parts beside: with
        weights W that add up to 1 and squares q of the parts, E[ΣU²] is tr times the effects' variance and the sum of
        q·(1 - 2W + ΣW²). Both numbers are exact for normal effects of equal clusters. One code alone gives NaN.
        """
        place, owner = self._clusters(code)
        weight, sums = (np.bincount(place, of).astype(np.float64) for of in (self.weight, self.residual))
        parts = np.zeros(len(owner)) if within is None else self._squares(within, place, len(owner))

        def total(of_cluster: Floats) -> Floats:
            return np.bincount(owner, of_cluster, self.generators).astype(np.float64)

        squares, p2, p3 = total(sums**2), total(weight**2), total(weight**3)
        several = np.bincount(owner, minlength=self.generators) > 1
        trace = np.where(several, p2 - 2 * p3 + p2**2, np.nan)
        effect = (squares - total(parts * (1 - 2 * weight + p2[owner]))) / trace
        variance = np.maximum(p2 * effect + total(parts), 0.0)
        # The covariance of the clusters' sums, as estimated, and the trace of it and of its square.
        own = weight**2 * np.maximum(effect, 0.0)[owner] + parts
        t, cross, square = total(own), total(weight * own), total(own**2)
        first = t - 2 * cross + p2 * t
        second = square * (1 + 2 * p2) + 2 * t * total(own * weight**2) - 4 * total(own**2 * weight)
        second = second + (t * p2) ** 2 + 2 * cross**2 - 4 * t * p2 * cross
        ones = np.where(several, 1.0, np.nan)
        return variance, np.divide(first**2, second, out=ones, where=several & (second > 0))

    def beside(self, instance: Ints, annotator: Ints, both: Ints) -> tuple[Floats, Floats]:
        """By how much the variance of instances beside annotators must grow, and how evenly annotators are used.

        The variance of instances less that of `both` holds (Σw² of instances - Σw² of both) times the variance of their
        effects. Wanted is all that the annotators' part does not hold: everything where each annotator judges each
        instance, since then what instances share is no difference between annotators. 0 where no instance has two
        annotators. Evenness is 1 where all annotators weigh the same.
        """
        of_annotator, annotator_owner = self._clusters(annotator)
        of_instance, instance_owner = self._clusters(instance)
        of_both, owner = self._clusters(both)
        weight, annotator_weight, instance_weight = (
            np.bincount(place, self.weight).astype(np.float64) for place in (of_both, of_annotator, of_instance)
        )
        first, second = np.zeros(len(owner)), np.zeros(len(owner))
        first[of_both], second[of_both] = annotator_weight[of_annotator], instance_weight[of_instance]

        def total(owners: Ints, of_cluster: Floats) -> Floats:
            return np.bincount(owners, of_cluster, self.generators).astype(np.float64)

        annotators, instances = total(annotator_owner, annotator_weight**2), total(instance_owner, instance_weight**2)
        cells = total(owner, weight**2)
        trace = annotators - 2 * total(annotator_owner, annotator_weight**3) + annotators**2
        # What instances' effects add to the annotators' sum of squares, less what independent parts would add.
        shared = annotators * (instances - cells) - 2 * total(owner, weight * first * (second - weight))
        held = cells + np.divide(annotators * shared, trace, out=np.zeros_like(trace), where=trace > 0)
        apart = instances - cells
        several = apart > 1e-9 * instances
        grown = np.divide(instances - held, apart, out=np.zeros_like(apart), where=several)
        counts = np.bincount(annotator_owner, minlength=self.generators)
        even = np.divide(1.0, annotators * counts, out=np.ones_like(annotators), where=counts > 0)
        return np.maximum(grown, 0.0), even

    def _clusters(self, code: Ints) -> tuple[Ints, Ints]:
        """The cluster of each judgment, a code of a generator, numbered from 0; and the generator of each cluster."""
        pairs, place = np.unique(self.generator * (int(code.max(initial=0)) + 1) + code, return_inverse=True)
        owner = np.zeros(len(pairs), np.int64)
        owner[place] = self.generator
        return place.astype(np.int64), owner

    def _squares(self, within: Ints, cluster: Ints, clusters: int) -> Floats:
        """The sum of squares of the parts that each cluster has."""
        place, owner = self._clusters(within)
        of_part = np.zeros(len(owner), np.int64)
        of_part[place] = cluster
        sums = np.bincount(place, self.residual)
        return np.bincount(of_part, sums**2, clusters).astype(np.float64)


def _half_widths(spread: _Spread, instance: Ints, annotator: Ints, people: Ints) -> tuple[Floats, Bools]:
    """Half of each 95% interval, and whether annotators count in it.

    Few annotators may agree by chance, so that their part looks like nothing: an interval has at least two thirds of
    the width that instances alone give it, and more where most judgments come from some of the annotators.
    """
    of_instances, freedom = spread.variance(instance)
    half = _student(of_instances, freedom)
    crossed = (people > 1) & np.isfinite(of_instances)
    if not crossed.any():
        return half, crossed
    codes = np.maximum(annotator, 0)
    both = instance * (int(codes.max()) + 1) + codes
    of_annotators, annotators_freedom = spread.variance(codes, both)
    beside, even = spread.beside(instance, codes, both)
    # Judgments that share both stand in both parts, and count once.
    of_others = beside * np.maximum(of_instances - spread.variance(both)[0], 0.0)
    total = of_annotators + of_others
    # Satterthwaite's formula has a square of the first part; times the total there are fewer degrees of freedom, as
    # it takes where that part is known from two or three annotators and happens to be small.
    terms = of_annotators * total / annotators_freedom + of_others**2 / freedom
    joined = np.divide(total**2, terms, out=np.ones_like(total), where=terms > 0)
    return np.where(crossed, np.fmax((1 - even / 3) * half, _student(total, joined)), half), crossed


def _student(variance: Floats, freedom: Floats) -> Floats:
    from scipy.special import stdtrit

    return np.asarray(stdtrit(freedom, 0.975) * np.sqrt(variance), np.float64)


def _annotators(generator: Ints, annotator: Ints, generators: int) -> Ints:
    """How many annotators judged each generator; 0 where a judgment has none."""
    most = int(annotator.max(initial=UNKNOWN)) + 2
    pairs = np.unique(generator * most + annotator - UNKNOWN)
    nameless = np.bincount(generator[annotator == UNKNOWN], minlength=generators) > 0
    return np.where(nameless, 0, np.bincount(pairs // most, minlength=generators))


def people_tests(cells: Floats, *, draws: int = 1000, seed: int = 0, sides: Sides = "two") -> Floats:
    """P-values between generators by what people said of the same instances (generators × instances).

    Two generators' values of an instance are exchanged at random: the paired permutation test. p[a, b] is 1 where a has
    not the higher mean on the instances that both have; those that nobody judged have NaN.
    """
    judged = np.isfinite(cells).any(axis=1)
    p = np.full((len(cells), len(cells)), np.nan)
    if judged.any():
        tests = permute_values(cells[judged], draws=draws, seed=seed, sides=sides)
        p[np.ix_(judged, judged)] = np.where(tests.difference > 0, tests.p, np.where(np.isnan(tests.p), np.nan, 1.0))
    return p
