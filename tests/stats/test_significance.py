"""Permutation tests against plain loops and full enumeration; Williams, Fisher; corrections and clusters by hand."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.multitest import multipletests

from billboards.errors import NotEnoughData
from billboards.stats import significance
from billboards.stats.clusters import benjamini_hochberg, holm, significance_clusters
from billboards.stats.significance import (
    Sides,
    Unit,
    cluster_rows,
    exchange_correlations,
    fisher_z,
    permute_correlations,
    permute_values,
    random_signs,
    sign_rows,
    williams,
)

Floats = NDArray[np.float64]


def board(seed: int, rows: int = 4, instances: int = 12) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    human = random.normal(size=(rows, instances))
    noise = np.array([0.6, 1.0, 3.0])[:, None, None]
    return 50 + 7 * (human + noise * random.normal(size=(3, rows, instances))), human


def plain_loop(a: Floats, b: Floats, h: Floats, group: NDArray[np.intp], draws: int, seed: int) -> float:
    """The test with one sign for every group of cells."""
    signs = random_signs(np.random.default_rng(seed), draws, int(group.max()) + 1)
    return exchanged(a, b, h, signs[:, group])


def exchanged(a: Floats, b: Floats, h: Floats, signs: NDArray[np.float32]) -> float:
    """The test as it is written in the paper: standardise, exchange, correlate, count."""
    a, b = (a - a.mean()) / a.std(), (b - b.mean()) / b.std()
    observed = np.corrcoef(a, h)[0, 1] - np.corrcoef(b, h)[0, 1]
    count = 0
    for draw in signs:
        x, y = np.where(draw > 0, a, b), np.where(draw > 0, b, a)
        count += np.corrcoef(x, h)[0, 1] - np.corrcoef(y, h)[0, 1] >= observed - 1e-6
    return float((1 + count) / (1 + len(signs)))


@pytest.mark.parametrize("unit", ["both", "instances", "generators"])
def test_every_pair_equals_a_plain_loop_over_exchanges(unit: Unit) -> None:
    scores, human = board(1)
    found = permute_correlations(scores, human, unit=unit, draws=300, seed=3)
    rows, instances = np.indices(human.shape)
    group = {"both": np.arange(human.size), "instances": instances.ravel(), "generators": rows.ravel()}[unit]
    for a, b in ((0, 1), (1, 0), (0, 2), (2, 1)):
        expected = plain_loop(scores[a].ravel(), scores[b].ravel(), human.ravel(), group, 300, 3)
        assert found.p[a, b] == expected, (a, b)
        r = [np.corrcoef(scores[k].ravel(), human.ravel())[0, 1] for k in (a, b)]
        assert found.difference[a, b] == pytest.approx(r[0] - r[1], abs=1e-12)


def test_a_large_board_is_worked_on_in_parts_each_with_signs_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(significance, "_CELLS", 24)
    monkeypatch.setattr(significance, "_SIGNS", 100)
    scores, human = board(1)
    found = permute_correlations(scores, human, draws=300, seed=3)
    random = np.random.default_rng(3)
    signs = np.concatenate([random_signs(random, 300, 24) for _ in range(2)], axis=1)
    for a, b in ((0, 1), (2, 1)):
        assert found.p[a, b] == exchanged(scores[a].ravel(), scores[b].ravel(), human.ravel(), signs)
        r = [np.corrcoef(scores[k].ravel(), human.ravel())[0, 1] for k in (a, b)]
        assert found.difference[a, b] == pytest.approx(r[0] - r[1], abs=1e-12)
    alone = permute_correlations(scores, human, unit="instances", draws=300, seed=3)
    monkeypatch.undo()
    assert alone.p.tolist() == permute_correlations(scores, human, unit="instances", draws=300, seed=3).p.tolist()


def test_pairs_with_different_missing_cells_use_what_both_have() -> None:
    scores, human = board(2)
    scores[0, 1, :3] = scores[2, 0, 5] = human[3, 7] = np.nan
    found = permute_correlations(scores, human, draws=100, seed=1)
    used = np.isfinite(scores[[0, 2]]).all(axis=0) & np.isfinite(human)
    alone = permute_correlations(
        np.where(used, scores[[0, 2]], np.nan), np.where(used, human, np.nan), draws=100, seed=1
    )
    assert found.n[0, 2] == used.sum() == 48 - 5
    assert found.p[0, 2] == alone.p[0, 1]
    assert found.difference[0, 2] == pytest.approx(alone.difference[0, 1], abs=1e-12)


def test_a_metric_against_itself_or_its_copy_is_never_better() -> None:
    scores, human = board(3)
    found = permute_correlations(np.stack((scores[0], scores[0] * 3 - 1)), human, draws=50)
    assert found.p.tolist() == [[1, 1], [1, 1]]


def test_a_metric_equal_to_the_judgments_beats_noise_as_often_as_draws_allow() -> None:
    _, human = board(4, rows=6, instances=40)
    noise = np.random.default_rng(0).normal(size=human.shape)
    found = permute_correlations(np.stack((human, noise)), human, draws=999)
    assert found.p[0, 1] == 1 / 1000
    assert found.p[1, 0] == 1


def test_a_constant_metric_and_tied_judgments_have_no_test() -> None:
    scores, human = board(5)
    scores[1] = 4.0
    found = permute_correlations(scores, human, draws=10)
    assert np.isnan(found.p[1]).all()
    assert np.isnan(found.p[:, 1]).all()
    assert np.isfinite(found.p[0, 2])
    assert np.isnan(permute_correlations(scores, np.ones_like(human), draws=10).p).all()


def test_p_values_are_uniform_where_there_is_no_difference() -> None:
    random = np.random.default_rng(6)
    p = []
    for _ in range(200):
        human = random.normal(size=(3, 20))
        scores = human + random.normal(size=(2, 3, 20))
        p.append(permute_correlations(scores, human, draws=99, seed=int(random.integers(1 << 30))).p[0, 1])
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_means_equal_the_full_enumeration_of_sign_flips() -> None:
    values = np.array([[3.0, 1, 4, 1, 5, 9, 2, 6], [2.0, 1, 3, 1, 6, 7, 1, 4]])
    found = permute_values(values, draws=20_000, seed=1)
    difference = values[0] - values[1]
    every = [np.mean(np.array(signs) * difference) for signs in product((1, -1), repeat=8)]
    exact = np.mean(np.array(every) >= difference.mean() - 1e-12)
    assert found.difference[0, 1] == difference.mean()
    assert found.p[0, 1] == pytest.approx(exact, abs=0.01)
    assert found.n[0, 1] == 8


def test_means_with_missing_units_compare_common_ones() -> None:
    values = np.array([[1.0, 2, np.nan, 4], [0.0, 1, 5, np.nan], [9.0, 9, 9, 9]])
    found = permute_values(values, draws=50)
    assert found.n.tolist() == [[3, 2, 3], [2, 3, 3], [3, 3, 4]]
    assert found.difference[0, 1] == 1.0


def test_williams_equals_a_value_worked_by_hand() -> None:
    # r_a = .6, r_b = .4, r_ab = .5, n = 103: K = 1-.36-.16-.25+.24 = .47;
    # t = .2·sqrt(102·1.5 / (2·.47·102/100 + .25·.125)) = .2·sqrt(153/.99005) = 2.48625
    statistic = 0.2 * np.sqrt(153 / 0.99005)
    assert williams(0.6, 0.4, 0.5, 103) == pytest.approx(stats.t.sf(statistic, 100), abs=1e-12)
    assert williams(0.4, 0.6, 0.5, 103) == pytest.approx(1 - williams(0.6, 0.4, 0.5, 103), abs=1e-12)
    assert williams(0.5, 0.5, 1.0, 50) == 1.0
    with pytest.raises(NotEnoughData, match="more than 3"):
        williams(0.5, 0.4, 0.1, 3)


def test_fisher_equals_a_value_worked_by_hand() -> None:
    # z(.6) = .693147, z(.4) = .423649; se = sqrt(1/100 + 1/50) = .173205; (.269498)/.173205 = 1.555948
    assert fisher_z(0.6, 103, 0.4, 53) == pytest.approx(stats.norm.sf(1.555948), abs=1e-6)
    assert fisher_z(0.5, 20, 0.5, 20) == 0.5
    assert fisher_z(1.0, 20, 0.5, 20) == 0.0


@pytest.mark.parametrize(("ours", "method"), [(holm, "holm"), (benjamini_hochberg, "fdr_bh")])
def test_corrections_equal_statsmodels_and_skip_missing(ours: object, method: str) -> None:
    assert callable(ours)
    p = np.random.default_rng(7).random(30) ** 3
    np.testing.assert_allclose(ours(p), multipletests(p, method=method)[1], atol=1e-14)
    holes = np.where(np.arange(30) % 4 == 0, np.nan, p)
    there = ~np.isnan(holes)
    np.testing.assert_allclose(ours(holes)[there], multipletests(holes[there], method=method)[1], atol=1e-14)
    assert np.isnan(ours(holes)[~there]).all()
    assert ours(p.reshape(5, 6)).shape == (5, 6)


def test_clusters_start_where_any_member_beats_the_next() -> None:
    p = np.ones((4, 4))
    p[0, 2] = 0.03  # 0 beats 2 although 1 does not
    assert significance_clusters([0, 1, 2, 3], p) == {0: 1, 1: 1, 2: 2, 3: 2}
    p[2, 3] = 0.05
    assert significance_clusters([0, 1, 2, 3], p) == {0: 1, 1: 1, 2: 2, 3: 3}
    assert significance_clusters([0, 1, 2, 3], np.full((4, 4), np.nan)) == dict.fromkeys(range(4), 1)
    assert significance_clusters([], p) == {}


def test_a_two_sided_test_counts_differences_as_large_either_way() -> None:
    random = np.random.default_rng(3)
    values = random.normal(size=(3, 7))
    tested = permute_values(values, draws=2000, seed=1, sides="two")
    signs = np.array(list(product((-1.0, 1.0), repeat=7)))
    for a, b in combinations(range(3), 2):
        drawn = signs @ (values[a] - values[b]) / 7
        exact = (np.abs(drawn) >= abs((values[a] - values[b]).mean()) - 1e-12).mean()
        assert tested.p[a, b] == tested.p[b, a] == pytest.approx(exact, abs=0.04)
    lopsided = np.array([[0.0, 0.0, 0.0, 9.0], [1.0, 1.0, 1.0, 0.0]])
    one, two = (permute_values(lopsided, draws=4000, seed=2, sides=sides).p for sides in ("one", "two"))
    # The differences are -1, -1, -1 and 9: every exchange leaves a sum of 6 or more, on one side or the other.
    assert two[0, 1] == two[1, 0] == 1.0
    assert one[0, 1] == pytest.approx(8 / 16, abs=0.03)


def test_correlations_are_tested_with_two_sides_by_the_plain_formula() -> None:
    random = np.random.default_rng(5)
    scores, human = random.normal(size=(2, 3, 40)), random.normal(size=(3, 40))
    scores[0] += human
    one, two = (permute_correlations(scores, human, draws=500, seed=4, sides=sides).p for sides in ("one", "two"))
    z = [(s - s.mean()) / s.std() for s in scores]
    observed = abs(np.corrcoef(z[0].ravel(), human.ravel())[0, 1] - np.corrcoef(z[1].ravel(), human.ravel())[0, 1])
    reached = 0
    for signs in random_signs(np.random.default_rng(4), 500, 120).reshape(500, 3, 40):
        pair = np.where(signs > 0, z[0], z[1]), np.where(signs > 0, z[1], z[0])
        r = [np.corrcoef(side.ravel(), human.ravel())[0, 1] for side in pair]
        reached += abs(r[0] - r[1]) >= observed - 1e-6
    assert two[0, 1] == two[1, 0] == (1 + reached) / 501
    assert one[0, 1] <= two[0, 1]


def test_williams_with_two_sides_is_twice_the_smaller_side() -> None:
    ahead, behind = williams(0.6, 0.4, 0.5, 50), williams(0.4, 0.6, 0.5, 50)
    assert williams(0.6, 0.4, 0.5, 50, sides="two") == pytest.approx(2 * ahead)
    assert williams(0.4, 0.6, 0.5, 50, sides="two") == pytest.approx(2 * min(ahead, behind))
    assert williams(0.5, 0.5, 0.5, 50, sides="two") == 1.0


@pytest.mark.parametrize("sides", ["one", "two"])
def test_clusters_from_rows_drawn_by_themselves_are_those_of_all_tests(sides: Sides) -> None:
    """On boards of more entries than units and of fewer, with rows that are told apart and rows that are not."""
    random = np.random.default_rng(5)
    sizes = []
    for entries, units in ((3, 40), (12, 40), (12, 7), (6, 6)):
        values = random.normal(size=(entries, units)) + np.linspace(2.0, 0.0, entries)[:, None]
        order = np.argsort(-values.mean(axis=1)).tolist()
        p = permute_values(values, draws=200, seed=9, sides=sides).p
        rows = sign_rows(values, draws=200, seed=9)
        assert rows.mean == pytest.approx(values.mean(axis=1))
        clusters = cluster_rows(order, rows, units, seed=9, sides=sides)
        assert clusters == significance_clusters(order, p)
        sizes.append(max(clusters.values()))
    assert max(sizes) > 2
    assert cluster_rows([], sign_rows(np.empty((0, 5)), draws=10, seed=0), 5, seed=0, sides=sides) == {}


def test_exchanges_hold_every_difference_and_its_reverse() -> None:
    random = np.random.default_rng(9)
    human, scores = random.normal(size=(4, 20)), random.normal(size=(3, 4, 20))
    scores[1, 2, :5] = np.nan
    exchanges = exchange_correlations(scores, human, draws=30)
    shared = np.isfinite(scores).all(axis=0)
    r = [np.corrcoef(metric[shared], human[shared])[0, 1] for metric in scores]
    assert exchanges.difference == pytest.approx(np.subtract.outer(r, r), abs=1e-12)
    assert exchanges.n == shared.sum() == 75
    assert exchanges.drawn.shape == (30, 3, 3)
    assert exchanges.drawn == pytest.approx(-exchanges.drawn.transpose(0, 2, 1), abs=1e-6)
