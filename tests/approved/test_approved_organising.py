"""What organisers do: settings, what readers are told, drafts of boards, and the trail, as it was approved."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from page_sites import page_board
from people_diaries import no_chance, page_lines
from people_gates import FREE, Gate, make_gate, problems

from billboards.board import DataCard
from billboards.site.organise import draft_records, dress, pages, prose, setting_fields, trail_pages
from billboards.site.settings import read_board_settings

__all__ = ["no_chance"]
pytestmark = pytest.mark.usefixtures("no_chance")
HOME = "/boards/harbour/organise"
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 40
ROWS = [(k, g, f"the {g} boat {k}", f"the boat {k}", 1 + (k + len(g)) % 5) for k in range(5) for g in ("slow", "quick")]
TABLE = "instance,system,output,reference,adequacy\n" + "".join(",".join(map(str, row)) + "\n" for row in ROWS)
FACTS = {
    "title": "Boats",
    "task": "Name a boat.",
    "source": "Made up.",
    "licence": "CC0",
    "citation": "None yet.",
    "protocol": "Rated from 1 to 5.",
    "annotators": "The crew.",
    "output-language": "en",
    "definition.adequacy": "Whether it is the right boat.",
}


@pytest.fixture
def pier(tmp_path: Path) -> Gate:
    gate = make_gate(tmp_path, page_board(), settings=FREE + "metric_bytes = 20000\n")
    gate.person("ann")
    return gate


def typed(gate: Gate, part: str, **changed: str) -> dict[str, str]:
    """What a form sends where some fields are changed."""
    fields = setting_fields.board_fields() if part == "settings" else setting_fields.about_fields()
    document = read_board_settings(gate.site.boards()[0].settings).document()
    return {**setting_fields.shown_values(tuple(fields.values()), document), **changed}


def heard(answer: Any) -> list[Any]:
    """The status of a page, and every line of it that speaks of a mistake."""
    if answer.status_code == 303:
        return [303, answer.headers["location"]]
    lines = page_lines(answer.text)
    begins = next((k for k, line in enumerate(lines) if "role=alert" in line), 1)
    wrong = [line for line in lines[begins + 5 :] if "aria-invalid" in line]
    return [answer.status_code, *(line[:240] for line in (*lines[begins + 1 : begins + 5], *wrong[:4]))]


WRONG: tuple[dict[str, str], ...] = (
    {"k": "lots", "draws": "-5", "by": "nonsense", "metrics": "chrF\nNope\nchrF"},
    {"per_day": "-1", "total": "x", "hidden_per_day": "1.5"},
    {"phases.0.name": "dev", "phases.0.opens": "2033-01-01T00:00", "phases.0.closes": "2032-01-01T00:00"},
    {"phases.0.opens": "soon", "phases.1.name": "a", "phases.2.name": "a"},
    {"frozen": "never", "ladder": "7", "method": "odd", "seed": "x"},
    {"own_trust": "yes", "trust.private_share": "7", "trust.least_labels": "-1"},
    {"trust.private_share": "0.5"},
    {"inputs_from": "nowhere", "ranks": "nothing", "accepts.generator": ""},
)
GOOD: tuple[dict[str, str], ...] = (
    {"per_day": "4", "k": "2", "phases.0.name": "dev", "phases.0.closes": "2099-05-01T12:00", "phases.0.blind": "yes"},
    {"per_day": "", "hidden_judgments": "yes", "hidden_references": "yes", "ladder": "yes", "open_programs": "yes"},
    {"own_trust": "yes", "quiet": "20", "draws": "30", "metrics": "chrF\nlength"},
    {"hidden_judgments": "", "hidden_references": "", "phases.0.remove": "yes", "own_trust": ""},
)


def test_settings_of_boards_say_what_was_approved(pier: Gate) -> None:
    pier.ask("home", "owner", "GET", "/organise")
    pier.ask("overview", "owner", "GET", HOME)
    pier.ask("settings", "owner", "GET", f"{HOME}/settings")
    pier.ask("settings as JSON", "owner", "GET", "/api/v1/boards/harbour/settings")
    for k, changed in enumerate(WRONG):
        pier.diary.note(
            f"wrong {k}", heard(pier.send("owner", "POST", f"{HOME}/settings", data=typed(pier, "settings", **changed)))
        )
    for k, changed in enumerate(GOOD):
        pier.diary.note(
            f"good {k}", heard(pier.send("owner", "POST", f"{HOME}/settings", data=typed(pier, "settings", **changed)))
        )
        pier.ask(f"settings {k}", "owner", "GET", f"{HOME}/settings?saved=yes")
        pier.ask(f"overview {k}", "owner", "GET", HOME)
        pier.clock.now += 3600
    for act in ("freeze", "freeze", "unfreeze", "reveal", "hide", "explode"):
        pier.diary.note(
            f"{act} {len(pier.diary.entries)}", heard(pier.send("owner", "POST", f"{HOME}/act", data={"act": act}))
        )
        pier.ask(f"after {act} {len(pier.diary.entries)}", "owner", "GET", HOME)
    for path, body in (
        ("settings", {"k": 1}),
        ("settings", {"k": "x"}),
        ("settings", {"odd": 1}),
        ("settings", {"phases": [{"name": ""}]}),
    ):
        pier.ask(f"program {body}", "owner", "PATCH", f"/api/v1/boards/harbour/{path}", json=body)
    for path in ("freeze", "unfreeze", "reveal", "retry"):
        pier.ask(f"program {path}", "owner", "POST", f"/api/v1/boards/harbour/{path}")
    for asker in (None, "ann"):
        for path in ("", "/settings", "/about", "/audit"):
            pier.diary.note(f"{path} for {asker}", heard(pier.send(asker, "GET", f"{HOME}{path}")))
        pier.diary.note(f"freezing by {asker}", heard(pier.send(asker, "POST", f"{HOME}/act", data={"act": "freeze"})))
    for audience in ("team", "public", "nobody", ""):
        pier.ask(
            f"seen as {audience}", "owner", "POST", "/see-as", data={"audience": audience, "back": "//evil.example"}
        )
        pier.ask(
            f"back from {audience}", "owner", "POST", "/see-as", data={"audience": audience, "back": "/boards/a b?c"}
        )
    pier.ask("trail", "owner", "GET", f"{HOME}/audit")
    for query in ("action=board.settings", "before=3", "before=x", "action=board", "action=nothing"):
        pier.ask(f"trail by {query}", "owner", "GET", f"/organise/audit?{query}")
    for k in range(60):
        pier.person(f"crew{k}")
    pier.ask("long trail", "owner", "GET", "/organise/audit?action=account")
    pier.ask("trail as JSON", "owner", "GET", "/api/v1/audit?limit=4")
    pier.diary.rows("rows", pier.site, ("boards",))
    pier.keep("settings")


def test_what_readers_are_told_is_what_was_approved(pier: Gate) -> None:
    about = {
        "about.description": (
            "# Boats\n\nA *small* board of **boats**, see [here](https://a.example) and <b>there</b>.\n\n"
            "- one\n- two\n\n1. first\n2. second"
        ),
        "about.rules": "No code `x < 1`.\n\nSee [this](javascript:alert).",
        "about.faq": "## Why?\n\nBecause.",
        "about.contact": "ann@example.org or https://a.example/contact",
        "about.timeline.0.at": "2033-05-18T12:00",
        "about.timeline.0.words": "A day",
    }
    pier.ask("form", "owner", "GET", f"{HOME}/about")
    form = page_lines(pier.send("owner", "GET", f"{HOME}/about").text)
    names = sorted(set(re.findall(r" name=([\w.]+)", "\n".join(form))))
    pier.diary.note("names", names)
    said = {
        name: value
        for key, value in about.items()
        for name in names
        if name == key or name == key.removeprefix("about.")
    }
    pier.ask("told", "owner", "POST", f"{HOME}/about", data=typed(pier, "about", **said))
    pier.ask("about", None, "GET", "/boards/harbour/about")
    pier.ask("about for ann", "ann", "GET", "/boards/harbour/about")
    pier.ask("about for its owner", "owner", "GET", "/boards/harbour/about")
    logos = {
        "png": PNG,
        "jpeg": b"\xff\xd8\xff" + b"0" * 40,
        "svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        "text": b"hello",
        "large": PNG + b"0" * 300_000,
        "webp": b"RIFF0000WEBP" + b"0" * 9,
    }
    for name, raw in logos.items():
        files = {"logo": (f"logo.{name}", raw)}
        pier.diary.note(
            f"logo {name}",
            heard(pier.send("owner", "POST", f"{HOME}/about", data=typed(pier, "about", **said), files=files)),
        )
        answer = pier.send("ann", "GET", "/boards/harbour/logo")
        pier.diary.note(f"logo after {name}", [answer.status_code, answer.headers["content-type"], len(answer.content)])
    pier.diary.note(
        "no logo", heard(pier.send("owner", "POST", f"{HOME}/about", data=typed(pier, "about", no_logo="yes", **said)))
    )
    long = {name: "x" * 30_000 for name in names if name not in ("csrf", "logo", "no_logo")}
    pier.diary.note("too long", heard(pier.send("owner", "POST", f"{HOME}/about", data=typed(pier, "about", **long))))
    texts = (
        "",
        "one\ntwo\n\nthree",
        "# A\n## B\n### C\n#### D",
        "a_b_c *d* **e** `f*g*` [h](https://i)",
        "- a\n  - b\n- c\ntext",
        "> quoted",
        "1. a\n3. b",
        "http://x.example.",
        "![p](https://q)",
        "a\\*b",
        "---",
        "|a|b|",
        "[x](/boards) [y](//z) [w](mailto:a@b.c)",
    )
    pier.diary.note("prose", {text: str(prose.prose(text)) for text in texts})
    pier.diary.note(
        "contacts",
        {
            text: str(prose.contact_prose(text))
            for text in (
                "ann@example.org",
                "https://a.example",
                "Ann <ann@example.org>",
                "call 7",
                "a@b, c@d.example",
                "javascript:x",
            )
        },
    )
    pier.diary.note(
        "phases",
        [pages.phase_state(opens, closes, 5.0) for opens in (None, 4.0, 5.0, 6.0) for closes in (None, 5.0, 6.0)],
    )
    pier.diary.rows("rows", pier.site, ("audit",))
    assert dress is not None
    assert trail_pages.PAGE == 50
    pier.keep("about")


def archive(name: str, **files: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        for path, text in files.items():
            made.writestr(f"{name}/{path.replace('__', '/').replace('_dot_', '.')}", text)
    return packed.getvalue()


def test_drafts_of_boards_say_what_was_approved(pier: Gate) -> None:
    for source in ("", "/demo", "/table", "/text", "/folder", "/catalogue", "/nothing"):
        pier.ask(f"form {source}", "owner", "GET", f"/organise/new{source}")
    board = {
        "board_dot_toml": 'name = "small"\nmetrics = ["chrF"]\n',
        "instances_dot_jsonl": json.dumps({"id": "a", "input": "x", "references": [{"name": "r", "text": "a boat"}]})
        + "\n",
        "generators__one_dot_jsonl": json.dumps({"instance": "a", "text": "a ship"}) + "\n",
    }
    sent: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("table", {"name": "boats"}, {"file": ("t.csv", TABLE)}),
        ("table", {"name": "boats"}, {"file": ("t.csv", TABLE)}),
        ("table", {"name": "harbour"}, {"file": ("t.csv", TABLE)}),
        ("table", {"name": ""}, {"file": ("t.csv", TABLE)}),
        ("table", {"name": "a/b"}, {"file": ("t.csv", TABLE)}),
        ("table", {"name": "empty"}, {"file": ("t.csv", "a,b\n")}),
        ("table", {"name": "none"}, {}),
        ("folder", {"name": "small"}, {"file": ("b.zip", archive("small", **board))}),
        (
            "archive",
            {"name": "broken"},
            {"file": ("b.zip", archive("broken", **{**board, "instances_dot_jsonl": "{}\n"}))},
        ),
        ("folder", {"name": "large"}, {"file": ("b.zip", b"0" * 20001)}),
        ("catalogue", {"name": "none", "entry": "nothing"}, {}),
        ("demo", {"name": ""}, {}),
    ]
    for k, (source, data, files) in enumerate(sent):
        answer = pier.send("owner", "POST", f"/organise/new/{source}", data=data, files=files or None)
        pier.diary.note(f"{k} {source} {data}", heard(answer))
    for option in ("odd",):
        data = {"name": f"by{len(option)}", "source": "table", "option": option}
        pier.ask(f"program {option}", "owner", "POST", "/api/v1/drafts", data=data, files={"file": ("t.csv", TABLE)})
    pier.work()
    pier.ask("home", "owner", "GET", "/organise")
    pier.ask("drafts", "owner", "GET", "/api/v1/drafts")
    for name in ("boats", "small", "broken", "empty", "nothing"):
        pier.ask(f"draft {name}", "owner", "GET", f"/organise/drafts/{name}")
    pier.diary.note(
        "published too early",
        [heard(pier.send("owner", "POST", f"/organise/drafts/{name}/publish")) for name in ("broken", "nothing")],
    )
    wrong = {"fact.licence": "x" * 100_001, "fact.output-language": "no language", "fact.odd": "1"}
    for name, value in wrong.items():
        pier.diary.note(
            f"{name} is wrong", heard(pier.send("owner", "POST", "/organise/drafts/boats/card", data={name: value}))
        )
        pier.ask(
            f"program's {name}",
            "owner",
            "PATCH",
            "/api/v1/drafts/boats/card",
            json={"facts": {name.removeprefix("fact."): value[:200]}},
        )
    pier.diary.note(
        "facts",
        heard(
            pier.send(
                "owner",
                "POST",
                "/organise/drafts/boats/card",
                data={f"fact.{key}": value for key, value in FACTS.items()},
            )
        ),
    )
    pier.ask("stated", "owner", "GET", "/organise/drafts/boats")
    pier.diary.note("published", heard(pier.send("owner", "POST", "/organise/drafts/boats/publish")))
    pier.ask("published by a program", "owner", "POST", "/api/v1/drafts/small/publish")
    pier.diary.note(
        "discarded",
        [heard(pier.send("owner", "POST", f"/organise/drafts/{name}/discard")) for name in ("empty", "empty", "boats")],
    )
    pier.ask("discarded by a program", "owner", "DELETE", "/api/v1/drafts/broken")
    pier.ask("a draft of nobody's", "ann", "GET", "/organise/drafts/empty")
    folder = pier.home / "data" / "boards" / "boats"
    pier.diary.note(
        "files",
        {
            path.relative_to(folder).as_posix(): path.read_text().splitlines()[:30]
            for path in sorted(folder.rglob("*"))
            if path.suffix in (".toml", ".jsonl")
        },
    )
    pier.diary.note("board", pier.send(None, "GET", "/api/v1/boards/boats").status_code)
    pier.ask("its page", "owner", "GET", "/boards/boats/organise")
    pier.diary.note(
        "states", [problems(lambda: draft_records.__name__), DataCard().title, replace(page_board(), name="x").name]
    )
    pier.diary.rows("rows", pier.site, ("board_drafts", "drafts", "boards", "audit"))
    pier.keep("drafts")
