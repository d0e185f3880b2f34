"""The best-subset ensemble against a plain loop over rows, folds and subsets."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import billboards as bb
from billboards.analyses._view import judged_matrix
from billboards.errors import NotEnoughData
from billboards.stats import subsets
from billboards.stats.ensemble import gather_blocks
from billboards.stats.subsets import fit_best_subset

Floats = NDArray[np.float64]


def board(seed: int, generators: int = 5, instances: int = 40, metrics: int = 5) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    quality = random.normal(size=(generators, instances))
    scores = quality * random.uniform(0.1, 1, size=(metrics, 1, 1)) + random.normal(
        size=(metrics, generators, instances)
    )
    level = random.normal(size=(generators, 1))
    return scores * 7 + 3, 50 + 10 * quality + 8 * level + 5 * random.normal(size=quality.shape)


def within_weights(z: Floats, human: Floats, subset: tuple[int, ...], rows: list[int]) -> Floats:
    """Least squares with a dummy for every generator, row by row."""
    x = np.concatenate([z[list(subset), row].T for row in rows])
    dummies = np.repeat(np.eye(len(rows)), human.shape[1], axis=0)
    solved = np.linalg.lstsq(np.column_stack((x, dummies)), human[rows].ravel(), rcond=None)[0]
    return np.asarray(solved[: len(subset)])


def chosen(z: Floats, human: Floats, rows: list[int], k: int) -> tuple[int, ...]:
    def quality(subset: tuple[int, ...]) -> float:
        predicted = [
            within_weights(z, human, subset, [r for r in rows if r != held]) @ z[list(subset), held] for held in rows
        ]
        return float(np.corrcoef(np.concatenate(predicted), human[rows].ravel())[0, 1])

    return max(combinations(range(len(z)), k), key=quality)


@pytest.mark.parametrize(("seed", "k"), [(1, 2), (2, 3), (3, 1)])
def test_choice_weights_and_nested_correlation_equal_a_plain_loop(seed: int, k: int) -> None:
    scores, human = board(seed)
    z = np.stack([(one - one.mean()) / one.std() for one in scores])
    rows = list(range(len(human)))
    subset = chosen(z, human, rows, k)
    fit = fit_best_subset(gather_blocks(scores, human), k=k)
    assert tuple(np.flatnonzero(fit.linear.weights)) == subset
    np.testing.assert_allclose(fit.linear.weights[list(subset)], within_weights(z, human, subset, rows), rtol=1e-8)
    predicted = np.empty_like(human)
    for held in rows:
        rest = [r for r in rows if r != held]
        inner = chosen(z, human, rest, k)
        predicted[held] = within_weights(z, human, inner, rest) @ z[list(inner), held]
    assert fit.correlation == pytest.approx(np.corrcoef(predicted.ravel(), human.ravel())[0, 1], abs=1e-9)


def test_a_generator_that_people_place_elsewhere_does_not_move_the_weights() -> None:
    scores, human = board(4)
    fit = fit_best_subset(gather_blocks(scores, human), k=5)
    human[2] -= 500
    moved = fit_best_subset(gather_blocks(scores, human), k=5)
    np.testing.assert_allclose(moved.linear.weights, fit.linear.weights, rtol=1e-6)


def test_equal_and_constant_metrics_never_stand_together() -> None:
    scores, human = board(5)
    scores = np.concatenate((scores, scores[:1], np.ones_like(scores[:1])))
    fit = fit_best_subset(gather_blocks(scores, human))
    assert fit.linear.weights[6] == 0
    assert fit.linear.weights[0] == 0 or fit.linear.weights[5] == 0


def test_of_many_generators_several_are_held_out_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights are the same, and the correlation stays close to that of holding out one by one."""
    blocks = gather_blocks(*board(8, generators=30, metrics=4))
    grouped = fit_best_subset(blocks, k=4)
    monkeypatch.setattr(subsets, "MOST_FOLDS", 30)
    one_by_one = fit_best_subset(blocks, k=4)
    np.testing.assert_allclose(grouped.linear.weights, one_by_one.linear.weights, rtol=1e-9)
    assert grouped.correlation == pytest.approx(one_by_one.correlation, abs=0.01)
    assert grouped.correlation != one_by_one.correlation


@pytest.mark.parametrize("seed", range(20))
def test_generators_judged_once_each_say_nothing_about_weights(seed: int) -> None:
    """Without the only generator in which anything varies, what is left is rounding, which must not become weights."""
    scores, human = board(seed, generators=4)
    human[1:, 1:] = np.nan
    fit = fit_best_subset(gather_blocks(scores, human), k=2)
    assert np.isfinite(fit.linear.weights).all()
    assert np.abs(fit.linear.weights).max() < 1000
    assert not np.isnan(fit.correlation)


def test_two_generators_are_too_few_to_choose_honestly() -> None:
    with pytest.raises(NotEnoughData, match="at least 3 generators"):
        fit_best_subset(gather_blocks(*board(6, generators=2)))


@pytest.mark.long
@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "options", "better_than"),
    [
        ("wmt20-zh-en", {"judgments": "wmt-mqm-human-evaluation", "references": "wmt20_references"}, 0.625),
        ("cnndm", {"judgments": "THumB"}, 0.42),
    ],
)
def test_it_beats_the_papers_ensemble_and_the_best_single_metric(
    shared_data: Path, name: str, options: dict[str, str], better_than: float
) -> None:
    """The paper has .61 and .29; the best single metrics .551 and .407."""
    paths: dict[str, Any] = {key: shared_data / value for key, value in options.items()}
    view = judged_matrix(bb.import_board("billboard", shared_data / "billboard", board=name, **paths), None)
    fit = fit_best_subset(gather_blocks(view.scores.values, view.judged_human))
    assert np.count_nonzero(fit.linear.weights) == 3
    assert fit.correlation > better_than
