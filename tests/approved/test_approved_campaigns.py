"""Campaigns of every template from plan to ranking: pages, answers, refusals and rows as they were approved."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from campaign_sites import contested_board
from people_diaries import no_chance, page_lines
from people_gates import FREE, Gate, make_gate, problems
from prolific_server import ProlificServer
from small_campaigns import distinct_board, fix_key
from translated_documents import document_board

from billboards.campaigns.crowd.prolific import Prolific
from billboards.campaigns.plan import CampaignPlan, read_plan
from billboards.campaigns.template_files import shipped
from billboards.site.campaigns import annotators, crowd
from billboards.site.campaigns.campaign_files import written_formats
from billboards.site.campaigns.forms import plan_fields, sent_plan

__all__ = ["no_chance"]
pytestmark = pytest.mark.usefixtures("no_chance")
#: Tables that people write to in a campaign.
ROWS = (
    "campaigns",
    "campaign_items",
    "annotators",
    "annotator_links",
    "participations",
    "assignments",
    "answers",
    "rulings",
    "annotator_pages",
    "studies",
    "payments",
    "audit",
    "deliveries",
)


Answering = Callable[[dict[str, Any], int], Any]
FORMS = """pause open resume close withdraw top-up admit repeat invite share revoke
    exclude readmit dispute decide""".split()  # noqa: SIM905


class Annotator:
    """Somebody who came by a link and answers by counting."""

    def __init__(self, gate: Gate, path: str, number: int, answering: Answering | None = None) -> None:
        self.answering = answering
        self.gate, self.path, self.number, self.count = gate, path, number, 0
        self.task = gate.send(None, "GET", f"/api/v1{path}").json()
        self.questions = {question["name"]: question for question in self.task["questions"]}

    def turn(self) -> dict[str, Any]:
        turn: dict[str, Any] = self.gate.send(None, "POST", f"/api/v1{self.path}/next").json()
        return turn

    def answer_of(self, question: dict[str, Any], item: dict[str, Any]) -> Any:
        """An answer that hangs on who answers, on the question and on how many were answered before."""
        if self.answering is not None:
            return self.answering(item, self.count)
        chosen = 5 * self.count + 3 * self.number + len(question["name"])
        outputs = item["outputs"]
        if question["kind"] == "slider":
            return 7 * chosen % 101
        if question["kind"] == "best-worst":
            return {"best": chosen % len(outputs), "worst": (chosen + 1 + self.number % 2) % len(outputs)}
        if question["kind"] == "spans":
            severities, categories = question["severities"], question["categories"]
            return [
                {
                    "output": place,
                    "start": chosen % 5,
                    "end": chosen % 5 + 1 + place,
                    "severity": severities[(chosen + k) % len(severities)]["name"],
                    **({"category": categories[(chosen + k) % len(categories)]} if categories else {}),
                }
                for k, place in enumerate(range(len(outputs)))
                if (chosen + k) % 3
            ]
        if question["kind"] == "text":
            return f"because of {chosen}"
        return chosen % len(question["labels"])

    def answer(self) -> dict[str, Any]:
        """Ask for an item and answer it; returns the turn."""
        turn = self.turn()
        if (item := turn["item"]) is not None:
            self.count += 1
            self.gate.clock.now += 10 + self.number
            given = {name: self.answer_of(question, item) for name, question in self.questions.items()}
            sent = {"assignment": item["assignment"], "answer_id": f"{self.number}-{self.count}", "answers": given}
            told = self.gate.send(None, "POST", f"/api/v1{self.path}/submit", json={**sent, "seconds": 8.5})
            assert told.status_code == 200, told.text
        return turn

    def answer_all(self, most: int) -> dict[str, Any]:
        turn = self.answer()
        while turn["item"] is not None and self.count < most:
            turn = self.answer()
        return turn


def plan_by_program(gate: Gate, board: str, name: str, template: str, **sent: Any) -> str:
    """The address of a campaign that is a draft."""
    sent = {"name": name, "template": template, **sent}
    made = gate.send("owner", "POST", f"/api/v1/boards/{board}/campaigns", json=sent)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def invited(gate: Gate, campaign: str, *names: str) -> list[str]:
    made = gate.send("owner", "POST", f"/api/v1/campaigns/{campaign}/annotators", json={"names": list(names)})
    return [each["path"] for each in made.json()]


WRONG: tuple[Any, ...] = (
    None,
    -1,
    99,
    "4",
    [],
    {"best": 0, "worst": 0},
    {"best": 0},
    [{"output": 0, "start": 3, "end": 1, "severity": "minor"}],
    [{"output": 7, "start": 0, "end": 1, "severity": "minor"}],
    [{"output": 0, "start": 0, "end": 1, "severity": "grave"}],
    [{"output": 0, "start": 0, "end": 1, "severity": "minor", "category": "none"}],
    [{"output": 0, "start": 0, "end": 9999, "severity": "minor"}],
    [{"output": "source", "start": 0, "end": 1, "severity": "minor"}],
    [{"output": 0, "start": 0, "end": 0, "severity": "minor", "missing": True}],
    [3],
)


#: Templates whose campaigns are kept with every page of their owners; the others ask in ways of their own.
WHOLE = ("best-worst", "mqm-document")
SIMPLE = (
    "mqm",
    "direct-assessment",
    "esa-document",
    "genie-commonsense",
    "genie-question-answering",
    "genie-translation",
)
TEMPLATES = [name for name in shipped() if name not in SIMPLE]


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_campaign_of_every_template_says_what_was_approved(tmp_path: Path, template: str) -> None:
    board = "harbour" if "document" in template else "ferry"
    gate = make_gate(tmp_path, document_board() if board == "harbour" else distinct_board(6, 4))
    fix_key(gate.site)
    tested = template in ("binary", "genie-translation", "pairwise")
    plan = {"instances": 3, "labels": 2, "pay": 0.25} | ({} if tested else {"positive": 0, "negative": 0})
    campaign = plan_by_program(gate, board, template, template, plan=plan)
    home, api = f"/boards/{board}/campaigns/{campaign}", f"/api/v1/campaigns/{campaign}"
    gate.ask("quote", "owner", "GET", f"{api}/quote")
    if template in WHOLE:
        gate.ask("preview", "owner", "GET", f"{home}/preview")
    gate.ask("opened", "owner", "POST", f"{api}/open", json={"confirm": True})
    paths = invited(gate, campaign, "ann@example.org", "bob", "cat")
    everybody = [Annotator(gate, path, k) for k, path in enumerate(paths)]
    first = everybody[0]
    if template in WHOLE:
        gate.ask("task", None, "GET", f"/api/v1{first.path}")
    gate.ask("page", None, "GET", first.path)
    item = first.turn()["item"]
    for k, wrong in enumerate(WRONG):
        sent = {
            "assignment": item["assignment"],
            "answer_id": f"wrong {k}",
            "answers": dict.fromkeys(first.questions, wrong),
        }
        answer = gate.send(None, "POST", f"/api/v1{first.path}/submit", json=sent)
        gate.diary.note(f"sending {wrong!r}", answer.json().get("detail", answer.status_code))
        if answer.status_code == 200:
            item = first.turn()["item"]
    if len(first.task["stages"]) > 1:
        some = first.task["stages"][0]["dimensions"]
        given = {name: first.answer_of(first.questions[name], item) for name in some}
        sent = {"assignment": item["assignment"], "answer_id": "some", "answers": given, "seconds": 3}
        gate.ask("kept", None, "POST", f"/api/v1{first.path}/save", json=sent)
        gate.ask("next stage", None, "GET", first.path)
        if template in WHOLE:
            gate.ask("first stage again", None, "GET", f"{first.path}?stage=0&lang=de")
    for annotator in everybody:
        gate.diary.note(f"last turn of {annotator.number}", {**annotator.answer_all(9), "item": None})
    gate.ask("back", None, "POST", f"/api/v1{first.path}/undo", json={"answer_id": "back"})
    if template in WHOLE:
        gate.ask("page after", None, "GET", first.path)
    for section in ("", "/annotators", "/agreement", "/results"):
        if template in WHOLE:
            gate.ask(f"owner's page {section}", "owner", "GET", f"{home}{section}")
            gate.ask(
                f"answer {section.replace('agreement', 'coverage')}",
                "owner",
                "GET",
                f"{api}{section.replace('agreement', 'coverage')}",
            )
    if template not in WHOLE:
        gate.ask("results", "owner", "GET", f"{api}/results")
    gate.ask("answers", "owner", "GET", f"{home}/answers.csv")
    for form in written_formats():
        gate.ask(f"as {form}", "owner", "GET", f"{home}/judgments/{form}")
    closed = gate.send("owner", "POST", f"{api}/close", json={"confirm": True, "ranks": False})
    gate.diary.note("closed", closed.json()["state"])
    if template in WHOLE:
        gate.ask("protocol", "owner", "GET", f"{api}/protocol")
    gate.keep(f"campaigns/{template}")


SPOKEN = """
name = "spoken"
version = 1
title = "Good or bad"
task = "good"
instructions = "Say whether it is good."
consent = "We keep what you judge."
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
most = 80
[[survey]]
name = "native"
kind = "scale"
question = "Do you speak English since childhood?"
labels = ["no", "yes"]
[[survey]]
name = "remark"
kind = "text"
question = "Anything else?"
when = "after"
required = false
"""


def alerts(answer: Any) -> Any:
    """The status of a page, and what it says is wrong."""
    if answer.status_code == 303:
        return answer.headers["location"]
    lines = page_lines(answer.text)
    begins = next((k for k, line in enumerate(lines) if "role=alert" in line), len(lines) - 4)
    return [answer.status_code, *(line[:200] for line in lines[begins + 1 : begins + 2])]


WRONG_FIELDS: dict[str, tuple[str, ...]] = {
    "name": ("", "x" * 101, "a/b", "first"),
    "template": ("", "own", "/etc/secret.toml"),
    "generators": ("g0\nnobody", "Ada", "g1\ng1"),
    "instances": ("some", "0", "1", "-3", "1.5", "9999", "10001"),
    "labels": ("0", "x", "101"),
    "overlap": ("101", "-1", "x"),
    "positive": ("7", "100", "x"),
    "negative": ("7", "95"),
    "attention": ("5",),
    "early": ("21", "x"),
    "most_answers": ("0", "x"),
    "annotators": ("0",),
    "qualification": ("-1", "1000"),
    "pass_mark": ("101", "-1"),
    "lease_seconds": ("0", "x", "99999"),
    "pay": ("-1", "x"),
    "fee": ("-1", "x"),
    "hourly": ("-1",),
    "budget": ("-1", "nan"),
    "newcomer_each": ("-1",),
    "newcomers_total": ("-1",),
    "seconds_per_item": ("long", "0"),
    "opens": ("tomorrow", "2033-02-30T00:00"),
    "closes": ("2020-01-01T00:00",),
    "from_hour": ("9", "25"),
    "until_hour": ("9",),
    "seed": ("-1", "x"),
    "stop_level": ("0", "60"),
    "currency": ("x" * 20,),
    "zone": ("Atlantis",),
    "selector": ("nonsense", "random"),
    "aim": ("nonsense",),
    "stop": ("sometimes", "decided"),
    "exclusion": ("never", "e-value"),
    "schedule": ("sorted", "adaptive"),
    "consent": ("x" * 20_001,),
}


def test_the_forms_of_plans_say_what_was_approved(tmp_path: Path) -> None:
    gate = make_gate(tmp_path, contested_board(), replace(distinct_board(6, 4), name="plain"))
    fix_key(gate.site)
    home = "/boards/ferry/campaigns"
    gate.person("nan", "annotator")
    for asker in ("owner", "nan", None):
        gate.ask(f"none yet, {asker}", asker, "GET", home)
    gate.ask("new", "owner", "GET", f"{home}/new")
    gate.ask("new, long", "owner", "GET", f"{home}/new?preset=long&template=esa")
    gate.ask("blind", "owner", "GET", f"{home}/blind-check")
    plan_by_program(gate, "ferry", "first", "binary", plan={"instances": 2})
    told: dict[str, Any] = {}
    for field, values in WRONG_FIELDS.items():
        for value in values:
            sent = {"name": f"n{len(told)}", "template": "binary", "instances": "3", field: value}
            told[f"{field}: {value[:40]}"] = alerts(gate.send("owner", "POST", f"{home}/new", data=sent))
    gate.diary.note("wrong plans", told)
    gate.diary.note(
        "own templates",
        {
            name: alerts(
                gate.send(
                    "owner",
                    "POST",
                    f"{home}/new",
                    data={"name": name, "template": "own", "pasted": text, "instances": "2"},
                )
            )
            for name, text in {
                "empty": "",
                "no TOML": "x = = 1",
                "nothing": "name = 'x'",
                "good": SPOKEN,
                "odd": SPOKEN.replace("scale", "stairs"),
                "no labels": SPOKEN.replace('labels = ["bad", "good"]', "labels = []"),
                "twice": SPOKEN.replace('name = "why"', 'name = "good"'),
                "long": SPOKEN + "#" * 300_000,
            }.items()
        },
    )
    gate.diary.note(
        "both",
        alerts(gate.send("owner", "POST", f"{home}/new", data={"name": "b", "template": "binary", "pasted": SPOKEN})),
    )
    gate.ask("chosen", "owner", "POST", f"{home}/template", data={"template": "own", "pasted": SPOKEN})
    gate.ask(
        "kept in the form",
        "owner",
        "POST",
        f"{home}/new",
        data={"name": "", "template": "esa", "day-mon": "yes", "days": "tue", "rolling": "yes", "ranks": "no"},
    )
    corner = {"name": "blind", "first": "crowd", "second": "expert", "per_corner": "2", "template": "binary"}
    gate.diary.note(
        "blind checks",
        {
            str(changed): alerts(gate.send("owner", "POST", f"{home}/blind-check", data=corner | changed))
            for changed in (
                {"per_corner": "0"},
                {"per_corner": "1001"},
                {"per_corner": "2.5"},
                {"per_corner": "1000"},
                {"template": "pairwise"},
                {"template": "x"},
                {"first": "expert"},
                {"second": "nobody"},
                {"name": ""},
                {"name": "first"},
                {},
            )
        },
    )
    programs: list[dict[str, Any]] = [
        {},
        {"name": "x"},
        {"name": "x", "template": "binary", "template_source": SPOKEN},
        {"name": "x", "template": "../x"},
        {"name": "x", "template_source": "x = ="},
        {"name": "x", "template": "best-worst", "rolling": True},
        {"name": "x", "template": "binary", "plan": {"word": 1}},
        {"name": "x", "template": "binary", "plan": {"days": ["mon", "foo"]}},
        {"name": "x", "template": "binary", "plan": {"from_hour": 9}},
        {"name": "x", "template": "binary", "plan": 3},
        {"name": "x", "template": "mqm-document", "plan": {"instances": 2}},
    ]
    for k, sent in enumerate(programs):
        gate.ask(f"program {k}", "owner", "POST", "/api/v1/boards/ferry/campaigns", json=sent)
    for source in (SPOKEN, "x"):
        gate.ask(f"preview of {source[:12]!r}", "owner", "POST", "/api/v1/templates/preview", json={"source": source})
    gate.ask("templates", "owner", "GET", "/api/v1/templates")
    gate.ask("templates' page", None, "GET", "/templates")
    plan = CampaignPlan(
        instances=300,
        overlap=0.125,
        lease_seconds=90.0,
        opens=2_000_000_000.0,
        days=("mon", "fri"),
        from_hour=9.5,
        until_hour=17.0,
        zone="Europe/Lisbon",
    )
    gate.diary.note("fields", plan_fields(plan))
    gate.diary.note("plan", sent_plan(plan_fields(plan)).document())
    gate.diary.note(
        "read",
        {
            str(sent): problems(partial(read_plan, sent))
            for sent in (
                {"instances": True},
                {"days": "mon"},
                {"zone": 3},
                {"aim": 3},
                {"consent": 3},
                {"currency": " "},
                {"opens": 5, "closes": 5},
                {"stop": None},
            )
        },
    )
    gate.ask("campaigns", "owner", "GET", home)
    gate.ask("campaigns as JSON", "owner", "GET", "/api/v1/boards/ferry/campaigns?limit=2")
    gate.keep("plans")


def words(item: dict[str, Any]) -> float:
    """The share of right words in an output."""
    given: list[str] = item["outputs"][0].split()
    return 1 - given.count("wrong") / len(given)


def honestly(item: dict[str, Any], count: int) -> int:
    return round(4 * words(item))


def contrarily(item: dict[str, Any], count: int) -> int:
    return 4 - honestly(item, count)


def forms_refused(gate: Gate, home: str, api: str) -> dict[str, Any]:
    """What every form and every call of a campaign says to nothing, to odd things and to a visitor."""
    told: dict[str, Any] = {}
    odd = {
        "count": "x",
        "days": "-1",
        "budget": "x",
        "labels": "0",
        "annotator": "a-none",
        "answer": "none",
        "reason": "x" * 1001,
    }
    odd |= {
        "decision": "struck",
        "generator": "nobody",
        "confirm": "yes",
        "platform": "",
        "annotators": "all",
        "first": "soon",
    }
    for action in (*FORMS, "nonsense"):
        for name, sent in {"nothing": dict[str, str](), "odd": odd}.items():
            if (name == "nothing" and action != "pause") or action not in (
                "open",
                "pause",
                "resume",
                "close",
                "withdraw",
            ):
                told[f"{action} {name}"] = alerts(gate.send("owner", "POST", f"{home}/{action}", data=sent))
    for action in ("open", "withdraw", "top-up", "nonsense"):
        told[f"program {action}"] = gate.send("owner", "POST", f"{api}/{action}", json={}).json().get("detail")
    calls: dict[str, dict[str, Any]] = {
        "annotators": {"names": ["x"], "count": 2},
        "annotators/a-none/exclude": {"reason": "x"},
        "annotators/a-none/ban": {"reason": "x"},
        "admit": {"generators": ["nobody"]},
        "repeat": {"days": 0},
    }
    for path, call in calls.items():
        told[f"program {path}"] = gate.send("owner", "POST", f"{api}/{path}", json=call).json().get("detail")
    return told


def test_a_campaign_from_draft_to_withdrawal_says_what_was_approved(tmp_path: Path) -> None:
    gate = make_gate(tmp_path, contested_board())
    fix_key(gate.site)
    gate.person("nan", "annotator")
    fields = {
        "name": "life",
        "template": "own",
        "pasted": SPOKEN,
        "generators": "g0",
        "instances": "4",
        "pay": "0.5",
        "fee": "20",
        "budget": "2.4",
        "seconds_per_item": "60",
        "early": "0",
        "positive": "0",
        "negative": "0",
        "labels": "2",
        "opens": "2033-05-18T04:00",
        "closes": "2033-06-18T04:00",
        "from_hour": "4",
        "until_hour": "20",
        "zone": "UTC",
        "day-wed": "yes",
        "day-thu": "yes",
        "most_answers": "3",
        "rolling": "yes",
        "newcomer_each": "1.2",
        "newcomers_total": "5",
    }
    made = gate.ask("planned", "owner", "POST", "/boards/ferry/campaigns/new", data=fields)
    home = made.headers["location"]
    campaign = home.rpartition("/")[2]
    api = f"/api/v1/campaigns/{campaign}"
    gate.ask("draft", "owner", "GET", home)
    gate.diary.note("refused as a draft", forms_refused(gate, home, api))
    shown = gate.send(
        "owner", "POST", f"{home}/invite", data={"names": "ann@example.org\nben@example.org\nann@example.org"}
    )
    gate.diary.note("invited twice", alerts(shown))
    shown = gate.ask("invited", "owner", "POST", f"{home}/invite", data={"names": "ann\nben@example.org", "days": "2"})
    links = re.findall(r'href="(/annotate/[^"]+)"', shown.text)
    shared = gate.ask("shared", "owner", "POST", f"{home}/share", data={"platform": "prolific"})
    (crowd,) = re.findall(r'href="(/annotate/[^"]+)"', shared.text)
    gate.ask("before it opens", None, "GET", links[0])
    gate.diary.note("opened without a tick", alerts(gate.send("owner", "POST", f"{home}/open", data={})))
    gate.diary.note("opened", alerts(gate.send("owner", "POST", f"{home}/open", data={"confirm": "yes"})))
    gate.ask("not yet", None, "GET", links[0])
    gate.clock.now += 3600
    ann = gate.ask("consent", None, "GET", links[0])
    digest = re.findall(r'name="digest" value="([^"]+)"', ann.text)[0]
    told: dict[str, Any] = {}
    for name, path, sent in (
        ("no tick", "consent", {"digest": digest}),
        ("another text", "consent", {"digest": "x", "agree": "yes"}),
        ("an item too early", "answer", {"assignment": "x", "answer_id": "y", "answer:good": "1"}),
        ("agreed", "consent", {"digest": digest, "agree": "yes"}),
        ("agreed again", "consent", {"digest": digest, "agree": "yes"}),
        ("nothing of oneself", "survey", {"page": "before"}),
        ("odd of oneself", "survey", {"page": "before", "answer:native": "7"}),
        ("the other page", "survey", {"page": "after", "answer:remark": "x"}),
        ("oneself", "survey", {"page": "before", "answer:native": "1"}),
    ):
        told[name] = alerts(gate.send(None, "POST", f"{links[0]}/{path}", data=sent))
    gate.diary.note("before the first item", told)
    gate.ask("task", None, "GET", f"/api/v1{links[0]}")

    def answer(link: str, number: int, **more: str) -> Any:
        page = gate.send(None, "GET", link).text
        sent = {
            name: "".join(re.findall(rf'name="{name}" value="([^"]*)"', page)[:1])
            for name in ("assignment", "answer_id", "stage")
        }
        given = {"answer:good": str(number % 2), "answer:why": f"why {number}", "seconds": f"{20 + number}", **more}
        gate.clock.now += 30
        return gate.send(None, "POST", f"{link}/answer", data={**sent, **given})

    gate.ask("an item", None, "GET", links[0])
    gate.diary.note("half an answer", alerts(answer(links[0], 0, **{"answer:why": ""})))
    gate.diary.note("too long an answer", alerts(answer(links[0], 0, **{"answer:why": "x" * 81})))
    gate.diary.note("odd seconds", alerts(answer(links[0], 0, seconds="x", opened="2000003000")))
    gate.ask("after an answer", None, "GET", links[0])
    gate.diary.note("taken back", alerts(gate.send(None, "POST", f"{links[0]}/undo", data={"answer_id": "back"})))
    gate.ask("reopened", None, "GET", links[0])
    gate.diary.note("answers", [alerts(answer(links[0], k)) for k in (0, 1, 2)])
    gate.ask("enough", None, "GET", links[0])
    gate.diary.note("skipped", alerts(gate.send(None, "POST", f"{links[0]}/skip", data={"assignment": "x"})))
    for name, body in {
        "no JSON": "x",
        "a list": "[]",
        "no answers": '{"assignment": "x"}',
        "unknown": '{"assignment": "x", "answer_id": "z", "answers": {}}',
        "late": '{"seconds": -1, "answers": {}}',
        "large": '"' + "x" * 262_144 + '"',
    }.items():
        for verb in ("draft", "submit"):
            gate.ask(f"{verb}: {name}", None, "POST", f"{links[0]}/{verb}", content=body)
    for person in ("p1", "p2", ""):
        gate.ask(f"from the platform: {person}", None, "GET", crowd.replace("ID", person))
    gate.ask("budget", "owner", "GET", home)
    gate.diary.note(
        "topped up",
        [
            alerts(gate.send("owner", "POST", f"{home}/top-up", data=sent))
            for sent in (
                {"budget": "3"},
                {"budget": "3", "confirm": "yes"},
                {"labels": "1", "confirm": "yes"},
                {"generators": "g0", "confirm": "yes"},
                {"generators": "g1", "confirm": "yes", "labels": "3"},
            )
        ],
    )
    for link in (links[1],):
        gate.send(None, "POST", f"{link}/consent", data={"digest": digest, "agree": "yes"})
        gate.send(None, "POST", f"{link}/survey", data={"page": "before", "answer:native": "0"})
        gate.diary.note("another's answers", [alerts(answer(link, k)) for k in (1, 1, 0)])
    gate.diary.note(
        "the last page",
        alerts(gate.send(None, "POST", f"{links[0]}/survey", data={"page": "after", "answer:remark": "Nice."})),
    )
    gate.ask("at the end", None, "GET", links[0])
    gate.ask("as an annotator with an account", "nan", "GET", f"/campaigns/{campaign}/annotate")
    gate.ask("its address", "nan", "GET", f"/campaigns/{campaign}")
    gate.ask("campaigns of an annotator", "nan", "GET", "/boards/ferry/campaigns")
    pseudonyms = re.findall(
        r'name="annotator" value="(a-[0-9a-f]+)"', gate.send("owner", "GET", f"{home}/annotators").text
    )
    who = sorted(set(pseudonyms))[0]
    gate.diary.note(
        "exclusions",
        [
            alerts(gate.send("owner", "POST", f"{home}/{verb}", data={"annotator": who, "reason": reason}))
            for verb, reason in (
                ("readmit", "x"),
                ("exclude", " "),
                ("exclude", "x" * 1001),
                ("exclude", "asleep"),
                ("exclude", "again"),
                ("readmit", "awake"),
                ("exclude", "asleep again"),
                ("revoke", ""),
            )
        ],
    )
    lines = gate.send("owner", "GET", f"{home}/answers.jsonl").text.splitlines()
    sent_id = re.findall(r'"answer_id": ?"([^"]+)"', lines[0])[0]
    gate.diary.note(
        "disputes",
        [
            alerts(
                gate.send(
                    "owner", "POST", f"{home}/{verb}", data={"answer": sent_id, "reason": reason, "decision": decision}
                )
            )
            for verb, reason, decision in (
                ("decide", "x", "restored"),
                ("dispute", "", ""),
                ("dispute", "odd", ""),
                ("decide", "ok", "upheld"),
                ("decide", "no", "struck"),
                ("decide", "no", "struck"),
                ("decide", "yes", "restored"),
                ("decide", "yes", "other"),
            )
        ],
    )
    for section in (
        "",
        "/annotators",
        "/agreement",
        "/results",
        "/survey.csv",
        "/survey.jsonl",
        "/answers.jsonl?history=yes",
        "/preview",
    ):
        gate.ask(f"page {section}", "owner", "GET", f"{home}{section}")
    for section in ("", "/survey", "/results?with_excluded=true", "/answers?history=true", "/annotators"):
        gate.ask(f"facts {section}", "owner", "GET", f"{api}{section}")
    gate.diary.note("refused while open", forms_refused(gate, home, api))
    gate.diary.note("state", gate.send("owner", "GET", api).json()["campaign"]["state"])
    gate.ask("paused", "owner", "POST", f"{home}/pause", data={"reason": "lunch"})
    gate.ask("while paused", None, "GET", links[1])
    gate.ask("resumed", "owner", "POST", f"{home}/resume", data={"confirm": "yes"})
    gate.ask("closed", "owner", "POST", f"{home}/close", data={"confirm": "yes", "ranks": "yes", "reason": "done"})
    gate.ask("after it closed", "owner", "GET", home)
    gate.ask("to annotators", None, "GET", links[1])
    gate.ask("protocol", None, "GET", f"{api}/protocol")
    gate.ask("withdrawn without a word", "owner", "POST", f"{api}/withdraw", json={})
    gate.ask("withdrawn", "owner", "POST", f"{home}/withdraw", data={"confirm": "yes", "reason": "wrong"})
    gate.ask("at last", "owner", "GET", home)
    gate.ask("all campaigns", "owner", "GET", "/boards/ferry/campaigns")
    gate.finish("life", ROWS)


@pytest.mark.parametrize("exclusion", ["signs", "e-value"])
def test_who_does_not_read_is_told_as_was_approved(tmp_path: Path, exclusion: str) -> None:
    gate = make_gate(tmp_path, distinct_board(12, 3))
    fix_key(gate.site)
    plan = {
        "instances": 10,
        "labels": 2,
        "qualification": 4 if exclusion == "e-value" else 0,
        "exclusion": exclusion,
        "pass_mark": 0.7,
    }
    campaign = plan_by_program(gate, "ferry", "tested", "genie-translation", plan=plan)
    api, home = f"/api/v1/campaigns/{campaign}", f"/boards/ferry/campaigns/{campaign}"
    gate.ask("quote", "owner", "GET", f"{api}/quote")
    gate.diary.note("opened", gate.send("owner", "POST", f"{api}/open", json={}).json()["state"])
    ways: tuple[Answering, ...] = (honestly, contrarily, lambda item, count: 2, lambda item, count: count % 5, honestly)
    everybody = [
        Annotator(gate, path, k, way)
        for k, (path, way) in enumerate(zip(invited(gate, campaign, *"abcde"), ways, strict=True))
    ]
    for annotator in everybody:
        turn = annotator.answer_all(24)
        gate.diary.note(f"{annotator.number} ends", {**turn, "item": None, "count": annotator.count})
    gate.ask("page of the last", None, "GET", everybody[1].path)
    for section in ("/annotators", "/results"):
        gate.ask(f"page {section}", "owner", "GET", f"{home}{section}")
        gate.ask(f"facts {section}", "owner", "GET", f"{api}{section}")
    gate.ask("with everybody", "owner", "GET", f"{api}/results?with_excluded=true")
    gate.diary.note("reviewed", [annotators.review_campaign(gate.site, campaign) for _ in range(2)])
    gate.diary.rows("rows", gate.site, ("rulings", "participations", "audit"))
    gate.ask("closed", "owner", "POST", f"{api}/close", json={"confirm": True})
    gate.ask("protocol", "owner", "GET", f"{api}/protocol")
    gate.keep(f"campaigns/tested-by-{exclusion}")


def test_repetitions_and_newcomers_say_what_was_approved(tmp_path: Path) -> None:
    gate = make_gate(tmp_path, distinct_board(6, 2))
    fix_key(gate.site)
    gate.person("team")
    plan = {"instances": 4, "positive": 0, "negative": 0, "pay": 0.5, "newcomer_each": 1.0, "newcomers_total": 3.0}
    rolling = plan_by_program(gate, "ferry", "rolling", "genie-translation", plan=plan, rolling=True, generators=["g0"])
    campaign = plan_by_program(
        gate, "ferry", "root", "genie-translation", plan={**plan, "newcomer_each": None, "newcomers_total": None}
    )
    api, home = f"/api/v1/campaigns/{campaign}", f"/boards/ferry/campaigns/{campaign}"
    for each in (rolling, campaign):
        gate.send("owner", "POST", f"/api/v1/campaigns/{each}/open", json={"confirm": True})
    ann = Annotator(gate, invited(gate, campaign, "ann")[0], 0, honestly)
    ann.answer_all(20)
    good = {"days": "2", "first": "2033-05-20", "every": "2", "annotators": "same", "anchors": "g1", "instances": "3"}
    told: dict[str, Any] = {}
    for changed in (
        {"days": "0"},
        {"days": "61"},
        {"every": "0"},
        {"every": "367"},
        {"instances": "1"},
        {"instances": "5"},
        {"anchors": "nobody"},
        {"first": "2020-01-01"},
        {"annotators": "none"},
        {},
        {},
    ):
        told[f"{changed} {len(told)}"] = alerts(gate.send("owner", "POST", f"{home}/repeat", data=good | changed))
    gate.diary.note("repetitions", told)
    sent = {"days": 1, "annotators": "fresh"}
    gate.ask("repeated by a program", "owner", "POST", f"{api}/repeat", json=sent)
    days = [
        each["id"]
        for each in gate.send("owner", "GET", "/api/v1/boards/ferry/campaigns").json()
        if each["id"] not in (rolling, campaign)
    ]
    gate.clock.now += 3 * 86400
    for k, day in enumerate(days):
        gate.diary.note(
            f"opened {k}",
            gate.send("owner", "POST", f"/api/v1/campaigns/{day}/open", json={"confirm": True}).json().get("state"),
        )
        gate.diary.note(
            f"invited {k}",
            gate.send("owner", "POST", f"/api/v1/campaigns/{day}/annotators", json={"names": ["ann"]}).json(),
        )
        gate.ask(f"day {k}", "owner", "GET", f"/boards/ferry/campaigns/{day}")
    for k, day in enumerate(days[:2]):
        path = gate.send("owner", "POST", f"/api/v1/campaigns/{day}/annotators", json={"names": ["ann"]}).json()
        if isinstance(path, list):
            again = Annotator(gate, path[0]["path"], k + 1, honestly)
            gate.diary.note(f"again {k}", {**again.answer_all(20), "item": None, "count": again.count})
        gate.clock.now += 86400
    gate.ask("days", "owner", "GET", f"{home}/results")
    gate.ask("days' facts", "owner", "GET", f"{api}/results")
    for k in range(4):
        text = "\n".join(f"ferry{i} pier{i} boat {k}" for i in range(6))
        gate.ask(
            f"newcomer {k}",
            "team",
            "POST",
            "/api/v1/boards/ferry/generators",
            data={"name": f"new {k}"},
            files={"file": ("o.txt", text)},
        )
        gate.work()
    gate.ask("rolling", "owner", "GET", f"/boards/ferry/campaigns/{rolling}")
    gate.ask("rolling's facts", "owner", "GET", f"/api/v1/campaigns/{rolling}")
    for admitted in (
        {"generators": ["new 2"]},
        {"generators": ["new 2"], "confirm": True},
        {"generators": ["new 1"], "confirm": True},
    ):
        gate.ask(f"admits {admitted}", "owner", "POST", f"/api/v1/campaigns/{rolling}/admit", json=admitted)
    gate.ask("rolling after", "owner", "GET", f"/boards/ferry/campaigns/{rolling}")
    gate.diary.note(
        "who was admitted",
        [each["generators"] for each in gate.send("owner", "GET", "/api/v1/boards/ferry/campaigns").json()],
    )
    gate.diary.rows("rows", gate.site, ("deliveries",))
    gate.keep("repetitions")


def test_a_study_on_a_platform_says_what_was_approved(tmp_path: Path) -> None:
    settings = FREE + 'base_url = "https://boards.example.org"\n'
    gate = make_gate(tmp_path, distinct_board(6, 2), settings=settings)
    fix_key(gate.site)
    gate.person("team")
    site, owner, note = gate.site, gate.owner, gate.diary.note
    campaign = plan_by_program(
        gate, "ferry", "paid", "binary", generators=["g0"], plan={"instances": 6, "positive": 0, "negative": 0}
    )
    with ProlificServer() as server, closing(Prolific(address=server.address, key=server.key)) as platform:

        def draft(**said: Any) -> Any:
            return crowd.draft_study(site, owner, campaign, platform, **{"hourly": 1200, "items_per_place": 3, **said})

        def attempt(name: str, act: Callable[[], Any]) -> None:
            note(name, re.sub(r"0x[0-9a-f]+|http://127\.0\.0\.1:\d+|Server disconnected[^.]*", "here", problems(act)))

        attempt("drafted before it opens", draft)
        gate.send("owner", "POST", f"/api/v1/campaigns/{campaign}/open", json={})
        for said in ({"hourly": 0}, {"items_per_place": 0}, {"items_per_place": 100}, {"hourly": 10**9}):
            attempt(f"drafted with {said}", partial(draft, **said))
        drafted = draft()
        note("quote", asdict(drafted.quote))
        note(
            "on the platform",
            {key: value for key, value in server.studies[drafted.now.id].items() if key not in ("id",)},
        )
        study = drafted.row.id
        attempt("published unasked", lambda: crowd.publish_study(site, owner, study, platform, confirmed=False))
        attempt("a bonus too early", lambda: crowd.prepare_bonuses(site, owner, study, platform, {"anna": 150}).state)
        note("published", crowd.publish_study(site, owner, study, platform, confirmed=True).state)
        attempt("published again", lambda: crowd.publish_study(site, owner, study, platform, confirmed=True).state)
        token = server.studies[drafted.now.id]["external_study_url"].partition("/annotate/")[2].partition("?")[0]
        works = {who: server.take_place(drafted.now.id, who) for who in ("anna", "ben")}
        for who, most in (("anna", 3), ("ben", 1)):
            link = f"/annotate/{token}?PROLIFIC_PID={who}&STUDY_ID=x"
            for k in range(most):
                page = gate.send(None, "GET", link).text
                sent = {
                    key: "".join(re.findall(rf'name="{key}" value="([^"]*)"', page)[:1])
                    for key in ("assignment", "answer_id", "stage")
                }
                gate.clock.now += 12
                path = f"/annotate/{token}/answer?PROLIFIC_PID={who}"
                note(
                    f"{who} {k}",
                    alerts(gate.send(None, "POST", path, data={**sent, "answer:good": "1", "seconds": "9"})),
                )
            gate.ask(f"{who} after", None, "GET", link)
        server.finish(works["anna"], drafted.row.code)
        server.finish(works["ben"], "GUESSED")
        for proposal in crowd.review_works(site, owner, study, platform):
            note(f"proposed for {proposal.work.participant}", [proposal.verdict, proposal.reason, proposal.answers])
        attempt(
            "approved unasked",
            lambda: crowd.approve_works(site, owner, study, platform, [works["anna"]], confirmed=False),
        )
        attempt("approved", lambda: crowd.approve_works(site, owner, study, platform, [works["anna"]], confirmed=True))
        attempt(
            "rejected without words",
            lambda: crowd.reject_work(site, owner, study, platform, works["ben"], "BAD_CODE", "no"),
        )
        long = (
            "Of the test questions, whose answers are known, most were answered wrongly, as the instructions explain."
        )
        attempt("rejected", lambda: crowd.reject_work(site, owner, study, platform, works["ben"], "BAD_CODE", long))
        for places, confirmed in ((1, True), (5, False), (5, True)):
            attempt(
                f"{places} places, {confirmed}",
                partial(crowd.grow_study, site, owner, study, platform, places, confirmed=confirmed),
            )
        for bonuses in ({}, {"anna": 0}, {"nobody": 3}):
            attempt(
                f"bonuses {bonuses}",
                partial(crowd.prepare_bonuses, site, owner, study, platform, bonuses),
            )
        for was_paid in (True, False):
            payment = crowd.prepare_bonuses(site, owner, study, platform, {"anna": 150})
            attempt(
                f"paid unasked {was_paid}",
                partial(crowd.pay_bonuses, site, owner, payment.id, platform, confirmed=False),
            )
            server.lose_answer = was_paid
            attempt(
                f"paid {was_paid}",
                partial(crowd.pay_bonuses, site, owner, payment.id, platform, confirmed=True),
            )
            server.lose_answer = False
            attempt(
                f"settled {was_paid}",
                partial(crowd.settle_payment, site, owner, payment.id, was_paid=was_paid, reason="seen"),
            )
        attempt("ended", lambda: crowd.end_study(site, owner, study, platform).state)
        attempt("of nobody", lambda: crowd.end_study(site, owner, "nothing", platform).state)
        attempt("by a team", lambda: crowd.end_study(site, gate.viewer("team"), study, platform).state)
        note("submissions", [entry["status"] for entry in server.submissions.values()])
        note("paid", server.paid)
    gate.finish("study", ROWS)
