"""Templates: those that are shipped, the mistakes in others, and what answers are worth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from billboards.campaigns.answers import answer_values, check_answers
from billboards.campaigns.preview import preview
from billboards.campaigns.template_files import (
    check_template,
    open_template,
    parse_template,
    shipped,
    template_source,
)
from billboards.errors import InvalidInput, UnknownName

SMALL = """
name = "small"
version = 1
title = "Good?"
task = "test"
instructions = "Say."
[[stages]]
shows = ["outputs"]
dimensions = ["good"]
[[dimensions]]
name = "good"
kind = "scale"
question = "Is it?"
labels = ["no", "perhaps", "yes"]
"""


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_template_is_without_mistakes_and_can_be_previewed(name: str) -> None:
    assert check_template(name) == ()
    template = open_template(name)
    assert template.name == name
    assert template.examples, "each has a worked example"
    text = preview(template)
    assert template.title in text
    assert all(question.question in text for question in template.dimensions)


def test_the_papers_four_and_the_other_kinds_are_there() -> None:
    assert set(shipped()) == {
        "genie-question-answering",
        "genie-commonsense",
        "genie-translation",
        "genie-summarisation",
        "direct-assessment",
        "mqm",
        "mqm-document",
        "mqm-contrastive",
        "esa",
        "esa-document",
        "pairwise",
        "best-worst",
        "binary",
    }
    likert = open_template("genie-question-answering").dimensions[0]
    assert likert.document()["values"] == (0, 0.25, 0.5, 0.75, 1)


def test_summaries_are_judged_by_how_they_read_before_the_article_is_shown() -> None:
    template = open_template("genie-summarisation")
    assert template.compares == "reference"
    assert template.visible(0) == {"outputs"}
    assert template.visible(1) == {"outputs", "input", "image"}
    assert template.stages[0].dimensions == ("fluency", "conciseness")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "small"', 'name = "Small one"', "name: 'Small one' must be lower-case"),
        ("version = 1", "version = 0", "version: must be a whole number from 1 on; found 0"),
        ('title = "Good?"', 'titel = "Good?"', "no key in the file named 'titel'; did you mean title"),
        ('shows = ["outputs"]', 'shows = ["output"]', "stage 1: shows: 'output' is none of outputs, input"),
        ('shows = ["outputs"]', 'shows = ["input"]', "the first stage must show what is judged"),
        ('dimensions = ["good"]', 'dimensions = ["fine"]', "good is asked 0 times; ask it in one stage"),
        ('kind = "scale"', 'kind = "likert"', "dimension good: kind: must be one of best-worst, preference"),
        ('kind = "scale"', 'kind = "preference"', "a preference question does not go with compares = 'none'"),
        ('labels = ["no", "perhaps", "yes"]', 'labels = ["no"]', "must be two options or more"),
        ('labels = ["no", "perhaps", "yes"]', 'labels = ["no", "no"]', "holds a text twice"),
        (
            'question = "Is it?"',
            'question = "Is it?"\nvalues = [0, 1]',
            "values: must be a list of 3 numbers, one for each label",
        ),
        (
            'question = "Is it?"',
            'question = "Is it?"\nvalues = [0, 0.5, 2]',
            "values: must be numbers from 0 to 1; found [0.0, 0.5, 2.0]",
        ),
        ('question = "Is it?"', 'question = "Is it?"\nstep = 2', "no key of a scale question named 'step'"),
        ('instructions = "Say."', "", "instructions: is missing; write it as a text"),
        ("[[stages]]", "[tests]\ngood_at_least = 2\n[[stages]]", "tests: good_at_least: must be a number from 0 to 1"),
        ("[[stages]]", "[[stages]", "is no TOML"),
    ],
)
def test_a_mistake_is_named_with_file_key_and_what_to_do(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in SMALL
    path = tmp_path / "mine.toml"
    path.write_text(SMALL.replace(old, new, 1))
    problems = [str(problem) for problem in check_template(path)]
    assert any(message in problem and str(path) in problem for problem in problems), problems
    with pytest.raises(InvalidInput, match=r"mine\.toml"):
        open_template(path)


def test_an_example_that_breaks_the_templates_own_rules_is_a_mistake() -> None:
    wrong = SMALL + '\n[[examples]]\noutputs = ["x"]\nanswers = { good = 3 }\nwhy = "?"\n'
    with pytest.raises(InvalidInput, match="example 1: answers: good: '3' is no option; send a number from 0 to 2"):
        parse_template(wrong, "mine.toml")


def test_one_changed_word_is_another_template() -> None:
    one = parse_template(SMALL, "a.toml")
    assert parse_template(SMALL, "elsewhere.toml").digest == one.digest
    assert replace(one, instructions="Say it.").digest != one.digest
    assert one.signature == f"small@1:{one.digest}"
    with pytest.raises(UnknownName, match="did you mean genie-translation"):
        template_source("genie-translaton")


def test_answers_that_are_none_are_refused_by_name() -> None:
    scale = parse_template(SMALL, "a.toml")
    assert check_answers(scale, ["x"], {}, complete=False) == {}
    for raw, message in (({"good": True}, "is no option"), ({"bad": 1}, "no dimension named 'bad'")):
        with pytest.raises(InvalidInput, match=message):
            check_answers(scale, ["x"], raw, complete=True)
    mqm = open_template("mqm")
    span = {"output": 0, "start": 0, "end": 3, "severity": "major", "category": "style"}
    assert check_answers(mqm, ["bad"], {"mqm": [span]}, complete=True) == {"mqm": [span]}
    for changed, message in (
        ({"end": 4}, "the output has 3 characters"),
        ({"start": 3}, "marks one or more"),
        ({"severity": "huge"}, "severity must be one of minor, major, critical"),
        ({"category": None}, "category must be one of"),
        ({"output": 1}, "output must be a place from 0 to 0"),
    ):
        with pytest.raises(InvalidInput, match=message):
            check_answers(mqm, ["bad"], {"mqm": [{**span, **changed}]}, complete=True)
    missing = {**span, "start": 3, "missing": True}
    assert check_answers(mqm, ["bad"], {"mqm": [missing]}, complete=True)["mqm"][0]["missing"] is True
    with pytest.raises(InvalidInput, match="can't be the best and the worst"):
        check_answers(open_template("best-worst"), list("abcd"), {"rank": {"best": 1, "worst": 1}}, complete=True)
    with pytest.raises(InvalidInput, match="no number from 0 to 100"):
        check_answers(open_template("direct-assessment"), ["x"], {"quality": float("nan")}, complete=True)


def test_a_preference_is_worth_what_it_says_for_the_system_wherever_that_stood() -> None:
    template = open_template("genie-summarisation")
    for order, choice, worth in (((0, 1), 4, 0.0), ((1, 0), 4, 1.0), ((0, 1), 1, 0.75), ((1, 0), 2, 0.5)):
        raw = dict.fromkeys((question.name for question in template.dimensions), choice)
        assert answer_values(template, raw, order) == {0: dict.fromkeys(raw, worth)}


def test_pairs_share_one_and_best_and_worst_stand_at_the_ends() -> None:
    pair = open_template("pairwise")
    assert answer_values(pair, {"preference": 3}, (1, 0)) == {0: {"preference": 0.75}, 1: {"preference": 0.25}}
    four = open_template("best-worst")
    found = answer_values(four, {"rank": {"best": 2, "worst": 0}}, (3, 2, 1, 0))
    assert found == {0: {"rank": 0.5}, 1: {"rank": 1.0}, 2: {"rank": 0.5}, 3: {"rank": 0.0}}


def test_errors_add_up_by_severity_and_stop_at_25() -> None:
    template = open_template("mqm")
    span = {"output": 0, "start": 0, "end": 1, "category": "style"}
    marked = [{**span, "severity": "major"}, {**span, "severity": "minor"}]
    assert answer_values(template, {"mqm": marked}, (0,)) == {0: {"mqm": -6.0}}
    assert answer_values(template, {"mqm": marked * 9}, (0,)) == {0: {"mqm": -25.0}}
    assert answer_values(template, {"mqm": []}, (0,)) == {0: {"mqm": 0.0}}
    assert template.board_dimension(template.dimensions[0]).affine() == (4.0, 100.0), "MQM's own map to 0-100"


def test_a_test_question_is_right_on_its_side_of_the_middle() -> None:
    rule = open_template("genie-translation").tests
    assert [rule.is_right("positive", share) for share in (0.25, 0.5, 1.0)] == [False, True, True]
    assert [rule.is_right("negative", share) for share in (0.0, 0.25, 0.5)] == [True, True, False]


def test_the_digests_that_databases_hold_are_still_the_shipped_templates() -> None:
    assert {name: open_template(name).digest for name in shipped()} == {
        "best-worst": "ff4744a33013f885",
        "binary": "238d97d5606aca06",
        "direct-assessment": "8fdfa23dbd0a6772",
        "esa": "6a966dfa9b44f4d7",
        "esa-document": "fdf1d320f137fa37",
        "genie-commonsense": "8f8f6147774a89e9",
        "genie-question-answering": "eb49c1122c0e2a09",
        "genie-summarisation": "65b280b95b5c8f7f",
        "genie-translation": "75a059deec9cfc61",
        "mqm": "b25da616cdccc9bb",
        "mqm-contrastive": "230b82434e137c3e",
        "mqm-document": "5d3d064c9dd090f0",
        "pairwise": "c187de0cb49f7ac0",
    }
