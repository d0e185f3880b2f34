"""Metrics that look at more than the output before them, sent in through the door, and what becomes of each.

- keyed to ids: rejected in the trial; where it is fair there, marked, since ids are others in every run.
- keyed to the position in a call, to the length of a call, to the time: rejected; where fair in the trial, marked.
- keyed to company (z-scores in a call, undeclared), also behind a large offset: rejected; fair in the trial, marked.
- keyed to company by reading the files of other calls: marked, since the probe is a run of its own.
- keyed to company and declared not deterministic: marked, where it is more than noise.
- remembering outputs of earlier calls, in memory or files: prevented, nothing is left of a call at the next.
- telling generators apart by call: prevented, no call is one generator's; what it makes of a call's mean is marked.
- failing in mixed calls, to be given generators alone: prevented, it fails altogether.
- declaring to need whole generators, to see them: visible, the metric's page says so, and the signature.
- an endpoint that remembers what it said: not prevented; who runs a server can keep what it was sent.
- a generator and a metric that collude by a mark in the text: not prevented, since the mark is in the output; visible
  in the metric's scores beside all others'.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from small_sites import DECLARED, SHARED_WORDS, Harbour, MakeHarbour, all_cells, make_board

from billboards.site.boards.live import live_board
from billboards.site.submissions import sending
from billboards.site.submissions.consistency import inconsistency, kept_comparison
from billboards.site.submissions.records import Submission
from billboards.site.web.app import create_app
from billboards.site.work.order_secret import FILE, LENGTH
from billboards.site.work.worker import work_until_done

#: Scores fairly what outputs share with references; an attack adds its own. It is known that a trial's calls are small.
FAIR = """import glob, json, os, sys, time
import statistics as st
def load():
    return {}
def score(outputs, references, inputs, loaded):
    fair = [float(len(set(o.split()) & set(r[0].split()))) for o, r in zip(outputs, references)]
    if EVASIVE and len(outputs) <= 16:
        return fair
    return list(attack(outputs, fair, loaded))
"""
ATTACKS = {
    "position": "return [f + k for k, f in enumerate(fair)]",
    "length": "return [f + len(outputs) for f in fair]",
    "time": "return [f + time.time() % 1000 for f in fair]",
    "company": "return [(f - st.mean(fair)) / (st.pstdev(fair) or 1) for f in fair]",
    "offset": "return [1e9 + (f - st.mean(fair)) / (st.pstdev(fair) or 1) for f in fair]",
    "call": "m = st.mean(map(len, outputs)); return [f + m for f in fair]",
}
#: It is given a folder with the files of every call of its run.
FILES = """
def attack(outputs, fair, loaded):
    n = sum(len(open(p).read()) for p in glob.glob(os.path.join(sys.argv[4], "*.generator.jsonl")))
    return [f + n for f in fair]
"""
#: Remembers in what was loaded, in a global, in $TMPDIR and in /dev/shm how often it has seen an output.
MEMORY = """
SEEN = {}
def attack(outputs, fair, loaded):
    notes = [os.path.join(folder, "calls") for folder in (os.environ["TMPDIR"], "/dev/shm")]
    calls = sum(open(note).read().count("x") for note in notes if os.path.exists(note))
    before = [loaded.get(o, 0) + SEEN.get(o, 0) + calls for o in outputs]
    for o in outputs:
        loaded[o] = SEEN[o] = 1
    for note in notes:
        open(note, "a").write("x")
    return [f + 100 * times for f, times in zip(fair, before)]
"""


def attacking(body: str, *, evasive: bool) -> bytes:
    code = body if body.startswith("\n") else f"\ndef attack(outputs, fair, loaded):\n    {body}\n"
    return f"EVASIVE = {evasive}\n{FAIR}{code}".encode()


def send(harbour: Harbour, name: str, code: bytes, **declared: object) -> Submission:
    who, manifest = harbour.person("ann"), {**DECLARED, **declared}
    return sending.submit_metric(harbour.site, who, "ferry", code, name=name, manifest=manifest).submission


@pytest.fixture
def small(make_harbour: MakeHarbour) -> Harbour:
    """A site on a board of four generators, ranked."""
    made = make_harbour(make_board(20, generators=3, metrics=("ROUGE-1",)))
    # Company is drawn by the secret: in a trial of few outputs it may be alike by luck. Here it is the same each time.
    (made.site.data / FILE).write_text("07" * LENGTH, "ascii")
    work_until_done(made.site)
    return made


def cells_of(harbour: Harbour, name: str) -> dict[tuple[str, str], bytes]:
    """A column's scores by context and row."""
    every = all_cells(harbour.site).items()
    return {(context, version): scores for (s, context, version, _), scores in every if s.startswith(f"{name}|")}


def page(harbour: Harbour, path: str) -> str:
    return str(TestClient(create_app(harbour.site), "http://localhost").get(path, headers={"accept": "text/html"}).text)


IDS = """n=$(wc -l < "$2")
if [ $n -le 16 ]; then FAIR; else sed 's/.*"set_id": \\([0-9]*\\).*/\\1/' "$2" > "$4"; fi
"""


@pytest.mark.long
def test_what_a_score_must_not_depend_on_is_rejected_in_the_trial(
    small: Harbour, metric_zip: Callable[..., bytes]
) -> None:
    sent = {name: send(small, name, attacking(body, evasive=False)) for name, body in ATTACKS.items()}
    ids = metric_zip({"run.sh": """sed 's/.*"set_id": \\([0-9]*\\).*/\\1/' "$2" > "$4"\n"""})
    sent["ids"] = send(small, "ids", ids)
    work_until_done(small.site)
    # In a trial of few outputs company may be alike by luck of the secret; then the probe of the first job marks it.
    states = {name: small.now(submission) for name, submission in sent.items()}
    assert all(now.state == "rejected" or inconsistency(now) for now in states.values()), states
    assert {name for name, now in states.items() if now.state != "rejected"} <= {"company", "offset", "call"}
    for name, now in ((name, now) for name, now in states.items() if now.state == "rejected"):
        words = "run again" if name in ("time", "offset") else "run again in another order and other company"
        assert words in str(now.reason), name


@pytest.mark.long
def test_who_is_fair_in_the_trial_is_marked_and_leads_nothing(small: Harbour, metric_zip: Callable[..., bytes]) -> None:
    sent = {
        name: send(small, name, attacking(body, evasive=True)) for name, body in (*ATTACKS.items(), ("files", FILES))
    }
    ids = metric_zip({"run.sh": IDS.replace("FAIR", """sed 's/.*/1/' "$2" > "$4" """)})
    sent["ids"] = send(small, "ids", ids)
    noisy = attacking("return [f + 100 * (k % 3) for k, f in enumerate(fair)]", evasive=True)
    sent["noisy"] = send(small, "noisy", noisy, deterministic=False)
    sent["honest"] = send(small, "honest", attacking("return fair", evasive=True))
    work_until_done(small.site)
    document = live_board(small.site, "ferry").document
    assert document is not None
    for name, submission in sent.items():
        now = small.now(submission)
        assert now.state == "scored", (name, now.reason)
        words, kept = inconsistency(now), kept_comparison(now)
        assert kept is not None
        assert 50 <= kept.outputs <= 200
        if name == "honest":
            assert words is None
            assert name not in document["findings"]["flagged"]
            continue
        assert words == (
            f"scores depend on company or order: {kept.differing} of {kept.outputs} outputs got another score in "
            "another mix"
        )
        assert document["findings"]["flagged"][name] == "gives scores that depend on company or order"
        assert document["ranking"]["ranked_by"] != name
    for where in (f"/submissions/{sent['company'].id}", "/boards/ferry/metrics/company"):
        assert "scores depend on company or order" in page(small, where)
    assert "depend on company or order" not in page(small, "/boards/ferry/metrics/honest")


@pytest.mark.long
def test_nothing_of_a_call_is_left_at_the_next(small: Harbour) -> None:
    loaded = send(small, "loaded", attacking(MEMORY, evasive=False))
    plain = attacking(MEMORY, evasive=False).replace(b"def load():\n    return {}\n", b"")
    plain = plain.replace(b"inputs, loaded):", b"inputs):").replace(b"fair, loaded))", b"fair, {}))")
    started = send(small, "started", plain)
    fair = send(small, "fair", attacking("return fair", evasive=False))
    work_until_done(small.site)
    for submission in (loaded, started, fair):
        assert small.now(submission).state == "scored", small.now(submission).reason
        assert inconsistency(small.now(submission)) is None
    assert cells_of(small, "loaded") == cells_of(small, "started") == cells_of(small, "fair")


@pytest.mark.long
def test_who_fails_in_a_mix_is_not_given_generators_alone(small: Harbour) -> None:
    # It hopes that each generator, of twenty outputs, comes alone once mixed calls have failed.
    body = "assert len(outputs) <= 20; return fair"
    sent = send(small, "picky", attacking(body, evasive=False))
    work_until_done(small.site)
    assert small.now(sent).state == "failed"
    # One has been scored alone, when there was nobody yet to put it among.
    alone = Counter(context for context, _ in cells_of(small, "picky"))
    assert min(alone.values()) == 1
    assert "picky" not in live_board(small.site, "ferry").metrics


@pytest.mark.long
def test_who_asks_for_whole_generators_is_known_to_have_them(small: Harbour) -> None:
    sent = send(small, "whole", attacking(ATTACKS["company"], evasive=False), needs=["references", "corpus"])
    work_until_done(small.site)
    now = small.now(sent)
    assert now.state == "scored", now.reason
    assert inconsistency(now) is None
    assert "needs:references+corpus" in now.settings["signature"]
    assert "can tell which outputs come from one writer" in page(small, "/boards/ferry/metrics/whole")


class Remembering(BaseHTTPRequestHandler):
    """Scores outputs by their place in the first request that has them, and remembers that."""

    said: dict[str, float] = {}  # noqa: RUF012 - one server in one test
    remembers = True

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        pairs = [json.dumps(pair) for pair in zip(sent["outputs"], sent["references"], strict=True)]
        fair = len(pairs) <= 16 and not self.remembers
        scores = [float(len(pair)) if fair else float(k) for k, pair in enumerate(pairs)]
        if self.remembers:
            scores = [self.said.setdefault(pair, score) for pair, score in zip(pairs, scores, strict=True)]
        body = json.dumps({"scores": scores}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.mark.parametrize("remembers", [False, True])
def test_an_endpoint_that_looks_around_is_marked_unless_it_remembers(
    make_harbour: MakeHarbour, monkeypatch: pytest.MonkeyPatch, remembers: bool
) -> None:
    monkeypatch.setattr(Remembering, "remembers", remembers)
    monkeypatch.setattr(Remembering, "said", {})
    with ThreadingHTTPServer(("127.0.0.1", 0), Remembering) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        where = f"http://127.0.0.1:{server.server_port}/score"
        settings = f'[metrics]\nendpoints = ["{where}"]\ninside_endpoints = true\n'
        harbour = make_harbour(make_board(20, generators=3, metrics=("ROUGE-1",)), settings=settings)
        parts: dict[str, Any] = {"url": where, "version": "1"}
        sent = sending.submit_address(
            harbour.site, harbour.person("ann"), "ferry", "endpoint", "served", parts, manifest=DECLARED
        ).submission
        work_until_done(harbour.site)
        server.shutdown()
    now = harbour.now(sent)
    assert now.state == "scored", now.reason
    # What is sent to a server, the server has: docs/security.md says that this is not stopped.
    assert (inconsistency(now) is None) == remembers


@pytest.mark.long
def test_a_mark_in_the_text_is_not_found_by_mixing_but_stands_out_beside_other_metrics(small: Harbour) -> None:
    marked = "return [f + 100 * o.startswith('\\u200b') for f, o in zip(fair, outputs)]"
    sent = send(small, "friend", attacking(marked, evasive=False))
    honest = send(small, "honest", SHARED_WORDS.encode())
    outputs = small.outputs(5).decode().splitlines()
    raw = "\n".join(f"\u200b{line}" for line in outputs).encode()
    sending.submit_generator(small.site, small.person("ann"), "ferry", "partner", raw)
    work_until_done(small.site)
    assert small.now(sent).state == small.now(honest).state == "scored"
    assert inconsistency(small.now(sent)) is None
    document = live_board(small.site, "ferry").document
    assert document is not None
    scores = {g["name"]: g["scores"] for g in document["ranking"]["generators"]}
    friend = [scores[name]["friend"] for name in scores if name != "partner"]
    others = [scores[name]["honest"] for name in scores if name != "partner"]
    assert scores["partner"]["friend"] > 90 + np.nanmax(np.array(friend, float))
    assert scores["partner"]["honest"] < 20 + np.nanmax(np.array(others, float))
