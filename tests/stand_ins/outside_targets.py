"""What other programs answer: crowd platforms, log-in services, sites, judges, and programs that score.

The servers are real ones on loopback that send whatever bytes a case says, as JSON that arrived with status 200; what
they say must be understood or refused in billboards' own words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from joserfc import jwt
from joserfc.jwk import ECKey, KeySet
from target import Target

from billboards.campaigns.crowd.prolific import Prolific
from billboards.client import Client
from billboards.metrics.judges.answers import Answers
from billboards.metrics.judges.parsing import (
    Unreadable,
    read_aspects,
    read_assessment,
    read_choice,
    read_errors,
    read_number,
)
from billboards.metrics.judges.prompts import Source, parse_prompt
from billboards.metrics.judges.responses import Answer, read_response
from billboards.run.score_lines import parse_scores
from billboards.run.verdicts import read_report
from billboards.site.accounts.oidc import Began, begin, finish
from billboards.site.settings import OidcSettings

#: Stands for the server's address in cases that are kept.
ADDRESS = b"http://parrot.invalid"


class Parrot(ThreadingHTTPServer):
    """A server that says what it was told to say, by the path it is asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.said: dict[str, bytes] = {}
        Thread(target=self.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    server: Parrot
    protocol_version = "HTTP/1.1"
    # Head and body leave together; apart, the second waits until the first is acknowledged.
    wbufsize = 1 << 16

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.partition("?")[0]
        body = next((said for end, said in self.server.said.items() if path.endswith(end)), b"{}")
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_PATCH = do_GET  # noqa: N815 - the names that the base class looks for


def outside(home: Path, stack: ExitStack) -> Iterator[Target]:
    """Answers of every kind of program that billboards asks; what is opened is closed with the stack."""
    parrot = stack.enter_context(Parrot())
    stack.callback(parrot.shutdown)
    yield from _platforms(parrot, stack)
    yield from _log_ins(parrot)
    yield from _sites(parrot, stack)
    yield from _judges(home)
    yield from _programs()


def _saying(parrot: Parrot, name: str, end: str, sound: Any, ask: Callable[[], object]) -> Target:
    """What is asked while the server says this at paths with this end."""

    def read(raw: bytes) -> object:
        said = raw.replace(ADDRESS, parrot.address.encode())
        before, parrot.said = parrot.said, {end: said, **{k: v for k, v in parrot.said.items() if k != end}}
        try:
            return ask()
        finally:
            parrot.said = before

    return Target(name, json.dumps(sound).encode(), read)


def _platforms(parrot: Parrot, stack: ExitStack) -> Iterator[Target]:
    crowd = stack.enter_context(closing(Prolific(address=parrot.address, key="k")))
    study = {"id": "s", "status": "ACTIVE", "total_available_places": 3, "reward": 120, "total_cost": 500.0,
             "presentment_currency_code": "USD"}  # fmt: skip
    yield _saying(parrot, "platform study", "/studies/s/", study, lambda: crowd.look("s"))
    work = {"id": "w", "participant_id": "p", "status": "AWAITING REVIEW", "started_at": "2026-05-01T12:00:00Z",
            "completed_at": None, "study_code": "C"}  # fmt: skip
    works = {"results": [work], "_links": {"next": {"href": None}}}
    yield _saying(parrot, "platform works", "/submissions/", works, lambda: crowd.works("s"))
    bonus = partial(crowd.prepare_bonuses, "s", {"p": 100})
    yield _saying(parrot, "platform bonuses", "/bonus-payments/", {"id": "b"}, bonus)


def _log_ins(parrot: Parrot) -> Iterator[Target]:
    settings, issuer, key = (
        OidcSettings(issuer=parrot.address, client_id="boards"),
        parrot.address,
        ECKey.generate_key("P-256"),
    )
    parts = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
    found = {"issuer": issuer, **{name: f"{issuer}/{path}" for name, path in parts.items()}}
    claims = {"iss": issuer, "aud": "boards", "sub": "person-1", "exp": 2**40, "nonce": "nonce", "name": "Ada"}
    token = {"access_token": "a", "token_type": "Bearer", "id_token": jwt.encode({"alg": "ES256"}, claims, key)}
    keys = KeySet([key]).as_dict(private=False)
    sound = {"openid-configuration": found, "/token": token, "/keys": keys}
    parrot.said |= {end: json.dumps(said).encode() for end, said in sound.items()}
    began, back = Began(f"{issuer}/authorize", "state", "nonce", "v" * 64), "http://me/back"
    ask = partial(finish, settings, back, began, f"{back}?code=c&state=state")
    yield _saying(parrot, "log-in begun", "openid-configuration", found, partial(begin, settings, back))
    for end, said in sound.items():
        yield _saying(parrot, f"log-in {end.strip('/')}", end, said, ask)


def _sites(parrot: Parrot, stack: ExitStack) -> Iterator[Target]:
    site = stack.enter_context(Client(parrot.address))
    page = {"items": [{"id": "i1"}], "next": None}
    yield _saying(parrot, "client page", "/instances", page, lambda: list(site.instances("b")))
    state = {"id": "s", "state": "scored"}
    yield _saying(parrot, "client submission", "/submissions/s", state, lambda: site.wait("s", timeout=0, poll=0))
    yield _saying(parrot, "client boards", "/boards", [{"name": "b"}], lambda: [dict(one) for one in site.boards()])


def _judges(home: Path) -> Iterator[Target]:
    prompt = (
        b'name = "x"\nuser = "{output}"\nscale = [1, 5]\n[aspects]\na = "b"\n[[examples]]\noutput = "o"\nanswer = "1"\n'
    )
    answers = Answers(home / "said.sqlite")
    completion = {
        "choices": [{"message": {"content": "5"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 1},
    }

    def answered(raw: bytes) -> None:
        found = read_response(raw.decode("utf-8", "replace"))
        if isinstance(found, Answer):
            answers.keep("k", "http://judge", {"model": "m"}, found)

    def understood(raw: bytes) -> None:
        text = raw.decode("utf-8", "replace")
        readers = (read_assessment, read_errors, read_choice, partial(read_number, lowest=1, highest=5))
        for read in (*readers, partial(read_aspects, aspects=("fluency", "truth"))):
            with suppress(Unreadable):
                read(text)

    yield Target("judge response", json.dumps(completion).encode(), answered)
    yield Target("judge assessment", b'{"score": 50.5}', understood)
    yield Target("judge choice", b'<think>?</think>{"better": "tie"}', understood)
    yield Target("judge number", b"So:\nScore: 4/5\n", understood)
    yield Target("judge prompt", prompt, lambda raw: parse_prompt(Source("p.toml", raw.decode("utf-8", "replace"))))
    yield Target("judge aspects", b'```json\n{"fluency": 4, "truth": 5}\n```', understood)
    yield Target("judge errors", b'{"errors": [{"span": "a", "category": "b", "severity": "major"}]}', understood)


def _programs() -> Iterator[Target]:
    yield Target("program scores", b"0.5\n-1e3\n+.25\n", lambda raw: parse_scores(raw, 3))
    report = b'{"status": 0, "found": "file", "size": 4}\n0.5\n'
    yield Target("program report", report, read_report)
