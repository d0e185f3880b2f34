"""Signs of answers without reading: likelihood ratios beside plain sums, exact e-values, and one evidence of all."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta, binom

from billboards.errors import InvalidInput
from billboards.stats.annotator_recall import answers_for, expected_recall, is_open
from billboards.stats.annotator_signs import (
    ENOUGH,
    MOST_OF_HABITS,
    CountSign,
    SignWeights,
    agreement_evidence,
    combine_signs,
    count_evidence,
    e_value_words,
    followed_lengths,
    hasty_answers,
    length_evidence,
    pooled_evidence,
    position_evidence,
    repeated_answers,
    repetition_evidence,
    speed_evidence,
)

#: Fifteen attentive people with one miss in thirty answers, and five who guess.
USUAL = np.array([16] * 8 + [15] * 7 + [8, 7, 9, 12, 11])
UNUSUAL = 16 - USUAL


def test_what_is_known_before_gives_the_ratio_of_two_sums() -> None:
    """A plain loop over rates, where attentive people's mean is known almost exactly and nothing is learned."""
    sign = CountSign(usual=[9, 12], unusual=[3, 0], known=(9_600.0, 400.0), alike=(100.0,))
    rates = (np.arange(4000) + 0.5) / 4000
    density = beta.pdf(rates, 96, 4) / beta.pdf(rates, 96, 4).sum()
    for k, (right, wrong) in enumerate(((9, 3), (12, 0))):
        careless = {
            share: float((density * binom.pmf(right, right + wrong, (1 - share) * rates + share / 2)).sum())
            for share in (0.5, 1.0)
        }
        attentive = float((density * binom.pmf(right, right + wrong, rates)).sum())
        expected = math.log((0.6 * careless[0.5] + 0.4 * careless[1.0]) / attentive)
        assert count_evidence(sign, learning=False)[k] == pytest.approx(expected, abs=0.02)


def test_guessers_stand_out_and_attentive_people_do_not() -> None:
    e = np.exp(count_evidence(CountSign(usual=USUAL, unusual=UNUSUAL)))
    assert (e[:15] < 1).all()
    assert (e[15:18] > ENOUGH).all(), "half of sixteen right"
    assert (e[18:] > 10).all()


def test_questions_that_attentive_people_often_miss_say_less() -> None:
    hard = np.array([13] * 8 + [12] * 7 + [8, 7, 9, 12, 11])
    easy = count_evidence(CountSign(usual=USUAL, unusual=16 - USUAL))
    assert (count_evidence(CountSign(usual=hard, unusual=16 - hard))[15:] < easy[15:]).all()


def test_evidence_does_not_depend_on_the_order_of_annotators_and_nothing_counted_is_no_evidence() -> None:
    order = np.random.default_rng(0).permutation(len(USUAL))
    whole = count_evidence(CountSign(usual=USUAL, unusual=UNUSUAL))
    shuffled = count_evidence(CountSign(usual=USUAL[order], unusual=UNUSUAL[order]))
    assert shuffled == pytest.approx(whole[order])
    more = count_evidence(CountSign(usual=np.append(USUAL, 0), unusual=np.append(UNUSUAL, 0)))
    assert more[-1] == pytest.approx(0.0, abs=1e-9)
    assert more[:-1] == pytest.approx(whole)


def test_pooling_adds_up_what_two_kinds_say_and_finds_who_always_says_yes() -> None:
    good = np.full(10, 8)
    yes, no = np.append(good, 8), np.append(good, 0)
    positive = CountSign(usual=yes, unusual=8 - yes)
    negative = CountSign(usual=no, unusual=8 - no)
    both = pooled_evidence([positive, negative])
    assert count_evidence(positive)[-1] < 0 < math.log(ENOUGH) < both[-1]
    assert (both[:-1] < count_evidence(positive)[:-1]).all()
    with pytest.raises(InvalidInput, match="no sign is given"):
        pooled_evidence([])


def test_a_sign_needs_two_counts_and_a_chance() -> None:
    with pytest.raises(InvalidInput, match="there are 2 and 1"):
        count_evidence(CountSign(usual=[1, 2], unusual=[1]))
    with pytest.raises(InvalidInput, match="between 0 and 1; found 1"):
        count_evidence(CountSign(usual=[1], unusual=[1], careless=1.0))


def test_attentive_people_are_hardly_ever_found_careless() -> None:
    """Twenty of them, with their own accuracies, looked at after every fourth of forty test questions."""
    random = np.random.default_rng(7)
    found = 0
    for _ in range(25):
        accuracy = random.beta(97, 3, 20)
        answers = random.random((20, 40)) < accuracy[:, None]
        ever = np.zeros(20, bool)
        for asked in range(4, 41, 4):
            right = answers[:, :asked].sum(axis=1)
            ever |= count_evidence(CountSign(usual=right, unusual=asked - right)) >= math.log(ENOUGH)
        found += int(ever.sum())
    assert found <= 5, "one in a hundred of 500"


def test_the_place_on_a_page_has_an_exact_e_value() -> None:
    """Its mean over all orders that chance makes is 1 at most: 1 before it is cut off at 10."""
    n = 12
    logs = position_evidence(np.arange(n + 1), n - np.arange(n + 1))
    uncut = [1 / ((n + 1) * math.comb(n, k) * 0.5**n) for k in range(n + 1)]
    assert np.exp(logs) == pytest.approx(np.minimum(uncut, MOST_OF_HABITS))
    assert sum(math.comb(n, k) * 0.5**n * e for k, e in enumerate(uncut)) == pytest.approx(1.0)


def test_hasty_is_less_than_a_third_of_others_time_or_of_ones_own_first_answers() -> None:
    who = [0] * 4 + [1] * 4 + [2] * 14
    seconds = [30, 30, 30, 9] + [10, 2, 3, 2] + [60] * 11 + [21, 19, 10]
    took, hasty = hasty_answers(who, seconds, 3)
    # The medians are 30, 2.5 and 60, so others take 30 seconds; of 60 a third is 20.
    assert took.tolist() == [3, 1, 12]
    assert hasty.tolist() == [1, 3, 2]
    alone = hasty_answers([0, 0], [1.0, 50.0], 1)
    assert [count.tolist() for count in alone] == [[0], [0]], "nothing says what is usual"


def test_repeated_answers_are_counted_in_the_order_given() -> None:
    changes, repeats = repeated_answers([0, 1, 0, 1, 0, 1], [3, 1, 3, 2, 3, 1], 3)
    assert (changes.tolist(), repeats.tolist()) == ([0, 2, 0], [2, 0, 0])
    others = np.full(9, 20)
    e = np.exp(repetition_evidence(np.append(others, 0), np.append(np.full(9, 9), 29)))
    assert e[-1] == pytest.approx(MOST_OF_HABITS)
    assert (e[:-1] < 1).all()


def test_answers_that_follow_length_alone_stand_out_both_ways() -> None:
    shorter, longer = followed_lengths([0, 0, 0, 0], [1, 2, 1, 1], [10, 20, 5, 9], 1)
    assert (shorter.tolist(), longer.tolist()) == ([0], [2]), "an equal value says nothing"
    mixed = np.full(9, 10)
    for last in ((0, 20), (20, 0)):
        e = np.exp(length_evidence(np.append(mixed, last[0]), np.append(mixed, last[1])))
        assert e[-1] == pytest.approx(MOST_OF_HABITS)
        assert (e[:-1] < 1).all()


def test_labels_that_have_nothing_to_do_with_others_speak_against_somebody() -> None:
    random = np.random.default_rng(3)
    quality = random.normal(size=60)
    who = np.repeat(np.arange(10), 60)
    item = np.tile(np.arange(60), 10)
    value = quality[item] + 0.4 * random.normal(size=600) + who
    value[who == 9] = random.permutation(value[who == 9])
    logs = agreement_evidence(who, item, value, 10)
    assert logs[9] > math.log(ENOUGH)
    assert (logs[:9] < 0).all(), "strict and lenient people agree all the same"
    few = agreement_evidence([0, 0, 1, 1], [0, 1, 0, 1], [1, 2, 2, 1], 2)
    assert few.tolist() == [0.0, 0.0]


def test_signs_of_the_same_answers_are_averaged_and_others_multiplied() -> None:
    signs = {
        "questions": np.log([20.0, 20.0]),
        "agreement": np.log([9.0, 9.0]),
        "repetition": np.array([np.log(3.0), np.nan]),
        "speed": np.log([10.0, 10.0]),
        "positive": np.log([7.0, 7.0]),
    }
    weights = SignWeights(agreement=0.25, repetition=0.05, position=0.05, length=0.05, speed=0.1)
    first, second = combine_signs(["ann", "ben"], signs, weights)
    assert first.total == pytest.approx(20 * (0.7 + 0.25 * 9 + 0.05 * 3) * (0.9 + 0.1 * 10))
    assert second.total == pytest.approx(20 * (0.75 + 0.25 * 9) * (0.9 + 0.1 * 10))
    assert first.careless
    assert "repetition" not in second.signs
    assert first.signs["positive"] == pytest.approx(7), "told, but no part of the whole"
    assert first.reason.startswith("evidence 118 of answers without reading: questions 20.0, speed 10.0")


def test_habits_and_speed_alone_never_suffice() -> None:
    most = np.log([MOST_OF_HABITS])
    signs = dict.fromkeys(("repetition", "position", "length", "speed"), most)
    (worst,) = combine_signs(["ann"], signs)
    assert worst.total < ENOUGH
    assert speed_evidence([0, 40], [40, 0])[0] <= math.log(MOST_OF_HABITS) + 1e-12


def test_e_values_are_told_with_the_digits_that_count() -> None:
    assert [e_value_words(e) for e in (1e-7, 0.0123, 3.456, 45.67, 1234.5, 2e7)] == [
        "<0.001",
        "0.012",
        "3.5",
        "45.7",
        "1,234",
        "above a million",
    ]


def test_more_early_questions_find_more_and_attentive_people_are_asked_few() -> None:
    thin, dense = (expected_recall(40, early=early, later=2) for early in (0, 12))
    assert thin.questions == pytest.approx(4.0)
    assert 13 < dense.questions < 18
    assert thin.random < 0.5 < 0.95 < dense.random
    assert thin.half_random < 0.2 < 0.6 < dense.half_random
    assert dense.attentive < 0.01
    later = expected_recall(1_000, early=12, later=2)
    assert later.questions == pytest.approx(expected_recall(400, early=12, later=2).questions + 60)


def test_answers_and_questions_make_up_the_labels() -> None:
    for labels in (5.0, 40.0, 300.0, 900.0):
        answers = answers_for(labels, early=12, later=2)
        assert answers - expected_recall(answers, early=12, later=2).questions == pytest.approx(labels, abs=1.0)
    assert answers_for(90, early=2, later=2) == pytest.approx(100)
    assert answers_for(90, early=0, later=0) == 90


def test_a_wrong_answer_leaves_it_open_longer() -> None:
    assert is_open(0, 0)
    assert not is_open(11, 0)
    assert is_open(11, 1)


def test_no_habit_alone_excludes_anybody_however_strong_it_is() -> None:
    """It makes carelessness ten times as likely at most, and a hundred times is needed."""
    others = np.full(9, 20)
    e = np.exp(repetition_evidence(np.append(others, 0), np.append(np.full(9, 9), 500)))
    assert e[-1] == pytest.approx(10.0)
    assert e[-1] < ENOUGH == 100.0
