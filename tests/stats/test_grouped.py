"""Correlations pooled and in groups, against scipy called group by group."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from billboards.errors import InvalidInput, UnknownName
from billboards.stats.correlation import pearson
from billboards.stats.grouped import GROUPINGS, STATISTICS, Grouping, Statistic, correlation

Floats = NDArray[np.float64]
NAN = float("nan")


def table(seed: int, *, rows: int = 6, instances: int = 25) -> tuple[Floats, Floats]:
    """Two continuous metrics and one of few values; judgments of few values; a tenth of each missing."""
    random = np.random.default_rng(seed)
    human = random.integers(0, 5, size=(rows, instances)) + np.arange(rows)[:, None] // 2.0
    scores = human + 2 * random.normal(size=(3, rows, instances))
    scores[2] = np.round(scores[2] / 3)
    human[random.random(human.shape) < 0.1] = NAN
    scores[random.random(scores.shape) < 0.1] = NAN
    return scores, human


def by_scipy(x: Floats, y: Floats, statistic: Statistic) -> tuple[float, float]:
    others: dict[str, Callable[..., Any]] = {"pearson": stats.pearsonr, "spearman": stats.spearmanr}
    call = others.get(statistic, stats.kendalltau)
    options = {"variant": statistic[-1]} if statistic.startswith("kendall") else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.ConstantInputWarning)
        found = call(x, y, **options)
    return float(found.statistic), float(found.pvalue)


def groups_of(one: Floats, human: Floats, grouping: Grouping) -> list[tuple[Floats, Floats]]:
    there = ~np.isnan(one + human)
    if grouping == "pooled":
        return [(one[there], human[there])]
    if grouping == "system-level":
        means = [(one[r, there[r]].mean(), human[r, there[r]].mean()) for r in range(len(one))]
        return [(np.array([m for m, _ in means]), np.array([h for _, h in means]))]
    if grouping == "by-system":
        return [(one[r, there[r]], human[r, there[r]]) for r in range(len(one))]
    return [(one[there[:, k], k], human[there[:, k], k]) for k in range(one.shape[1])]


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("grouping", GROUPINGS)
def test_values_counts_and_p_values_are_those_of_scipy(statistic: Statistic, grouping: Grouping) -> None:
    scores, human = table(1)
    found = correlation(scores, human, statistic=statistic, grouping=grouping)
    for k, one in enumerate(scores):
        groups = [group for group in groups_of(one, human, grouping) if len(group[0]) > 1]
        pairs = [by_scipy(x, y, statistic) for x, y in groups]
        defined = [g for g, (value, _) in enumerate(pairs) if not np.isnan(value)]
        values = [pairs[g][0] for g in defined]
        assert found.value[k] == pytest.approx(np.mean(values), abs=1e-12)
        assert found.groups[k] == len(defined)
        assert found.n[k] == sum(len(groups[g][0]) for g in defined)
        if grouping == "by-item":
            assert found.p[k] == pytest.approx(stats.ttest_1samp(values, 0).pvalue, rel=1e-9)
        elif grouping == "by-system":
            assert np.isnan(found.p[k])
        else:
            assert found.p[k] == pytest.approx(pairs[0][1], rel=1e-9)


@pytest.mark.parametrize("statistic", ["kendall-b", "kendall-c"])
def test_long_groups_have_the_same_kendall_from_signs_as_from_scipy(
    statistic: Statistic, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores, human = table(9, rows=4, instances=230)
    by_scipy_calls = correlation(scores, human, statistic=statistic, grouping="by-system")
    monkeypatch.setattr("billboards.stats.kendall._SHORT", 1000)
    from_signs = correlation(scores, human, statistic=statistic, grouping="by-system")
    np.testing.assert_allclose(from_signs.value, by_scipy_calls.value, atol=1e-13)
    assert from_signs.groups.tolist() == by_scipy_calls.groups.tolist() == [4, 4, 4]


def test_by_item_on_a_table_worked_by_hand() -> None:
    # Instance 0: the same order, tau-b 1. Instance 1: C = 1, D = 2, tau-b -1/3. Instance 2: people tie all, no value.
    # Instance 3: x = 1, 2, 2 and y = 1, 2, 3: C = 2, one tie in x, tau-b = 2/sqrt(2·3). Instance 4: one output.
    human = np.array([[1.0, 3.0, 2.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0, NAN], [3.0, 1.0, 2.0, 3.0, NAN]])
    scores = np.array([[[1.0, 1.0, 1.0, 1.0, 1.0], [5.0, 3.0, 2.0, 2.0, 2.0], [6.0, 2.0, 3.0, 2.0, 3.0]]])
    found = correlation(scores, human, statistic="kendall-b", grouping="by-item")
    assert found.value[0] == pytest.approx((1 - 1 / 3 + 2 / np.sqrt(6)) / 3, abs=1e-15)
    assert (found.groups[0], found.n[0]) == (3, 9)
    # tau-c of instance 3: 2·2/(3²·(2 - 1)/2) with the 2 values that x has; of the others as tau-b: no ties there.
    found = correlation(scores, human, statistic="kendall-c", grouping="by-item")
    assert found.value[0] == pytest.approx((1 - 1 / 3 + 8 / 9) / 3, abs=1e-15)


def test_pooled_pearson_is_the_one_that_ranks_metrics() -> None:
    scores, human = table(2)
    found = correlation(scores, human)
    r, n = pearson(scores, human)
    np.testing.assert_allclose(found.value, r, atol=1e-14)
    np.testing.assert_array_equal(found.n, n)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_what_instances_add_moves_pooled_values_but_none_by_item(statistic: Statistic) -> None:
    scores, human = table(3)
    ease = 100.0 * np.arange(25)
    first, other = (correlation(scores + e, human + e, statistic=statistic, grouping="by-item") for e in (0.0, ease))
    np.testing.assert_allclose(other.value, first.value, atol=1e-9)
    assert (correlation(scores + ease, human + ease, statistic=statistic).value > 0.9).all()


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("grouping", GROUPINGS)
def test_what_does_not_vary_has_no_correlation(statistic: Statistic, grouping: Grouping) -> None:
    human = np.random.default_rng(4).normal(size=(3, 7))
    for scores, judged in ((np.full((1, 3, 7), 0.1), human), (human[None], np.full((3, 7), 0.1))):
        found = correlation(scores, judged, statistic=statistic, grouping=grouping)
        assert np.isnan(found.value[0])
        assert np.isnan(found.p[0])
        assert (found.n[0], found.groups[0]) == (0, 0)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_means_that_differ_by_rounding_alone_are_equal(statistic: Statistic) -> None:
    # 7 · .1 / 7 and 6 · .1 / 6 differ in the last digit; so do .1 + .2 + .3 and .3 + .2 + .1.
    human = np.arange(21.0).reshape(3, 7)
    human[0, 0] = NAN
    constant = correlation(np.full((1, 3, 7), 0.1), human, statistic=statistic, grouping="system-level")
    assert np.isnan(constant.value[0])
    tied = np.array([[[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.2, 0.9]]])
    judged = np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [3.0, 3.0, 3.0]])
    found = correlation(tied, judged, statistic=statistic, grouping="system-level")
    assert found.value[0] == pytest.approx(by_scipy(np.array([1.0, 1.0, 2.0]), judged[:, 0], statistic)[0], abs=1e-11)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("grouping", GROUPINGS)
def test_a_metric_equal_to_the_judgments_correlates_perfectly(statistic: Statistic, grouping: Grouping) -> None:
    human = np.random.default_rng(5).normal(size=(5, 30))
    found = correlation(human[None], human, statistic=statistic, grouping=grouping)
    assert found.value[0] == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_two_generators_on_one_instance_lie_on_a_line_which_proves_nothing(statistic: Statistic) -> None:
    scores, human = np.array([[[1.0], [2.0]]]), np.array([[5.0], [4.0]])
    for grouping in ("pooled", "system-level"):
        found = correlation(scores, human, statistic=statistic, grouping=grouping)
        assert (found.value[0], found.p[0], found.n[0]) == (-1, 1, 2)
    by_item = correlation(scores, human, statistic=statistic, grouping="by-item")
    assert by_item.value[0] == -1
    assert np.isnan(by_item.p[0])
    assert np.isnan(correlation(scores, human, statistic=statistic, grouping="by-system").value[0])


def test_instances_that_cancel_out_have_p_1() -> None:
    scores, human = np.array([[[1.0, 1.0], [2.0, 2.0]]]), np.array([[1.0, 2.0], [2.0, 1.0]])
    found = correlation(scores, human, grouping="by-item")
    assert (found.value[0], found.p[0], found.groups[0]) == (0, 1, 2)


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_infinities_are_missing(grouping: Grouping) -> None:
    scores, human = table(6)
    infinite = np.where(np.isnan(scores), np.inf, scores), np.where(np.isnan(human), -np.inf, human)
    for statistic in STATISTICS:
        first = correlation(scores, human, statistic=statistic, grouping=grouping)
        other = correlation(*infinite, statistic=statistic, grouping=grouping)
        np.testing.assert_array_equal(other.value, first.value)
        np.testing.assert_array_equal(other.n, first.n)


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_nothing_judged_gives_nothing(grouping: Grouping) -> None:
    for statistic in STATISTICS:
        found = correlation(np.ones((2, 3, 4)), np.full((3, 4), NAN), statistic=statistic, grouping=grouping)
        assert np.isnan(found.value).all()
        assert found.n.tolist() == [0, 0]
        assert correlation(np.empty((0, 3, 4)), np.ones((3, 4)), statistic=statistic, grouping=grouping).p.size == 0


def test_a_few_groups_at_a_time_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, human = table(7)
    whole = correlation(scores, human, statistic="kendall-b", grouping="by-item")
    monkeypatch.setattr("billboards.stats.kendall._BLOCK", 40)
    np.testing.assert_array_equal(
        correlation(scores, human, statistic="kendall-b", grouping="by-item").value, whole.value
    )


def test_unknown_statistics_groupings_and_shapes_are_refused() -> None:
    scores, human = table(8)
    with pytest.raises(UnknownName, match="no statistic named 'kendall'; did you mean kendall-"):
        correlation(scores, human, statistic="kendall")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="no grouping named 'item'; did you mean by-item"):
        correlation(scores, human, grouping="item")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"shapes are \(3, 6, 25\) and \(25, 6\)"):
        correlation(scores, human.T)
