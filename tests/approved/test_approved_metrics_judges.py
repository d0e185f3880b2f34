"""Language models as judges: every word that is asked, every answer that is read or refused, costs, caps and panels."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from approving import approve
from asked_judges import ALONE, BATCH, came_of, logged, sent, serving, without_port
from command_transcripts import ran
from judge_purse import empty_purse
from judge_server import JudgeServer, Received, Reply, completion, judge, token_logprobs, trouble
from judge_vendors import VENDORS, azure_filter, hostile_reply, hostile_text, odd_text, vllm_too_long, without_text
from small_boards import small_board

import billboards as bb
from billboards.errors import BillboardsError
from billboards.metrics.base import Batch, Item
from billboards.metrics.cards import card_facts
from billboards.metrics.discovery import metric
from billboards.metrics.judges import parsing
from billboards.metrics.judges.asking import allowance
from billboards.metrics.judges.budget import Budget, Estimate, estimated_tokens
from billboards.metrics.judges.endpoint import schema_of
from billboards.metrics.judges.prompts import open_prompt, shipped
from billboards.metrics.judges.responses import read_response, refused_by_filter
from billboards.metrics.judges.settings import Settings, checked_url, credentials_for
from billboards.metrics.judges.spans import MarksErrors
from billboards.metrics.judges.usage import Prices

pytest.importorskip("httpx")


@pytest.fixture
def server(judge_environment: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    with serving(monkeypatch) as found:
        yield found


JUDGES = (
    "judge-DA",
    "judge-DA(references=False,input=False,kind=short poem,temperature=0.5,max_tokens=50,model=other)",
    "judge-DA(input=False)",
    "judge-MQM",
    "judge-MQM(references=True,kind=translation into English)",
    "judge-MQM[major]",
    "judge-ESA",
    "judge-ESA(references=True,input=False)",
    "judge-Likert",
    "judge-Likert(aspects=fluency+adequacy,references=True)",
    "judge-Likert(aspects=relevance,input=False)",
    "judge-GEval(samples=2)",
    "judge-GEval(samples=1,aspects=coherence+fluency,references=True,input=False)",
    "judge-GEval(logprobs=True,temperature=0)",
    "judge-pair",
    "judge-pair(input=False,kind=caption)",
    "judge-panel(models=a+b+c)",
    "judge-panel(models=a+b,judge=MQM,kind=summary)",
    "judge-panel(models=one,judge=Likert,temperature=1,max_tokens=9)",
    "judge-panel(judge=ESA)",
    *(f"judge(prompt={name})" for name in shipped()),
    "judge(prompt=mine.toml)",
    "judge(prompt=numbers.toml)",
    "judge(prompt=errors.toml,max_tokens=7)",
)
PROMPTS = {
    "mine.toml": 'name = "mine"\nsystem = "You are strict. {{x}} Answer as {form}."\n'
    'user = "Rate {output} for {input} beside {reference} and {references}.\\n{aspects}\\nJSON: {form}"\n'
    "scale = [1, 7]\n"
    '[aspects]\nwit = "it is funny"\n"good sense" = "it is sensible"\n'
    '[[examples]]\noutput = "An \\"example\\"."\ninput = "Ein Beispiel."\nreferences = ["One."]\n'
    'answer = \'{"wit": 1, "good sense": 2}\'\n',
    "numbers.toml": 'name = "numbers"\nuser = "Text: {output}\\nGive a number, {form}."\nanswer = "number"\n'
    'scale = [0, 10]\ndirection = "lower"\nraw = true\n',
    "errors.toml": 'name = "faults"\nuser = "{reference} {output}"\nanswer = "errors"\nraw = true\n',
}


@pytest.mark.parametrize("place", range(0, len(JUDGES), 6))
def test_a_judge_asks_and_scores_as_approved(
    place: int,
    server: JudgeServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BILLBOARDS_JUDGE_PRICES", "2.50/10")
    for name, text in PROMPTS.items():
        Path(name).write_text(text, "utf-8")
    told: dict[str, Any] = {}
    for name in JUDGES[place : place + 6]:
        server.received.clear()
        made = metric(name)
        scores, lines = logged(caplog, partial(came_of, name))
        again, later = logged(caplog, partial(came_of, name))
        first, *others = [sent(received) for received in server.received] or [{}]
        told[name] = {
            "name": made.name,
            "full name": made.full_name,
            "signature": without_port(made.signature).split("|"),
            "card": card_facts(made),
            "parts": made.parts,
            "scores": scores,
            "again": "the same" if {**again, "told": []} == {**scores, "told": []} else again,
            "lines": [*lines, *later],
            "first request": first,
            "other questions": [unlike(other, first) for other in others],
        }
        if (isinstance(made, MarksErrors) and not name.startswith("judge(")) or name.startswith("judge(prompt=errors"):
            assert isinstance(made, MarksErrors)
            spans = made.error_spans(BATCH)
            told[name]["spans"] = [None if each is None else [asdict(span) for span in each] for each in spans]
    approve(f"judges/asked-{place // 6}", told, folder=tmp_path)


def unlike(other: dict[str, Any], first: dict[str, Any]) -> dict[str, Any]:
    """What of a request is otherwise than in the first one, message by message."""
    told = {key: part for key, part in other.items() if part != first.get(key) and key != "messages"}
    return {**told, "messages": [words for words in other["messages"] if words not in first["messages"]]}


WRONG_JUDGES = (
    "judge-DA(temperature=2.5)",
    "judge-DA(temperature=-0.1)",
    "judge-DA(max_tokens=-1)",
    "judge-DA(abstain=1.5)",
    "judge-DA(abstain=-0.5)",
    "judge-DA(kind= )",
    "judge-DA(endpoint=ftp://judge.example.org)",
    "judge-DA(endpoint=https://ann:secret@judge.example.org/v1)",
    "judge-DA(colour=red)",
    "judge-DA(references=maybe)",
    "judge-Likert(aspects=wit)",
    "judge-Likert(aspects=fluency+fluency)",
    "judge-GEval(samples=0)",
    "judge-GEval(aspects=)",
    "judge-panel(models=a+a)",
    "judge-panel(models=a+)",
    "judge-panel(models=a+b,judge=pair)",
    "judge-panel(models=a+b,judge=XX)",
    "judge-pair(kind=)",
    "judge(prompt=nothing)",
    "judge(prompt=nowhere.toml)",
    "judge(prompt=wrong.toml)",
    "judge-DB",
)
WRONG_PROMPTS = (
    'name = "a b"\nuser = "{output}"\n',
    'user = "{output}"\n',
    'name = "a"\n',
    'name = "a"\nuser = "no text"\n',
    'name = "a"\nuser = "{output} {colour}"\n',
    'name = "a"\nuser = "{output}"\nscale = [5, 1]\n',
    'name = "a"\nuser = "{output}"\nscale = [1]\n',
    'name = "a"\nuser = "{output}"\nanswer = "text"\ndirection = "up"\nraw = 1\n',
    'name = "a"\nuser = "{output}"\nanswer = "number"\n[aspects]\na = "b"\nc = "d"\n',
    'name = "a"\nuser = "{output}"\n[aspects]\n"a/b" = "c"\n',
    'name = "a"\nuser = "{output} {input}"\n[[examples]]\noutput = "x"\nanswer = "y"\n',
    'name = "a"\nuser = "{output}"\n[[examples]]\noutput = "x"\n\n[[examples]]\noutputs = "x"\nanswer = ""\n',
    'name = "a"\nuser = "{output}"\ncolour = "red"\n',
    'name = "quality"\nuser = "{output}"\n',
    'name = 7\nuser = ["{output}"]\n',
    'name = "a"\nuser = "{output}"\nexamples = 3\n',
)


def refused(make: Callable[[], object]) -> Any:
    """What is made, or why it isn't."""
    try:
        return without_port(make())
    except BillboardsError as error:
        return without_port(f"{type(error).__name__}: {error}")


def test_wrong_judges_prompts_and_settings_are_refused_as_approved(
    server: JudgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told: dict[str, Any] = {}
    Path("wrong.toml").write_text('name = "a"\nuser = "none"\n', "utf-8")
    told["judges"] = {name: came_of(name, ALONE) for name in WRONG_JUDGES}
    prompts = []
    for text in WRONG_PROMPTS:
        Path("prompt.toml").write_text(text, "utf-8")
        prompts.append([text.splitlines(), refused(lambda: open_prompt("prompt.toml").name)])
    told["prompts"] = prompts
    for name in ("mine.toml", "numbers.toml", "errors.toml"):
        Path(name).write_text(PROMPTS[name], "utf-8")
    opened = {name: open_prompt(name) for name in (*shipped(), "mine.toml", "numbers.toml", "errors.toml")}
    told["opened"] = {
        name: {
            "keys": prompt.keys,
            "parts": prompt.parts,
            "range": prompt.range,
            "form": prompt.form,
            "again": prompt.again,
            "is json": prompt.is_json,
            "digest": " ".join(prompt.digest),
            "shows": sorted(prompt.placeholders),
            "without texts": prompt.messages(Item("an {input} output", (), None)),
        }
        for name, prompt in opened.items()
    }
    settings: dict[str, Any] = {}
    for variable, values in {
        "BILLBOARDS_JUDGE_AT_ONCE": ("4", "1.5", "0", "-1", "many", "inf", ""),
        "BILLBOARDS_JUDGE_PER_MINUTE": ("60", "0.5", "0", "x"),
        "BILLBOARDS_JUDGE_SECONDS": ("9", "0", "nan"),
        "BILLBOARDS_JUDGE_BUDGET": ("1", "0", "one"),
        "BILLBOARDS_JUDGE_TOKENS": ("1000", "-1"),
        "BILLBOARDS_JUDGE_PRICES": ("1/2", "1", "1/2/3", "-1/2", "a/b", "inf/1", "0/0"),
        "BILLBOARDS_JUDGE_KEY": ("plain", "schlüssel", "new\nline"),
        "BILLBOARDS_JUDGE_URL": ("", "judge.example.org", "http://judge example.org"),
        "BILLBOARDS_JUDGE_MODEL": ("",),
    }.items():
        for value in values:
            with monkeypatch.context() as patched:
                patched.setenv(variable, value)
                # A settled question is asked no more, so that only the settings speak.
                settings[f"{variable}={value}"] = came_of("judge-DA(abstain=1)", ALONE)
    told["settings"] = settings
    approve("judges/refused", told, folder=tmp_path)


def test_addresses_and_keys_are_as_approved(judge_environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = (
        "https://judge.example.org/v1/",
        " https://judge.example.org/v1/chat/completions ",
        "http://judge.example.org:8080",
        "https://judge.example.org:0",
        "https://judge.example.org:99999",
        "https://",
        "judge.example.org",
        "https://judge.example.org/v1?key=secret",
        "https://judge.example.org/v1#part",
        "https://user:pass@judge.example.org/v1?x=1",
        "https://judge.example.org/a b",
    )
    told: dict[str, Any] = {"addresses": {url: refused(partial(checked_url, url)) for url in addresses}}
    environments: dict[str, dict[str, str]] = {
        "nothing": {},
        "own": {"BILLBOARDS_JUDGE_URL": "https://judge.example.org/v1", "BILLBOARDS_JUDGE_KEY": " own "},
        "own elsewhere": {"BILLBOARDS_JUDGE_URL": "https://other.example.org/v1", "BILLBOARDS_JUDGE_KEY": "own"},
        "own port": {"BILLBOARDS_JUDGE_URL": "https://judge.example.org:443", "BILLBOARDS_JUDGE_KEY": "own"},
        "own key alone": {"BILLBOARDS_JUDGE_KEY": "own"},
        "openai": {"OPENAI_API_KEY": "open"},
        "openai there": {"OPENAI_API_KEY": "open", "OPENAI_BASE_URL": "https://judge.example.org"},
        "openai wrong": {"OPENAI_API_KEY": "open", "OPENAI_BASE_URL": "judge"},
        "azure": {
            "AZURE_OPENAI_API_KEY": "blue",
            "AZURE_OPENAI_ENDPOINT": "https://judge.example.org",
            "AZURE_OPENAI_API_VERSION": "2024-10-21",
        },
        "azure other version": {
            "AZURE_OPENAI_API_KEY": "blue",
            "AZURE_OPENAI_ENDPOINT": "https://judge.example.org",
            "OPENAI_API_VERSION": "preview.1",
        },
        "azure wrong version": {"AZURE_OPENAI_ENDPOINT": "https://judge.example.org", "OPENAI_API_VERSION": "a&b"},
        "all": {
            "BILLBOARDS_JUDGE_URL": "https://judge.example.org",
            "BILLBOARDS_JUDGE_KEY": "own",
            "OPENAI_API_KEY": "open",
            "OPENAI_BASE_URL": "https://judge.example.org",
            "AZURE_OPENAI_API_KEY": "blue",
            "AZURE_OPENAI_ENDPOINT": "https://judge.example.org",
        },
    }
    keys: dict[str, Any] = {}
    for name, environment in environments.items():
        with monkeypatch.context() as patched:
            for variable, value in environment.items():
                patched.setenv(variable, value)
            for url in ("https://judge.example.org/v1", "http://judge.example.org/v1", "https://api.openai.com/v1"):
                keys[f"{name} at {url}"] = refused(partial(shown_credentials, url))
    told["keys"] = keys
    with monkeypatch.context() as patched:
        patched.setenv("BILLBOARDS_JUDGE_PER_MINUTE", "30")
        patched.setenv("BILLBOARDS_JUDGE_CACHE", "answers.sqlite")
        told["settings"] = {**asdict(Settings.from_environment()), "cache": str(Settings.from_environment().cache)}
    with monkeypatch.context() as patched:
        patched.delenv("BILLBOARDS_JUDGE_CACHE")
        patched.setenv("XDG_CACHE_HOME", "caches")
        told["usual settings"] = {
            **asdict(Settings.from_environment()),
            "cache": str(Settings.from_environment().cache),
        }
    approve("judges/addresses", told)


def shown_credentials(url: str) -> dict[str, Any]:
    given = credentials_for(url)
    return {"headers": given.headers, "query": given.query, "azure": given.is_azure}


ANSWERS = (
    '{"score": 87}',
    '{"score": "87.5"}',
    '```json\n{"score": 0}\n```',
    'x {"score": 100} y',
    '{"score": 100.01}',
    '{"score": -0.01}',
    '{"score": true}',
    '{"score": null, "fluency": 3, "relevance": "4"}',
    '{"score": 1, "score": 2}',
    '{"fluency": 1, "relevance": 5}',
    '{"fluency": 0, "relevance": 5}',
    '{"fluency": 5.5, "relevance": 5}',
    '{"fluency": 2}',
    '{"better": "first"}',
    '{"better": " Second "}',
    '{"better": "TIE"}',
    '{"better": "third"}',
    '{"better": 1}',
    '{"errors": []}',
    '{"errors": [{"span": "a", "category": "style", "severity": "minor"}]}',
    '{"errors": [{"span": null, "severity": "Major "}, {"severity": "critical", "more": 1}]}',
    '{"errors": [{"severity": "minor"}, {"severity": "minor"}, {"severity": "major"}, {"severity": "major"}]}',
    '{"errors": [{"severity": "critical"}, {"severity": "minor"}]}',
    '{"errors": [{"severity": "large"}]}',
    '{"errors": [{"span": "a"}]}',
    '{"errors": [{"span": 3, "severity": "minor"}]}',
    '{"errors": ["minor"]}',
    '{"errors": {"severity": "minor"}}',
    '{"errors": 3}',
    "4",
    "Score: 4",
    "**4**",
    "The score is 4",
    "4/5",
    "4 out of 5",
    "4/10",
    "It is good.\nRating = 3.5",
    "# 2.",
    "four",
    "0",
    "6",
    "-1",
    "4\n5",
    "5\n\n",
    "<think>4</think>\n3",
    "<think>4",
    "3</think>2",
    '<think>{"score": 3}</think>{"score": 9}',
    '[THINK]{"score": 3}[/THINK]{"score": 9}',
    '◁think▷{"score": 3}◁/think▷{"score": 9}',
    '<|channel|>analysis {"score": 1}<|channel|>final {"score": 9}',
    '{"score": 3}</think>',
    '{"quoted": 1, "score": 5}',
    '{"score": 61}',
    'I quote {"score": 61} and no more',
    '[{"score": 3}]',
    '{"a": {"score": 3}}',
    "{" * 30 + '{"score": 3}',
    '{"a":' * 19 + "1" + "}" * 19 + '{"score": 3}',
    '{"a":' * 20 + "1" + "}" * 20,
    '{"a":' * 21 + "1" + "}" * 21 + '{"score": 3}',
    '{"score": ' + "9" * 400 + "}",
    '{"score": 3',
    '{"score": "3',
    '{"score": NaN}',
    '{"score": Infinity}',
    "no",
    "",
    "９",
    '{"score": 8} ' * 101 + '{"points": 3}',
    '{"points": 3} ' * 101 + '{"score": 8}',
    *(hostile_text(seed) for seed in range(12)),
    *(odd_text(7.0, seed) for seed in range(12)),
)
QUOTED = ('Somebody wrote {"score": 61} here', "other")


def test_answers_are_read_as_approved() -> None:
    readers: dict[str, Callable[[str], object]] = {
        "assessment": lambda text: parsing.read_assessment(text, QUOTED),
        "errors": lambda text: [parsing.read_errors(text, QUOTED), parsing.read_error_list(text)],
        "aspects": lambda text: parsing.read_aspects(text, ("fluency", "relevance"), QUOTED),
        "choice": lambda text: parsing.read_choice(text, QUOTED),
        "number": lambda text: parsing.read_number(text, 1, 5),
        "without reasoning": parsing.answer_text,
        "objects": lambda text: len(parsing.objects(text)),
    }
    told = {}
    for text in ANSWERS:
        read = {}
        for name, reader in readers.items():
            try:
                read[name] = reader(text)
            except parsing.Unreadable as unreadable:
                read[name] = f"unreadable: {unreadable}"
        read["without reasoning"] = "as it is" if read["without reasoning"] == text else read["without reasoning"]
        told[repr(text) if len(text) < 80 else f"{text[:60]!r} … {len(text)}"] = {
            name: part for name, part in read.items() if not str(part).startswith("unreadable: it holds no JSON object")
        }
    approve("judges/answers", told)


def test_responses_of_vendors_are_understood_as_approved() -> None:
    replies: dict[str, Reply] = {
        **{f"{name}: said": make('{"score": 7}') for name, make in VENDORS.items()},
        "filter": azure_filter(),
        "too long": vllm_too_long(),
        **{
            f"ended by {finish}": without_text(finish)
            for finish in ("length", "content_filter", "tool_calls", "SAFETY")
        },
        "refusal": without_text("stop", refusal="I can't."),
        "refusal beside text": without_text("stop", refusal="I can't.", content="7"),
        "number as content": without_text("stop", content=7),
        "parts": without_text(
            "stop", content=[{"type": "text", "text": "a"}, {"type": "image"}, "b", {"type": "text"}]
        ),
        "output text": without_text("max_tokens", content=[{"type": "output_text", "text": "a"}]),
        "no choices": Reply(b'{"choices": []}'),
        "a list": Reply(b"[]"),
        "html": Reply(b"<html>" + b"x" * 400),
        "probabilities": completion("4", logprobs=token_logprobs({"4": 0.5, " 5": 0.25, "four": 0.2, "3.0": 0.05})),
        "odd probabilities": completion("4", logprobs={"content": [{"token": "4", "logprob": "x"}, 3, {"token": 4}]}),
        "no usage": completion("7", usage=None),
        "odd usage": completion("7", usage={"prompt_tokens": -1, "completion_tokens": 1 << 40}),
        "true usage": completion("7", usage={"prompt_tokens": True, "input_tokens": 3, "output_tokens": (1 << 40) - 1}),
        **{f"hostile {seed}": hostile_reply(seed) for seed in range(16)},
    }
    errors: tuple[Any, ...] = (
        {"error": {"code": "content_filter"}},
        {"error": {"code": 1301, "message": "no"}},
        {"error": {"type": "invalid_prompt"}},
        {"error": {"innererror": {"code": "ResponsibleAIPolicyViolation"}}},
        {"code": "context_length_exceeded"},
        {"error": {"message": "This model's maximum context length is 9 tokens"}},
        {"error": {"message": "Prompt is too long: 3"}},
        {"error": "prompt is too long"},
        {"error": {"code": "rate_limit"}},
        {"error": None},
        [],
    )
    told: dict[str, Any] = {}
    for name, reply in replies.items():
        read = vars(read_response(reply.body.decode()))
        told[name] = {key: repr(part) if isinstance(part, str) else part for key, part in read.items()}
    told["errors"] = [[error, refused_by_filter(json.dumps(error))] for error in errors]
    forms = ('{"score": 0}', '{"errors": [{"span": "a", "more": []}]}', '{"better": "first"}', "a number", "[1]")
    told["schemas"] = {form: schema_of(form) for form in forms}
    approve("judges/responses", told)


STATUSES = {
    "wrong key": [trouble(401, "no such key")],
    "forbidden": [trouble(403)],
    "no such model": [trouble(404, "x" * 400)],
    "moved": [trouble(307, location="https://elsewhere.example.org")],
    "too many": [trouble(429, retry_after="0"), completion('{"score": 5}')],
    "much too many": [trouble(429, retry_after="601")],
    "wait as long": [trouble(503, retry_after="Thu, 01 Jan 2015 00:00:00 GMT"), completion('{"score": 5}')],
    "down": [trouble(500, "down")] * 5 + [completion('{"score": 6}')],
    "long down": [trouble(500, "down")] * 6,
    "early": [trouble(425), trouble(408), trouble(502), completion('{"score": 7}')],
    "no body": [Reply(b"")] * 6,
    "a body at last": [Reply(b"{}")] * 5 + [completion('{"score": 8}')],
    "no format": [trouble(400, "response_format is unknown"), completion('{"score": 9}')],
    "format unnamed": [trouble(422, "no"), completion('{"score": 9}')],
    "schema": [trouble(400, "use json_schema, not json_object"), completion('{"score": 10}')],
    "no schema either": [
        trouble(400, "use json_schema, not json_object"),
        trouble(400, "no response_format"),
        completion('{"score": 11}'),
    ],
    "other bound": [trouble(400, "use max_completion_tokens"), completion('{"score": 12}')],
    "temperature": [trouble(400, "response_format"), trouble(400, "temperature must be 1")],
    "filtered": [azure_filter()],
    "too long": [vllm_too_long()],
    "cut": [completion('{"score": 1', "length"), completion('{"score": 13}')],
    "cut twice": [completion('{"score": 1}', "length"), completion("x" * 3000, "length")],
    "unreadable, then read": [completion("No idea."), completion('{"score": 14}')],
    "empty, then read": [completion(None), completion('{"score": 15}')],
    "refused": [completion(None, refusal="I won't"), completion(None, refusal="I won't")],
    "refused with the key": [trouble(401, "the key open-sesame is wrong")],
}


def test_trouble_at_an_endpoint_ends_as_approved(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    told = {}
    for place, (name, replies) in enumerate(STATUSES.items()):
        for key in ("", "open-sesame") if name in ("wrong key", "refused with the key") else ("",):
            with monkeypatch.context() as patched:
                patched.setenv("BILLBOARDS_JUDGE_KEY", key)
                server.received.clear()
                server.script.clear()
                server.script.extend(replies)
                bound = "max_tokens=20," if "bound" in name else ""
                asked = f"judge-DA({bound}model=m{place})"
                given, lines = logged(caplog, partial(came_of, asked, ALONE))
                bodies = [sent(received) for received in server.received]
                for body in bodies:
                    body["messages"] = [words for words in body["messages"] if not words[0].startswith("system")]
                told[f"{name} {key}".strip()] = {
                    "came": given,
                    "lines": lines,
                    "times": len(bodies),
                    "first": bodies[0],
                    "last": bodies[-1] if bodies[-1] != bodies[0] else "the first again",
                }
    approve("judges/trouble", told)


def silent_about(first: int, received: Received) -> Reply:
    """An answer about every output but the first ones."""
    return completion("Who knows?") if int(received.texts["output"].split()[1]) < first else judge(received)


def test_abstentions_and_caps_are_as_approved(server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, Any] = {}
    outputs = [f"output {k}" for k in range(10)]
    batch = Batch(outputs, [["r"]] * 10, ["in"] * 10)
    for silent in (1, 2, 3):
        for share in ("0", "0.1", "0.2", "1"):
            server.answer = partial(silent_about, silent)
            empty_purse()
            name = f"judge-DA(abstain={share},model=m{silent}{share})"
            told[f"{silent} silent, {share}"] = came_of(name, batch)
            if share == "0.1":
                server.answer = judge
                told[f"{silent} silent, {share}, again"] = came_of(name, batch)
    told["allowances"] = {
        f"{share} of {count}": allowance(share, count)
        for share in (0, 0.05, 0.1, 0.5, 0.99, 1)
        for count in (0, 1, 2, 19, 20, 21, 40)
    }
    server.answer = judge
    monkeypatch.setenv("BILLBOARDS_JUDGE_PRICES", "1000/2000")
    for allow in (False, True):
        for cap in ("TOKENS=100", "TOKENS=999999", "BUDGET=0.01", "BUDGET=100000"):
            variable, _, value = cap.partition("=")
            with monkeypatch.context() as patched:
                patched.setenv(f"BILLBOARDS_JUDGE_{variable}", value)
                empty_purse()
                told[f"{cap}, {allow}"] = came_of(f"judge-DA(model={cap.replace('=', '')}{allow})", ALONE, allow=allow)
    estimate = Estimate(questions=1200, tokens_in=3456, tokens_out=1000)
    for prices in (None, Prices(2.5, 10.0)):
        told[f"estimate at {prices}"] = estimate.words(prices)
        for bound in (4455, 4456, 4457):
            empty_purse()
            budget = Budget(prices=prices, tokens=bound)
            told[f"{bound} tokens at {prices}"] = refused(partial(budget.reserve, 3456, 1000))
        for money in (0.018639, 0.01864, 0.018641):
            empty_purse()
            budget = Budget(prices=prices, money=money)
            told[f"{money} money at {prices}"] = refused(partial(budget.reserve, 3456, 1000))
    told["tokens"] = {text: estimated_tokens(text) for text in ("", "a", "abc", "abcd", "猫", "猫猫", "x" * 300)}
    approve("judges/caps", told)


def test_what_judges_took_is_told_as_approved(
    server: JudgeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "132")
    monkeypatch.setattr(sys, "argv", ["billboards", "score", "a board", "--metric", "judge-DA"])
    bb.save(small_board(instances=3, generators=2), tmp_path / "small")
    replies = [completion("No idea."), completion("Still none."), completion('{"score": 5}', usage=None)]
    server.script.extend(replies)
    came_of("judge-DA(abstain=1,model=first)", Batch(["a", "b"], [["r"], ["r"]], ["x", "y"]))
    told: dict[str, Any] = {}
    commands = (
        "judges",
        "judges --json",
        "judges --answers",
        "score small --metric judge-MQM judge-pair --jobs 1",
        "score small --metric judge-MQM --jobs 1",
        "judges --spans small judge-MQM",
        "judges --spans small judge-ESA",
        "judges --spans small judge-DA",
        "judges",
        "check small",
        "rank small --csv --no-save --draws 20",
    )
    for prices in ("", "2.50/10"):
        monkeypatch.setenv("BILLBOARDS_JUDGE_PRICES", prices)
        for command in (
            commands if not prices else ("judges", "judges --json", "score small --metric judge-ESA --jobs 1")
        ):
            told[f"{command} {prices}".strip()] = without_port(ran(capsys, command))
    monkeypatch.setenv("BILLBOARDS_JUDGE_TOKENS", "10")
    for more in ("", " --yes"):
        empty_purse()
        told[f"capped{more}"] = without_port(ran(capsys, f"score small --metric judge-DA --jobs 1{more}"))
    approve("judges/told", told, folder=tmp_path)
