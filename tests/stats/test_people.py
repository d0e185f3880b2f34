"""What people said: means, intervals over instances and annotators, and tests, against loops and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from plain_people import Judgment, plain_clusters, plain_means

from billboards.stats.clusters import places
from billboards.stats.people import UNKNOWN, people_means, people_tests


def test_a_mean_is_over_instances_and_each_instance_the_mean_of_its_judgments() -> None:
    values = np.array([[10.0], [30.0], [50.0]])
    means = people_means(values, np.zeros(3, int), np.array([0, 0, 1]), np.full(3, UNKNOWN), shape=(1, 2))
    assert means.cells.tolist() == [[20.0, 50.0]]
    assert means.mean.tolist() == [35.0]
    assert (means.judgments[0], means.instances[0], means.annotators[0]) == (3, 2, 0)
    # Student's interval of two values: 12.706 · 15.
    assert means.high[0] - means.mean[0] == pytest.approx(12.7062 * 15.0, rel=1e-5)


def test_three_annotators_who_rate_a_third_each_give_students_interval_of_their_means() -> None:
    annotator = np.arange(99) % 3
    values = np.array([60.0, 70.0, 80.0])[annotator][:, None]
    means = people_means(values, np.zeros(99, int), np.arange(99), annotator, shape=(1, 99))
    assert means.crossed.tolist() == [True]
    # Their means 60, 70 and 80 have sd 10: about 4.3027 · 10 / √3.
    assert means.high[0] - means.mean[0] == pytest.approx(4.30265 * 10 / np.sqrt(3), rel=1e-3)


def test_one_instance_has_no_interval_and_nobody_judged_no_mean() -> None:
    means = people_means(np.array([[5.0]]), np.zeros(1, int), np.zeros(1, int), np.zeros(1, int), shape=(2, 1))
    assert means.mean[0] == 5.0
    assert np.isnan([means.low[0], means.high[0], means.mean[1]]).all()
    assert np.isnan(means.cells[1, 0])


def test_equal_judgments_have_an_interval_of_no_width() -> None:
    means = people_means(np.full((8, 1), 7.0), np.zeros(8, int), np.arange(8) // 2, np.arange(8) % 2, shape=(1, 4))
    assert (means.low[0], means.high[0]) == (7.0, 7.0)


def test_a_judgment_without_an_annotator_leaves_instances_only() -> None:
    rng = np.random.default_rng(0)
    values, instance = rng.normal(50, 10, (60, 1)), np.arange(60)
    annotator = np.where(instance == 0, UNKNOWN, instance % 3)
    unknown = people_means(values, np.zeros(60, int), instance, np.full(60, UNKNOWN), shape=(1, 60))
    mixed = people_means(values, np.zeros(60, int), instance, annotator, shape=(1, 60))
    assert (mixed.annotators[0], bool(mixed.crossed[0])) == (0, False)
    assert mixed.low[0] == unknown.low[0]


def test_instances_of_a_document_count_together() -> None:
    document = np.arange(40) // 4
    values = np.asarray(document, float)[:, None] * 5.0
    nobody, whose = np.full(40, UNKNOWN), np.zeros(40, int)
    alone = people_means(values, whose, np.arange(40), nobody, shape=(1, 40))
    together = people_means(values, whose, np.arange(40), nobody, shape=(1, 40), unit=document)
    assert together.mean[0] == alone.mean[0]
    assert together.high[0] - together.low[0] > 1.9 * (alone.high[0] - alone.low[0])


def made_up(seed: int) -> list[Judgment]:
    """Judgments with gaps: three generators, two dimensions, annotators who rated some, twice now and then."""
    rng = np.random.default_rng(seed)
    judgments: list[Judgment] = []
    for generator in range(3):
        for instance in range(12):
            for annotator in rng.choice(4, rng.integers(0, 4), replace=False):
                first = float(rng.normal(60 + 5 * generator, 12)) if rng.random() < 0.9 else None
                second = float(rng.normal(50, 8)) if rng.random() < 0.9 else None
                judgments.append((f"g{generator}", f"i{instance:02}", f"a{annotator}", (first, second)))
    return judgments


@pytest.mark.parametrize("seed", range(20))
def test_means_and_intervals_are_those_of_plain_loops(seed: int) -> None:
    judgments = made_up(seed)
    generators, instances = sorted({j[0] for j in judgments}), sorted({j[1] for j in judgments})
    annotators = sorted({j[2] or "" for j in judgments})
    means = people_means(
        np.array([j[3] for j in judgments], float),
        np.array([generators.index(j[0]) for j in judgments]),
        np.array([instances.index(j[1]) for j in judgments]),
        np.array([annotators.index(j[2] or "") for j in judgments]),
        shape=(len(generators), len(instances)),
    )
    plain = plain_means(judgments)
    for k, name in enumerate(generators):
        assert means.mean[k] == pytest.approx(plain[name].mean, abs=1e-9)
        assert (means.high[k] - means.low[k]) / 2 == pytest.approx(plain[name].half, rel=1e-9)
        assert int(means.judgments[k]) == plain[name].judgments
        assert int(means.instances[k]) == plain[name].instances
        assert int(means.annotators[k]) == plain[name].annotators
    p = people_tests(means.cells, draws=500, seed=3)
    order, _, clusters = places(means.mean, p)
    members = [[generators[k] for k in order if clusters[k] == number] for number in sorted(set(clusters.values()))]
    assert members == plain_clusters(plain, instances, draws=500, seed=3)


@pytest.mark.parametrize("annotators", [3, 5, 10, 20])
@pytest.mark.parametrize("design", ["one annotator per output", "uneven annotators", "every annotator"])
def test_intervals_cover_the_truth_with_few_severe_annotators(design: str, annotators: int) -> None:
    """Severity sd 10, instances sd 10, noise sd 15, 100 instances; every campaign stands as a generator of its own."""
    rounds, instances = 1000, 100
    rng = np.random.default_rng(annotators)
    severity, difficulty = rng.normal(0, 10, (rounds, annotators)), rng.normal(0, 10, (rounds, instances))
    per = annotators if design == "every annotator" else 1
    campaign = np.repeat(np.arange(rounds), instances * per)
    instance = np.tile(np.repeat(np.arange(instances), per), rounds)
    who = np.tile(np.arange(instances * per) % annotators, rounds)
    if design == "uneven annotators":
        shares = 1 / np.arange(1, annotators + 1)
        who = rng.choice(annotators, len(who), p=shares / shares.sum())
    values = 50 + severity[campaign, who] + difficulty[campaign, instance] + rng.normal(0, 15, len(who))
    means = people_means(values[:, None], campaign, instance, campaign * annotators + who, shape=(rounds, instances))
    covered = float(((means.low <= 50) & (means.high >= 50)).mean())
    assert 0.93 <= covered <= 0.98
    by_instances = people_means(
        values[:, None], campaign, instance, np.full(len(who), UNKNOWN), shape=(rounds, instances)
    )
    assert float(((by_instances.low <= 50) & (by_instances.high >= 50)).mean()) < 0.9


@pytest.mark.parametrize("annotators", [3, 5, 20])
def test_annotators_who_do_not_differ_don_t_make_intervals_much_too_wide(annotators: int) -> None:
    """As above without severity, one annotator per output at random: 93 to 97%, as far as 2,000 campaigns can tell."""
    rounds, instances = 2000, 100
    rng = np.random.default_rng(annotators)
    campaign, instance = np.repeat(np.arange(rounds), instances), np.tile(np.arange(instances), rounds)
    who = rng.integers(0, annotators, len(campaign))
    values = 50 + rng.normal(0, 10, (rounds, instances)).ravel() + rng.normal(0, 15, len(campaign))
    means = people_means(values[:, None], campaign, instance, campaign * annotators + who, shape=(rounds, instances))
    assert 0.93 <= float(((means.low <= 50) & (means.high >= 50)).mean()) <= 0.975


def test_tests_are_two_sided_and_speak_for_the_better_one() -> None:
    rng = np.random.default_rng(1)
    base = rng.normal(0, 1, 40)
    cells = np.stack((base + 2.0, base + rng.normal(0, 0.01, 40), np.full(40, np.nan)))
    p = people_tests(cells, draws=1000, seed=0)
    assert p[0, 1] == pytest.approx(1 / 1001)
    assert p[0, 1] == people_tests(cells, draws=1000, seed=0, sides="one")[0, 1]
    assert p[1, 0] == 1.0
    assert np.isnan(p[2]).all()


def test_no_difference_is_found_as_often_as_the_level_says() -> None:
    """Two-sided at .05: of 400 pairs without a difference some 20 differ, 10 in each direction."""
    rng = np.random.default_rng(2)
    found = [people_tests(rng.normal(0, 1, (2, 30)), draws=199, seed=k) for k in range(400)]
    beats = sum(p[0, 1] <= 0.05 for p in found), sum(p[1, 0] <= 0.05 for p in found)
    assert 8 <= sum(beats) <= 34


def test_judgments_are_counted_for_every_generator_also_for_those_that_have_none() -> None:
    generator, instance = np.array([0, 0, 1, 0]), np.array([0, 1, 1, 4])
    means = people_means(np.full((4, 1), 3.0), generator, instance, np.full(4, UNKNOWN), shape=(3, 5))
    assert means.judgments.tolist() == [3, 1, 0]
    assert means.instances.tolist() == [3, 1, 0]
