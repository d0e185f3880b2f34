"""Metrics as endpoints: what is sent, what is taken as an answer, what is tried again, and where none may lie."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from billboards.errors import InvalidInput
from billboards.metrics.base import Batch, MetricCard
from billboards.run import endpoints
from billboards.run.addresses import lies_inside
from billboards.run.endpoints import EndpointMetric, checked_address

CARD = MetricCard(name="served", needs_references=True, needs_input=False)
BATCH = Batch(["one", "two words"], [["a", "b"], ["c"]], ["x", "y"])
Answer = Callable[[dict[str, Any]], tuple[int, bytes]]


class Served(ThreadingHTTPServer):
    """A metric's server; `answers` are given in turn, the last again and again."""

    def __init__(self, *answers: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers, self.asked = list(answers), list[dict[str, Any]]()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/score"


class _Handler(BaseHTTPRequestHandler):
    server: Served

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(sent)
        answers = self.server.answers
        status, body = (answers.pop(0) if len(answers) > 1 else answers[0])(sent)
        self.send_response(status)
        if status == 302:
            self.send_header("location", f"{self.server.url}/elsewhere")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def words(sent: dict[str, Any]) -> tuple[int, bytes]:
    return 200, json.dumps({"scores": [len(output.split()) for output in sent["outputs"]]}).encode()


def fails(status: int, body: bytes = b"") -> Answer:
    return lambda _: (status, body)


@pytest.fixture
def served() -> Iterator[Callable[..., Served]]:
    servers: list[Served] = []

    def make(*answers: Answer) -> Served:
        server = Served(*answers)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return server

    yield make
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "FIRST_WAIT", 0.01)


def own(server: Served) -> EndpointMetric:
    return EndpointMetric(CARD, server.url, "1.0", inside=True)


def test_it_is_sent_what_it_declared_to_need_and_its_scores_are_taken(served: Callable[..., Served]) -> None:
    server = served(words)
    assert own(server).score_batch(BATCH).tolist() == [1.0, 2.0]
    assert server.asked == [{"outputs": ["one", "two words"], "references": [["a", "b"], ["c"]], "inputs": ["", ""]}]


def test_many_outputs_are_sent_in_parts(served: Callable[..., Served]) -> None:
    server = served(words)
    many = Batch([f"{'w ' * (k + 1)}".strip() for k in range(150)], [["a"]] * 150)
    assert own(server).score_batch(many).tolist() == [float(k + 1) for k in range(150)]
    assert [len(sent["outputs"]) for sent in server.asked] == [64, 64, 22]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_passes_is_tried_again(served: Callable[..., Served], status: int) -> None:
    server = served(fails(status), words)
    assert own(server).score_batch(BATCH).tolist() == [1.0, 2.0]
    assert len(server.asked) == 2


def test_a_server_that_stays_away_is_the_platforms_fault_after_four_attempts(served: Callable[..., Served]) -> None:
    server = served(fails(503))
    (done,) = own(server).run([BATCH])
    assert (done.outcome.platform, len(server.asked)) == (True, 4)
    assert done.problem == "served: the endpoint answered 503"


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (fails(400, b"no such model"), "answered 400: no such model"),
        (fails(302), "answered 302"),
        (fails(200, b"<html>"), "is no JSON"),
        (fails(200, b"[" * 100_000), "is no JSON"),
        (fails(200, b'{"score": [1, 2]}'), "has no list of scores"),
        (fails(200, b'{"scores": [1]}'), "gave 1 scores for 2 outputs"),
        (fails(200, b'{"scores": [1, NaN]}'), "no finite number"),
        (fails(200, b'{"scores": [1, true]}'), "no finite number"),
        (fails(200, b'{"scores": [1, "2"]}'), "no finite number"),
        (fails(200, b'{"scores": [1, 1e999]}'), "no finite number"),
        (fails(200, b" " * 2_000_000), "longer than 1048576 bytes"),
    ],
)
def test_what_is_no_answer_is_its_own_fault(served: Callable[..., Served], answer: Answer, sentence: str) -> None:
    server = served(answer)
    (done,) = own(server).run([BATCH])
    assert sentence in str(done.problem)
    assert not done.outcome.platform
    assert len(server.asked) == 1


def test_an_address_in_the_servers_own_network_is_not_asked(served: Callable[..., Served]) -> None:
    server = served(words)
    (done,) = EndpointMetric(CARD, server.url, "1.0").run([BATCH])
    assert done.problem == "served: 127.0.0.1 lies in the server's own network"
    assert server.asked == []


def test_what_it_says_is_not_quoted_where_references_are_hidden(served: Callable[..., Served]) -> None:
    server = served(lambda sent: (400, json.dumps(sent["references"]).encode()))
    (done,) = own(server).run([BATCH], quoting=False)
    assert done.problem == "served: the endpoint answered 400"


def test_its_signature_names_its_version_and_not_its_address() -> None:
    one = EndpointMetric(CARD, "https://alice.example.org/score", "1.0")
    assert "alice" not in one.signature
    assert one.signature != EndpointMetric(CARD, "https://alice.example.org/score", "1.1").signature
    assert one.signature != EndpointMetric(CARD, "https://bob.example.org/score", "1.0").signature


@pytest.mark.parametrize("url", ["ftp://a/b", "https://", "https://u:p@a/b", "http://[", "https://a b/", "a.example"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="is no address of an endpoint"):
        checked_address(url)


@pytest.mark.parametrize(
    ("url", "inside"),
    [
        ("http://127.0.0.1:8000/score", True),
        ("https://[::1]/", True),
        ("http://10.1.2.3", True),
        ("https://8.8.8.8", False),
    ],
)
def test_only_an_address_of_the_public_network_lies_outside(url: str, inside: bool) -> None:
    assert lies_inside(url) is inside
