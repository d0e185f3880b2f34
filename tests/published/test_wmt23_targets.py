"""WMT23 English-German: the values mt-metrics-eval 0.0.3 gives for all 68 metric variants with segment scores.

Gold MQM, the 12 systems without refA and synthetic_ref; 460 of 557 segments are judged. Found to hold there, and here:

- Segments without judgments take no part. Pearson is over the 12 · 460 outputs.
- acc_eq is averaged over the 460 segments, those that people tie altogether included. Epsilon is searched among 0 and
  every |Δ| of all pairs; a pair is tied when |Δ| ≤ epsilon.
- Kendall's tau-b has no value where people tie all 12 outputs (9 segments) or the metric does; these are left out of
  the average, not counted as 0.
- SPA swaps judged segments only; with the peer's seed, 4, the same swaps are drawn.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import billboards as bb
from billboards.analyses._view import judged_matrix
from billboards.stats.grouped import correlation
from billboards.stats.pairwise import acc_eq, held_out_acc_eq
from billboards.stats.system_pairs import soft_pairwise_accuracy

Floats = NDArray[np.float64]

#: Targets have six digits.
SIX_DIGITS = 5.01e-7


class Wmt23:
    """The matrices, and the published values in the order of the metrics."""

    def __init__(self, data: Path) -> None:
        view = judged_matrix(bb.import_board("mtme", data / "mtme_wmt23_en-de"), None)
        self.names = list(view.scores.names)
        self.scores, self.human = view.scores.values[:, view.judged], view.human[view.judged]
        self.systems = [name for name, judged in zip(view.scores.rows, view.judged, strict=True) if judged]
        self.targets = json.loads((data.parent / "targets" / "wmt23_en-de.json").read_text(encoding="utf-8"))["metrics"]

    def published(self, statistic: str) -> Floats:
        return np.array([self.targets[name][statistic] for name in self.names])


@pytest.fixture(scope="module")
def wmt23(shared_data: Path) -> Wmt23:
    return Wmt23(shared_data)


@pytest.mark.long
def test_the_board_has_the_published_metrics_and_systems(wmt23: Wmt23) -> None:
    assert set(wmt23.names) == set(wmt23.targets)
    assert wmt23.scores.shape == (68, 12, 557)
    assert not {"refA", "synthetic_ref"} & set(wmt23.systems)


def test_pearson_without_grouping(wmt23: Wmt23) -> None:
    found = correlation(wmt23.scores, wmt23.human)
    np.testing.assert_allclose(found.value, wmt23.published("pearson"), rtol=0, atol=SIX_DIGITS)
    assert set(found.n) == {12 * 460}


def test_acc_eq_with_tie_calibration_by_item(wmt23: Wmt23) -> None:
    found = acc_eq(wmt23.scores, wmt23.human)
    np.testing.assert_allclose(found.accuracy, wmt23.published("acc_eq"), rtol=0, atol=SIX_DIGITS)
    assert set(found.n) == {66 * 460}
    assert set(found.instances) == {460}


def test_held_out_acc_eq_stays_below_the_calibrated_one_and_close(wmt23: Wmt23) -> None:
    flattery = acc_eq(wmt23.scores, wmt23.human).accuracy - held_out_acc_eq(wmt23.scores, wmt23.human).accuracy
    assert flattery.min() > -1e-12
    assert flattery.max() < 0.02
    assert np.median(flattery) < 0.003


def test_kendall_by_item(wmt23: Wmt23) -> None:
    found = correlation(wmt23.scores, wmt23.human, statistic="kendall-b", grouping="by-item")
    np.testing.assert_allclose(found.value, wmt23.published("kendall_b_item"), rtol=0, atol=SIX_DIGITS)
    assert found.groups.max() == 451


def test_soft_pairwise_accuracy_within_its_monte_carlo_error(wmt23: Wmt23) -> None:
    found = soft_pairwise_accuracy(wmt23.scores, wmt23.human)
    np.testing.assert_allclose(found.value, wmt23.published("spa"), rtol=0, atol=0.005)
    assert set(found.n) == {66}


def test_soft_pairwise_accuracy_with_the_peers_own_draws(wmt23: Wmt23) -> None:
    found = soft_pairwise_accuracy(wmt23.scores, wmt23.human, seed=4)
    np.testing.assert_allclose(found.value, wmt23.published("spa"), rtol=0, atol=1e-4)
