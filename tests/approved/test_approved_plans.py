"""Campaigns before anybody is asked: templates, plans, items, test questions, answers, prices; and a crowd platform."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w
from approving import approve
from plain_boards import told
from prolific_server import ProlificServer
from spoilt_files import AWAY, outcomes, places
from translated_documents import document_board

from billboards.board import Board, Generator, Instance, Reference, row_of
from billboards.campaigns.answers import answer_details, answer_values, check_answers
from billboards.campaigns.control_items import next_test, places_of_tests, plan_qualification, plan_tests
from billboards.campaigns.corruptions import FAULTS, corrupt, differs, names_in
from billboards.campaigns.crowd.base import Screener, Study
from billboards.campaigns.crowd.mturk import read_batch
from billboards.campaigns.crowd.prolific import ACADEMIC_FEES, CATEGORIES, FEES, Prolific, check_rejection
from billboards.campaigns.crowd.publication import next_weekday_at_ten
from billboards.campaigns.crowd.quote import money, quote_in_words, quote_study
from billboards.campaigns.items import (
    Candidate,
    Item,
    choose,
    documents_of,
    entry_items,
    plan_items,
    read_slot,
    sample,
    shown_order,
    slot_document,
)
from billboards.campaigns.plan import PRESETS, CampaignPlan, is_over, read_plan, seconds_until_open
from billboards.campaigns.preview import preview
from billboards.campaigns.questions import kind_names, question_file, question_kind
from billboards.campaigns.quote import count_answers, labels_of, people_expected, people_for, quote
from billboards.campaigns.schedules import Coming, adapt_pairs, answered, balanced_pairs, balanced_sets
from billboards.campaigns.template_files import open_template, read_template, sent_template, shipped, template_source
from billboards.campaigns.templates import Template
from billboards.errors import BillboardsError


def refused(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except BillboardsError as error:
        return told(error)


def test_shipped_templates_read_as_approved() -> None:
    words = {}
    for name in shipped():
        template = open_template(name)
        words[name] = {
            "preview": preview(template).splitlines(),
            "signature": template.signature.partition(":")[0],
            "names": template.names_of(3),
            "shows": [word for word in ("input", "reference", "outputs", "image", "context") if template.shows(word)],
            "visible": [sorted(template.visible(stage)) for stage in range(len(template.stages))],
            "dimensions": [str(template.board_dimension(question)) for question in template.valued],
            "missing": refused(lambda template=template: template.dimension("none")),  # type: ignore[misc]
        }
    approve("plans/templates", words)


OWN = """\
name = "own"
version = 2
title = "Own"
task = "rate"
instructions = " Read. "
consent = "Yes?"
language = "de"
direction = "ltr"
compares = "generators"
outputs = 3
output_names = ["X", "Y", "Z"]
overall = "ends"

[[stages]]
shows = ["input", "outputs"]
instructions = "First."
dimensions = ["ends", "words"]

[[stages]]
shows = ["reference"]
dimensions = ["spans"]

[[dimensions]]
name = "ends"
kind = "best-worst"
question = "Which are the ends?"
help = "Two."
range = [0, 10]

[[dimensions]]
name = "words"
kind = "text"
question = "Why?"
least = 2
most = 50
rows = 2

[[dimensions]]
name = "spans"
kind = "spans"
question = "What is wrong?"
severities = { minor = 1, major = 5 }
categories = ["Fluency/Grammar", "Fluency/Punctuation", "Other"]
allows_missing = true
comments = true
no_translation = 25

[dimensions.weights."Fluency/Punctuation"]
minor = 0.1

[tests]
dimension = "ends"
good_at_least = 0.6
bad_below = 0.4

[[survey]]
when = "after"
name = "age"
kind = "slider"
question = "How old?"
range = [18, 99]
required = false

[[survey]]
name = "level"
kind = "scale"
question = "How well?"
labels = ["badly", "so so", "well"]

[[examples]]
input = "Eins"
outputs = ["One", "Two", "Three"]
why = "Because."

[examples.answers]
ends = { best = 0, worst = 2 }
words = "because so"
spans = [{ output = 1, start = 0, end = 3, severity = "major", category = "Other" }]
"""
#: What no key, or only some, may be.
WRONG: tuple[Any, ...] = ("x", -1, 2, True, [], ["x", "x"], [5, 1])


@pytest.mark.parametrize("name", ["own", "esa"])
def test_what_is_said_of_a_spoilt_template_is_as_approved(name: str) -> None:
    text = OWN if name == "own" else template_source(name)
    answers: dict[str, list[str]] = {}
    document = tomllib.loads(text)
    ways = [("as it is", text), ("not TOML", "x"), ("empty", ""), ("surplus", f"surplus = 1\n{text}")]
    for words, change in places(document):
        if not words.startswith("examples.0.answers.") or name == "own":
            wrong = WRONG if name == "own" else WRONG[::3]
            ways += [(f"{words} is {value}", tomli_w.dumps(change(value))) for value in wrong]
            ways.append((f"{words} is away", tomli_w.dumps(change(AWAY))))
    for key in ("stages", "dimensions", "survey", "examples"):
        if key in document:
            ways.append((f"{key} twice", tomli_w.dumps({**document, key: [*document[key], document[key][0]]})))
            surplus = [{**document[key][0], "surplus": 1}, *document[key][1:]]
            ways.append((f"surplus in {key}", tomli_w.dumps({**document, key: surplus})))
    for words, written in ways:
        template, problems = read_template(written, "file.toml")
        said = "; ".join(map(str, problems)) or f"read as {template.name if template else 'nothing'}"
        answers.setdefault(said, []).append(words)
    approve(f"plans/spoilt-template-{name}", answers)


def test_templates_are_opened_and_sent_as_approved(tmp_path: Path) -> None:
    template, _ = read_template(OWN, "own.toml")
    assert template is not None
    asked: Mapping[str, Callable[[], Any]] = {
        "no name": lambda: open_template("none"),
        "no file": lambda: open_template("none.toml"),
        "wrong": lambda: open_template(written(tmp_path / "wrong.toml", "x = 1\n")),
        "sent": lambda: sent_template(b"\xef\xbb\xbfname = 1", "x" * 500).text,
        "too large": lambda: sent_template(b"x" * 2_000_000, "large.toml"),
        "not UTF-8": lambda: sent_template(b"a\nb\xff", "odd.toml"),
    }
    kinds = {
        name: {
            "template": question_file(f"question-{name}.html.j2") is not None,
            "script": question_file(f"question-{name}.js") is not None,
            "class": question_kind(name).__name__,
        }
        for name in kind_names()
    }
    kinds["none"] = {"file": question_file("question-none.js"), "class": refused(lambda: question_kind("none"))}
    words = {name: refused(ask) for name, ask in asked.items()}
    approve("plans/own", {"preview": preview(template).splitlines(), "asked": words, "kinds": kinds}, folder=tmp_path)


def written(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


OUTPUTS = ("One two.", "Two", "")
#: Raw answers by template and dimension.
RAW: Mapping[str, tuple[Any, ...]] = {
    "ends": (
        {"best": 0, "worst": 1},
        {"best": 2, "worst": 0},
        {"best": 0, "worst": 0},
        {"best": 0, "worst": 3},
        {"best": True, "worst": 0},
        {"best": 0},
        "best",
        None,
    ),
    "words": ("ok", "x", "", " ok\r\nso ", "x" * 50, "x" * 51, "a\0b", 5, None),
    "spans": (
        [],
        None,
        [{}] * 3,
        [{"output": 0, "start": 0, "end": 3, "severity": "minor", "category": "Fluency/Punctuation"}],
        [{"output": 0, "start": 0, "end": 8, "severity": "major", "category": "Other", "comment": " a\n b "}] * 2,
        [{"output": 0, "start": 0, "end": 9, "severity": "major", "category": "Other"}],
        [{"output": 0, "start": 3, "end": 3, "severity": "major", "category": "Other"}],
        [{"output": 0, "start": 3, "end": 3, "severity": "major", "category": "Other", "missing": True}],
        [{"output": 3, "start": 0, "end": 1, "severity": "major", "category": "Other"}],
        [{"output": 1, "start": 0, "end": 1, "severity": "none", "category": "Other"}],
        [{"output": 1, "start": 0, "end": 1, "severity": "minor", "category": "none"}],
        [{"output": 1, "start": 0, "end": 3, "severity": "major", "category": "No translation"}],
        [{"output": 1, "start": 0, "end": 2, "severity": "major", "category": "No translation"}],
        [{"output": 1, "start": 0, "end": 1, "severity": "minor", "category": "Other", "source": True}],
        [{"output": 1, "start": 0, "end": 1, "severity": "minor", "category": "Other", "comment": "x" * 5000}],
        [{"output": 1, "start": 0.0, "end": 1, "severity": "minor", "category": "Other", "surplus": 1}],
        [{"start": False, "end": 1, "severity": "minor", "category": "Other"}],
        ["x"],
    ),
}


def test_answers_are_checked_and_counted_as_approved() -> None:
    template, _ = read_template(OWN, "own.toml")
    assert template is not None
    words: dict[str, Any] = {}
    for name, raws in RAW.items():
        for raw in raws:
            words[f"{name}: {str(raw)[:150]}"] = refused(partial(counted, template, {name: raw}))
    words["none"] = refused(lambda: counted(template, {"none": 1}))
    words["all"] = refused(lambda: check_answers(template, OUTPUTS, {"words": "ok"}, complete=True))
    for name in shipped():
        shipped_template = open_template(name)
        for raw in (0, 1, 2, 3, 6, 0.5, 100, 101, -1, True, "1", [], None, 1e300):
            for question in shipped_template.dimensions:
                if question.kind in ("scale", "preference", "slider"):
                    said = refused(partial(counted, shipped_template, {question.name: raw}))
                    words.setdefault(f"{name}: {question.name}", {}).setdefault(str(said), []).append(str(raw))
    forms = [{"": "1"}, {"": " "}, {"": "x"}, {}, {":best": "0", ":worst": "1"}, {":best": "0"}, {"": "[]"}]
    kinds = {question.kind: question for name in shipped() for question in open_template(name).dimensions}
    kinds |= {question.kind: question for question in template.dimensions}
    words["forms"] = {
        kind: [refused(partial(question.from_form, form)) for form in forms] for kind, question in kinds.items()
    }
    approve("plans/answers", words)


def counted(template: Template, raw: Mapping[str, Any]) -> Any:
    outputs = OUTPUTS[: template.outputs]
    checked = check_answers(template, outputs, raw, complete=False, source="Eins" if template.shows("input") else None)
    order = list(range(len(outputs)))[::-1]
    details = [answer_details(template, checked, place) for place in range(len(outputs))]
    shown = [
        question.item_in_words(checked[question.name], outputs, template.names_of(len(outputs)), "Eins")
        for question in template.dimensions
        if question.name in checked
    ]
    return {
        "kept": checked,
        "worth": answer_values(template, checked, order),
        **({"details": details} if any(details) else {}),
        "words": shown,
    }


PLANS: tuple[Mapping[str, Any], ...] = (
    {},
    {"instances": 1, "labels": 100, "overlap": 1.0, "positive": 0.5, "negative": 0.45},
    {"positive": 0.5, "negative": 0.5},
    {"positive": 0.07},
    {"attention": 0.05, "positive": 0.0},
    {"attention": 0.05},
    {"opens": 100.0, "closes": 100.0},
    {"opens": 100.0, "closes": 101.0},
    {"days": ["mon", "sun"], "from_hour": 9.5, "until_hour": 17, "zone": "Europe/Berlin"},
    {"days": ["monday"]},
    {"days": "mon"},
    {"from_hour": 9.0},
    {"from_hour": 9.0, "until_hour": 9.0},
    {"zone": "Mars/Base"},
    {"selector": "variance", "aim": "means"},
    {"selector": "none"},
    {"aim": "none"},
    {"selector": "random", "stop": "decided"},
    {"exclusion": "e-value", "pass_mark": 1.0},
    {"exclusion": "e-value"},
    {"currency": " "},
    {"consent": "x" * 20_000},
    {"consent": "x" * 20_001},
    {"surplus": 1},
    {"schedule": "adaptive", "stop": "decided", "exclusion": "model"},
)
NUMBERS = (-1, 0, 1, 18, 19, 0.5, 0.51, 9.9, 24.5, 10**6 + 1, True, "1", None)


def test_plans_are_read_and_refused_as_approved() -> None:
    def read(document: Mapping[str, Any]) -> Any:
        usual = CampaignPlan().document()
        return {key: value for key, value in read_plan(document).document().items() if usual[key] != value}

    singles: dict[str, Any] = {}
    for key in CampaignPlan().document():
        for value in NUMBERS:
            said = refused(partial(read, {key: value}))
            singles.setdefault(key, {}).setdefault(
                said if isinstance(said, str) and len(said) < 150 else str(said)[:150], []
            ).append(str(value))
    nows = [1_700_000_000.0 + 3600 * hours for hours in (0, 5, 11, 17, 30, 60, 100, 130)]
    hours = read_plan(PLANS[8])
    weekends = replace(hours, days=("sat", "sun"), from_hour=None, until_hour=None, opens=1_700_200_000.0)
    approve(
        "plans/plans",
        {
            "usual": CampaignPlan().document(),
            "presets": {name: plan.instances for name, plan in PRESETS.items()},
            "plans": {f"{document}"[:120]: refused(partial(read, document)) for document in PLANS},
            "settings": singles,
            "until open": [
                [seconds_until_open(plan, now) for now in nows] for plan in (CampaignPlan(), hours, weekends)
            ],
            "over": [is_over(replace(hours, closes=closes), nows[0]) for closes in (None, nows[0], nows[0] + 1)],
            "price": [replace(hours, pay=2.0, fee=fee).price for fee in (0.0, 0.25)],
            "tests": [[plan.block_tests, plan.early_tests] for plan in plans_tried()],
        },
    )


def plans_tried() -> list[CampaignPlan]:
    usual = CampaignPlan(instances=6, seed=3)
    return [
        usual,
        replace(usual, positive=0.1, negative=0.15, attention=0.1, early=4, qualification=5),
        replace(usual, positive=0.0, negative=0.0),
        replace(usual, early=0, labels=2, overlap=0.5),
        replace(usual, stop="decided", instances=12),
    ]


def wider_board(generators: int = 4, instances: int = 9) -> Board:
    board = document_board()
    tested = tuple(
        Instance(
            f"i{k}",
            references=(Reference("A", f"Anna has {k + 2} cats, and it is fine."), Reference("B", f"{k + 2} cats?"))[
                : 2 - k % 2
            ]
            if k != 7
            else (),
            input=f"Eingabe {k}",
            document=f"d{k // 3}" if k < 8 else None,
        )
        for k in range(instances)
    )
    rows = tuple(
        row_of(
            Generator(f"g{g}"), tested, tuple(None if (g, k) == (1, 2) else f"out {g} {k}" for k in range(instances))
        )
        for g in range(generators)
    )
    return replace(board, instances=tested, rows=rows)


def item_words(item: Item) -> str:
    slots = ", ".join(f"{slot.name}:{slot.instance}:{slot.text[:40]}" for slot in item.slots)
    more = [item.purpose, item.test, item.part, "batch" if item.batch else None, f"x{item.wanted}"]
    order = "".join(map(str, item.order))
    return f"{item.instance} [{order}] {slots} ({', '.join(word for word in more if word)}) for {item.row}"


@pytest.mark.parametrize("name", ["genie-translation", "direct-assessment", "pairwise", "best-worst", "esa-document"])
def test_items_and_test_questions_are_as_approved(name: str) -> None:
    template, board = open_template(name), wider_board()
    words: dict[str, Any] = {}
    for k, plan in enumerate(plans_tried()[1:]):
        chosen = refused(partial(sample, board, template, plan))
        words[f"sample {k}"] = chosen
        if isinstance(chosen, str):
            continue
        items = refused(partial(plan_items, board, template, plan, board.rows, chosen))
        words[f"items {k}"] = items if isinstance(items, str) else [item_words(item) for item in items]
        for what, make in (("tests", plan_tests), ("qualification", plan_qualification)):
            made = refused(partial(make, board, template, plan, chosen))
            words[f"{what} {k}"] = made if isinstance(made, str) else [item_words(item) for item in made]
    for schedule in ("balanced", "adaptive"):
        plan = replace(plans_tried()[0], schedule=schedule)
        items = refused(partial(plan_items, board, template, plan, board.rows, sample(board, template, plan)))
        words[schedule] = items if isinstance(items, str) else [item_words(item) for item in items]
    one, none = wider_board(1), replace(board, instances=tuple(replace(i, references=()) for i in board.instances))
    plan = plans_tried()[0]
    words["one generator"] = listed(partial(plan_items, one, template, plan, one.rows, ["i0", "i1"]))
    words["no references"] = [
        refused(partial(sample, none, template, plan)),
        listed(partial(plan_tests, none, template, plan, ["i0"])),
    ]
    words["documents"] = documents_of(board, [instance.id for instance in board.instances])
    approve(f"plans/items-{name}", words)


def listed(ask: Callable[[], list[Item]]) -> Any:
    items = refused(ask)
    return items if isinstance(items, str) else [item_words(item) for item in items]


def test_entries_orders_and_choices_are_as_approved() -> None:
    board, plan = wider_board(), CampaignPlan(seed=5, overlap=0.25)
    ids = [instance.id for instance in board.instances]
    long = replace(board, instances=tuple(Instance(f"s{k}", input="x", document="long") for k in range(85)), rows=())
    item = plan_items(board, open_template("pairwise"), plan, board.rows, ids)[0]
    candidates = [
        Candidate(1, "a", "g0", 3),
        Candidate(2, "b", "g1", 0),
        Candidate(3, "c", "g1", 1),
        Candidate(4, "c", "g2", 9),
    ]
    texts = (
        "Mary Jones was in Paris on 3 May 2021, and two friends will not have seen it.",
        "It is.",
        "Anna has 12 cats, 3,5 dogs and no bird; the rest is fine.",
        "这是一只非常好看的猫和一只狗",
        "Der Hund ist nicht weg, er kann um 9 Uhr da sein.",
        "one two three four five six seven",
        "",
    )
    draws = [balanced_pairs(entries, 5, random.Random(1)) for entries in (2, 3, 4, 5)]
    sets = [balanced_sets(entries, size, 4, random.Random(2)) for entries, size in ((3, 3), (5, 3), (8, 4))]
    theta, covariance = np.array([0.0, 0.1, 1.0]), np.eye(3) * 0.5
    every = frozenset({(0, 1), (0, 2), (1, 2)})
    coming = [Coming(instance=f"i{k // 2}", planned=(0, 2), possible=every) for k in range(7)]
    none = [Coming(instance="i", planned=(0, 1), possible=frozenset())] * 2
    tested = plans_tried()[1]
    approve(
        "plans/small-things",
        {
            "entry": [item_words(each) for each in entry_items(board, plan, board.rows[0], board.rows[1:], ids)],
            "lonely entry": refused(lambda: entry_items(board, plan, board.rows[0], (), ids)),
            "long document": [len(part) for part in documents_of(long, [i.id for i in long.instances]).values()],
            "its parts": list(documents_of(long, [i.id for i in long.instances])),
            "orders": [shown_order((0, 1, 2), label) for label in range(4)],
            "slot": [slot_document(item.slots[0]), read_slot(slot_document(item.slots[0])) == item.slots[0]],
            "chosen": [
                getattr(choose(candidates, seen, judged), "id", None)
                for seen, judged in (
                    ((), {}),
                    (("b",), {}),
                    (("a", "b", "c"), {"g1": 1}),
                    ((), {"g0": 1, "g1": 1}),
                    (("a", "b"), {"g1": 1, "g2": 2}),
                )
            ]
            + [choose([], (), {})],
            "pairs": [[list(pairs) for pairs in rounds] for rounds in draws],
            "sets": [[list(groups) for groups in rounds] for rounds in sets],
            "adapted": adapt_pairs(theta, covariance, coming, random.Random(3)),
            "nothing to adapt": adapt_pairs(theta, covariance, none, random.Random(3)),
            "narrowed": answered(theta, covariance, (0, 2)).round(9).tolist(),
            "tests of a block": [
                [places_of_tests(plan, "ann", block, is_open=is_open) for block in (0, 1)]
                for plan in (tested, plans_tried()[0])
                for is_open in (False, True)
            ],
            "next tests": [next_test(tested, "bob", answered, is_open=answered < 20) for answered in range(45)],
            "faults": {
                text: sorted(
                    {
                        f"{made.fault}: {made.text}"
                        for seed in range(25)
                        if (made := corrupt(text, random.Random(seed), names=("Rome", "Peter"), language=language))
                    }
                )
                for text in texts
                for language in (["de"] if text.startswith("Der") else ["en-GB"])
            },
            "no fault": [corrupt("a b", random.Random(0)), corrupt("12", random.Random(0), right=("34",)) is not None],
            "names in": {text: names_in(text) for text in texts},
            "differs": [differs("A b.", others) for others in ((), ("a, b",), ("a c",), ("a c", "a b"))]
            + [differs("", ())],
            "kinds of faults": FAULTS,
        },
    )


def test_prices_are_as_approved() -> None:
    usual = CampaignPlan(pay=0.5, fee=0.4, seconds_per_item=60.0, budget=100.0)
    plans = {
        "usual": usual,
        "rich": replace(usual, pay=5.0, budget=None, qualification=10),
        "no tests": replace(usual, positive=0.0, negative=0.0),
        "few tests": replace(usual, early=0, most_answers=10),
        "many": replace(usual, annotators=50, labels=3, overlap=0.5, seconds_per_item=None),
        "chosen": replace(usual, selector="variance", aim="means"),
        "chosen to separate": replace(usual, selector="variance"),
        "free": CampaignPlan(instances=10),
    }
    sizes = {
        "": {"items": 300, "generators": 3, "instances": 100},
        "none": {"items": 0, "generators": 0, "instances": 1},
    }
    words: dict[str, Any] = {}
    for name, plan in plans.items():
        for size, counts in sizes.items():
            words[f"{name} {size}"] = asdict(quote(plan, **counts))
        words[f"{name}, begun"] = asdict(quote(plan, **sizes[""], annotators=4, test_items=5, seconds_per_item=30.0))
    studies = {
        "usual": {"answers": 889, "generators": 1, "instances": 800, "hourly": 1200},
        "advised": {"answers": 1, "generators": 3, "instances": 1, "hourly": 1199, "items_per_place": 7},
        "least": {"answers": 21, "generators": 1, "instances": 4, "hourly": 800, "seconds_per_item": 1.0},
        "below": {"answers": 21, "generators": 1, "instances": 4, "hourly": 799},
        "told": {
            "answers": 40,
            "generators": 2,
            "instances": 9,
            "hourly": 900,
            "questions": 3.6,
            "recall_random": 0.954,
        }
        | {"recall_half_random": 0.4},
        "no answers": {"answers": 0, "generators": 1, "instances": 1, "hourly": 900},
        "no generators": {"answers": 1, "generators": 0, "instances": 1, "hourly": 900},
        "no items": {"answers": 1, "generators": 1, "instances": 1, "hourly": 900, "items_per_place": 0},
        "no seconds": {"answers": 1, "generators": 1, "instances": 1, "hourly": 900, "seconds_per_item": 0.0},
    }
    nows = [
        datetime(2024, 3, day, hour, minute, tzinfo=UTC) for day in (8, 9, 29) for hour, minute in ((9, 59), (15, 0))
    ]
    approve(
        "plans/prices",
        {
            "quotes": words,
            "answers": [count_answers(labels, plan) for plan in plans.values() for labels in (0, 1, 100)],
            "people": [people_expected(labels, plan) for plan in plans.values() for labels in (1, 40, 41, 10_000)],
            "people for": [people_for(100, plan, answers) for plan in plans.values() for answers in (1, 20, 60)],
            "labels": [labels_of(7, plan) for plan in plans.values()],
            "studies": {
                name: refused(lambda study=study: quote_in_words(quote_study("prolific", FEES, **study)))  # type: ignore[misc]
                for name, study in studies.items()
            },
            "academic": quote_in_words(quote_study("prolific", ACADEMIC_FEES, **studies["usual"])),  # type: ignore[arg-type]
            "money": [money(amount, "USD") for amount in (0, 5, 123456789)],
            "published": [
                [next_weekday_at_ten(now, zone).isoformat()[11:] for now in nows]
                for zone in ("UTC", "America/New_York")
            ],
            "on": [
                [next_weekday_at_ten(now, "UTC").day for now in nows],
                refused(lambda: next_weekday_at_ten(nows[0], "X/Y")),
            ],
        },
    )


BATCH = """\
HITId,AssignmentId,WorkerId,AssignmentStatus,SubmitTime,WorkTimeInSeconds,Input.id,Answer.overall,Answer.note
h1,a1,w1,Approved,Sat Nov 14 09:30:00 PST 2020,41,seg-7,4,"yes, good"
h1,a2,w2,Rejected,,,seg-7,,
"""


def test_batches_of_a_crowd_are_read_as_approved(tmp_path: Path) -> None:
    path = written(tmp_path / "batch.csv", BATCH)
    said = {"sound": [asdict(each) | {"submitted": moment(each.submitted)} for each in read_batch(path)]}
    answers = outcomes(path, lambda: str(refused(lambda: [moment(each.submitted) for each in read_batch(path)])))
    approve("plans/batches", {**said, "spoilt": answers}, folder=tmp_path)


def moment(time: datetime | None) -> str | None:
    return None if time is None else time.strftime("%d.%m. %H:%M %Z")


STUDY = Study(
    name="Judge",
    description="Read it.",
    address="http://127.0.0.1/x",
    code="DONE",
    minutes=10,
    reward=200,
    places=2,
    screeners=(Screener("fluent", ("19",)), Screener("rate", lower=95, upper=100), Screener("age", lower=18)),
    code_of_the_unqualified="LESS",
)
LONG = "Of the twelve test questions, whose answers are known, nine were answered wrongly, as the instructions explain."


def test_a_platform_is_asked_and_answers_as_approved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("billboards.campaigns.crowd.calling.FIRST_WAIT", 0.0)
    monkeypatch.delenv("PROLIFIC_API_TOKEN", raising=False)
    with ProlificServer() as server:
        prolific, other = (
            Prolific(address=f"{server.address}/", key=server.key),
            Prolific(address=server.address, key="x"),
        )
        drafted = prolific.draft(STUDY)
        moves: Mapping[str, Callable[[], Any]] = {
            "drafted": lambda: drafted,
            "looked at": lambda: prolific.look(drafted.id),
            "grown too early": lambda: prolific.grow(drafted.id, 1),
            "published": lambda: prolific.publish(drafted.id),
            "grown": lambda: prolific.grow(drafted.id, 5),
            "not grown": lambda: prolific.grow(drafted.id, 5),
            "paused": lambda: prolific.pause(drafted.id),
            "paused again": lambda: prolific.pause(drafted.id),
            "resumed": lambda: prolific.resume(drafted.id),
            "works": lambda: prolific.works(drafted.id),
            "approved nothing": lambda: prolific.approve("none"),
            "rejected for no reason": lambda: prolific.reject("none", "LOW_EFFORT", LONG[:99]),
            "rejected in no category": lambda: prolific.reject("none", "OTHERS", LONG),
            "rejected nobody": lambda: prolific.reject("none", "LOW_EFFORT", LONG),
            "no bonus": lambda: prolific.prepare_bonuses(drafted.id, {}),
            "a bonus of nothing": lambda: prolific.prepare_bonuses(drafted.id, {"a": 0}),
            "bonuses": lambda: prolific.prepare_bonuses(drafted.id, {"a": 150, "b": 5}),
            "ended": lambda: prolific.end(drafted.id),
            "no such study": lambda: prolific.look("none"),
            "another key": lambda: other.look(drafted.id),
            "no key": lambda: Prolific(address=server.address),
            "scheduled": lambda: prolific.publish(prolific.draft(STUDY).id, at=datetime(2030, 1, 2, 10, tzinfo=UTC)),
        }
        words = {name: str(refused(move)).replace(server.address, "ADDRESS") for name, move in moves.items()}
        server.trouble.extend([500, 429, 503])
        words["troubled"] = str(refused(lambda: prolific.look(drafted.id))).replace(server.address, "ADDRESS")
        server.trouble.extend([500] * 4)
        words["down"] = str(refused(lambda: prolific.look(drafted.id))).replace(server.address, "ADDRESS")
        studies = list(server.studies.values())
        asked = [" ".join(map(str, request)) for request in server.requests]
        prolific.close()
        other.close()
    approve(
        "plans/platform",
        {
            "answers": words,
            "studies": studies,
            "asked": asked,
            "checked": [refused(lambda name=name: check_rejection(name, LONG)) for name in (*CATEGORIES, "x")],  # type: ignore[misc]
            "fees": [str(FEES), str(ACADEMIC_FEES)],
        },
    )
