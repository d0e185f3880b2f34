"""How much, how often and how much at once somebody may ask; each limit of the owner's page has its test here."""

from __future__ import annotations

import asyncio
import io
import re
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

import httpx
import pytest
import uvicorn
from apart import run_apart
from api_sites import SmallSite, small_site
from fastapi.testclient import TestClient
from serving import served
from small_boards import small_board
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from uvicorn.server import ServerState

from billboards.campaigns.questions.spans import MOST_SPANS
from billboards.errors import InvalidSubmission, StoreFailed
from billboards.site.campaigns import annotating_pages as annotating
from billboards.site.settings import SiteSettings
from billboards.site.site import Site, open_site
from billboards.site.submissions import archives, generator_files
from billboards.site.web import limits, streams
from billboards.site.web.app import create_app
from billboards.site.web.asking import Ask, Pages, reading
from billboards.site.web.limits import LONGEST_ADDRESS, REMEMBERED, Limits, Rate, Room
from billboards.site.web.rendering import Bodies, Body
from billboards.site.web.server import bounded_protocol

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "running-a-site.md").read_text("utf-8")


def limited(home: Path, settings: str) -> SmallSite:
    """A small site with these limits."""
    small = small_site(home)
    file = small.site.data / "site.toml"
    file.write_text(f"{settings}\n{'' if 'per_minute' in settings else file.read_text()}")
    return SmallSite(open_site(small.site.data, login_required=True), small.tokens)


def test_a_bucket_lets_a_burst_pass_and_then_refills_steadily() -> None:
    rate = Rate(60)
    assert [rate.wait("me", 0.0) for _ in range(60)] == [0.0] * 60
    assert rate.wait("me", 0.0) == pytest.approx(1.0)
    assert rate.wait("me", 0.5) == pytest.approx(0.5)
    assert rate.wait("me", 1.0) == 0.0
    assert rate.wait("you", 1.0) == 0.0


def test_a_bucket_that_was_idle_holds_no_more_than_a_minute() -> None:
    rate = Rate(2)
    rate.wait("me", 0.0)
    assert [rate.wait("me", 1e6) for _ in range(2)] == [0.0, 0.0]
    assert rate.wait("me", 1e6) > 0


def test_only_so_many_askers_are_remembered() -> None:
    rate = Rate(1)
    for k in range(REMEMBERED + 10):
        rate.wait(str(k), 0.0)
    assert len(rate._buckets) == REMEMBERED


def test_a_flood_is_told_when_to_come_back(tmp_path: Path) -> None:
    small = limited(tmp_path, "reads_per_minute = 3\nchanges_per_minute = 1")
    answers = [small.ask("visitor", "GET", "/boards") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert int(answers[-1].headers["retry-after"]) >= 1
    changes = [small.ask("owner", "POST", "/boards/small/freeze") for _ in range(2)]
    assert [answer.status_code for answer in changes] == [200, 429]


def test_one_house_of_ipv6_counts_as_one_whichever_of_its_addresses_it_takes(tmp_path: Path) -> None:
    small = limited(tmp_path, "reads_per_minute = 2\nchanges_per_minute = 1")
    app = create_app(small.site)

    def ask(address: str) -> int:
        client = TestClient(app, "http://localhost", client=(address, 1))
        return int(
            client.get("/boards/small", headers={"authorization": f"Bearer {small.tokens['owner']}"}).status_code
        )

    house = ["2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2:3::4"]
    assert [ask(address) for address in house] == [200, 200, 429]
    assert [ask(address) for address in ("2001:db8:1:3::1", "2001:db8:1:1::1", "192.0.2.1")] == [200, 200, 200]
    assert [ask(address) for address in ("::ffff:192.0.2.1", "192.0.2.1", "192.0.2.2")] == [200, 429, 200]


class Wire:
    """A connection from an address, on which nothing is sent."""

    def __init__(self, address: str) -> None:
        self.address, self.written, self.closed = address, b"", False

    def get_extra_info(self, name: str) -> Any:
        return (self.address, 1) if name == "peername" else None

    def write(self, content: bytes) -> None:
        self.written += content

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize(
    ("proxies", "address", "taken"),
    [
        ("127.0.0.1", "192.0.2.1", 3),
        ("127.0.0.1", "127.0.0.1", 5),
        ("127.0.0.1", "::ffff:127.0.0.1", 5),
        ("127.0.0.1, 2001:db8::5", "2001:db8::5", 5),
        ("2001:db8::/64", "2001:db8::5", 5),
        ("2001:db8::5", "2001:db8::6", 3),
        ("*", "2001:db8::6", 5),
    ],
)
def test_an_address_has_so_many_connections_and_a_trusted_proxy_all_of_them(
    proxies: str, address: str, taken: int
) -> None:
    config = uvicorn.Config(Starlette(), forwarded_allow_ips=proxies, log_config=None)
    protocol = bounded_protocol(SiteSettings(connections=100, connections_each=3))

    async def connect() -> list[bool]:
        wires = [Wire(address) for _ in range(5)]
        for wire in wires:
            protocol(config, ServerState(), {}).connection_made(wire)  # type: ignore[arg-type]  # what is needed of one
        return [wire.closed and wire.written.startswith(b"HTTP/1.1 503") for wire in wires]

    assert run_apart(connect()) == [False] * taken + [True] * (5 - taken)


def test_places_are_given_back_and_nobody_has_all_of_them() -> None:
    room = Room("places", 3, 2)
    with room.place("me"), room.place("me"):
        with pytest.raises(Exception, match="Too many from your address: it has 2") as refused, room.place("me"):
            pass
        assert vars(refused.value) == {"status": 429, "seconds": limits.BACK, "closes": False}
        with (
            room.place("you"),
            pytest.raises(Exception, match="The server is full: it has 3") as refused,
            room.place("them"),
        ):
            pass
        assert vars(refused.value) == {"status": 503, "seconds": limits.BACK, "closes": False}
    assert not room.taken


def test_an_address_that_is_too_long_is_refused(tmp_path: Path) -> None:
    small = small_site(tmp_path)
    assert small.ask("visitor", "GET", f"/boards?unread={'a' * (LONGEST_ADDRESS - 100)}").status_code == 200
    assert small.ask("visitor", "GET", f"/boards?unread={'a' * LONGEST_ADDRESS}").status_code == 414


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/login", "application/x-www-form-urlencoded"), ("/api/v1/annotate/x/save", "application/json")],
)
def test_a_form_or_document_is_bounded_whether_it_says_its_length_or_not(tmp_path: Path, path: str, kind: str) -> None:
    client = TestClient(create_app(limited(tmp_path, "form_bytes = 1000").site), raise_server_exceptions=False)
    for content in (b"x" * 1001, iter([b"x" * 600, b"x" * 600])):
        answered = client.post(path, content=content, headers={"content-type": kind})
        assert answered.status_code == 413
        assert "1,000 bytes" in answered.text


def test_a_file_is_bounded_and_one_within_its_bound_is_taken(tmp_path: Path) -> None:
    small = limited(tmp_path, "form_bytes = 1000\ngenerator_bytes = 4000\nmetric_bytes = 500")
    assert small.submit().status_code == 201
    refused = small.submit(name="other", raw=small.outputs(word="w" * 500))
    assert refused.status_code == 413
    assert "5,000 bytes" in refused.text
    metric = {"file": ("m.py", b"def score(): pass\n" + b"#" * 900)}
    answered = small.ask("team", "POST", "/boards/small/metrics", data={"name": "m"}, files=metric)
    assert answered.status_code == 413
    assert "has more than the 500 bytes that are taken" in answered.text


#: Every door through which files come in, of boards and suites, for programs and people.
DOORS = [
    *(f"/api/v1/boards/small/{part}" for part in ("generators", "metrics", "metrics/scores", "scores")),
    *(f"/boards/small/submit/{part}" for part in ("generator", "metric", "scores")),
    *(f"/api/v1/suites/all/{part}" for part in ("generators", "metrics")),
    *(f"/suites/all/submit/{part}" for part in ("generator", "metric")),
    "/api/v1/drafts",
    "/organise/new/folder",
]


def _at_every_door(small: SmallSite, size: int) -> dict[str, int]:
    """What each door says to a file of this size."""
    headers = {"authorization": f"Bearer {small.tokens['owner']}"}
    sent: dict[str, Any] = {"data": {"name": "mine"}, "headers": headers}
    return {door: small.client.post(door, files={"file": ("sent", b"x" * size)}, **sent).status_code for door in DOORS}


def test_no_file_is_taken_where_the_disk_is_nearly_full(tmp_path: Path) -> None:
    small = limited(tmp_path, f"free_bytes = {2**60}")
    assert _at_every_door(small, 4) == dict.fromkeys(DOORS, 507)


def test_a_file_may_be_larger_than_a_form_wherever_it_comes_in(tmp_path: Path) -> None:
    small = limited(tmp_path, "form_bytes = 2000\ngenerator_bytes = 4000\nmetric_bytes = 4000")
    assert 413 not in _at_every_door(small, 3000).values()
    assert _at_every_door(small, 9000) == dict.fromkeys(DOORS, 413)


def test_a_text_that_is_too_long_is_named_with_its_line(tmp_path: Path) -> None:
    small = limited(tmp_path, "text_characters = 300")
    assert small.submit().status_code == 201
    refused = small.submit(name="other", raw=small.outputs(word="w" * 300))
    assert refused.status_code == 422
    assert "outputs.jsonl:1: error: has 3" in refused.json()["problems"][0]
    assert "at most 300 are taken" in refused.json()["problems"][0]


@pytest.mark.parametrize("line", [b"\n", b"ab\n", b'{"instance": "i1", "text": "x"}\n'])
def test_a_flood_of_lines_is_refused_before_they_are_read(line: bytes) -> None:
    board = small_board()
    most = generator_files.LINES_EACH * len(board.instances) + generator_files.LINES_BESIDE
    with pytest.raises(InvalidSubmission, match=f"at most {most:,} are read"):
        generator_files.read_generator(line * (most + 1), board)


def _zip(names: list[str], content: bytes = b"x") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, content)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (lambda: _zip([f"{k}.py" for k in range(archives.MOST_FILES + 1)]), "5000 are allowed"),
        (lambda: _zip(["bomb"], b"\0" * (archives.SMALL + 1)), "at most 16,777,216 are allowed"),
        (lambda: _zip(["d/" * archives.DEEPEST + "x.py"]), "lies in 20 folders; at most 19"),
        (lambda: _zip(["d" * 201]), "is no usable name"),
    ],
    ids=["files", "bytes", "depth", "name"],
)
def test_what_an_archive_unpacks_to_is_bounded(tmp_path: Path, raw: Callable[[], bytes], says: str) -> None:
    with pytest.raises(InvalidSubmission, match=says):
        archives.unpack_metric(raw(), tmp_path / "metric")
    assert not (tmp_path / "metric").exists()


def _scope(path: str, client: str = "1.2.3.4", method: str = "GET", **headers: str) -> dict[str, Any]:
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
        "client": (client, 1),
        "server": ("localhost", 80),
        "scheme": "http",
        "root_path": "",
    }


class Holding:
    """An application that answers when it is told to."""

    def __init__(self) -> None:
        self.go, self.asked = asyncio.Event(), 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked += 1
        await self.go.wait()
        await PlainTextResponse("done")(scope, receive, send)


async def _together(site: Site, scopes: list[dict[str, Any]]) -> list[tuple[int, str | None]]:
    """Requests that are all there before the first is answered: each one's status, and when it may come back."""
    holding, app = Holding(), create_app(site)
    limit, answered = Limits(holding, site), dict[int, tuple[int, str | None]]()

    async def ask(k: int, scope: dict[str, Any]) -> None:
        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                answered[k] = message["status"], Headers(raw=message["headers"]).get("retry-after")

        await limit({**scope, "app": app}, _nothing, send)

    tasks = []
    for k, scope in enumerate(scopes):
        tasks.append(asyncio.create_task(ask(k, scope)))
        while not tasks[k].done() and holding.asked + len(answered) <= k:
            await asyncio.sleep(0)
    holding.go.set()
    await asyncio.gather(*tasks)
    return [answered[k] for k in range(len(scopes))]


async def _nothing() -> dict[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}


EVENTS, SUBMIT = "/boards/small/events", "/api/v1/boards/small/generators"


@pytest.mark.parametrize(
    ("setting", "path", "headers"),
    [
        ("requests", "/boards/small", {}),
        ("streams", EVENTS, {}),
        ("uploads", SUBMIT, {"content_length": "2000000"}),
        ("uploads", SUBMIT, {"transfer_encoding": "chunked"}),
    ],
)
def test_who_finds_no_place_is_told_to_come_back_and_the_others_lose_nothing(
    tmp_path: Path, setting: str, path: str, headers: dict[str, str]
) -> None:
    site = limited(tmp_path, f"{setting} = 3\n{setting}_each = 2").site
    scopes = [_scope(path, client, "POST" if headers else "GET", **headers) for client in "aaabcb"]
    found = run_apart(_together(site, scopes))
    assert found == [(200, None), (200, None), (429, "2"), (200, None), (503, "2"), (503, "2")]


def test_streams_requests_and_small_uploads_do_not_take_each_others_places(tmp_path: Path) -> None:
    site = limited(tmp_path, "requests = 2\nstreams = 1\nuploads = 1").site
    small = _scope(SUBMIT, method="POST", content_length="1000")
    found = run_apart(_together(site, [_scope(EVENTS), small, small, _scope(EVENTS)]))
    assert [status for status, _ in found] == [200, 200, 200, 503]


def test_a_site_for_this_machine_does_not_count_by_address(tmp_path: Path) -> None:
    site = open_site(limited(tmp_path, "requests = 3\nrequests_each = 1").site.data)
    found = run_apart(_together(site, [_scope("/", "127.0.0.1")] * 4))
    assert [status for status, _ in found] == [200, 200, 200, 503]


def test_a_stream_that_ends_gives_its_place_back(tmp_path: Path) -> None:
    small = limited(tmp_path, "streams = 1")
    with served(small, working=False) as address:
        with httpx.stream("GET", f"{address}{EVENTS}") as first:
            assert first.status_code == 200
            lines = first.iter_lines()
            assert next(lines) == "event: generation"
            refused = httpx.get(f"{address}{EVENTS}")
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "2")
            assert httpx.get(f"{address}/boards/small").status_code == 200
        assert _comes_back(f"{address}{EVENTS}")


def _comes_back(address: str) -> bool:
    """The server learns that a reader has left when it next writes to it."""
    for _ in range(100):
        with httpx.stream("GET", address) as answered:
            if answered.status_code == 200:
                return True
        time.sleep(0.1)
    return False


def test_a_body_that_stops_coming_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SILENCE", 0.05)
    site = small_site(tmp_path).site
    statuses: list[int] = []

    coming = [b"csrf="]

    async def stalled() -> Any:
        if not coming:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": coming.pop(), "more_body": True}

    async def send(message: Any) -> None:
        statuses.append(message.get("status", 0))

    scope = _scope("/login", method="POST", content_type="application/x-www-form-urlencoded", content_length="900")
    run_apart(create_app(site)(scope, stalled, send))
    assert statuses[0] == 408


def test_pages_are_computed_so_many_at_a_time_and_the_same_one_once(tmp_path: Path) -> None:
    site = limited(tmp_path, "pages_at_once = 2").site
    busy, peak, made = Counter[str](), [0], Counter[str]()
    lock = Lock()

    def show(ask: Ask) -> Body:
        with lock:
            busy["now"] += 1
            made[ask.path] += 1
            peak.append(busy["now"])
        time.sleep(0.02)
        with lock:
            busy["now"] -= 1
        return Body(ask.path.encode())

    app = Starlette(routes=[Route("/{page}", reading(show))])
    app.state.pages = Pages(site)

    async def ask() -> list[str]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            answers = await asyncio.gather(*(client.get(f"/{k % 4}") for k in range(12)))
        return [answer.text for answer in answers]

    assert run_apart(ask()) == [f"/{k % 4}" for k in range(12)]
    assert max(peak) == 2
    assert sum(made.values()) < 12


def test_a_database_that_refuses_says_when_to_come_back(tmp_path: Path) -> None:
    small = small_site(tmp_path)
    app = small.client.app

    def fail() -> None:
        raise StoreFailed("the disk is full")

    app.add_api_route("/fails", fail)  # type: ignore[attr-defined]
    answered = small.client.get("/fails")
    assert (answered.status_code, answered.headers["retry-after"]) == (503, "5")


def test_kept_pages_take_so_much_memory_and_no_more() -> None:
    bodies = Bodies(most=1000)
    for k in range(10):
        bodies.keep(k, Body(bytes(300)))
    assert [k for k in range(10) if bodies.get(k)] == [7, 8, 9]
    bodies.keep("large", Body(bytes(501)))
    assert bodies.get("large") is None


MIB = 2**20
#: What the owner's page says, and what the program does.
STATED = {
    "`generator_bytes`": f"{SiteSettings().generator_bytes // MIB} MiB",
    "`metric_bytes`": f"{SiteSettings().metric_bytes // MIB} MiB",
    "`form_bytes`": f"{SiteSettings().form_bytes // MIB} MiB",
    "`text_characters`": f"{SiteSettings().text_characters:,}",
    "`reads_per_minute`": str(SiteSettings().reads_per_minute),
    "`connections`": str(SiteSettings().connections),
    "`connections_each`": str(SiteSettings().connections_each),
    "`head_seconds`": f"{SiteSettings().head_seconds:.0f}",
    "`submissions_per_day`": str(SiteSettings().submissions_per_day),
    "`changes_per_minute`": str(SiteSettings().changes_per_minute),
    "`requests`, `requests_each`": f"{SiteSettings().requests}, {SiteSettings().requests_each}",
    "`uploads`, `uploads_each`": f"{SiteSettings().uploads}, {SiteSettings().uploads_each}",
    "`streams`, `streams_each`": f"{SiteSettings().streams}, {SiteSettings().streams_each}",
    "`pages_at_once`": str(SiteSettings().pages_at_once),
    "lines of outputs": f"{generator_files.LINES_EACH} for each instance and {generator_files.LINES_BESIDE:,}",
    "files in an archive": f"{archives.MOST_FILES:,}",
    "bytes it unpacks to": f"{archives.MOST_TIMES} times its own, {archives.SMALL // MIB} MiB at least, "
    f"{archives.MOST_BYTES // 2**30} GiB at most",
    "folders inside one another": str(archives.DEEPEST - 1),
    "a path in it": f"{archives.LONGEST} bytes",
    "an address": f"{LONGEST_ADDRESS // 1024} KiB",
    "a body that stops coming": f"{limits.SILENCE:.0f} s",
    "one stream": f"{streams.LONGEST / 60:.0f} minutes",
    "one answer of an annotator": f"{annotating.MOST_BYTES // 1024} KiB, {MOST_SPANS} marks",
    "kept pages": f"{Bodies().most // MIB} MiB",
}


def test_every_limit_is_on_the_owners_page_as_it_is() -> None:
    section = PAGE.split("## Limits", 1)[1].split("\n## ", 1)[0]
    rows = dict(re.findall(r"^\| (.+?) \| .+? \| (.+?) \|$", section, re.MULTILINE))
    assert {what: rows.get(what) for what in STATED} == STATED
    assert rows.keys() - STATED.keys() == {"what", "---"} & rows.keys()
