"""Attacks on a site over the network: each is a program with the outcome that it must have.

An outcome is the status of the answer, or `closed` where the connection is ended without one. After each attack the
site must answer others, and no answer may tell where its files lie.
"""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from attacked_site import Attacked, Play, Played, attacked_site, first_status, json_of, played
from fastapi.testclient import TestClient
from small_sites import MakeHarbour

from billboards.site.accounts import access
from billboards.site.web.app import create_app
from billboards.site.web.start_token import cookie_name

Record = Callable[..., None]
START = "s" * 32


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    with attacked_site(tmp_path_factory.mktemp("attacked")) as site:
        yield site


def api(asker: str, method: str, path: str, **sent: Any) -> Play:
    """A request of the interface for programs; what stands in {…} is filled in from the site."""

    def play(site: Attacked) -> Played:
        place = path.format(submission=site.submission, **site.accounts)
        return played(site.ask(asker, method, place, **sent))

    return play


def page(path: str, method: str = "GET", **sent: Any) -> Play:
    return lambda site: played(site.client.request(method, path, **sent))


def raw(content: bytes, **options: Any) -> Play:
    return lambda site: first_status(site.raw(content, **options))


def request(*lines: str, body: bytes = b"") -> bytes:
    return "\r\n".join((*lines, "", "")).encode("latin-1") + body


def generator(name: str, asker: str = "team") -> Play:
    """A good file under a bad name."""
    return lambda site: played(site.send("generators", b"one\ntwo\nthree\n", name, asker=asker))


def metric(**said: Any) -> Play:
    """A good program of which something hostile is said beside it."""
    said = {"higher_is_better": True, "needs": [], "training_data": "none", **said}
    program = b"def score(outputs, references, inputs):\n    return [1.0 for _ in outputs]\n"
    return lambda site: played(site.send("metrics", program, "mine", file_name="m.py", manifest=json.dumps(said)))


def flood(asker: str, method: str, path: str, content: bytes) -> Play:
    """A document with a hundred thousand mistakes; the answer names some of them."""

    def play(site: Attacked) -> Played:
        answer = site.ask(asker, method, path, **json_of(content))
        assert len(answer.content) < 100_000
        assert answer.json()["mistakes"] >= 50_000
        return played(answer)

    return play


def template(source: str) -> Play:
    return api("owner", "POST", "/templates/preview", **json_of({"source": source}))


def webhook(url: str) -> Play:
    return api("team", "POST", "/account/webhooks", **json_of({"url": url}))


def settings(content: bytes) -> Play:
    return api("owner", "PATCH", "/boards/harbour/settings", **json_of(content))


# Connections --------------------------------------------------------------------------------------------------------


def drip(site: Attacked) -> Played:
    """A head that comes letter by letter and never ends."""
    with socket.create_connection(site.place, timeout=20) as connection:
        answer = b""
        try:
            for letter in b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n" + b"x-a: b\r\n" * 1000:
                connection.sendall(bytes([letter]))
                time.sleep(0.05)
                connection.setblocking(False)
                try:
                    answer += connection.recv(65536)
                    break
                except BlockingIOError:
                    connection.setblocking(True)
        except ConnectionError:
            pass
    return first_status(answer)


def second_head(site: Attacked) -> Played:
    """A whole request, and half of the next one on the same connection."""
    head = request("GET /health HTTP/1.1", "host: 127.0.0.1")
    answer = site.raw(head + b"GET /health HT")
    return first_status(answer[answer.rfind(b"HTTP/1.1 ") :])


def hoard(site: Attacked) -> Played:
    """As many connections as an address gets, and more; another address is served meanwhile."""
    held = [socket.create_connection(site.place, source_address=("127.0.0.2", 0)) for _ in range(30)]
    try:
        refused = 0
        for connection in held[20:]:
            connection.settimeout(10)
            refused += connection.recv(64).startswith(b"HTTP/1.1 503 ")
        assert site.client.get("/").status_code == 200
    finally:
        for connection in held:
            connection.close()
    return Played(f"{refused} refused")


def half_heads(site: Attacked) -> Played:
    """More half heads than there are connections: they are given up, and the log stays short."""
    held = []
    before = site.log.stat().st_size
    for number in range(150):
        connection = socket.create_connection(site.place, source_address=(f"127.0.0.{3 + number % 10}", 0))
        connection.settimeout(20)
        with_head = b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx-half: "
        with suppress(ConnectionError):
            connection.sendall(with_head)
        held.append(connection)
    for connection in held:
        try:
            while connection.recv(4096):
                pass
        except ConnectionError:
            pass
        connection.close()
    assert site.log.stat().st_size - before < 10_000
    return played(site.client.get("/"))


def unread(each: float) -> Play:
    """A body that nobody waits for, since its request has been answered: it stops, or comes letter by letter."""

    def play(site: Attacked) -> Played:
        with socket.create_connection(site.place, timeout=20) as connection:
            connection.sendall(request("POST /nowhere HTTP/1.1", "host: x", "content-length: 900000"))
            answer = connection.recv(65536)
            connection.sendall(b"x")
            connection.settimeout(each or 20)
            with suppress(ConnectionError):
                for _ in range(200):
                    try:
                        if not connection.recv(65536):
                            break
                    except TimeoutError:
                        if not each:
                            return Played("open for ever")
                        connection.sendall(b"x")
                else:
                    return Played("open for ever")
        return first_status(answer)

    return play


CONNECTIONS: dict[str, tuple[Play, str]] = {
    "a body that stops after the answer": (unread(0), "404"),
    "a body letter by letter after the answer": (unread(0.1), "404"),
    "half a head": (raw(b"GET / HTTP/1.1\r\nhost: x\r\nx-half"), "408"),
    "a connection without a word": (raw(b""), "408"),
    "a head letter by letter": (drip, "408"),
    "half a second head": (second_head, "200"),
    "more connections than one address gets": (hoard, "10 refused"),
    "150 half heads at once": (half_heads, "200"),
    "a header of a megabyte": (raw(request("GET / HTTP/1.1", "host: x", f"x-a: {'a' * 2**20}")), "400"),
    "ten thousand headers": (
        raw(request("GET / HTTP/1.1", "host: x", "connection: close", *["x-a: b"] * 10_000)),
        "200",
    ),
    "an address of nine kilobytes": (page(f"/{'a' * 9000}"), "414"),
    "a query of nine kilobytes": (page(f"/?a={'a' * 9000}"), "414"),
    "a negative length": (raw(request("POST /login HTTP/1.1", "host: x", "content-length: -1")), "400"),
    "two lengths": (raw(request("POST /login HTTP/1.1", "host: x", "content-length: 1", "content-length: 9")), "400"),
    "a length and chunks": (
        raw(
            request(
                "GET /boards/harbour HTTP/1.1",
                "host: x",
                "content-length: 4",
                "transfer-encoding: chunked",
                body=b"0\r\n\r\n" + request("GET /health HTTP/1.1", "host: x"),
            )
        ),
        "400",
    ),
    "a chunk of no size": (
        raw(request("POST /login HTTP/1.1", "host: x", "transfer-encoding: chunked", body=b"zz\r\n\r\n")),
        "400",
    ),
    "no host": (raw(request("GET / HTTP/1.1")), "400"),
    "two hosts": (raw(request("GET / HTTP/1.1", "host: a", "host: b")), "400"),
    "HTTP of 1991": (raw(b"GET /\r\n\r\n"), "400"),
    "bytes of another protocol": (raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(256))), "400"),
    "a line end inside a header": (raw(request("GET / HTTP/1.1", "host: x", "x-a: b\r c")), "400"),
    "TRACE": (page("/", "TRACE"), "405"),
    "a method of its own": (page("/", "FROBNICATE"), "405"),
    "an address as a proxy gets it": (raw(request("GET http://evil/ HTTP/1.1", "host: x", "connection: close")), "404"),
}

# Paths and forms ----------------------------------------------------------------------------------------------------


def inside(site: Attacked, wanted: str) -> Played:
    """Where a log-in leads; outside is nowhere."""
    data = {"token": site.tokens["team"], "next": wanted}
    answer = site.client.post("/login", data=data, follow_redirects=False)
    site.client.cookies.clear()
    return Played(answer.headers.get("location", str(answer.status_code)))


def same_page(site: Attacked) -> Played:
    """Words that a page does not read: the differences of two long texts are found once."""
    answers = [site.client.get(f"/boards/harbour/instances/i2?x{k}={k}") for k in range(8)]
    assert {answer.headers["etag"] for answer in answers} == {answers[0].headers["etag"]}
    return played(answers[-1])


def draws(site: Attacked) -> Played:
    """A page that would be computed for hours; it says why it is not."""
    shown = site.client.get(f"/boards/harbour/analyses/rank?draws={10**9}")
    return Played("refused" if "a site takes at most 10,000" in shown.text else str(shown.status_code), shown.text)


def script(site: Attacked) -> Played:
    """A name that is a script."""
    name = "<script>alert(1)</script>"
    assert site.send("generators", b"one\ntwo\nthree\n", name).status_code == 201
    shown = site.client.get("/boards/harbour/submissions", headers=_of(site, "owner")).text
    return Played("shown as text" if name not in shown and "&lt;script&gt;" in shown else "a script")


def _of(site: Attacked, asker: str) -> dict[str, str]:
    return {"authorization": f"Bearer {site.tokens[asker]}"}


def without_csrf(site: Attacked) -> Played:
    """A form of a session without the word that the page puts into it."""
    logged = site.client.post("/login", data={"token": site.tokens["team"]}, follow_redirects=False)
    cookie = logged.headers["set-cookie"].split(";")[0]
    site.client.cookies.clear()
    return played(site.client.post("/account/tokens", data={"label": "mine"}, headers={"cookie": cookie}))


PATHS: dict[str, tuple[Play, str]] = {
    "out of the static files": (page("/static/..%2f..%2f..%2fetc/passwd"), "404"),
    "out of the static files, plainly": (
        raw(request("GET /static/../../../etc/passwd HTTP/1.1", "host: x", "connection: close")),
        "404",
    ),
    "out of the downloads": (page("/boards/harbour/downloads/..%2f..%2fsite.sqlite"), "404"),
    "a null in a path": (page("/boards/harbour%00"), "404"),
    "a path that is no text": (page("/boards/%ff%fe"), "404"),
    "a board that is a condition": (page("/boards/x'%20or%20'1'='1"), "404"),
    "a page that is no number": (page("/boards/harbour/instances/i0?page=ten"), "422"),
    "page nine thousand million million": (page(f"/boards/harbour/instances/i0?page={9 * 10**15}"), "200"),
    "a cursor of its own": (api("visitor", "GET", "/boards/harbour/instances?cursor=zzz"), "422"),
    "no entries at all": (api("visitor", "GET", "/boards/harbour/instances?limit=0"), "422"),
    "entries without end": (api("visitor", "GET", f"/boards/harbour/instances?limit={10**30}"), "422"),
    "a number that no database holds": (api("owner", "PATCH", f"/accounts/{2**70}", **json_of({})), "422"),
    "a thousand million draws": (
        api("visitor", "GET", f"/boards/harbour/analyses/rank?draws={10**9}"),
        "422",
    ),
    "more mixtures than memory": (api("visitor", "GET", f"/boards/harbour/analyses/hybrids?mixtures={10**30}"), "422"),
    "a thousand million draws on a page": (draws, "refused"),
    "to another host after the log-in": (lambda site: inside(site, "//evil.example"), "/"),
    "to another host, with a backslash": (lambda site: inside(site, "/\\evil.example"), "/"),
    "a header after the log-in": (lambda site: inside(site, "/x\r\nset-cookie: a=b"), "/"),
    "differences under eight addresses": (same_page, "200"),
    "a script as a name": (script, "shown as text"),
    "a form of another site": (page("/login", "POST", headers={"origin": "https://evil.example"}), "403"),
    "a form that a browser calls foreign": (page("/login", "POST", headers={"sec-fetch-site": "cross-site"}), "403"),
    "a form of a site without a name": (page("/login", "POST", headers={"origin": "http://["}), "403"),
    "a form of a site whose name has no beginning": (page("/login", "POST", headers={"origin": "http://]x"}), "403"),
    "a form of no site": (page("/login", "POST", headers={"origin": "null", "host": ""}), "403"),
    "a host without an end": (raw(request("GET /login HTTP/1.1", "host: [", "connection: close")), "200"),
    "a form without its word": (without_csrf, "403"),
    "a token of 20 kilobytes": (page("/login", "POST", data={"token": "t" * 20_000}), "400"),
    "a bearer token that is no text": (
        raw(request("GET /api/v1/account HTTP/1.1", "host: x", "connection: close", "authorization: Bearer \xff\xfe")),
        "401",
    ),
    "a cookie that is none": (page("/", headers={"cookie": "billboards=" + "'\"\\;" * 500}), "200"),
    "the counts through a proxy": (page("/metrics", headers={"x-forwarded-for": "127.0.0.1"}), "403"),
    "a form of two megabytes": (page("/login", "POST", data={"token": "t" * 2**21}), "413"),
    "a form without end": (
        raw(
            request("POST /login HTTP/1.1", "host: x", "transfer-encoding: chunked", "connection: close",
                    "content-type: application/x-www-form-urlencoded",
                    body=(b"10000\r\n" + b"a" * 65536 + b"\r\n") * 40 + b"0\r\n\r\n")
        ),
        "400",
    ),
    "a form of a thousand fields": (page("/login", "POST", data={f"f{k}": "x" for k in range(1000)}), "400"),
    "a form without its boundary": (
        page("/login", "POST", content=b"x", headers={"content-type": "multipart/form-data"}),
        "400",
    ),
}  # fmt: skip

# What is another's --------------------------------------------------------------------------------------------------


def revoked(site: Attacked) -> Played:
    """A session whose token is revoked."""
    made = site.ask("owner", "POST", f"/accounts/{site.accounts['stranger']}/tokens", json={"label": "short"}).json()
    logged = site.client.post("/login", data={"token": made["token"]}, follow_redirects=False)
    cookie = logged.headers["set-cookie"].split(";")[0]
    site.client.cookies.clear()
    assert site.client.get("/account", headers={"cookie": cookie}).status_code == 200
    path = f"/accounts/{site.accounts['stranger']}/tokens/{made['id']}"
    assert site.ask("owner", "DELETE", path).status_code == 204
    return played(site.client.get("/account", headers={"cookie": cookie}))


def disabled(site: Attacked) -> Played:
    """A session and a token of an account that is shut out; let in again, the token opens it."""
    account = f"/accounts/{site.accounts['annotator']}"
    logged = site.client.post("/login", data={"token": site.tokens["annotator"]}, follow_redirects=False)
    cookie = logged.headers["set-cookie"].split(";")[0]
    site.client.cookies.clear()
    assert site.ask("owner", "PATCH", account, json={"disabled": True}).status_code == 200
    outcome = played(site.ask("annotator", "GET", "/account"))
    assert site.client.get("/account", headers={"cookie": cookie}).status_code == 401
    assert site.ask("owner", "PATCH", account, json={"disabled": False}).status_code == 200
    assert site.ask("annotator", "GET", "/account").status_code == 200
    return outcome


OTHERS: dict[str, tuple[Play, str]] = {
    "a stranger reads a team's submission": (api("stranger", "GET", "/submissions/{submission}"), "403"),
    "a visitor reads a team's submission": (api("visitor", "GET", "/submissions/{submission}"), "401"),
    "a stranger reads its log": (api("stranger", "GET", "/submissions/{submission}/log"), "403"),
    "a stranger cancels it": (api("stranger", "POST", "/submissions/{submission}/cancel"), "403"),
    "a stranger withdraws it": (api("stranger", "POST", "/submissions/{submission}/withdraw"), "403"),
    "its team trusts its own program": (
        api("team", "PUT", "/submissions/{submission}/trust", **json_of({"trusted": True})),
        "403",
    ),
    "a stranger changes a board": (api("stranger", "PATCH", "/boards/harbour/settings", **json_of({"k": 1})), "403"),
    "a stranger lists everybody": (api("stranger", "GET", "/accounts"), "403"),
    "a stranger becomes owner": (api("stranger", "PATCH", "/accounts/{stranger}", **json_of({"role": "owner"})), "403"),
    "a stranger makes the owner a token": (api("stranger", "POST", "/accounts/{owner}/tokens", **json_of({})), "403"),
    "a token that is none": (api("visitor", "GET", "/account", headers={"authorization": "Bearer bb_no"}), "401"),
    "the last owner steps down": (api("owner", "PATCH", "/accounts/{owner}", **json_of({"role": "submitter"})), "409"),
    "the last owner is shut out": (api("owner", "PATCH", "/accounts/{owner}", **json_of({"disabled": True})), "409"),
    "an e-mail with a line end": (
        api("owner", "PATCH", "/accounts/{team}", **json_of({"email": "a@example.org\nbcc: b@example.org"})),
        "422",
    ),
    "a team with a line end": (api("owner", "PATCH", "/accounts/{team}", **json_of({"team": "a\nb"})), "422"),
    "an account that looks like another": (api("owner", "POST", "/accounts", **json_of({"name": "Team"})), "409"),
    "an account that turns the text": (api("owner", "POST", "/accounts", **json_of({"name": "a\u202eb"})), "422"),
    "a session after its token": (revoked, "401"),
    "an account that is shut out": (disabled, "401"),
}  # fmt: skip

# Values -------------------------------------------------------------------------------------------------------------

VALUES: dict[str, tuple[Play, str]] = {
    "a webhook without an end": (webhook("http://["), "422"),
    "a webhook to no port": (webhook("http://example.org:99999999/"), "422"),
    "a webhook by another way": (webhook("ftp://example.org/"), "422"),
    "a webhook that is a script": (webhook("javascript:alert(1)"), "422"),
    "a webhook with a blank": (webhook("http://exa mple.org/"), "422"),
    "a webhook with a line end": (webhook("http://example.org/\r\nx: y"), "422"),
    "a webhook that turns the text": (webhook("http://example.org/\u202e"), "422"),
    "half a character in settings": (settings(b'{"ranks": "\\ud800"}'), "422"),
    "half a character as a key": (settings(b'{"\\ud800": 1}'), "422"),
    "half a character in an account": (api("owner", "POST", "/accounts", **json_of(b'{"name": "a\\udfffb"}')), "422"),
    "half a character in a token": (api("team", "POST", "/account/tokens", **json_of(b'{"label": "\\ud800"}')), "422"),
    "half a character in a webhook": (webhook("http://example.org/\ud800"), "422"),
    "a number that is none": (settings(b'{"quiet": NaN}'), "422"),
    "a number without end": (settings(b'{"quiet": 1e999}'), "422"),
    "a number of five thousand digits": (settings(b'{"draws": ' + b"9" * 5000 + b"}"), "400"),
    "lists in one another": (settings(b"[" * 100_000), "400"),
    "a list for a table": (settings(b"[1, 2]"), "422"),
    "ten thousand unknown settings": (settings(b"{" + b",".join(b'"k%d":1' % k for k in range(10_000)) + b"}"), "422"),
    "no JSON": (settings(b"{"), "422"),
    "a name that leads up": (generator(".."), "422"),
    "a name that leads up inside": (generator("a/../b"), "422"),
    "a name that is a folder": (generator("."), "422"),
    "a name that turns the text": (generator("abc\u202edef"), "422"),
    "a name with nothing in it": (generator("al\u200bmanac"), "422"),
    "a name with a null": (generator("a\0b"), "422"),
    "a name with a line end": (generator("a\nb"), "422"),
    "a name of blanks": (generator(" almanac"), "422"),
    "a name of 300 letters": (generator("n" * 300), "422"),
    "another's name with a capital": (generator("Almanac"), "409"),
    "another's name in Cyrillic": (generator("\u0430lm\u0430nac"), "409"),
    "another's name in wide letters": (generator("\uff41lmanac"), "409"),
    "the name of a team's submission, in capitals": (generator("SAILOR", "stranger"), "409"),
    "the site's own name": (generator("Ensemble"), "422"),
    "an anonymous name": (generator("Anonymous-7"), "422"),
    "a time after all times": (settings(b'{"frozen": "9999-12-31T23:59:59-23:59"}'), "422"),
    "a time before all times": (settings(b'{"frozen": "0001-01-01T00:00:00+23:59"}'), "422"),
    "a phase after all times": (settings(b'{"phases": [{"name": "a", "opens": "9999-12-31T23:59:59-01:00"}]}'), "422"),
    "a date after all times": (
        settings(b'{"about": {"timeline": [{"at": "9999-12-31T23:59:59-01:00", "words": "x"}]}}'),
        "422",
    ),
    "more draws than memory": (settings(b'{"draws": 1' + b"0" * 300 + b"}"), "422"),
    "more metrics in an ensemble than there are": (settings(b'{"k": 1' + b"0" * 300 + b"}"), "422"),
    "half a character in a manifest": (metric(training_data="\ud800"), "422"),
    "half a character in a manifest's list": (metric(languages=["\ud800"]), "422"),
    "half a character as a manifest's key": (metric(**{"\ud800": 1}), "422"),
    "half a character deep in a campaign": (
        api("owner", "POST", "/boards/harbour/campaigns", **json_of({"name": "a", "plan": {"\udfff": ["\ud800"]}})),
        "422",
    ),
    "half a character in plain bytes": (settings(b'{"ranks": "\xed\xa0\x80"}'), "422"),
    "a program's name that no disk has": (metric(entry="x" * 5000 + ".py"), "422"),
    "a hundred thousand mistakes of a visitor": (
        flood("visitor", "POST", "/sign-up/links", b"{" + b",".join(b'"k%d":1' % k for k in range(60_000)) + b"}"),
        "422",
    ),
    "a hundred thousand settings": (
        flood(
            "owner", "PATCH", "/boards/harbour/settings", b"{" + b",".join(b'"k%d":1' % k for k in range(60_000)) + b"}"
        ),
        "422",
    ),
    "a hundred thousand phases": (
        flood("owner", "PATCH", "/boards/harbour/settings", b'{"phases":[' + b",".join([b"1"] * 100_000) + b"]}"),
        "422",
    ),
    "a template's number of 90,000 digits": (template(f"title = 0x{'f' * 90_000}"), "422"),
    "a template of 20,000 unknown keys": (template("".join(f"k{k}=1\n" for k in range(20_000))), "422"),
    "a template of 300 tables of unknown keys": (
        template(("[[stages]]\n" + "".join(f"k{k}=1\n" for k in range(60))) * 300),
        "422",
    ),
    "a name with a letter of no width": (generator("almanac\u3164"), "422"),
    "a name with a blank of braille": (generator("almanac\u2800"), "422"),
    "another's name with a selector": (generator("almanac\ufe0f"), "409"),
    "another's name with a joiner of graphemes": (generator("al\u034fmanac"), "409"),
    "another's name in small capitals": (generator("\u1d00lmanac"), "409"),
    "another's name in Cherokee": (generator("\u13aalmanac"), "409"),
    "another's name with two letters for one": (generator("alrnanac"), "409"),
    "a metric that is called people": (
        lambda site: played(
            site.send("metrics/scores", b"almanac\ti0\t1\n", "People", higher_is_better="true", training_data="none")
        ),
        "422",
    ),
    "a description that turns what stands behind it": (
        lambda site: played(site.send("generators", b"one\ntwo\nthree\n", "turned", description="fine \u202edab")),
        "422",
    ),
    "a description with NUL": (
        lambda site: played(site.send("generators", b"one\ntwo\nthree\n", "cut", description="fine\0")),
        "422",
    ),
    "a name that is a statement": (generator("'; drop table accounts; --"), "201"),
}

ATTACKS = {
    **{name: ("connections", *attack) for name, attack in CONNECTIONS.items()},
    **{name: ("paths and forms", *attack) for name, attack in PATHS.items()},
    **{name: ("what is another's", *attack) for name, attack in OTHERS.items()},
    **{name: ("values", *attack) for name, attack in VALUES.items()},
}


def test_there_are_at_least_sixty_of_them() -> None:
    assert len(ATTACKS) >= 60
    assert len(ATTACKS) == len(CONNECTIONS) + len(PATHS) + len(OTHERS) + len(VALUES)


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_has_the_outcome_it_must_have_and_others_are_served(
    name: str, attacked: Attacked, record_attack: Record
) -> None:
    kind, play, expected = ATTACKS[name]
    began = time.perf_counter()
    result = play(attacked)
    seconds = time.perf_counter() - began
    contained = result.outcome == expected
    record_attack(name, f"web: {kind}", result.outcome, contained=contained, seconds=seconds, peak=attacked.peak())
    assert result.outcome == expected, result.text[:1000]
    assert str(attacked.data) not in result.text
    assert attacked.client.get("/boards/harbour").status_code == 200


def test_nothing_of_all_this_was_a_mistake_of_the_server(attacked: Attacked) -> None:
    assert "Traceback" not in attacked.log.read_text()


# A site for its own machine -----------------------------------------------------------------------------------------

LOCAL: dict[str, tuple[dict[str, Any], str]] = {
    "without the token, a page": ({"url": "/", "headers": {"accept": "text/html"}}, "303"),
    "without the token, a program": ({"url": "/api/v1/boards"}, "401"),
    "without the token, a change": ({"method": "POST", "url": "/account/tokens"}, "401"),
    "without the token, the events": ({"url": "/boards/ferry/events"}, "401"),
    "another token in the address": ({"url": "/?token=tttt"}, "401"),
    "another token from a program": ({"url": "/", "headers": {"authorization": "Bearer tttt"}}, "401"),
    "another token in the cookie": ({"url": "/", "headers": {"cookie": f"{cookie_name(START)}=tttt"}}, "401"),
    "another token at the log-in": ({"method": "POST", "url": "/login", "data": {"token": "tttt"}}, "403"),
    "to another host with the token": ({"url": f"//evil.example/?token={START}"}, "303"),
    "a name without an end": ({"url": "/", "headers": {"host": "["}}, "421"),
    "a name that leads here": ({"url": "/", "headers": {"host": "evil.example"}}, "421"),
    "through a proxy": ({"url": f"/?token={START}", "headers": {"x-forwarded-for": "1.2.3.4"}}, "421"),
    "through a proxy that says so": ({"url": "/", "headers": {"forwarded": "for=1.2.3.4"}}, "421"),
    "through a proxy with another name": ({"url": "/", "headers": {"x-real-ip": "1.2.3.4"}}, "421"),
    "through two proxies": ({"url": "/", "headers": {"via": "1.1 a, 1.1 b"}}, "421"),
    "with the token": ({"url": f"/?token={START}&page=1"}, "303"),
}


@pytest.mark.parametrize("name", LOCAL)
def test_a_site_for_its_own_machine_is_its_owners_alone(
    name: str, make_harbour: MakeHarbour, record_attack: Record
) -> None:
    site = make_harbour().site
    site.start_token = START
    client = TestClient(create_app(site), base_url="http://127.0.0.1", follow_redirects=False)
    sent, expected = LOCAL[name]
    began = time.perf_counter()
    answer = client.request(**{"method": "GET", **sent})
    seconds, outcome = time.perf_counter() - began, str(answer.status_code)
    record_attack(name, "web: local", outcome, contained=outcome == expected, seconds=seconds, peak=None)
    assert outcome == expected, answer.text
    place = answer.headers.get("location", "/")
    assert re.match(r"/(?!/)", place), place
    assert START not in answer.text + place
    opened = (client.get("/api/v1/account").status_code, "set-cookie" in answer.headers)
    assert opened == ((200, True) if START in sent["url"] and expected == "303" else (401, False))


def test_an_account_that_is_made_while_the_site_runs_switches_the_log_in_on_at_once(make_harbour: MakeHarbour) -> None:
    site = make_harbour().site
    site.start_token = START
    app = create_app(site)
    owner, visitor = (TestClient(app, base_url="http://127.0.0.1") for _ in range(2))
    assert owner.get(f"/?token={START}").status_code == 200
    assert visitor.get("/api/v1/account").status_code == 401
    access.new_owner_token(site, "olga")
    assert visitor.get("/api/v1/account").json()["role"] == "visitor"
    assert visitor.get("/account").status_code == 401
    assert owner.get("/api/v1/account").json()["account"]["name"] == "local"


def test_the_start_token_is_made_once_for_the_sites_own_account_alone(make_harbour: MakeHarbour) -> None:
    from billboards.site.web.start_token import read_start_token

    site = make_harbour().site
    token = read_start_token(site)
    assert read_start_token(site) == token
    assert len(token) == 32
    assert (site.data / "start.token").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("left", ["", "\n", "abc"])
def test_what_a_full_disk_left_of_a_start_token_opens_nothing(make_harbour: MakeHarbour, left: str) -> None:
    from billboards.site.web.start_token import read_start_token

    site = make_harbour().site
    (site.data / "start.token").write_text(left)
    site.start_token = read_start_token(site)
    assert len(site.start_token) == 32
    assert (site.data / "start.token").read_text() == site.start_token
    assert (site.data / "start.token").stat().st_mode & 0o777 == 0o600
    client = TestClient(create_app(site), base_url="http://127.0.0.1")
    for sent, status in ((left.strip(), 401), ("", 401), (site.start_token, 200)):
        assert client.get("/api/v1/account", headers={"authorization": f"Bearer {sent}"}).status_code == status


def test_processes_that_start_together_have_one_start_token(make_harbour: MakeHarbour) -> None:
    from billboards.site.web.start_token import read_start_token

    site = make_harbour().site
    with ThreadPoolExecutor(8) as pool:
        tokens = set(pool.map(read_start_token, [site] * 64))
    assert tokens == {(site.data / "start.token").read_text()}
    assert not list(site.data.glob(".start.token-*"))
