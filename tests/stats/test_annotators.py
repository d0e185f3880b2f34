"""Verdicts on annotators: both kinds of questions, every model of GENIE's Table 1, one question after another."""

from __future__ import annotations

import pytest

from billboards.analyses._annotators import PUBLISHED
from billboards.errors import InvalidInput
from billboards.stats.annotators import FIXED_2, UNIFORM, AnnotatorModel, follow_annotator, judge_annotators

POSITIVE = ([19, 20, 1, 18, 0], [1, 0, 14, 2, 0])
NEGATIVE = ([20, 0, 15, 18, 0], [0, 16, 0, 1, 0])
NAMES = ["sound", "says yes", "says no", "also sound", "new"]


def test_noisy_on_either_kind_is_noisy_and_the_reason_names_the_kind() -> None:
    report = judge_annotators(NAMES, {"positive": POSITIVE, "negative": NEGATIVE})
    assert report.noisy == {"says yes", "says no"}
    reasons = {one.annotator: one.reason for one in report.verdicts}
    assert reasons["says yes"] == (
        "noisy, above 0.99 by class/learned/2: 0 of 16 negative questions right, P(noisy) = >0.9999"
    )
    assert reasons["says no"].startswith("noisy, above 0.99 by class/learned/2: 1 of 15 positive questions right")
    assert reasons["sound"].startswith("kept: 19 of 20 positive questions right, P(noisy) = ")
    assert reasons["new"] == "kept: no test question answered yet"


def test_kinds_are_modelled_apart() -> None:
    together = judge_annotators(NAMES, {"positive": POSITIVE, "negative": NEGATIVE})
    alone = judge_annotators(NAMES, {"negative": NEGATIVE})
    assert alone.mixtures["negative"] == together.mixtures["negative"]
    assert together.mixtures["positive"] != together.mixtures["negative"]
    assert [one.standings[0] for one in alone.verdicts] == [one.standings[1] for one in together.verdicts]


def test_a_new_annotator_stands_as_the_prior_does() -> None:
    report = judge_annotators(NAMES, {"positive": POSITIVE})
    assert report.verdicts[4].standings[0].p_noisy == pytest.approx(report.mixtures["positive"].weights[0])


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_model_of_table_1_tells_a_guesser_from_a_careful_annotator(name: str) -> None:
    model = AnnotatorModel.named(name)
    report = judge_annotators(["careful", "guesser"], {"positive": ([40, 9], [0, 31])}, model)
    assert report.model.name == name
    assert report.noisy == {"guesser"}


def test_intervals_hold_the_accuracy() -> None:
    model = AnnotatorModel(criterion="class", prior="fixed", components=2)
    standing = judge_annotators(["a", "b"], {"positive": ([9, 10], [1, 0])}, model).verdicts[0].standings[0]
    assert standing.interval == pytest.approx((0.7799, 0.9943), abs=0.001)
    assert standing.interval[0] < standing.accuracy < standing.interval[1]


def test_where_all_annotators_are_alike_own_answers_say_less_than_those_of_all() -> None:
    standing = judge_annotators(["a", "b"], {"positive": ([9, 10], [1, 0])}).verdicts[0].standings[0]
    assert standing.interval == pytest.approx((0.95, 0.95), abs=0.001)
    assert standing.own_interval == pytest.approx((0.6187, 0.9890), abs=1e-4)


def test_posteriors_are_updated_after_each_question() -> None:
    """Beta(1, 1) becomes Beta(2, 1), Beta(3, 1), Beta(3, 2): P(accuracy ≤ .9) is .81, .729, and .9477."""
    found = follow_annotator(
        [True, True, False], mixture=UNIFORM, model=AnnotatorModel(criterion="rate", prior="uniform", components=1)
    )
    assert [(one.right, one.wrong) for one in found] == [(1, 0), (2, 0), (2, 1)]
    assert [one.p_noisy for one in found] == pytest.approx([0.81, 0.729, 0.9477])


def test_following_ends_where_judging_all_answers_at_once_does() -> None:
    answers = [True] * 3 + [False] * 6
    model = AnnotatorModel(criterion="class", prior="fixed", components=2)
    last = follow_annotator(answers, mixture=FIXED_2, model=model, kind="positive")[-1]
    assert last == judge_annotators(["a"], {"positive": ([3], [6])}, model).verdicts[0].standings[0]
    assert follow_annotator([], mixture=FIXED_2, model=model) == ()


def test_the_same_counts_give_the_same_verdicts_whatever_came_before() -> None:
    first = judge_annotators(NAMES, {"positive": POSITIVE})
    judge_annotators(NAMES, {"positive": NEGATIVE})
    assert judge_annotators(NAMES, {"positive": POSITIVE}) == first


def test_nobody_at_all_is_no_reason_to_fail() -> None:
    report = judge_annotators([], {"positive": ([], [])})
    assert report.verdicts == ()
    assert report.mixtures["positive"].weights == pytest.approx((0.1, 0.9), abs=0.001)


@pytest.mark.parametrize(
    ("names", "counts", "message"),
    [
        (["a", "a"], {"positive": ([1, 1], [0, 0])}, "'a' is there more than once"),
        (["a"], {"positive": ([1, 1], [0, 0])}, "positive questions: 2 counts for 1 annotators"),
        (["a"], {}, "no kind of test questions"),
    ],
)
def test_counts_that_do_not_fit_are_refused(
    names: list[str], counts: dict[str, tuple[list[int], list[int]]], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        judge_annotators(names, counts)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("class/uniform/1", "takes 2 components"),
        ("rate/jeffreys/2", "has 1 component"),
        ("rate/fixed/3", "1 or 2 components"),
        ("class/learned/0", "1 component or more"),
        ("mood/learned/2", "no criterion 'mood'"),
        ("rate/guessed/2", "no prior 'guessed'"),
        ("class", "write it as class/learned/2"),
    ],
)
def test_impossible_models_are_refused(name: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        AnnotatorModel.named(name)


def test_a_models_name_is_enough_to_find_it() -> None:
    assert AnnotatorModel.named("class/learned") == AnnotatorModel()
    assert AnnotatorModel.named("rate/uniform", threshold=0.95) == AnnotatorModel(
        criterion="rate", prior="uniform", components=1, threshold=0.95
    )


def test_thresholds_outside_of_0_and_1_are_refused() -> None:
    with pytest.raises(InvalidInput, match="between 0 and 1; found 1 and"):
        AnnotatorModel(threshold=1.0)


def test_a_probability_of_exactly_the_threshold_is_not_above_it() -> None:
    """One wrong answer under a uniform prior: 1 - .1² = .99."""
    report = judge_annotators(
        ["a"], {"positive": ([0], [1])}, AnnotatorModel(criterion="rate", prior="uniform", components=1)
    )
    assert report.verdicts[0].standings[0].p_noisy == pytest.approx(0.99, abs=1e-12)
    assert not report.noisy


def test_nobody_is_noisy_for_being_too_good() -> None:
    """3,000 right answers don't fit a best component of mean .95, and yet are no sign of carelessness."""
    report = judge_annotators(["perfect", "all wrong"], {"positive": ([3_000, 0], [0, 3_000])})
    assert report.verdicts[0].standings[0].p_noisy > 0.99
    assert report.noisy == {"all wrong"}
    assert report.verdicts[0].reason.endswith("P(noisy) = >0.9999, but more accurate than the best")


@pytest.mark.parametrize("questions", [1, 20, 300, 3_000])
@pytest.mark.parametrize("name", [name for name in PUBLISHED if "learned" in name])
def test_a_perfect_annotator_is_kept_however_many_questions_there_were(name: str, questions: int) -> None:
    assert not judge_annotators(["a"], {"positive": ([questions], [0])}, AnnotatorModel.named(name)).noisy
