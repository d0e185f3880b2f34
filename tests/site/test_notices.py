"""Notices reach real servers: a webhook with a signature that can be checked, a mail, and another try when refused."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from mail_boxes import mail_server, words
from outbox import list_deliveries
from small_sites import Harbour, MakeHarbour

from billboards.errors import InvalidInput, Refused
from billboards.site.accounts import access
from billboards.site.admin import deliveries
from billboards.site.admin.deliveries import Delivery
from billboards.site.admin.notices import ATTEMPTS, SIGNATURE, send_due
from billboards.site.submissions import records as submissions
from billboards.site.submissions import sending as submitting


@dataclass
class Receiver:
    """A web server that notes what it is sent and answers as it is told."""

    answers: list[int]
    seen: list[tuple[str, bytes]] = field(default_factory=list)
    url: str = ""


@contextmanager
def receiving(*answers: int) -> Iterator[Receiver]:
    receiver = Receiver(list(answers))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.seen.append((self.headers[SIGNATURE], body))
            self.send_response(receiver.answers.pop(0) if receiver.answers else 200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
    yield receiver
    server.shutdown()
    thread.join()
    server.server_close()


def finish_one(harbour: Harbour, name: str = "tug", **person: Any) -> str:
    raw = harbour.outputs()
    one = submitting.submit_generator(harbour.site, harbour.person("ann", **person), "ferry", name, raw).submission
    with harbour.site.database.writing() as connection:
        for state in ("checking", "scoring", "scored"):
            submissions.advance(connection, one.id, state, actor="test", now=harbour.clock())
    return one.id


def outbox(harbour: Harbour) -> list[Delivery]:
    with harbour.site.database.reading() as connection:
        return list(list_deliveries(connection))


def test_a_webhook_hears_of_the_end_with_a_signature_that_fits(harbour: Harbour) -> None:
    with receiving() as receiver:
        hook = access.add_webhook(harbour.site, harbour.owner, receiver.url)
        one = finish_one(harbour)
        assert send_due(harbour.site) == 1
        assert send_due(harbour.site) == 0
    ((signature, body),) = receiver.seen
    assert signature == "sha256=" + hmac.new(hook.secret.encode(), body, hashlib.sha256).hexdigest()
    said = json.loads(body)
    assert (said["event"], said["submission"]["id"], said["submission"]["state"]) == (
        "submission.scored",
        one,
        "scored",
    )
    assert [notice.state for notice in outbox(harbour)] == ["sent"]


def test_what_is_refused_is_tried_again_later_each_time(harbour: Harbour) -> None:
    with receiving(500, 503) as receiver:
        access.add_webhook(harbour.site, harbour.owner, receiver.url)
        finish_one(harbour)
        waits = []
        while outbox(harbour)[0].state == "waiting":
            send_due(harbour.site)
            notice = outbox(harbour)[0]
            waits.append(notice.next_at - harbour.clock.now)
            assert send_due(harbour.site) == 0
            harbour.clock.now = notice.next_at
    assert len(receiver.seen) == 3
    assert waits[:2] == [10.0, 20.0]
    assert outbox(harbour)[0].state == "sent"


def test_after_a_number_of_attempts_a_notice_is_given_up_with_the_reason(harbour: Harbour) -> None:
    with receiving(*[500] * ATTEMPTS) as receiver:
        access.add_webhook(harbour.site, harbour.owner, receiver.url)
        finish_one(harbour)
        for _ in range(ATTEMPTS + 2):
            send_due(harbour.site)
            harbour.clock.now += 1e6
    assert len(receiver.seen) == ATTEMPTS
    assert [(notice.state, notice.reason) for notice in outbox(harbour)] == [("given up", "answered 500")]


def test_a_webhook_that_is_nowhere_stops_nobody(harbour: Harbour) -> None:
    with receiving() as gone:
        pass
    access.add_webhook(harbour.site, harbour.owner, gone.url)
    finish_one(harbour)
    assert send_due(harbour.site) == 0
    assert "ConnectError" in (outbox(harbour)[0].reason or "")


def test_only_an_owners_webhook_may_point_into_the_servers_network(harbour: Harbour) -> None:
    with receiving() as receiver:
        ann = harbour.person("ann")
        with pytest.raises(InvalidInput, match=r"127\.0\.0\.1 lies in the server's own network.*ask an owner"):
            access.add_webhook(harbour.site, ann, receiver.url)
        # As of a name that led outside when it was added, and leads inside now.
        assert ann.account is not None
        with harbour.site.database.writing() as connection:
            deliveries.add_webhook(connection, ann.account.id, receiver.url, "s", board=None, now=0.0)
        finish_one(harbour)
        assert send_due(harbour.site) == 0
    assert receiver.seen == []
    (notice,) = outbox(harbour)
    assert (notice.state, notice.reason) == ("given up", "127.0.0.1 lies in the server's own network")


def test_a_webhook_hears_of_its_own_team_only_and_may_be_removed(harbour: Harbour) -> None:
    ben = harbour.person("ben")
    access.add_webhook(harbour.site, ben, "https://example.org/hook")
    own = access.add_webhook(harbour.site, harbour.person("ann"), "https://example.org/ann")
    finish_one(harbour)
    assert [notice.target for notice in outbox(harbour)] == ["https://example.org/ann"]
    with pytest.raises(Refused, match="no webhook"):
        access.remove_webhook(harbour.site, ben, own.id)
    access.remove_webhook(harbour.site, harbour.person("ann"), own.id)
    assert send_due(harbour.site) == 0
    assert outbox(harbour)[0].reason == "the webhook was removed"


def test_an_address_that_is_none_is_refused(harbour: Harbour) -> None:
    for url in ("ftp://example.org", "javascript:alert(1)", "https://"):
        with pytest.raises(InvalidInput, match="is no web address"):
            access.add_webhook(harbour.site, harbour.owner, url)


def test_the_submitter_gets_mails_of_receipt_and_of_how_it_ended(make_harbour: MakeHarbour) -> None:
    with mail_server() as box:
        harbour = make_harbour(settings=box.settings(base_url="https://boards.example.org"))
        one = finish_one(harbour, email="ann@example.org")
        assert send_due(harbour.site) == 2
    assert box.subjects("ann@example.org") == [
        "[Harbour boards] ferry: tug was received",
        "[Harbour boards] ferry: tug is scored",
    ]
    assert all(f"https://boards.example.org/submissions/{one}" in words(letter) for letter in box.letters)


def test_without_a_mail_server_a_mail_is_given_up_with_the_reason(harbour: Harbour) -> None:
    finish_one(harbour, email="ann@example.org")
    assert send_due(harbour.site) == 0
    assert [(n.state, n.reason) for n in outbox(harbour)] == 2 * [("given up", "there is no [mail] in site.toml")]
