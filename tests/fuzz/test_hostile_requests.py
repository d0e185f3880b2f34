"""Hostile texts on every page, in every address, form and answer: no fault of the server's, and no markup of theirs."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from damage import cases, damaged, damages
from hostile_sites import MARK, HostileSite, hostile_site, hostile_texts
from hypothesis import given
from hypothesis import strategies as st
from page_forms import Form
from target import Target

import billboards.site

ASKERS = st.sampled_from((None, "team", "owner"))
#: Every word that a page or the interface is asked for, as the web's sources and templates quote it.
FIELDS = tuple(
    sorted(
        {"cursor", "limit", "draws", "phases", "instances", "a", "b", "external", "PROLIFIC_PID"}
        | {
            word
            for path in Path(billboards.site.__file__).parent.rglob("*")
            if path.suffix in {".py", ".js", ".j2"}
            for word in re.findall(r'(?:get\(|sent, |ask, |name=)"([a-z_A-Z]+)"', path.read_text("utf-8"))
        }
    )
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> HostileSite:
    return hostile_site(tmp_path_factory.mktemp("hostile"))


# Before the others: what they send may well end the campaign.
@pytest.mark.parametrize("odd", [{"seconds": 10**400}, {"answer_id": "\ud800"}, {"assignment": "\ud800"}], ids=str)
def test_a_draft_that_brought_the_server_down_once_is_refused(hostile: HostileSite, odd: dict[str, Any]) -> None:
    turn = hostile.ask("POST", f"/api/v1/annotate/{hostile.places()['token']}/next", None).json()
    said = {"assignment": turn["item"]["assignment"], "answer_id": "a1", "answers": {}, "seconds": 1, **odd}
    _holds(hostile.ask("POST", f"{hostile.link}/draft", None, content=json.dumps(said)))


@pytest.mark.long
def test_no_page_shows_a_text_as_markup(hostile: HostileSite) -> None:
    shown = 0
    for method, route in hostile.routes:
        if method != "GET" or route.startswith("/login/"):
            continue
        path = hostile.path(route)
        answered = hostile.ask("GET", path, "owner", headers={"accept": "text/html"})
        assert answered.status_code < 500, (path, answered.text[:300])
        if answered.headers.get("content-type", "").startswith(("text/html", "image/svg")):
            assert MARK not in answered.text, path
            shown += "&lt;xss&gt;" in answered.text
    assert shown >= 5


@cases(40)
@given(st.data())
def test_no_address_brings_the_server_down(hostile: HostileSite, data: st.DataObject) -> None:
    method, route = data.draw(st.sampled_from(hostile.routes))
    odd = data.draw(st.dictionaries(st.sampled_from(sorted(hostile.places())), hostile_texts(), max_size=2))
    query = data.draw(st.dictionaries(st.sampled_from(FIELDS), hostile_texts(), max_size=3))
    path = hostile.path(route, **odd)
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
    _holds(hostile.ask(method, hostile.path(route), data.draw(ASKERS), **sent))


@pytest.fixture(scope="module")
def forms(hostile: HostileSite) -> list[Form]:
    return hostile.forms()


@pytest.mark.long
@cases(40)
@given(st.data())
def test_no_field_of_a_form_brings_the_server_down(
    hostile: HostileSite, forms: list[Form], data: st.DataObject
) -> None:
    """Forms as they stand on pages, all filled in, with something odd in one or two of their fields."""
    form = data.draw(st.sampled_from(forms))
    odd = data.draw(st.dictionaries(st.sampled_from(sorted(form.fields)), hostile_texts(), min_size=1, max_size=2))
    sent = {**form.fields, **odd, **({"confirm": "yes"} if data.draw(st.booleans()) else {})}
    content = urlencode({key: text.encode("utf-8", "surrogatepass") for key, text in sent.items()})
    headers = {"content-type": "application/x-www-form-urlencoded", "accept": "text/html"}
    _holds(hostile.ask("POST", form.action, "owner", content=content, headers=headers))


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
    named = data.draw(st.one_of(st.none(), hostile_texts()))
    said = {
        "assignment": assignment if named is None else named,
        "answer_id": data.draw(hostile_texts()),
        "answers": data.draw(st.one_of(answers, _values())),
        "seconds": data.draw(_values()),
    }
    verbs = [f"/api/v1/annotate/{token}/{verb}" for verb in ("save", "submit", "undo", "skip")]
    path = data.draw(st.sampled_from([*verbs, f"{hostile.link}/draft"]))
    _holds(hostile.ask("POST", path, None, content=json.dumps(said), headers={"content-type": "application/json"}))


@cases(20)
@given(st.data())
def test_no_upload_brings_the_server_down(
    hostile: HostileSite, targets: dict[str, Target], data: st.DataObject
) -> None:
    kind = data.draw(st.sampled_from(("generators", "metrics")))
    sound = [one.sound for name, one in targets.items() if name.split()[0] == UPLOADED[kind]]
    content = damaged(data.draw(st.sampled_from(sound)), data.draw(damages()))
    sent = {
        "files": {"file": (data.draw(hostile_texts())[:200] or "file", content)},
        "data": {"name": data.draw(hostile_texts()), "manifest": data.draw(hostile_texts())},
    }
    # What can't be encoded can't be sent.
    with suppress(UnicodeEncodeError):
        _holds(hostile.ask("POST", f"/api/v1/boards/harbour/{kind}", data.draw(ASKERS), **sent))


#: What is sent, by the address it goes to: the first word of its targets.
UPLOADED = {"generators": "outputs", "metrics": "metric"}
HEADERS = ("cookie", "authorization", "accept", "accept-encoding", "if-none-match", "if-modified-since", "range",
           "host", "content-type", "content-length", "last-event-id", "x-csrf-token", "x-forwarded-for", "origin",
           "x-forwarded-proto", "referer", "x-request-id", "traceparent")  # fmt: skip


@cases(30)
@given(st.data())
def test_no_header_brings_the_server_down(hostile: HostileSite, data: st.DataObject) -> None:
    method, route = data.draw(st.sampled_from([one for one in hostile.routes if one[0] in ("GET", "POST")]))
    said = data.draw(st.dictionaries(st.sampled_from(HEADERS), hostile_texts(), max_size=3))
    headers = {
        name: re.sub(r"[\r\n\0]", "", text).encode("utf-8", "surrogatepass")[:4000] for name, text in said.items()
    }
    if data.draw(st.booleans()):
        cookies = (f"{name}={text}" for name in ("session", "begun", "csrf") for text in said.values())
        headers["cookie"] = re.sub(r"[\r\n\0]", "", "; ".join(cookies)).encode("utf-8", "surrogatepass")[:4000]
    _holds(hostile.ask(method, hostile.path(route), data.draw(ASKERS), headers=headers))


def _holds(answered: Any) -> None:
    assert answered.status_code < 500, (answered.request.url, answered.status_code, answered.text[:400])
    assert "set-cookie: a=b" not in str(answered.headers)
