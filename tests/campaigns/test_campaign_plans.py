"""What is asked: samples, rounds, orders, overlap, test questions, hours and prices."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from billboards.board import Board, Generator, Instance, Reference, row_of
from billboards.campaigns.control_items import next_test, plan_qualification, plan_tests
from billboards.campaigns.items import Candidate, choose, plan_items, sample, shown_order
from billboards.campaigns.plan import LONG, SENTENCE, CampaignPlan, read_plan, seconds_until_open
from billboards.campaigns.quote import quote
from billboards.campaigns.template_files import open_template
from billboards.errors import InvalidInput, UnknownName
from billboards.stats.annotator_recall import is_open

MT = open_template("genie-translation")
SUMMARIES = open_template("genie-summarisation")


def board(instances: int = 30, generators: int = 3, *, references: bool = True) -> Board:
    tested = tuple(
        Instance(f"i{k}", references=(Reference("Ada", f"text {k}"),) if references else (), input=f"input {k}")
        for k in range(instances)
    )
    rows = tuple(
        row_of(Generator(f"g{g}"), tested, tuple(f"output {g} {k}" for k in range(instances)))
        for g in range(generators)
    )
    return Board(
        name="b",
        instances=tested,
        rows=rows,
    )


def test_the_subsample_is_fixed_by_the_seed_and_stays_when_the_board_grows() -> None:
    small = sample(board(30), MT, CampaignPlan(instances=10))
    assert small == sample(board(30, generators=9), MT, CampaignPlan(instances=10))
    assert small != sample(board(30), MT, CampaignPlan(instances=10, seed=1))
    grown = sample(board(33), MT, CampaignPlan(instances=10))
    assert len(set(small) & set(grown)) >= 7, "three new instances take the place of three at most"


def test_each_round_has_every_generator_once_on_different_instances() -> None:
    here = board()
    items = plan_items(here, MT, CampaignPlan(instances=30), here.rows, sample(here, MT, CampaignPlan(instances=30)))
    assert len(items) == 90
    for start in range(0, 90, 3):
        turn = items[start : start + 3]
        assert {item.row for item in turn} == {"g0", "g1", "g2"}
        assert len({item.instance for item in turn}) == 3
    assert len({(item.row, item.instance) for item in items}) == 90


def test_the_reference_is_first_in_half_of_each_generators_items() -> None:
    here = board()
    items = plan_items(here, SUMMARIES, SENTENCE, here.rows, sample(here, SUMMARIES, SENTENCE))
    counts = Counter((item.row, item.order[0]) for item in items)
    assert set(counts.values()) == {15}
    assert [slot.source for slot in items[0].slots] == ["generator", "reference"]
    assert shown_order((0, 1), 1) == (1, 0), "a second label sees them the other way round"


def test_pairs_hold_every_generator_once_per_instance_and_fours_are_filled_up() -> None:
    here = board(6, 4)
    pairs = plan_items(here, open_template("pairwise"), SENTENCE, here.rows, [one.id for one in here.instances])
    assert len(pairs) == 12
    for instance in here.instances:
        names = [slot.name for item in pairs if item.instance == instance.id for slot in item.slots]
        assert sorted(names) == ["g0", "g1", "g2", "g3"]
    five = board(6, 5)
    fours = plan_items(five, open_template("best-worst"), SENTENCE, five.rows, [one.id for one in five.instances])
    assert len(fours) == 12
    assert all(len({slot.name for slot in item.slots}) == 4 for item in fours)


def test_overlap_gives_a_share_of_items_one_label_more() -> None:
    here = board()
    plan = CampaignPlan(labels=2, overlap=0.1)
    items = plan_items(here, MT, plan, here.rows, [one.id for one in here.instances])
    assert Counter(item.wanted for item in items) == {2: 81, 3: 9}


def test_positive_questions_show_what_the_reference_says_and_negative_ones_another_instances() -> None:
    here = board()
    tests = plan_tests(here, MT, SENTENCE, [one.id for one in here.instances])
    positive = [item for item in tests if item.test == "positive"]
    negative = [item for item in tests if item.test == "negative"]
    assert len(positive) == len(negative) == 30
    assert all(item.slots[0].text == f"text {item.instance[1:]}." for item in positive), "not letter for letter"
    assert all(item.slots[0].instance != item.instance for item in negative)
    assert len({item.slots[0].instance for item in negative}) == 30, "a permutation: each reference once"


def test_in_preferences_a_reference_meets_anothers_in_both_orders() -> None:
    here = board()
    tests = plan_tests(here, SUMMARIES, SENTENCE, [one.id for one in here.instances])
    for kind, own in (("positive", 0), ("negative", 1)):
        items = [item for item in tests if item.test == kind]
        assert all(item.slots[own].instance == item.instance for item in items)
        assert all(item.slots[1 - own].instance != item.instance for item in items)
        assert Counter(item.order for item in items) == {(0, 1): 15, (1, 0): 15}


def test_without_references_test_questions_are_refused_with_what_to_do() -> None:
    here = board(references=False)
    names = [one.id for one in here.instances]
    with pytest.raises(InvalidInput, match=r"0 different references .*\(positive = 0, negative = 0"):
        plan_tests(here, open_template("direct-assessment"), SENTENCE, names)
    assert plan_tests(here, open_template("direct-assessment"), CampaignPlan(positive=0.0, negative=0.0), names) == []


def test_the_qualification_test_comes_from_outside_the_sample() -> None:
    here = board()
    plan = CampaignPlan(instances=20, qualification=8)
    chosen = sample(here, MT, plan)
    test = plan_qualification(here, MT, plan, chosen)
    assert Counter(item.test for item in test) == {"positive": 4, "negative": 4}
    assert not {item.instance for item in test} & set(chosen)


def test_each_twenty_items_have_one_question_of_each_kind_at_places_nobody_knows() -> None:
    places = set()
    for block in range(10):
        kinds = [next_test(SENTENCE, "a-1", 20 * block + place) for place in range(20)]
        assert Counter(kinds) == {None: 18, "positive": 1, "negative": 1}
        places.add((kinds.index("positive"), kinds.index("negative")))
    assert len(places) > 5
    assert [next_test(SENTENCE, "a-2", place) for place in range(20)] != [
        next_test(SENTENCE, "a-1", place) for place in range(20)
    ]


def test_test_questions_come_early_until_it_is_plain_that_somebody_reads() -> None:
    for block in range(10):
        first = [next_test(SENTENCE, "a-1", 20 * block + place, is_open=True) for place in range(20)]
        assert Counter(first) == {None: 8, "positive": 6, "negative": 6}
        later = [next_test(SENTENCE, "a-1", 20 * block + place) for place in range(20)]
        assert all(test in (None, early) for test, early in zip(later, first, strict=True)), "a part of them"
    plain = [next_test(replace(SENTENCE, early=0), "a-1", place, is_open=True) for place in range(20)]
    assert Counter(plain) == {None: 18, "positive": 1, "negative": 1}
    none = CampaignPlan(positive=0.0, negative=0.0)
    assert {next_test(none, "a-1", place, is_open=True) for place in range(20)} == {None}


def test_it_is_plain_after_a_dozen_right_answers_and_a_wrong_one_opens_it_again() -> None:
    assert [right for right in range(20) if is_open(right, 0)] == list(range(11))
    assert is_open(11, 1)
    assert is_open(17, 1)
    assert not is_open(20, 1)


def test_positive_questions_take_another_reference_where_there_is_one() -> None:
    tested = tuple(
        Instance(f"i{k}", references=(Reference("Ada", f"text {k}"), Reference("Ben", f"words {k}")), input="an input")
        for k in range(4)
    )
    here = Board(name="b", instances=tested, rows=(row_of(Generator("g"), tested, tuple("abcd")),))
    for template, expected in ((MT, "words"), (open_template("direct-assessment"), "text")):
        tests = plan_tests(here, template, SENTENCE, [one.id for one in tested])
        assert template.shows("reference") == (expected == "words")
        texts = [(item.slots[0].text, item.instance) for item in tests if item.test == "positive"]
        assert all(text == f"{expected} {instance[1:]}" for text, instance in texts)


def test_attention_questions_spoil_the_text_of_the_positive_one() -> None:
    words = ("Anna met the captain at pier 12, and the ferry was late.", "In May they left Oslo. The storm had ended.")
    tested = tuple(Instance(f"i{k}", references=(Reference("Ada", words[k]),), input="an input") for k in range(2))
    here = Board(name="b", instances=tested, rows=(row_of(Generator("g"), tested, ("x", "y")),), output_language="en")
    names = [one.id for one in tested]
    tests = plan_tests(here, open_template("direct-assessment"), CampaignPlan(attention=0.05), names)
    for name, text in zip(names, words, strict=True):
        (spoilt,) = (item.slots[0].text for item in tests if (item.instance, item.test) == (name, "attention"))
        assert spoilt != text
    pairs = plan_tests(here, open_template("pairwise"), CampaignPlan(attention=0.05), names)
    assert [len(item.slots) for item in pairs if item.test == "attention"] == [2, 2]
    with pytest.raises(InvalidInput, match="attention questions follow positive ones"):
        read_plan({"attention": 0.05, "positive": 0.0})


def test_a_cap_asks_for_more_people() -> None:
    plan = CampaignPlan(annotators=3, early=0)
    assert quote(plan, items=90, generators=1, instances=90).annotators == 3
    capped = quote(replace(plan, most_answers=20), items=90, generators=1, instances=90)
    assert (capped.annotators, capped.answers_per_person) == (5, 20)


def test_a_new_instance_comes_before_balance_and_balance_before_the_planned_order() -> None:
    items = [
        Candidate(k, instance, row, k) for k, (instance, row) in enumerate((("i1", "g0"), ("i2", "g0"), ("i3", "g1")))
    ]
    assert choose(items, {"i1"}, {"g0": 2}) == items[2]
    assert choose(items, {"i1", "i3"}, {"g0": 2}) == items[1]
    assert choose(items, set(), {}) == items[0]
    assert choose(items, {"i1", "i2", "i3"}, {}) == items[0], "unavoidable"
    assert choose([], set(), {}) is None


def test_the_presets_buy_the_papers_standard_errors() -> None:
    short = quote(replace(SENTENCE, early=0), items=800, generators=1, instances=800)
    long = quote(LONG, items=300, generators=1, instances=300)
    assert f"{100 * short.worst_se:.2f} {100 * long.worst_se:.2f}" == "1.77 2.89"
    assert (short.answers, short.test_answers) == (889, 89)
    paid = quote(
        CampaignPlan(pay=0.5, fee=1 / 3, budget=500.0, seconds_per_item=180, early=0),
        items=800,
        generators=2,
        instances=400,
    )
    assert paid.cost == pytest.approx(889 * 0.5 * 4 / 3)
    assert paid.fees == pytest.approx(889 * 0.5 / 3)
    assert paid.hourly == pytest.approx(10.0)
    assert [warning.split(" ")[0] for warning in paid.warnings] == ["the", "an", "the"]
    assert "of people who answer at random test questions would find" in paid.advice[0]


def test_weekday_mornings_in_a_time_zone() -> None:
    plan = CampaignPlan(
        days=("mon", "tue", "wed", "thu", "fri"), from_hour=10, until_hour=17.5, zone="America/Los_Angeles"
    )

    def wait(text: str) -> float:
        return seconds_until_open(plan, datetime.fromisoformat(text).astimezone(UTC).timestamp())

    assert wait("2026-05-04T17:00Z") == 0, "Monday, ten in the morning"
    assert wait("2026-05-04T16:59Z") == 60
    assert wait("2026-05-05T00:29Z") == 0, "half past five in the afternoon is still to come"
    assert wait("2026-05-09T12:00Z") == 53 * 3600, "Saturday: until Monday"
    assert wait("2026-10-30T17:00Z") == 0
    assert wait("2026-11-01T18:00Z") == 24 * 3600, "Sunday, the clocks have changed: Monday at ten is 18:00 UTC"
    assert seconds_until_open(CampaignPlan(opens=100.0), 40.0) == 60.0


def test_hours_may_have_minutes_and_midnight_is_the_end_of_a_day() -> None:
    def wait(plan: CampaignPlan, text: str) -> float:
        return seconds_until_open(plan, datetime.fromisoformat(text).timestamp())

    late = CampaignPlan(from_hour=9.99, until_hour=10.75)
    assert wait(late, "2026-05-04T09:00+00:00") == 59 * 60
    assert wait(late, "2026-05-04T10:44+00:00") == 0
    assert wait(late, "2026-05-04T10:45+00:00") == (23 * 60 + 14) * 60, "until tomorrow, 9:59"
    night = CampaignPlan(from_hour=23, until_hour=24)
    assert wait(night, "2026-05-04T23:59+00:00") == 0
    assert wait(night, "2026-05-05T00:00+00:00") == 23 * 3600


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"instances": 0}, "instances must be a whole number from 1"),
        ({"labels": 1.5}, "labels must be a whole number"),
        ({"positive": 0.07}, "positive must be so many in 20"),
        ({"positive": 0.5, "negative": 0.5}, "leave no room"),
        ({"opens": 5, "closes": 4}, "closes before it opens"),
        ({"from_hour": 9}, "go together"),
        ({"from_hour": 9, "until_hour": 8}, "until_hour must be later"),
        ({"zone": "Mars"}, "is no time zone"),
        ({"days": ["monday"]}, "no day named 'monday'; did you mean mon"),
        ({"pays": 3}, "no setting of a campaign named 'pays'; did you mean pay"),
        ({"budget": -1}, "budget must be a number from 0"),
    ],
)
def test_a_plan_with_a_mistake_is_refused_by_its_name(setting: dict[str, object], message: str) -> None:
    with pytest.raises((InvalidInput, UnknownName), match=message):
        read_plan(setting)


def test_a_plan_comes_back_from_its_document() -> None:
    plan = CampaignPlan(days=("mon",), budget=5.0)
    assert read_plan(plan.document()) == plan
