"""The Ladder of Blum and Hardt (2015): what it tells, and how little an attacker gets out of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from billboards.stats.ladder import Rung, climb, paired_noise


def test_a_value_is_told_only_where_it_beats_the_best_by_more_than_noise() -> None:
    assert climb(0.304, None, 0.05, unit=0.01) == Rung(value=0.3, improves=True)
    assert climb(0.34, 0.30, 0.05, unit=0.01) == Rung(value=0.30, improves=False)
    assert climb(0.36, 0.30, 0.05, unit=0.01) == Rung(value=0.36, improves=True)


def test_with_a_step_values_are_told_in_multiples_of_it() -> None:
    told, best = [], None
    for value in (0.31, 0.34, 0.38, 0.10):
        best = climb(value, best, 0.05, unit=0.05).value
        told.append(best)
    assert told == [0.3, 0.3, 0.4, 0.4]


def test_noise_is_the_standard_error_of_the_paired_difference() -> None:
    random = np.random.default_rng(2)
    human = random.normal(size=500)
    best = human + random.normal(size=500)
    near, far = best + 0.01 * random.normal(size=500), random.normal(size=500)
    assert paired_noise(best, best, human) == 0.0
    assert paired_noise(near, best, human) < 0.005
    assert 0.03 < paired_noise(far, best, human) < 0.1
    alone = 1 / math.sqrt(497)
    assert paired_noise(best, None, human) == pytest.approx(alone)
    assert paired_noise(best, np.full(500, np.nan), human) == pytest.approx(alone)
    assert paired_noise(np.full(500, 1.0), best, human) > 0


def told_by_boosting(tries: int, *, ladder: bool) -> float:
    """How far a sum of random signs, each kept where it is said to agree, agrees with hidden data that it never saw."""
    random = np.random.default_rng(3)
    hidden = random.choice((-1.0, 1.0), size=1000)
    total, best, best_scores = np.zeros(1000), None, None
    for _ in range(tries):
        signs = random.choice((-1.0, 1.0), size=1000)
        r = float(np.corrcoef(signs, hidden)[0, 1])
        if ladder:
            rung = climb(r, best, paired_noise(signs, best_scores, hidden), unit=0.01)
            if rung.improves and best is not None:
                total += signs
            if rung.improves:
                best, best_scores = rung.value, signs
        else:
            total += signs * np.sign(r)
    return float(np.corrcoef(total, hidden)[0, 1]) if total.any() else 0.0


def test_boosting_climbs_without_the_ladder_and_hardly_with_it() -> None:
    # Without it the error of the leaderboard grows as sqrt(tries / n), with it as (log(tries n) / n) to the third.
    assert told_by_boosting(400, ladder=False) > 0.4
    assert told_by_boosting(400, ladder=True) < (math.log(400 * 1000) / 1000) ** (1 / 3) / 2
