"""What every kind of question promises: what it takes it can value and show, and nothing else knows it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from billboards.campaigns.answers import answer_values, check_answers
from billboards.campaigns.preview import preview
from billboards.campaigns.questions import Question, kind_names, question_kind
from billboards.campaigns.template_files import open_template, parse_template, shipped
from billboards.campaigns.templates import Template
from billboards.errors import InvalidInput
from billboards.site.campaigns.item_view import answers_of, view_examples
from billboards.site.campaigns.views import preview_item
from billboards.site.web.rendering import render, static_file, stylesheet

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "billboards"
ERROR = {"output": 0, "start": 1, "end": 3, "severity": "major"}
#: No template that comes with the package asks for free text.
SPOKEN = """
name = "spoken"
version = 1
title = "Say why"
task = "good"
instructions = "Say why it is good."
[[stages]]
shows = ["outputs"]
dimensions = ["good", "why"]
[[dimensions]]
name = "good"
kind = "scale"
question = "Is it good?"
labels = ["bad", "good"]
[[dimensions]]
name = "why"
kind = "text"
question = "Why?"
least = 2
"""
#: Of each kind, a template that asks it and right answers to it; outputs are "abcd" and "efgh".
ASKED: Mapping[str, tuple[str, tuple[Any, ...]]] = {
    "scale": ("binary", (0, 1)),
    "preference": ("pairwise", (0, 2, 4)),
    "slider": ("direct-assessment", (0.0, 37.0, 100.0)),
    "spans": ("esa", ([], [{**ERROR}], [{**ERROR}] * 5)),
    "text": (SPOKEN, ("short", "It says more.\nIn two lines.", "é" * 40)),
    "best-worst": ("best-worst", ({"best": 0, "worst": 1}, {"best": 3, "worst": 0})),
}
each_kind = pytest.mark.parametrize("name", kind_names())
each_valued_kind = pytest.mark.parametrize("name", [name for name in kind_names() if question_kind(name).has_value])
#: What is an answer to no question.
NONSENSE: tuple[Any, ...] = (None, True, "x", -1, 10**9, float("nan"), {}, {"best": 0}, [1], [{"start": 0}])


def asked(name: str) -> tuple[Template, Question, tuple[str, ...]]:
    source = ASKED[name][0]
    template = parse_template(source, "spoken.toml") if "\n" in source else open_template(source)
    question = next(question for question in template.dimensions if question.kind == name)
    return template, question, ("abcd", "efgh", "ijkl", "mnop")[: template.outputs]


def test_every_kind_is_held_to_the_contract() -> None:
    assert sorted(ASKED) == sorted(kind_names())
    asked_by_shipped = {question.kind for name in shipped() for question in open_template(name).dimensions}
    assert asked_by_shipped == {*kind_names()} - {"text"}


@each_kind
def test_a_kind_says_what_it_is(name: str) -> None:
    kind = question_kind(name)
    assert (kind.kind, bool(kind.__doc__), bool(kind.compares)) == (name, True, True)
    assert kind.file("html.j2") is not None
    assert [key for key, field in kind.model_fields.items() if not field.description] == []


@each_valued_kind
def test_what_it_takes_it_keeps_as_it_is_and_values_within_the_range(name: str) -> None:
    template, question, outputs = asked(name)
    low, high = question.range
    for answer in ASKED[name][1]:
        kept = question.check(answer, outputs)
        assert json.loads(json.dumps(kept)) == kept == question.check(kept, outputs)
        values = [question.worth(kept, place, len(outputs)) for place in range(len(outputs))]
        assert all(low <= value <= high for value in values), values
        assert all(0 <= question.share(value) <= 1 for value in values)
        order = tuple(reversed(range(len(outputs))))
        by_slot = answer_values(template, {question.name: kept}, order)
        assert all(by_slot[slot] == {question.name: values[order.index(slot)]} for slot in by_slot)


@each_valued_kind
def test_the_ends_of_its_range_can_be_reached(name: str) -> None:
    _, question, outputs = asked(name)
    values = {question.worth(answer, place, len(outputs)) for answer in ASKED[name][1] for place in range(len(outputs))}
    assert {*question.range} <= values


@pytest.mark.parametrize("name", [name for name in kind_names() if not question_kind(name).has_value])
def test_a_kind_without_values_keeps_its_answers_and_values_none(name: str) -> None:
    template, question, outputs = asked(name)
    for answer in ASKED[name][1]:
        kept = question.check(answer, outputs)
        assert json.loads(json.dumps(kept)) == kept == question.check(kept, outputs)
        assert answer_values(template, {question.name: kept}, (0,)) == {0: {}}
    assert question not in template.valued


@each_kind
def test_nonsense_is_refused_under_the_questions_name(name: str) -> None:
    template, question, outputs = asked(name)
    for raw in NONSENSE:
        with pytest.raises(InvalidInput, match=f"^{question.name}: "):
            question.check(raw, outputs)
    with pytest.raises(InvalidInput, match="not answered yet"):
        check_answers(template, outputs, {}, complete=True)


@each_kind
def test_it_is_written_in_words_and_in_plain_text(name: str) -> None:
    template, question, outputs = asked(name)
    names = template.names_of(len(outputs))
    words = [question.in_words(question.check(answer, outputs), outputs, names) for answer in ASKED[name][1]]
    assert len(set(words)) == len(words), "different answers are told apart"
    assert all(words)
    lines = list(question.preview())
    assert lines
    assert all(f"    {line}\n" in preview(template) for line in lines)


class Fields(HTMLParser):
    """The fields of a form as a browser would send them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.sent: dict[str, str] = {}
        self.open: str | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        chosen = given.get("type") != "radio" or "checked" in given
        if tag == "input" and given.get("name") and chosen:
            self.sent[str(given["name"])] = given.get("value") or ""
        self.open = str(given["name"]) if tag == "textarea" else None
        self.sent |= {self.open: ""} if self.open else {}

    def handle_data(self, data: str) -> None:
        if self.open is not None:
            self.sent[self.open] += data

    def handle_endtag(self, tag: str) -> None:
        self.open = None


@each_kind
def test_a_page_with_an_answer_sends_the_same_answer_back(name: str) -> None:
    template, question, outputs = asked(name)
    step = next(step for step in preview_item(template).steps if question in [one.question for one in step.questions])
    empty = next(one for one in step.questions if one.question == question)
    assert answers_of(template, Fields(render("annotate_question", {"asked": empty}).decode()).sent) == {}
    for answer in ASKED[name][1]:
        kept = question.check(answer, outputs)
        shown = type(empty)(question=question, answer=kept, outputs=empty.outputs)
        page = render("annotate_question", {"asked": shown}).decode()
        assert f'data-name="{question.name}"' in page
        assert answers_of(template, Fields(page).sent) == {question.name: kept}


@each_kind
def test_its_script_and_style_are_served(name: str) -> None:
    kind = question_kind(name)
    script, style = kind.file("js"), kind.file("css")
    if script is not None:
        assert static_file(f"question-{name}.js") == script.read_bytes()
    assert style is None or style.read_text("utf-8") in stylesheet("annotate.css")
    with pytest.raises(FileNotFoundError):
        static_file(f"question-{name}.py")


@each_kind
def test_a_comparison_is_asked_of_what_is_compared_only(name: str) -> None:
    kind = question_kind(name)
    source = """
name = "small"
version = 1
title = "Good?"
task = "test"
instructions = "Say."
compares = "{compares}"
outputs = {outputs}
[[stages]]
shows = ["outputs"]
dimensions = ["good"]
[[dimensions]]
name = "good"
kind = "{kind}"
question = "Is it?"
{more}
"""
    more = 'labels = ["no", "yes"]' if "labels" in kind.model_fields else ""
    more += "severities = { minor = 1 }" if "severities" in kind.model_fields else ""
    for compares, outputs in (("none", 1), ("reference", 2), ("generators", 2)):
        text = source.format(compares=compares, outputs=outputs, kind=name, more=more)
        if not kind.has_value:
            with pytest.raises(InvalidInput, match="only questions without a value"):
                parse_template(text, "a.toml")
        elif compares in kind.compares:
            assert parse_template(text, "a.toml").dimensions[0].range == kind.model_fields["range"].default
        else:
            with pytest.raises(InvalidInput, match=f"a {name} question does not go with compares = '{compares}'"):
                parse_template(text, "a.toml")


def test_spans_are_the_detail_that_a_judgment_keeps() -> None:
    _, question, _ = asked("spans")
    span = {"output": 1, "start": 0, "end": 2, "severity": "minor"}
    assert question.details([span], 1) == {"spans": [{"start": 0, "end": 2, "severity": "minor"}]}
    assert question.details([span], 0) == {"spans": []}
    others = [asked(name)[1] for name in kind_names() if name != "spans"]
    assert [question.details(None, 0) for question in others] == [{}] * len(others)


def test_examples_are_shown_with_their_answers_in_words() -> None:
    (first, *_) = view_examples(open_template("mqm"))
    assert first.answers == (("Which parts are wrong?", "“leaves” (major)"),)


def test_nothing_outside_the_kinds_folders_knows_one_kind_from_another() -> None:
    # "text" is the name of many other things as well, so only a comparison of kinds counts.
    names = "|".join(name for name in kind_names() if name != "text")
    named = re.compile(rf"""["'](?:{names})["']|kind["'\]]*\s*[!=]=\s*["']text["']""")
    folders = [PACKAGE / "campaigns", PACKAGE / "site" / "campaigns", PACKAGE / "cli"]
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".js", ".j2", ".css")]
    outside = [path for path in files if "questions" not in path.parts and path.name.startswith(("campaign", "crowd"))]
    outside += [path for path in files if "campaigns" in path.parts and "questions" not in path.parts]
    assert len(outside) > 30
    found = [path.name for path in outside if named.search(path.read_text("utf-8"))]
    assert found == []
    registry = (PACKAGE / "campaigns" / "questions" / "__init__.py").read_text("utf-8")
    assert named.findall(registry) == [], "kinds are found by their folders"
