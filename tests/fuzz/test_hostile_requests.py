"""Hostile texts on every page, in every address, form and answer: no fault of the server's, and no markup of theirs."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlencode

import pytest
from damage import cases
from hostile_sites import MARK, HostileSite, hostile_site, hostile_texts, in_path
from hypothesis import given
from hypothesis import strategies as st

ASKERS = st.sampled_from((None, "team", "owner"))
FIELDS = ("name", "pasted", "form", "entry", "description", "paper", "url", "direction", "token", "next", "stage",
          "assignment", "answer_id", "seconds", "opened", "csrf", "email", "label", "role", "team", "board", "before",
          "metric", "generator", "sort", "q", "limit", "cursor", "external", "PROLIFIC_PID", "answers", "draws",
          "phases", "template", "instances", "a", "b", "page")  # fmt: skip


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> HostileSite:
    return hostile_site(tmp_path_factory.mktemp("hostile"))


def test_no_page_shows_a_text_as_markup(hostile: HostileSite) -> None:
    shown = 0
    for method, route in hostile.routes:
        if method != "GET" or route.startswith("/login/"):
            continue
        path = _path(route, hostile.places())
        answered = hostile.ask("GET", path, "owner", headers={"accept": "text/html"})
        assert answered.status_code < 500, (path, answered.text[:300])
        if answered.headers.get("content-type", "").startswith(("text/html", "image/svg")):
            assert MARK not in answered.text, path
            shown += "&lt;xss&gt;" in answered.text
    assert shown >= 5


def _path(route: str, places: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)(:path)?\}", lambda found: in_path(places.get(found[1], "1")), route)


@cases(40)
@given(st.data())
def test_no_address_brings_the_server_down(hostile: HostileSite, data: st.DataObject) -> None:
    method, route = data.draw(st.sampled_from(hostile.routes))
    odd = data.draw(st.dictionaries(st.sampled_from(sorted(hostile.places())), hostile_texts(), max_size=2))
    query = data.draw(st.dictionaries(st.sampled_from(FIELDS), hostile_texts(), max_size=3))
    path = _path(route, {**hostile.places(), **odd})
    written = urlencode({key: text.encode("utf-8", "surrogatepass")[:3000] for key, text in query.items()})
    _holds(hostile.ask(method, f"{path}?{written}", data.draw(ASKERS), headers={"accept": "text/html"}))


@cases(30)
@given(st.data())
def test_no_form_brings_the_server_down(hostile: HostileSite, data: st.DataObject) -> None:
    routes = [one for one in hostile.routes if one[0] in ("POST", "PUT", "PATCH", "DELETE")]
    method, route = data.draw(st.sampled_from(routes))
    said = data.draw(st.dictionaries(st.sampled_from(FIELDS), hostile_texts(), max_size=6))
    form = urlencode({key: text.encode("utf-8", "surrogatepass") for key, text in said.items()})
    sent: Any = {"content": form, "headers": {"content-type": "application/x-www-form-urlencoded"}}
    if data.draw(st.booleans()):
        body = data.draw(st.one_of(st.just(said), _values()))
        sent = {"content": json.dumps(body), "headers": {"content-type": "application/json"}}
    _holds(hostile.ask(method, _path(route, hostile.places()), data.draw(ASKERS), **sent))


def _values() -> st.SearchStrategy[Any]:
    """Anything that JSON can say, and what Python's JSON says beyond it."""
    numbers = st.sampled_from((0, 1, -1, 2**70, 10**400, 0.5, -0.0, 1e308, float("nan"), float("inf")))
    plain = st.one_of(st.none(), st.booleans(), numbers, hostile_texts())
    return st.one_of(plain, st.lists(plain, max_size=3), st.dictionaries(hostile_texts(), plain, max_size=3))


@cases(20)
@given(st.data())
def test_no_answer_of_an_annotator_brings_the_server_down(hostile: HostileSite, data: st.DataObject) -> None:
    token = hostile.places()["token"]
    turn = hostile.ask("POST", f"/api/v1/annotate/{token}/next", None).json()
    assignment = turn["item"]["assignment"] if turn["item"] else "none"
    span = st.fixed_dictionaries({key: _values() for key in ("start", "end", "output", "severity")})
    answers = st.fixed_dictionaries({"errors": st.one_of(_values(), st.lists(span, max_size=2)), "score": _values()})
    said = {
        "assignment": data.draw(st.one_of(st.just(assignment), hostile_texts())),
        "answer_id": data.draw(hostile_texts()),
        "answers": data.draw(st.one_of(answers, _values())),
        "seconds": data.draw(_values()),
    }
    verbs = [f"/api/v1/annotate/{token}/{verb}" for verb in ("save", "submit", "undo", "skip")]
    path = data.draw(st.sampled_from([*verbs, f"{hostile.link}/draft"]))
    _holds(hostile.ask("POST", path, None, content=json.dumps(said), headers={"content-type": "application/json"}))


def _holds(answered: Any) -> None:
    assert answered.status_code < 500, (answered.request.url, answered.status_code, answered.text[:400])
    assert "set-cookie: a=b" not in str(answered.headers)
