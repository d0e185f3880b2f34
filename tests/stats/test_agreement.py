"""Two sources of judgments: scipy as oracle, corners by hand, and crowd against experts on the paper's two boards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import billboards as bb
from billboards.board import human_scores
from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.agreement import associate, disagreement_corners, measure_agreement

Floats = NDArray[np.float64]
NAN = float("nan")


def test_agreement_on_common_outputs_equals_scipy() -> None:
    random = np.random.default_rng(1)
    first = np.round(random.normal(60, 15, size=(5, 40)))
    second = np.round(first / 2 + random.normal(20, 10, size=(5, 40)))
    first[0, :5] = second[2, 3:9] = NAN
    first[4] = np.inf
    found = measure_agreement(first, second)
    used = np.isfinite(first) & np.isfinite(second)
    a, b = first[used], second[used]
    assert (found.outputs.n, found.generators.n) == (160 - 11, 4)
    expected = [one(a, b).statistic for one in (stats.pearsonr, stats.spearmanr, stats.kendalltau)]
    assert (found.outputs.pearson, found.outputs.spearman, found.outputs.kendall) == pytest.approx(expected, abs=1e-12)
    means = [[one[row][used[row]].mean() for row in range(4)] for one in (first, second)]
    assert found.generators.pearson == pytest.approx(stats.pearsonr(*means).statistic, abs=1e-12)
    assert found.generators.kendall == pytest.approx(stats.kendalltau(*means).statistic, abs=1e-12)
    assert (found.bias, found.distance) == pytest.approx(((a - b).mean(), np.abs(a - b).mean()))
    assert found.standardised_distance == pytest.approx(np.abs(stats.zscore(a) - stats.zscore(b)).mean())


def test_a_source_agrees_with_itself_and_with_its_mirror_image_not_at_all() -> None:
    values = np.random.default_rng(2).normal(size=(3, 20))
    same, mirrored = measure_agreement(values, values), measure_agreement(values, -values)
    assert (same.outputs.pearson, same.generators.kendall) == pytest.approx((1, 1))
    assert (same.distance, same.standardised_distance) == (0, 0)
    assert (mirrored.outputs.spearman, mirrored.generators.spearman) == pytest.approx((-1, -1))


def test_unrelated_normal_sources_are_two_over_root_pi_apart() -> None:
    first, second = np.random.default_rng(3).normal(size=(2, 4, 20_000))
    assert measure_agreement(first, second).standardised_distance == pytest.approx(2 / np.sqrt(np.pi), abs=0.01)


def test_what_does_not_vary_has_a_distance_but_no_correlation() -> None:
    found = measure_agreement(np.full((2, 3), 0.1), np.array([[1.0, 2, 3], [4.0, 5, 6]]))
    assert np.isnan([found.outputs.pearson, found.outputs.kendall, found.generators.spearman]).all()
    assert np.isnan(found.standardised_distance)
    assert found.bias == pytest.approx(-3.4)
    assert associate(np.array([1.0]), np.array([2.0])).n == 1


def test_corners_by_hand() -> None:
    # z-scores of 0, 10, 20, 30, 40 are -1.41, -.71, 0, .71, 1.41 for both sources
    first = np.array([[0.0, 10, 20], [30, 40, NAN]])
    second = np.array([[40.0, 10, 0], [30, 20, 99]])
    above, below = disagreement_corners(first, second)
    step = 10 / np.sqrt(200)
    assert list(zip(above.row, above.instance, strict=True)) == [(0, 2), (1, 1)]
    assert above.difference == pytest.approx([2 * step, 2 * step])
    assert (below.row.tolist(), below.instance.tolist()) == ([0], [0])
    assert below.difference == pytest.approx([-4 * step])


def test_corners_hold_the_largest_differences_in_order_whatever_the_scales() -> None:
    random = np.random.default_rng(4)
    first, second = random.normal(size=(2, 6, 50))
    above, below = disagreement_corners(100 + 7 * first, second / 3, k=20)
    difference = stats.zscore(first, axis=None) - stats.zscore(second, axis=None)
    order = np.argsort(difference, axis=None)
    assert (above.row * 50 + above.instance).tolist() == order[::-1][:20].tolist()
    assert (below.row * 50 + below.instance).tolist() == order[:20].tolist()
    np.testing.assert_allclose(above.difference, difference[above.row, above.instance], atol=1e-12)


def test_what_cannot_be_compared_is_refused() -> None:
    values = np.array([[1.0, 2.0, NAN]])
    with pytest.raises(NotEnoughData, match="judged by both"):
        measure_agreement(values, np.array([[NAN, NAN, 1.0]]))
    with pytest.raises(InvalidInput, match=r"\(1, 3\), \(1, 2\)"):
        measure_agreement(values, values[:, :2])
    with pytest.raises(NotEnoughData, match="same value"):
        disagreement_corners(values, np.ones((1, 3)))
    with pytest.raises(InvalidInput, match="1 or more"):
        disagreement_corners(values, values, k=0)


@pytest.mark.data
def test_crowd_and_experts_hardly_agree_on_summaries(shared_data: Path) -> None:
    board = bb.import_board("billboard", shared_data / "billboard", board="cnndm", judgments=shared_data / "THumB")
    shape = (len(board.rows), len(board.instances))
    crowd, experts = (
        human_scores(board.judgments, board.aggregate(name), board.dimensions, shape) for name in ("crowd", "overall")
    )
    found = measure_agreement(crowd, experts)
    assert (found.outputs.n, found.generators.n) == (1600, 16)
    assert (found.outputs.pearson, found.generators.pearson) == pytest.approx((0.0676, 0.1764), abs=5e-5)
    assert (found.bias, found.distance) == pytest.approx((-6.102, 14.51), abs=5e-4)
    above, below = disagreement_corners(crowd, experts, k=25)
    assert board.rows[above.row[0]].name == "Improve-abs"
    assert (len(above.row), len(below.row)) == (25, 25)
    assert experts[above.row, above.instance].mean() < 50 < 85 < crowd[above.row, above.instance].mean()
    assert crowd[below.row, below.instance].mean() < 50 < 85 < experts[below.row, below.instance].mean()


@pytest.mark.data
def test_direct_assessment_turns_the_order_of_mqm_around(shared_data: Path) -> None:
    crowd = shared_data / "wmt20_da" / "metrics-ad-seg-scores-zh-en.csv"
    experts = shared_data / "wmt-mqm-human-evaluation/newstest2020/zhen/mqm_newstest2020_zhen.avg_seg_scores.tsv"
    da = {(cells[0], int(cells[5])): float(cells[2]) for cells in lines(crowd)}
    mqm = {(cells[0], int(cells[2])): 100 + 4 * float(cells[1]) for cells in lines(experts)}
    systems = sorted({system for system, _ in mqm})
    first, second = (
        np.array([[source.get((system, k), NAN) for k in range(1, 2001)] for system in systems]) for source in (da, mqm)
    )
    found = measure_agreement(first, second)
    assert (found.outputs.n, found.generators.n) == (15391, 9)
    assert (found.outputs.pearson, found.outputs.kendall) == pytest.approx((0.1263, 0.1045), abs=5e-5)
    assert found.generators.pearson == pytest.approx(-0.8495, abs=5e-5)
    rows = [k for k, name in enumerate(systems) if not name.startswith("Human")]
    machines = measure_agreement(first[rows], second[rows])
    assert machines.generators.n == 8
    assert machines.generators.pearson == pytest.approx(-0.3295, abs=5e-5)


def lines(path: Path) -> Iterator[list[str]]:
    """The cells of every line but the header."""
    return (line.split() for line in path.read_text(encoding="utf-8").splitlines()[1:])
