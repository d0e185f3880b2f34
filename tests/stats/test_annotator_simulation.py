"""Made-up annotators and noise put into real ones: who is found, who is marked by mistake."""

from __future__ import annotations

import numpy as np
import pytest

from billboards.errors import NotEnoughData
from billboards.stats.annotator_simulation import (
    CheckedScores,
    detect_corruption,
    detection,
    mark,
    simulate_detection,
    simulate_round,
    tally,
)
from billboards.stats.annotators import AnnotatorModel

UNIFORM, FIXED = (
    AnnotatorModel(criterion="rate", prior="uniform", components=1),
    AnnotatorModel(criterion="class", prior="fixed", components=2),
)


def test_a_round_keeps_genies_proportions() -> None:
    random = np.random.default_rng(0)
    rounds = [simulate_round(np.full(200, 50), random) for _ in range(200)]
    assert all((one.right + one.wrong == 50).all() for one in rounds)
    noisy = np.concatenate([one.noisy for one in rounds])
    share = np.concatenate([one.right for one in rounds]) / 50
    assert noisy.mean() == pytest.approx(0.055, abs=0.006)
    assert share[noisy].mean() == pytest.approx(0.25, abs=0.03)
    assert share[~noisy].mean() == pytest.approx(0.975, abs=0.005)


def test_tallies_count_found_marked_and_noisy_by_bucket() -> None:
    marked = np.array([[True, True, False, True]])
    noisy = np.array([True, False, True, True])
    member = np.array([[True, True, False, False], [False, False, True, True]])
    assert tally(marked, noisy, member).tolist() == [[[1, 2, 1], [1, 1, 2]]]


def test_precision_and_recall_come_from_all_rounds_together() -> None:
    found = detection([[1, 2, 1], [0, 0, 3], [3, 3, 4]], seed=0)
    assert (found.found, found.marked, found.noisy) == (4, 5, 8)
    assert (found.precision, found.recall) == (0.8, 0.5)
    assert found.precision_interval is not None
    assert found.recall_interval is not None
    assert found.precision_interval[0] < 0.8 < found.precision_interval[1] <= 1


def test_a_perfect_score_over_few_annotators_still_has_an_interval() -> None:
    found = detection([[1, 1, 1], [2, 2, 2]], seed=0)
    assert found.precision == 1
    assert found.precision_interval == pytest.approx((0.438, 1.0), abs=0.001)


def test_where_nobody_is_marked_precision_has_no_value() -> None:
    found = detection([[0, 0, 4]], seed=0)
    assert found.precision is None
    assert found.precision_interval is None
    assert found.recall == 0


def test_marks_follow_the_criterion_of_each_model() -> None:
    """One right of four: P(accuracy ≤ .9) is .99954 under a uniform prior; the fixed class prior needs more."""
    assert mark([UNIFORM, FIXED], [1], [3]).tolist() == [[True], [False]]


def test_the_same_seed_gives_the_same_study_and_buckets_part_the_annotators() -> None:
    questions = [1, 4, 5, 14, 15, 60]
    steps: list[int] = []
    first = simulate_detection([UNIFORM, FIXED], questions, rounds=40, seed=3, progress=steps.append)
    assert first == simulate_detection([UNIFORM, FIXED], questions, rounds=40, seed=3)
    assert first != simulate_detection([UNIFORM, FIXED], questions, rounds=40, seed=4)
    assert steps == list(range(1, 41))
    whole = simulate_detection([UNIFORM], questions, rounds=40, seed=3, buckets=[(1, None)])[0][0]
    assert sum(one.noisy for one in first[0]) == whole.noisy > 0
    assert sum(one.marked for one in first[0]) == whole.marked


def careful(random: np.random.Generator, pairs: int = 20) -> CheckedScores:
    """An annotator who sees every fault."""
    original = random.uniform(60, 100, pairs)
    scores = np.stack([original - random.uniform(10, 50, pairs), original], axis=1)
    return CheckedScores(scores, scores.reshape(-1))


def test_equal_scores_are_wrong_answers() -> None:
    assert CheckedScores(np.array([[50.0, 60.0], [60.0, 60.0], [70.0, 60.0]]), np.array([60.0])).right() == 1


def test_annotators_who_only_guess_are_found_and_half_guessers_less_often() -> None:
    random = np.random.default_rng(0)
    annotators = [careful(random) for _ in range(20)]
    half, full = (
        detect_corruption(annotators, AnnotatorModel(), rate=rate, share=0.1, rounds=10, seed=0) for rate in (0.5, 1.0)
    )
    assert full.right == pytest.approx(0.5, abs=0.08)
    assert half.right is not None
    assert half.right > 0.65
    assert full.detection.recall is not None
    assert half.detection.recall is not None
    assert full.detection.recall > 0.9
    assert full.detection.recall > half.detection.recall
    assert full.detection.precision == 1
    assert full.detection.noisy == 20


def test_noise_of_no_rate_changes_nothing() -> None:
    one = careful(np.random.default_rng(1))
    assert one.corrupted(0.0, np.random.default_rng(2)).pairs.tolist() == one.pairs.tolist()


def test_one_annotator_is_too_few_to_put_noise_in() -> None:
    with pytest.raises(NotEnoughData, match="2 or more"):
        detect_corruption([careful(np.random.default_rng(0))], AnnotatorModel(), rate=1.0, share=0.1, rounds=1, seed=0)


def test_progress_of_corruption_counts_rounds_from_one() -> None:
    annotators = [CheckedScores(np.array([[1.0, 2.0]] * 4), np.arange(3.0)) for _ in range(3)]
    told: list[int] = []
    detect_corruption(annotators, FIXED, rate=0.5, share=0.3, rounds=3, seed=1, progress=told.append)
    assert told == [1, 2, 3]
