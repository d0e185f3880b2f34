"""Metrics that come as an address: refused unless the owner allows them, and otherwise ranked like any other."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from api_sites import small_site
from image_engine import ImageEngine
from page_sites import page_site
from small_sites import Harbour, MakeHarbour

from billboards.errors import InvalidInput, InvalidSubmission, Refused, UnknownName
from billboards.site.boards.live import live_board
from billboards.site.submissions import sending
from billboards.site.submissions.addressed_metrics import Addressed
from billboards.site.submissions.records import Submission
from billboards.site.work.worker import work_until_done

DIGEST = "sha256:" + "a1" * 32
IMAGE = f"registry.example.org/team/metric@{DIGEST}"
MANIFEST = {"higher_is_better": True, "needs": ["references"], "training_data": "none"}
WORDS = """import json, sys
for line in sys.stdin:
    item = json.loads(line)
    print(len(set(item["hyp"].split()) & set(item["refs"][0].split())))
"""
COMMIT = "0" * 39 + "1"
HUB = {"metric": "comet", "model": "lab/comet", "revision": COMMIT}


def send(harbour: Harbour, way: Addressed, parts: dict[str, str], **said: Any) -> Submission:
    who = harbour.person("ann")
    manifest = said.pop("manifest", MANIFEST)
    return sending.submit_address(harbour.site, who, "ferry", way, "mine", parts, manifest=manifest, **said).submission


def column(harbour: Harbour, name: str = "mine") -> dict[str, Any]:
    document = live_board(harbour.site, "ferry").document
    assert document is not None
    (found,) = [m for m in document["ranking"]["metrics"] if m["name"] == name]
    return dict(found)


@pytest.mark.long
def test_an_image_ends_in_a_ranked_column(
    make_harbour: MakeHarbour, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = ImageEngine(tmp_path / "engine", WORDS)
    monkeypatch.setenv("PATH", str(engine.home), prepend=":")
    harbour = make_harbour(settings="[metrics]\nimages = true\n")
    one = send(harbour, "image", {"image": IMAGE})
    work_until_done(harbour.site)
    now = harbour.now(one)
    assert now.state == "scored", now.reason
    assert column(harbour)["rank"] is not None
    assert column(harbour)["signature"] == f"mine|image:{DIGEST}|needs:references|higher_is_better:yes"
    # Fetched once; twice tried, and once for each of four generators and the person whose text is no reference here.
    verbs = [words[0] for words in engine.asked]
    assert verbs.count("pull") == 1
    assert verbs.count("run") >= 6


class _Words(BaseHTTPRequestHandler):
    asked: list[dict[str, Any]] = []  # noqa: RUF012 - one server in one test

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked.append(sent)
        scores = [
            len(set(o.split()) & set(r[0].split())) for o, r in zip(sent["outputs"], sent["references"], strict=True)
        ]
        body = json.dumps({"scores": scores}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_an_endpoint_ends_in_a_ranked_column_and_no_more_is_sent_once_references_are_hidden(
    make_harbour: MakeHarbour,
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Words) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        where = f"http://127.0.0.1:{server.server_port}/score"
        harbour = make_harbour(settings=f'[metrics]\nendpoints = ["{where}"]\ninside_endpoints = true\n')
        one = send(harbour, "endpoint", {"url": where, "version": "1.0"})
        work_until_done(harbour.site)
        now = harbour.now(one)
        assert now.state == "scored", now.reason
        assert column(harbour)["rank"] is not None
        sending.change_settings(harbour.site, harbour.owner, "ferry", {"hidden_references": True})
        asked = len(_Words.asked)
        later = sending.submit_generator(harbour.site, harbour.person("bea"), "ferry", "late", harbour.outputs(3))
        work_until_done(harbour.site)
        assert harbour.now(later.submission).state == "scored"
        assert len(_Words.asked) == asked
        log = "".join(line.text for line in sending.read_log(harbour.site, harbour.owner, later.submission.id))
        assert "an endpoint would be sent this board's references" in log
        server.shutdown()


@pytest.mark.parametrize(
    ("way", "parts", "reason"),
    [
        ("hub", HUB, "fetches no model lab/comet; its owner allows none"),
        ("image", {"image": IMAGE}, "runs no images"),
        ("endpoint", {"url": "https://a.example.org/score", "version": "1"}, "asks no endpoint"),
    ],
)
def test_what_the_owner_does_not_allow_is_refused_with_the_reason(
    harbour: Harbour, way: Addressed, parts: dict[str, str], reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        send(harbour, way, parts)


def test_patterns_allow_what_they_match_and_nothing_else(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour(settings='[metrics]\nhub = ["lab/*", "other/one"]\n')
    send(harbour, "hub", HUB)
    with pytest.raises(Refused, match=r"fetches no model other/two; its owner allows lab/\*, other/one"):
        send(harbour, "hub", {**HUB, "model": "other/two"})


@pytest.mark.parametrize(
    ("way", "parts", "wrong", "error"),
    [
        ("hub", {**HUB, "revision": "main"}, "is no commit", InvalidInput),
        ("hub", {**HUB, "model": "../../etc"}, "is no model of the hub", InvalidInput),
        ("hub", {**HUB, "metric": "none-such"}, "no metric named", UnknownName),
        ("hub", {**HUB, "metric": "BERTScore(baseline=/etc/passwd)"}, "with plain words as values", InvalidInput),
        ("hub", {"metric": "COMET", "model": "lab/comet"}, "revision is missing", InvalidInput),
        ("image", {"image": "metric:latest"}, "is no image with its digest", InvalidInput),
        ("endpoint", {"url": "file:///etc", "version": "1"}, "is no address", InvalidInput),
        ("endpoint", {"url": "https://a.example.org", "version": "a|b"}, "is no version", InvalidInput),
    ],
)
def test_an_address_of_the_wrong_form_is_refused(
    harbour: Harbour, way: Addressed, parts: dict[str, str], wrong: str, error: type[Exception]
) -> None:
    with pytest.raises(error, match=wrong):
        send(harbour, way, parts)


def test_what_is_not_declared_is_asked_for(harbour: Harbour) -> None:
    with pytest.raises(InvalidSubmission, match="training_data is missing"):
        send(harbour, "image", {"image": IMAGE}, manifest={"higher_is_better": True, "needs": []})


def test_an_endpoint_is_refused_where_it_would_be_sent_what_is_hidden(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour(settings='[metrics]\nendpoints = ["https://*"]\n')
    where = {"url": "https://a.example.org/score", "version": "1"}
    sending.change_settings(harbour.site, harbour.owner, "ferry", {"hidden_references": True})
    with pytest.raises(Refused, match="would be sent this board's references"):
        send(harbour, "endpoint", where)
    sending.change_settings(
        harbour.site, harbour.owner, "ferry", {"hidden_references": False, "phases": [{"name": "t", "blind": True}]}
    )
    with pytest.raises(Refused, match="would be sent outputs of a blind phase"):
        send(harbour, "endpoint", where)


def test_what_an_owner_forbids_afterwards_is_rejected_when_it_is_opened(
    make_harbour: MakeHarbour, tmp_path: Path
) -> None:
    harbour = make_harbour(settings="[metrics]\nimages = true\n")
    one = send(harbour, "image", {"image": IMAGE})
    harbour.site.settings = harbour.site.settings.model_copy(
        update={"metrics": harbour.site.settings.metrics.model_copy(update={"images": False})}
    )
    work_until_done(harbour.site)
    now = harbour.now(one)
    assert now.state == "rejected"
    assert "runs no images" in str(now.reason)


def test_the_routes_take_them_from_submitters_where_the_owner_allows_it(tmp_path: Path) -> None:
    small = small_site(tmp_path)
    sent = {"name": "mine", "manifest": MANIFEST}
    bodies = {
        "hub": {**sent, **HUB},
        "image": {**sent, "image": IMAGE},
        "endpoint": {**sent, "url": "https://a.example.org/score", "version": "1"},
    }
    for way, body in bodies.items():
        refused = small.ask("team", "POST", f"/boards/small/metrics/{way}", json=body)
        assert refused.status_code == 409, refused.text
        assert small.ask("visitor", "POST", f"/boards/small/metrics/{way}", json=body).status_code == 401
    allowed = small.site.settings.metrics.model_copy(update={"images": True})
    small.site.settings = small.site.settings.model_copy(update={"metrics": allowed})
    taken = small.ask("team", "POST", "/boards/small/metrics/image", json=bodies["image"])
    assert taken.status_code == 201, taken.text
    assert taken.json()["settings"]["address"] == {"image": IMAGE}


def test_the_form_offers_what_the_owner_allows(tmp_path: Path) -> None:
    small = page_site(tmp_path)
    where = "/boards/harbour/submit/address"
    assert "does not accept metrics as an address" in small.get(where, "team").text
    assert where not in small.get("/boards/harbour/submit", "team").text
    allowed = small.site.settings.metrics.model_copy(update={"images": True})
    small.site.settings = small.site.settings.model_copy(update={"metrics": allowed})
    assert where in small.get("/boards/harbour/submit", "team").text
    fields = {"name": "mine", "way": "image", "image": IMAGE, "direction": "higher", "training_data": "none"}
    refused = small.post(where, "team", data={**fields, "image": "latest"})
    assert refused.status_code == 422
    assert "is no image with its digest" in refused.text
    sent = small.post(where, "team", data=fields)
    assert sent.status_code == 303, sent.text
    assert "metric, an image" in small.get(sent.headers["location"], "team").text
