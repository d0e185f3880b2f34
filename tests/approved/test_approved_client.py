"""What the client asks of a site, header by header, and what it makes of every kind of answer."""

from __future__ import annotations

import io
import re
import time
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from approving import approve

from billboards.client import Client
from billboards.errors import BillboardsError

httpx = pytest.importorskip("httpx")
ADDRESS = "https://boards.example.org/"
#: Headers that say who asks with which library, not what is asked.
PASSED_OVER = ("host", "connection", "accept-encoding")


class Site:
    """Gives prepared answers, one after another, and keeps what it was asked; the last answer is given again."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[Any] = []
        self.answers: list[Any] = []
        real = httpx.Client
        self.opened: list[dict[str, Any]] = []

        def opened(**options: Any) -> Any:
            self.opened.append({"base_url": options["base_url"], "timeout": options["timeout"]})
            return real(**options, transport=httpx.MockTransport(self._answer))

        monkeypatch.setattr(httpx, "Client", opened)
        monkeypatch.setattr(time, "sleep", lambda seconds: self.asked.append(f"waited {seconds:.3g} s"))

    def _answer(self, request: Any) -> Any:
        headers = {name: value for name, value in request.headers.items() if name not in PASSED_OVER}
        headers.pop("content-length", None)
        body = _readable(request.read(), headers)
        self.asked.append([request.method, str(request.url), headers, *([body] if body else [])])
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def told(self, ask: Callable[[Client], Any], *answers: Any, token: str | None = "bb_secret") -> Any:
        """What was asked, and what came of it."""
        self.asked, self.answers = [], list(answers)
        try:
            with Client(ADDRESS, token) as site:
                given = ask(site)
                given = list(given) if isinstance(given, Iterable) and not isinstance(given, dict | str) else given
        except (BillboardsError, ValueError, TypeError) as error:
            given = f"{type(error).__name__}: {error}"
        return {"asked": self.asked, "given": given}


def _readable(body: bytes, headers: dict[str, str]) -> list[str]:
    """A body's lines; an archive's files with what they hold, and a form's parts apart."""
    kind = headers.get("content-type", "")
    if match := re.search("boundary=(.+)", kind):
        headers["content-type"] = kind.replace(match[1], "BOUNDARY")
        # What kind of file an ending stands for is the system's word.
        body = re.sub(rb"\r\nContent-Type: [^\r]+", b"", body.replace(match[1].encode(), b"BOUNDARY"))
    if b"PK\x03\x04" in body:
        start, end = body.index(b"PK\x03\x04"), body.rindex(b"\r\n--BOUNDARY--")
        with zipfile.ZipFile(io.BytesIO(body[start:end])) as archive:
            parts = [
                f"{part.filename} {part.date_time} {part.external_attr:o} {archive.read(part).decode()!r}"
                for part in archive.infolist()
            ]
        return [*body[:start].decode().splitlines(), *parts]
    return body.decode().splitlines()


def said(value: Any, status: int = 200, **headers: str) -> Any:
    return httpx.Response(status, json=value, headers=headers)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Site:
    return Site(monkeypatch)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "program"
    (program / "__pycache__").mkdir(parents=True)
    (program / "part").mkdir()
    (program / "run.sh").write_text("echo 1\n")
    (program / "part" / "words.txt").write_text("ferry\n")
    (program / ".hidden").write_text("no\n")
    (program / "__pycache__" / "a.pyc").write_text("no\n")
    (tmp_path / "outputs.jsonl").write_text('{"instance": "i0", "text": "ferry"}\n')
    return tmp_path


#: What is asked, by name.
ASKED: dict[str, Callable[[Client], Any]] = {
    "account": lambda site: site.account(),
    "board": lambda site: site.board("a/b c"),
    "ranking": lambda site: site.ranking("ferry"),
    "a kept ranking": lambda site: site.ranking("ferry", 3),
    "suite": lambda site: site.suite("ports"),
    "suite ranking": lambda site: site.suite_ranking("ports", task="notes", block="all"),
    "submission": lambda site: site.submission("s 1"),
    "act": lambda site: site.act("s1", "cancel"),
    "submit generator": lambda site: site.submit_generator("ferry", "mine", "outputs.jsonl", url="https://m.example"),
    "submit metric": lambda site: site.submit_metric("ferry", None, "program", draft=True, paper=None),
    "submit metric file": lambda site: site.submit_metric("ferry", "own", "program/run.sh"),
    "submit scores": lambda site: site.submit_scores(
        "ferry", "own", "outputs.jsonl", higher_is_better=False, training_data="none"
    ),
    "submit address": lambda site: site.submit_address("ferry", "hub", "own", id="a/b", revision="1"),
    "submit nothing": lambda site: site.submit_generator("ferry", "mine", "none.jsonl"),
}
LISTED: dict[str, Callable[[Client], Any]] = {
    "rankings": lambda site: site.rankings("ferry"),
    "instances": lambda site: site.instances("ferry"),
    "standings": lambda site: site.standings("ferry"),
    "outputs": lambda site: site.outputs("ferry", "g 1"),
    "scores": lambda site: site.scores("ferry", "chrF(beta=1)"),
    "judgments": lambda site: site.judgments("ferry"),
    "submissions": lambda site: site.submissions(board="ferry", state="scored"),
    "log": lambda site: site.log("s1"),
}
PLAIN_LISTS: dict[str, Callable[[Client], Any]] = {
    "boards": lambda site: site.boards(),
    "generators": lambda site: site.generators("ferry"),
    "suites": lambda site: site.suites(),
}


def test_what_is_asked_is_as_approved(site: Site, files: Path) -> None:
    told = {name: site.told(ask, said({"name": "x"})) for name, ask in ASKED.items()}
    told["a visitor"] = site.told(lambda given: given.account(), said({"name": "x"}), token=None)
    pages = said({"items": [{"a": 1}], "next": "c1"}), said({"items": [{"a": 2}], "next": None})
    told |= {name: site.told(ask, *pages) for name, ask in LISTED.items()}
    first = httpx.Response(
        200, json=[{"a": 1}], headers={"link": '<https://elsewhere.example/x?cursor=c1>; rel="next"'}
    )
    told |= {name: site.told(ask, first, said([{"a": 2}])) for name, ask in PLAIN_LISTS.items()}
    columns = said({"columns": [{"name": "own"}]})
    told["add scores"] = site.told(lambda given: given.add_scores("ferry", "outputs.jsonl", metric="own"), columns)
    sent = said({"submissions": [{"id": "s1"}]})
    told["metric to suite"] = site.told(lambda given: given.submit_metric_to_suite("ports", "own", "program"), sent)
    told["outputs to suite"] = site.told(
        lambda given: given.submit_generator_to_suite("ports", "mine", "program", public=False), sent
    )
    told["opened"] = site.opened[:1]
    approve("client/asked", told, folder=files)


def test_what_comes_of_an_answer_is_as_approved(site: Site, files: Path) -> None:
    lost = httpx.ConnectError("nobody there")
    many = [f"mistake {k}" for k in range(10)]
    answers: dict[str, tuple[Any, ...]] = {
        "unreachable": (lost,),
        "reached at last": (lost, lost, said({"name": "x"})),
        "busy": (said({}, 503),),
        "busy for a while": (said({}, 429, **{"retry-after": "7"}), said({}, 503), said({"name": "x"})),
        "busy for long": (said({}, 429, **{"retry-after": "900"}), said({"name": "x"})),
        "busy until a date": (said({}, 429, **{"retry-after": "Thu"}), said({"name": "x"})),
        "a list": (said([1]),),
        "no JSON": (httpx.Response(200, text="<html>"),),
        "nothing": (httpx.Response(200),),
        "no JSON and an error": (httpx.Response(500, text="<html>"),),
        "one problem": (said({"detail": "no", "problems": ["a line is wrong"]}, 422),),
        "ten problems": (said({"detail": "no", "problems": many}, 422),),
        "eleven problems": (said({"detail": "no", "problems": [*many, "last"]}, 400),),
        "many mistakes": (said({"problems": [*many, "last"], "mistakes": 40}, 413),),
        "mistakes that are words": (said({"problems": [*many, "last"], "mistakes": "many"}, 422),),
    } | {
        f"status {status}": (said({"detail": "the site's words"}, status),) for status in (400, 401, 403, 404, 409, 500)
    }
    told = {name: site.told(lambda given: given.account(), *given) for name, given in answers.items()}
    told["sending is not tried again"] = site.told(lambda given: given.act("s1", "retry"), lost)
    told["sending waits"] = site.told(lambda given: given.act("s1", "retry"), said({}, 503), said({"name": "x"}))
    odd = {
        "pages without items": said({"next": None}),
        "a page that leads to itself": said({"items": [{"a": 1}], "next": "c1"}),
        "a page on from nothing": said({"items": [], "next": "c1"}),
    }
    told |= {name: site.told(lambda given: given.log("s1"), answer) for name, answer in odd.items()}
    told["a list of words"] = site.told(lambda given: given.boards(), said(["a"]))
    told["sent to no board"] = site.told(
        lambda given: given.submit_metric_to_suite("ports", "own", "program"), said({"submissions": []})
    )
    approve("client/answers", told, folder=files)


def test_waiting_is_as_approved(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 1000, 4))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    seen: list[Any] = []
    states = [said({"state": state}) for state in ("queued", "running", "scored")]
    told = {
        "scored": site.told(lambda given: given.wait("s1", on_progress=seen.append), *states),
        "seen": seen,
        **{
            state: site.told(lambda given: given.wait("s1", poll=2.5), said({"state": state}))
            for state in ("rejected", "failed", "cancelled", "withdrawn")
        },
        "ranked": site.told(
            lambda given: given.wait("s1", ranked=True),
            said({"state": "scored", "outcome": {"state": "ranking"}}),
            said({"state": "scored", "outcome": {"state": "ranked"}}),
        ),
        "not waiting for the ranking": site.told(
            lambda given: given.wait("s1"), said({"state": "scored", "outcome": {"state": "ranking"}})
        ),
        "too long": site.told(lambda given: given.wait("s1", timeout=10), said({"state": "queued"})),
        "no state": site.told(lambda given: given.wait("s1"), said({"id": "s1"})),
    }
    approve("client/waiting", told)


def test_downloads_are_as_approved(site: Site, tmp_path: Path) -> None:
    def fetch(given: Client) -> dict[str, Any]:
        path = given.download("ferry", "board.zip", tmp_path / "board.zip", at_most=10)
        return {"size": path.stat().st_size}

    def response(body: bytes, headers: dict[str, str] | None = None, *, status: int = 200) -> Any:
        return httpx.Response(status, stream=httpx.ByteStream(body), headers=headers)

    answers = {
        "as large as may be": response(b"x" * 10),
        "too large": response(b"x" * 11),
        "said to be too large": response(b"x", {"content-length": "11"}),
        "said to be as large as may be": response(b"x" * 10, {"content-length": "10"}),
        "compressed": response(b"x", {"content-encoding": "gzip"}),
        "elsewhere": response(b"", {"location": "https://elsewhere.example"}, status=302),
        "nothing": response(b"", status=204),
        "refused": response(b'{"detail": "log in"}', status=403),
        "not there": response(b"<html>", status=404),
        "a long refusal": response(b'{"detail": "no"}' + b" " * 3_000_000, status=400),
        "lost": httpx.ReadError("cut"),
    }
    told = {name: site.told(fetch, answer) for name, answer in answers.items()}
    told["no place"] = site.told(
        lambda given: {"path": given.download("ferry", "a b", tmp_path / "none" / "x", at_most=10)}, response(b"x")
    )
    approve("client/downloads", told, folder=tmp_path)
