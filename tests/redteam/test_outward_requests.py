"""Attacks by addresses that strangers name: webhooks and endpoints that lead inside, or whose answers never end.

Everything lies on loopback: a name that changes its mind is a table in the place of the name server, and of two
loopback addresses one is taken for the public network.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from small_sites import Harbour

from billboards.metrics.base import Batch, MetricCard
from billboards.run import addresses, endpoints
from billboards.run.endpoints import EndpointMetric
from billboards.site.accounts import access
from billboards.site.admin.notices import send_due
from billboards.site.submissions import records
from billboards.site.submissions.sending import submit_generator

Record = Callable[..., None]
PUBLIC, INSIDE = "127.0.0.2", "127.0.0.1"
NAME = "rebind.example"
MIB = 2**20


class Receiver(ThreadingHTTPServer):
    """Takes POSTs; `after` is what it goes on writing when it has said yes."""

    def __init__(self, address: str, port: int = 0, after: Callable[[BaseHTTPRequestHandler], None] | None = None):
        super().__init__((address, port), _Handler)
        self.after, self.hosts, self._cut, self._over = after, list[str](), False, threading.Event()

    def end(self, *, cut: bool) -> None:
        self._cut = cut
        self._over.set()

    def was_cut(self) -> bool:
        """Whether its last answer was not heard to its end."""
        assert self._over.wait(60)
        return self._cut


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.server.hosts.append(self.headers["host"])
        self.send_response(200)
        body = b'{"scores": [1.0]}'
        if self.server.after is None:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
            if self.server.after is not None:
                self.server.after(self)
        except OSError:
            self.server.end(cut=True)
        else:
            self.server.end(cut=False)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def two_with_one_port() -> tuple[Receiver, Receiver]:
    """One outside and one inside; a port that is free there may be taken here."""
    for _ in range(50):
        outside = Receiver(PUBLIC)
        try:
            return outside, Receiver(INSIDE, outside.server_port)
        except OSError:
            outside.server_close()
    raise AssertionError("no port is free on both addresses")


@contextmanager
def receiving(*servers: Receiver) -> Iterator[None]:
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()


class Names:
    """A name server that says something else each time: first the public address, then the server's own."""

    def __init__(self) -> None:
        self.asked = 0
        self._real = socket.getaddrinfo

    def __call__(self, host: Any, port: Any, *rest: Any, **options: Any) -> Any:
        if host in (NAME, NAME.encode()):
            self.asked += 1
            host = PUBLIC if self.asked == 1 else INSIDE
        return self._real(host, port, *rest, **options)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    made = Names()
    monkeypatch.setattr(socket, "getaddrinfo", made)
    monkeypatch.setattr(addresses, "is_public", lambda address: str(address) == PUBLIC)
    return made


def endpoint(url: str) -> EndpointMetric:
    return EndpointMetric(MetricCard(name="served", needs_references=False, needs_input=False), url, "1.0")


def told(harbour: Harbour, url: str, names: Names | None = None) -> int:
    """Have a submitter's webhook told of a submission; names that were asked for when it was added start anew."""
    access.add_webhook(harbour.site, harbour.person("ann"), url)
    if names is not None:
        names.asked = 0
    sent = submit_generator(harbour.site, harbour.person("ann"), "ferry", "tug", harbour.outputs()).submission
    with harbour.site.database.writing() as connection:
        for state in ("checking", "scoring", "scored"):
            records.advance(connection, sent.id, state, actor="test", now=harbour.clock())
    return send_due(harbour.site)


def test_a_webhooks_name_that_changes_its_mind_leads_nowhere_else(
    harbour: Harbour, names: Names, record_attack: Record
) -> None:
    outside, inside = two_with_one_port()
    with receiving(outside, inside):
        taken = told(harbour, f"http://{NAME}:{outside.server_port}/hook", names)
    contained = not inside.hosts
    record_attack(
        "a webhook's name that changes", "outward", f"{taken} taken", contained=contained, seconds=0, peak=None
    )
    assert (inside.hosts, outside.hosts, taken) == ([], [f"{NAME}:{outside.server_port}"], 1)


def test_an_endpoints_name_that_changes_its_mind_leads_nowhere_else(names: Names, record_attack: Record) -> None:
    outside, inside = two_with_one_port()
    with receiving(outside, inside):
        scores = endpoint(f"http://{NAME}:{outside.server_port}/").score_batch(Batch(["one"]))
    contained = not inside.hosts
    record_attack(
        "an endpoint's name that changes", "outward", "asked outside", contained=contained, seconds=0, peak=None
    )
    assert (inside.hosts, outside.hosts, scores.tolist()) == ([], [f"{NAME}:{outside.server_port}"], [1.0])


def flood(handler: BaseHTTPRequestHandler) -> None:
    """Half a gigabyte, of which a reader of everything would keep all."""
    for _ in range(512):
        handler.wfile.write(bytes(MIB))


def drip(handler: BaseHTTPRequestHandler) -> None:
    """A blank now and then, for longer than anybody may take, but not for ever."""
    for _ in range(400):
        handler.wfile.write(b" ")
        time.sleep(0.05)


@pytest.mark.parametrize("after", [flood, drip])
def test_what_a_webhooks_receiver_says_is_not_read_to_its_end(
    harbour: Harbour, names: Names, after: Callable[[BaseHTTPRequestHandler], None], record_attack: Record
) -> None:
    receiver = Receiver(PUBLIC, after=after)
    began = time.monotonic()
    with receiving(receiver):
        taken = told(harbour, f"http://{PUBLIC}:{receiver.server_port}/hook")
        seconds = time.monotonic() - began
    attack = f"a webhook's answer without end: {after.__name__}"
    record_attack(attack, "outward", f"{taken} taken", contained=receiver.was_cut(), seconds=seconds, peak=None)
    assert taken == 1
    assert receiver.was_cut()


def test_an_endpoint_that_answers_drop_by_drop_is_given_up(
    names: Names, monkeypatch: pytest.MonkeyPatch, record_attack: Record
) -> None:
    monkeypatch.setattr(endpoints, "PATIENCE", 0.5)
    monkeypatch.setattr(endpoints, "ATTEMPTS", 1)
    receiver = Receiver(PUBLIC, after=drip)
    began = time.monotonic()
    with receiving(receiver):
        (run,) = endpoint(f"http://{PUBLIC}:{receiver.server_port}/").run([Batch(["one"])])
    seconds = time.monotonic() - began
    record_attack(
        "an endpoint drop by drop",
        "outward",
        str(run.problem),
        contained=receiver.was_cut(),
        seconds=seconds,
        peak=None,
    )
    assert run.scores is None
    assert "did not answer" in str(run.problem)
    assert receiver.was_cut()


#: Ways to write addresses of this machine and its network, and gateways that lead there.
INWARD = {
    "as one number": "http://2130706433/",
    "in octal": "http://0177.0.0.1/",
    "in hexadecimal": "http://0x7f.1/",
    "with two parts": "http://127.1/",
    "as nothing": "http://0/",
    "as IPv6": "http://[::1]/",
    "IPv4 written as IPv6": "http://[::ffff:127.0.0.1]/",
    "IPv4 written as IPv6 of old": "http://[::127.0.0.1]/",
    "by NAT64": "http://[64:ff9b::7f00:1]/",
    "by a NAT64 of its own": "http://[64:ff9b:1::7f00:1]/",
    "by 6to4": "http://[2002:7f00:1::]/",
    "by Teredo": "http://[2001:0:7f00:1::]/",
    "of a private network": "http://192.168.0.1/",
    "of a shared network": "http://100.64.0.1/",
    "of a cloud's own data": "http://169.254.169.254/latest/",
    "of one's own link": "http://[fe80::1]/",
    "of a private network in IPv6": "http://[fd00::1]/",
    "of an old local network": "http://[fec0::1]/",
    "of a group": "http://224.0.0.1/",
    "of a group in IPv6": "http://[ff02::1]/",
    "of everybody": "http://255.255.255.255/",
    "of a protocol's own": "http://192.0.0.8/",
    "of relays": "http://192.88.99.1/",
    "of books": "http://[3fff::1]/",
    "of a cloud's own service": "http://168.63.129.16/",
    "by ISATAP": "http://[2a00:1450::5efe:10.0.0.1]/",
    "by ISATAP of a global address": "http://[2a00:1450::200:5efe:7f00:1]/",
    "in letters of another kind": "http://①②⑦.⓪.⓪.①/",
    "with points of another script": "http://127。0。0。1/",
    "by the machine's name": "http://localhost/",
    "with a name and a word before it": "http://public.example@127.0.0.1/",
    "with a point at the end": "http://127.0.0.1./",
}


@pytest.mark.parametrize("way", INWARD)
def test_no_way_to_write_an_address_leads_inside(way: str, record_attack: Record) -> None:
    inside: bool | None = None
    # A name that nobody knows leads nowhere, either.
    with suppress(addresses.NoAddress):
        inside = addresses.lies_inside(INWARD[way])
    contained = inside is not False
    record_attack(f"an address {way}", "outward", f"inside: {inside}", contained=contained, seconds=0, peak=None)
    assert contained
