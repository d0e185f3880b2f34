"""Severity and drift of annotators: known ones are recovered, and means without them are nearer to the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.crossed import fit_crossed
from billboards.stats.severity import SeverityFit, connected_parts, correct_severity


@dataclass(frozen=True)
class Campaign:
    """A made-up campaign with everything known that a real one hides."""

    quality: np.ndarray
    severity: np.ndarray
    drift: np.ndarray
    value: np.ndarray
    generator: np.ndarray
    instance: np.ndarray
    annotator: np.ndarray

    def fit(self) -> SeverityFit:
        return correct_severity(self.value, self.generator, self.instance, self.annotator)


def campaign(seed: int, *, annotators: int = 12, each: int = 40, generators: int = 5, drift: float = 5.0) -> Campaign:
    """Everyone rates some generators far more often than others, so that plain means mix severity and quality."""
    random = np.random.default_rng(seed)
    quality, of_instance = random.normal(60, 4, generators), random.normal(0, 6, 100)
    severity, drifts = random.normal(0, 8, annotators), random.normal(0, drift, annotators)
    annotator = np.repeat(np.arange(annotators), each)
    shares = random.dirichlet(np.full(generators, 0.7), annotators)
    generator = np.concatenate([random.choice(generators, each, p=share) for share in shares])
    instance = random.integers(0, 100, len(annotator))
    position = (np.tile(np.arange(each), annotators) - (each - 1) / 2) / 100
    value = quality[generator] + of_instance[instance] - severity[annotator] + drifts[annotator] * position
    return Campaign(quality, severity, drifts, value + random.normal(0, 8, len(value)), generator, instance, annotator)


def test_known_severities_are_recovered_and_corrected_means_are_nearer_the_truth() -> None:
    raw, corrected, covered, alike = [], [], [], []
    for seed in range(5):
        made = campaign(seed)
        found = made.fit()
        truth = made.quality - made.quality.mean()
        raw.append(((found.raw - found.raw.mean() - truth) ** 2).mean())
        errors = found.means - found.means.mean() - truth
        corrected.append((errors**2).mean())
        centre = np.eye(len(truth)) - 1 / len(truth)
        covered.append(np.abs(errors) < 1.96 * np.sqrt(np.diag(centre @ found.covariance @ centre)))
        alike.append(np.corrcoef(found.severity, made.severity)[0, 1])
    assert np.mean(alike) > 0.95
    assert np.sqrt(np.mean(corrected)) < 0.6 * np.sqrt(np.mean(raw))
    assert np.mean(covered) > 0.88


def test_drift_is_found_where_people_rate_long_enough() -> None:
    made = campaign(1, annotators=8, each=250, drift=10.0)
    found = made.fit()
    assert np.corrcoef(found.drift, made.drift)[0, 1] > 0.8
    assert np.abs(found.drift - made.drift).mean() < np.abs(made.drift).mean()


def test_without_severity_the_means_are_nearly_the_plain_ones() -> None:
    random = np.random.default_rng(3)
    generator, annotator = np.tile([0, 1], 150), np.repeat(np.arange(10), 30)
    value = np.where(generator == 1, 70.0, 60.0) + random.normal(0, 3, 300)
    found = correct_severity(value, generator, np.arange(300), annotator, drift=False)
    assert found.means == pytest.approx(found.raw, abs=0.2)
    assert found.annotator_variance < 0.5
    assert (found.drift == 0).all()


def test_variances_and_means_are_those_of_the_crossed_model() -> None:
    """Where nobody drifts and everyone rates an instance at most once, it is the model of `stats.crossed`."""
    random = np.random.default_rng(5)
    annotator, instance = np.nonzero(random.random((8, 40)) < 0.6)
    generator = random.integers(0, 3, len(annotator))
    value = 50 + generator + random.normal(0, 3, 8)[annotator] + random.normal(0, 5, 40)[instance]
    value += random.normal(0, 4, len(value))
    found = correct_severity(value, generator, instance, annotator, drift=False)
    grid, design = np.full((8, 40), np.nan), np.zeros((3, 8, 40))
    grid[annotator, instance] = value
    design[generator, annotator, instance] = 1
    crossed = fit_crossed(grid, design)
    assert found.means == pytest.approx(crossed.beta, abs=1e-3)
    assert found.se == pytest.approx(crossed.se, rel=1e-3)
    assert found.residual_variance == pytest.approx(crossed.residual_variance, rel=1e-3)
    assert found.annotator_variance == pytest.approx(crossed.generator_variance, rel=1e-2)
    assert found.instance_variance == pytest.approx(crossed.instance_variance, rel=1e-2)


def test_corrected_ratings_are_the_ratings_without_severity_and_drift() -> None:
    made = campaign(2)
    found = made.fit()
    means = [found.corrected[made.annotator == k].mean() - made.value[made.annotator == k].mean() for k in range(12)]
    # Positions are centred, so that drift moves no annotator's mean.
    assert means == pytest.approx(found.severity, abs=1e-9)


def test_generators_that_no_annotator_connects_are_said_not_to_be_identified() -> None:
    generator, annotator = np.repeat([0, 1], 40), np.repeat([0, 1, 2, 3], 20)
    value = np.random.default_rng(0).normal(50, 5, 80)
    found = correct_severity(value, generator, np.arange(80), annotator)
    assert not found.identified
    assert found.part.tolist() == [0, 1]
    assert correct_severity(value, np.tile([0, 1], 40), np.arange(80), annotator).identified
    assert connected_parts(np.array([0, 1, 1, 2]), np.array([0, 0, 1, 1])).tolist() == [0, 0, 0]


def test_the_order_of_ratings_matters_only_through_time() -> None:
    made = campaign(4)
    first = made.fit()
    order = np.random.default_rng(0).permutation(len(made.value))
    columns = (made.value, made.generator, made.instance, made.annotator)
    again = correct_severity(*(one[order] for one in columns), time=np.arange(len(order))[order])
    assert again.means == pytest.approx(first.means, abs=1e-3)
    assert again.drift == pytest.approx(first.drift, abs=1e-2)


def test_one_annotator_and_constant_ratings_are_refused() -> None:
    with pytest.raises(NotEnoughData, match="by 1 annotators"):
        correct_severity([1.0, 2, 3], [0, 0, 1], [0, 1, 2], [0, 0, 0])
    with pytest.raises(NotEnoughData, match="every rating is 4"):
        correct_severity([4.0] * 8, [0, 1] * 4, [0, 1, 2, 3] * 2, [0, 0, 1, 1] * 2)
    with pytest.raises(InvalidInput, match="known annotators"):
        correct_severity([4.0, 5.0], [0, 1], [0, 1], [0, -1])
