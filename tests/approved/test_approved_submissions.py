"""Generators and metrics that are sent in: what is refused and why, and what comes of them, as it was approved."""

from __future__ import annotations

import io
import json
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from page_sites import page_board
from people_diaries import no_chance, page_lines
from people_gates import FREE, Gate, make_gate, problems

from billboards.site.submissions.sending import change_settings

__all__ = ["no_chance"]
pytestmark = pytest.mark.usefixtures("no_chance")
ALLOWING = (
    FREE + 'generator_bytes = 20000\nmetric_bytes = 20000\n[metrics]\nhub = ["lab/*"]\n'
    'endpoints = ["https://scores.example.org/*"]\n'
)
GOOD = {"higher_is_better": True, "needs": ["references"], "training_data": "none"}
CODE = "def score(outputs, references, inputs):\n    return [float(len(text)) for text in outputs]\n"


def texts(count: int = 8, word: str = "boat") -> str:
    return "\n".join(f"{word} {k}" for k in range(count))


def columns() -> str:
    """A score for every output, a row's in the order of instances."""
    rows = ("Cleo", "late", '<b>"A&B"</b>', "a/b c?d#e%f")
    return "".join(f"{row}\t{(3 * n + k) % 7}\n" for n, row in enumerate(rows) for k in range(8))


def lines(*more: Any, count: int = 8) -> str:
    told = [{"instance": f"i/{k}", "text": f"line {k}"} for k in range(count)]
    return "\n".join(map(json.dumps, [*told, *more]))


def zipped(**files: str | bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(
                zipfile.ZipInfo(name.replace("__", "/").replace("_dot_", "."), (2030, 1, 1, 0, 0, 0)), text
            )
    return packed.getvalue()


def refusal(answer: Any) -> Any:
    """What is wrong in an answer, or what was made."""
    told = answer.json()
    if answer.status_code < 300:
        return {
            key: told[key]
            for key in (
                "name",
                "kind",
                "version",
                "phase",
                "state",
                "anonymous",
                "entry",
                "settings",
                "warnings",
                "doubts",
            )
        }
    return [answer.status_code, told.get("detail"), *told.get("problems", [])[1:3]]


@pytest.fixture
def pier(tmp_path: Path) -> Gate:
    gate = make_gate(tmp_path, page_board(), settings=ALLOWING)
    change_settings(gate.site, gate.owner, "harbour", {"draws": 20})
    for name in ("ann", "ben"):
        gate.person(name, team=f"team of {name}")
    gate.person("nan", "annotator")
    return gate


def send(
    gate: Gate, kind: str, raw: str | bytes, asker: str | None = "ann", *, file_name: str = "o.txt", **data: Any
) -> Any:
    gate.clock.now += 1
    return gate.send(asker, "POST", f"/api/v1/boards/harbour/{kind}", data=data, files={"file": (file_name, raw)})


def test_generators_that_are_wrong_are_refused_as_was_approved(pier: Gate) -> None:
    files: dict[str, str | bytes] = {
        "empty": "",
        "blank": "\n\n\n",
        "one less": texts(7),
        "one more": texts(9),
        "empty lines among them": texts(8).replace("boat 3", ""),
        "Latin": texts(8).replace("boat", "Fähre").encode("latin-1"),
        "UTF-16": texts(8).encode("utf-16"),
        "a null": texts(8).replace("boat 3", "bo\x00at"),
        "as large as is taken": texts(8) + "x" * (20000 - len(texts(8))),
        "a byte too large": texts(8) + "x" * (20001 - len(texts(8))),
        "one line less": lines(count=7),
        "twice": lines({"instance": "i/3", "text": "again"}),
        "an unknown one": lines({"instance": "i/99", "text": "x"}),
        "no text": lines({"instance": "i/7"}, count=7),
        "no words": lines({"instance": "i/7", "text": None}, count=7),
        "a number": lines({"instance": "i/7", "text": 3}, count=7),
        "a list": lines([1], count=7),
        "no JSON": lines(count=7) + "\n{oops",
        "other keys": lines({"id": "i/7", "output": "x"}, count=7),
        "by number": "\n".join(json.dumps({"instance": k, "text": "x"}) for k in range(8)),
        "costs": "\n".join(json.dumps({"instance": f"i/{k}", "text": "x", "latency": k, "odd": 1}) for k in range(8)),
        "a zip": zipped(a_dot_txt=texts(8)),
        "CSV": "instance,text\n" + "\n".join(f"i/{k},x" for k in range(8)),
        "the same for all": "\n".join(["same"] * 8),
        "the references": "\n".join(i.references[0].text for i in page_board().instances),
        "the inputs": "\n".join(i.input or "" for i in page_board().instances),
    }
    told: dict[str, Any] = {}
    for name, raw in files.items():
        told[name] = refusal(
            send(pier, "generators", raw, name=name, file_name="o.jsonl" if "{" in str(raw)[:40] else "o.txt")
        )
        for form in ("lines", "jsonl", "text", "nonsense"):
            if name in ("one less", "one line less", "empty", "no JSON"):
                told[f"{name} as {form}"] = refusal(send(pier, "generators", raw, name=f"{name} {form}", form=form))
    pier.diary.note("files", told)
    names = (
        "",
        " ",
        "x" * 100,
        "x" * 101,
        "a|b",
        "a(b",
        "late",
        "Late",
        "lаte",
        "Ada",
        "Cleo",
        "chrF",
        "a\nb",
        "a\u200bb",
        "..",
        "public",
        "human",
        "best",
        "-x",
        "ensemble",
        "one less",
        "é" * 60,
        "<i>",
    )
    pier.diary.note("names", {repr(name): refusal(send(pier, "generators", texts(), name=name)) for name in names})
    odd: list[dict[str, Any]] = [
        {"url": "http://x.example"},
        {"url": "https://x.example"},
        {"paper": "x" * 10_001},
        {"description": "a\u202eb"},
        {"latency": -1},
        {"latency": "nan"},
        {"price": "0"},
        {"energy": 1e3},
        {"parameters": 7e9, "training_tokens": 1e12},
        {"entry": "second"},
        {"entry": "contrastive"},
        {"human": "true"},
        {"anonymous": "true"},
        {"form": "xml"},
        {"latency": "inf"},
    ]
    pier.diary.note(
        "about",
        {
            str(more)[:60]: refusal(send(pier, "generators", texts(8, f"w{k}"), name=f"about {k}", **more))
            for k, more in enumerate(odd)
        },
    )
    pier.diary.note(
        "again",
        [
            refusal(send(pier, "generators", texts(8, word), who, name="about 1"))
            for who, word in (("ann", "w1"), ("ann", "other"), ("ben", "w1"), ("nan", "w1"), (None, "w1"))
        ],
    )
    pier.ask("form", "ann", "GET", "/boards/harbour/submit/generator")
    pier.ask("form of a visitor", None, "GET", "/boards/harbour/submit/generator")
    pier.ask("choice", "ann", "GET", "/boards/harbour/submit")
    for k, sent in enumerate(
        (
            {},
            {"name": "x"},
            {"name": "x", "pasted": "a\nb"},
            {"name": "late", "pasted": texts(), "latency": "x"},
            {"name": "by form", "pasted": texts(8, "form"), "price": "0.5", "human": "yes", "anonymous": "yes"},
        )
    ):
        pier.ask(f"form {k}", "ann", "POST", "/boards/harbour/submit/generator", data=sent)
    pier.ask(
        "both",
        "ann",
        "POST",
        "/boards/harbour/submit/generator",
        data={"name": "both", "pasted": "x"},
        files={"file": ("o.txt", "y")},
    )
    pier.finish("generators", ("submissions", "audit"))


def test_metrics_that_are_wrong_are_refused_as_was_approved(pier: Gate) -> None:
    manifest = "higher_is_better = true\nneeds = ['references']\ntraining_data = 'none'\n"
    run = "#!/bin/sh\npython3 metric.py\n"
    files: dict[str, str | bytes] = {
        "empty": b"",
        "no Python": "def score(:",
        "no function": "x = 1\n",
        "binary": b"\x00\x01\x02" * 9,
        "too large": CODE + "#" * 20000,
        "a good one": CODE,
        "empty zip": zipped(),
        "no program": zipped(metric_dot_toml=manifest),
        "a program": zipped(metric_dot_toml=manifest, run_dot_sh=run),
        "in a folder": zipped(m__metric_dot_toml=manifest, m__run_dot_sh=run),
        "in two folders": zipped(a__run_dot_sh=run, b__metric_dot_toml=manifest),
        "no manifest": zipped(run_dot_sh=run),
        "a bad manifest": zipped(metric_dot_toml="x = = 3", run_dot_sh=run),
        "an odd manifest": zipped(metric_dot_toml=manifest + "colour = 3\nversion = 7\n", run_dot_sh=run),
        "climbing": zipped(**{"..__x": "y", "run_dot_sh": run}),
        "absolute": zipped(**{"__etc__x": "y", "run_dot_sh": run}),
        "nested": zipped(inner_dot_zip=zipped(a="b"), run_dot_sh=run, metric_dot_toml=manifest),
        "a bomb": zipped(big="0" * 3_000_000, run_dot_sh=run),
        "many": zipped(**{f"f{k}": "" for k in range(10)}, run_dot_sh=run, metric_dot_toml=manifest),
        "cut": zipped(run_dot_sh=run)[:-9],
    }
    told: dict[str, Any] = {}
    for name, raw in files.items():
        kind = "m.zip" if isinstance(raw, bytes) else "m.py"
        told[name] = refusal(
            send(pier, "metrics", raw, name=name, file_name=kind, manifest=json.dumps(GOOD) if kind == "m.py" else "")
        )
    pier.diary.note("files", told)
    wrong: list[Any] = [
        "",
        "{",
        "[]",
        "3",
        {},
        {**GOOD, "higher_is_better": "yes"},
        {**GOOD, "needs": "references"},
        {**GOOD, "needs": ["corpus"]},
        {**GOOD, "needs": ["nothing"]},
        {**GOOD, "training_data": ""},
        {**GOOD, "colour": 1},
        {**GOOD, "version": ""},
        {**GOOD, "version": "1|2"},
        {**GOOD, "deterministic": False},
        {**GOOD, "network": True},
        {**GOOD, "gpu": True},
        {**GOOD, "range": [1, 0]},
        {**GOOD, "summary": "x" * 3000},
        {**GOOD, "name": "other"},
    ]
    pier.diary.note(
        "manifests",
        {
            json.dumps(sent)[:90]: refusal(
                send(
                    pier,
                    "metrics",
                    CODE + f"# {k}",
                    name=f"m{k}",
                    file_name="m.py",
                    manifest=sent if isinstance(sent, str) else json.dumps(sent),
                )
            )
            for k, sent in enumerate(wrong)
        },
    )
    pier.diary.note(
        "trust",
        [
            refusal(
                send(
                    pier,
                    "metrics",
                    CODE + f"# {who}",
                    who,
                    name=f"by {who}",
                    file_name="m.py",
                    manifest=json.dumps(GOOD),
                    trusted="true",
                )
            )
            for who in ("ann", "owner")
        ],
    )
    rows = ["Cleo", "late"]
    scores = {
        "good": columns(),
        "one a row": "".join(f"{row}\t{k}\n" for k, row in enumerate(['<b>"A&B"</b>', "a/b c?d#e%f", *rows])),
        "empty": "",
        "some missing": "Cleo\t1\n",
        "an unknown one": "Cleo\t1\nnobody\t2\n",
        "twice": "Cleo\t1\nCleo\t2\n",
        "words": "Cleo\tgood\n",
        "not finite": "Cleo\tnan\nlate\tinf\n",
        "three columns": "".join(f"Cleo\ti/{k}\t{k}\n" for k in range(8)),
        "an unknown instance": "Cleo\ti/99\t1\n",
        "JSON": "\n".join(json.dumps({"generator": "Cleo", "instance": f"i/{k}", "score": k}) for k in range(8)),
        "odd JSON": '{"generator": "Cleo"}\n[1]\n{',
        "four columns": "a\tb\tc\td\n",
        "no tabs": "Cleo 1\n",
    }
    said = {"higher_is_better": "true", "training_data": "none"}
    pier.diary.note(
        "scores",
        {
            name: refusal(send(pier, "metrics/scores", raw, name=f"scores {name}", file_name="s.tsv", **said))
            for name, raw in scores.items()
        },
    )
    for more in (
        {"training_data": ""},
        {"training_data": "x" * 10_001},
        {"needs": "corpus"},
        {"needs": ""},
        {"needs": "input, references"},
        {"references": "Eve"},
        {"references": "Ada"},
        {"references": "Ada", "needs": "input"},
        {"higher_is_better": "perhaps"},
        {"trained_on_this_board": "true"},
        {"name": "length"},
    ):
        sent = {"name": f"said {more}"[:60], **said, **more}
        pier.diary.note(
            f"said {str(more)[:50]}", refusal(send(pier, "metrics/scores", scores["good"], file_name="s.tsv", **sent))
        )
    commit = "0" * 39 + "1"
    addressed: list[tuple[str, dict[str, Any]]] = [
        ("hub", {"metric": "comet", "model": "lab/comet", "revision": commit}),
        ("hub", {"metric": "comet", "model": "other/comet", "revision": commit}),
        ("hub", {"metric": "comet", "model": "comet", "revision": commit}),
        ("hub", {"metric": "comet", "model": "lab/comet", "revision": "main"}),
        ("hub", {"metric": "chrF", "model": "lab/comet", "revision": commit}),
        ("hub", {"metric": "nothing", "model": "lab/comet", "revision": commit}),
        ("hub", {"metric": "comet(", "model": "lab/comet", "revision": commit}),
        ("image", {"image": "registry.example.org/team/metric@sha256:" + "a1" * 32}),
        ("image", {"image": "metric:latest"}),
        ("endpoint", {"url": "https://scores.example.org/v1", "version": "1"}),
        ("endpoint", {"url": "https://elsewhere.example.org/v1", "version": "1"}),
        ("endpoint", {"url": "http://scores.example.org/v1", "version": "1"}),
        ("endpoint", {"url": "https://scores.example.org/v1", "version": "one two"}),
        ("endpoint", {"url": "", "version": ""}),
    ]
    for k, (way, parts) in enumerate(addressed):
        answer = pier.send(
            "ann",
            "POST",
            f"/api/v1/boards/harbour/metrics/{way}",
            json={"name": f"address {k}", "manifest": GOOD, **parts},
        )
        pier.diary.note(f"{way} {k}", refusal(answer))
    for path in ("metric", "scores", "address"):
        pier.ask(f"form of {path}", "ann", "GET", f"/boards/harbour/submit/{path}")
        pier.ask(f"owner's form of {path}", "owner", "GET", f"/boards/harbour/submit/{path}")
        for k, form in enumerate(
            (
                {},
                {"name": "x", "pasted": "x"},
                {"name": "y", "pasted": CODE, "higher": "yes", "training_data": "none", "needs-references": "yes"},
                {"name": "z", "way": "hub", "model": "x"},
            )
        ):
            page = pier.send("ann", "POST", f"/boards/harbour/submit/{path}", data=form)
            heard = page_lines(page.text) if page.status_code != 303 else [page.headers["location"]]
            begins = next((n for n, line in enumerate(heard) if "role=alert" in line), 0)
            pier.diary.note(f"{path} sent {k}", [page.status_code, *heard[begins : begins + 4]])
    pier.finish("metrics", ("submissions", "audit"))


def test_what_becomes_of_submissions_is_told_as_was_approved(pier: Gate) -> None:
    board, api = "/boards/harbour", "/api/v1"
    pier.work()
    sent = {
        "tug": send(
            pier, "generators", texts(8, "tug"), name="tug", description="A tug.", url="https://tug.example", latency=2
        ),
        "veiled": send(pier, "generators", texts(8, "veil"), name="veiled", anonymous="true", entry="contrastive"),
        "copy": send(
            pier, "generators", "\n".join(i.references[0].text for i in page_board().instances), "ben", name="copy"
        ),
        "words": send(
            pier, "metrics", CODE, "owner", name="words", file_name="m.py", manifest=json.dumps(GOOD), trusted="true"
        ),
        "broken": send(
            pier,
            "metrics",
            "def score(outputs, references, inputs):\n    raise ValueError('no')\n",
            "owner",
            name="broken",
            file_name="m.py",
            manifest=json.dumps(GOOD),
            trusted="true",
        ),
        "given": send(pier, "metrics/scores", columns(), name="given", higher_is_better="false", training_data="none"),
    }
    ids = {name: answer.json()["id"] for name, answer in sent.items()}
    pier.ask("waiting", "ann", "GET", f"/submissions/{ids['tug']}")
    pier.ask("waiting as JSON", "ann", "GET", f"{api}/submissions/{ids['tug']}")
    pier.work()
    for name, number in ids.items():
        asker = {"copy": "ben", "words": "owner", "broken": "owner"}.get(name, "ann")
        pier.ask(f"{name}", asker, "GET", f"/submissions/{number}")
        pier.ask(f"{name} as JSON", asker, "GET", f"{api}/submissions/{number}")
        heard = pier.send(asker, "GET", f"{api}/submissions/{number}/log").json()["items"]
        pier.diary.note(f"log of {name}", [each["text"] for each in heard if each["stream"] == "platform"])
    for other in (None, "ben", "nan", "owner"):
        pier.ask(f"tug for {other}", other, "GET", f"{api}/submissions/{ids['tug']}")
        pier.ask(f"veiled for {other}", other, "GET", f"/submissions/{ids['veiled']}")
        pier.ask(f"all for {other}", other, "GET", "/submissions")
        pier.ask(f"board's for {other}", other, "GET", f"{board}/submissions")
    pier.ask("mine", "ann", "GET", f"{api}/submissions?board=harbour&limit=2")
    for query in ("state=scored", "state=odd", "board=none", "side=metric"):
        pier.ask(f"found by {query}", "owner", "GET", f"{api}/submissions?{query}&limit=3")
    for action in ("cancel", "retry", "withdraw", "reveal", "primary", "contrastive", "trust", "nonsense"):
        for name, asker in (("tug", "ben"), ("tug", "ann"), ("veiled", "ann"), ("broken", "owner"), ("words", "owner")):
            answer = pier.send(asker, "POST", f"/submissions/{ids[name]}/{action}")
            heard = page_lines(answer.text)[2:4] if answer.status_code != 303 else []
            pier.diary.note(f"{action} {name} by {asker}", [answer.status_code, *heard])
    for method, path, body in (
        ("POST", "withdraw", None),
        ("POST", "cancel", None),
        ("POST", "retry", None),
        ("POST", "reveal", None),
        ("PATCH", "", {"entry": "primary"}),
        ("PATCH", "", {"entry": "odd"}),
        ("PUT", "trust", {"trusted": True}),
    ):
        pier.ask(
            f"program {method} {path} {body}",
            "ben",
            method,
            f"{api}/submissions/{ids['copy']}/{path}".rstrip("/"),
            json=body,
        )
    pier.work()
    pier.ask("rankings", "ann", "GET", f"{api}/boards/harbour/rankings")
    pier.finish("becomes", ("cell_failures", "deliveries"))


def changed(gate: Gate, change: dict[str, Any]) -> Any:
    """All settings that are not as they were at first, after a change."""
    settings = change_settings(gate.site, gate.owner, "harbour", change)
    return settings.model_dump(mode="json", exclude_defaults=True)


def test_rules_of_boards_are_kept_as_was_approved(pier: Gate) -> None:
    settings: list[dict[str, Any]] = [
        {"per_day": 2},
        {"per_day": None, "total": 3},
        {"total": None, "accepts": ["metric"]},
        {"accepts": ["generator", "metric"], "frozen": "2033-05-18T00:00Z"},
        {"frozen": None, "hidden_judgments": True, "hidden_per_day": 1, "hidden_total": 2},
        {"hidden_per_day": None},
        {"hidden_judgments": False},
        {
            "phases": [
                {"name": "past", "opens": "2030-01-01T00:00Z", "closes": "2031-01-01T00:00Z"},
                {"name": "soon", "opens": "2036-01-01T00:00Z", "closes": "2037-01-01T00:00Z"},
            ]
        },
        {"phases": [{"name": "now", "opens": "2030-01-01T00:00Z", "closes": "2036-01-01T00:00Z", "blind": True}]},
        {"phases": []},
    ]
    for k, change in enumerate(settings):
        pier.diary.note(
            f"changed {k}",
            problems(partial(changed, pier, change)),
        )
        told: list[Any] = [refusal(send(pier, "generators", texts(8, f"r{k}{n}"), name=f"r{k} {n}")) for n in range(3)]
        told += [
            refusal(
                send(pier, "metrics", CODE + f"# {k}{n}", name=f"m{k} {n}", file_name="m.py", manifest=json.dumps(GOOD))
            )
            for n in range(2)
        ]
        pier.diary.note(
            f"sent {k}", [each if isinstance(each, list) else [each["phase"], each["warnings"]] for each in told]
        )
        pier.ask(f"choice {k}", "ann", "GET", "/boards/harbour/submit")
        pier.clock.now += 40_000
    wrong: list[dict[str, Any]] = [
        {"draws": -1},
        {"k": 0},
        {"k": "x"},
        {"odd": 1},
        {"per_day": -1},
        {"accepts": ["x"]},
        {"by": "nothing"},
        {"ranks": "nothing"},
        {"metrics": ["nothing"]},
        {"metrics": ["length", "length"]},
        {"phases": [{"name": "a", "opens": 2, "closes": 1}]},
        {"phases": 3},
        {"method": "odd"},
        {"frozen": "x"},
        {"ladder": 7},
        {"inputs_from": "nowhere"},
        {"seed": -1},
        {"private_share": 2},
        {"quiet": -1},
        {"human": "Zoe"},
    ]
    pier.diary.note(
        "wrong",
        {str(change): problems(partial(changed, pier, change)) for change in wrong},
    )
    pier.diary.note(
        "not owners",
        [
            problems(partial(change_settings, pier.site, pier.viewer(who), "harbour", {"k": 2}))
            for who in ("ann", "nan")
        ],
    )
    pier.finish("rules", ("boards", "audit", "submissions"))
