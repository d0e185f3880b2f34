"""How outputs come to submitted programs on a site: mixed, among strays, and each score at home again."""

from __future__ import annotations

import json
import re
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient
from small_sites import DECLARED, Harbour, MakeHarbour, all_cells, make_board

from billboards.board import Board, Generator, row_of
from billboards.board.cells import Floats
from billboards.errors import InvalidInput, StoreFailed
from billboards.run.shuffled_outputs import Comparison
from billboards.site.admin.backup import back_up, restore
from billboards.site.submissions import records as submissions
from billboards.site.submissions import sending
from billboards.site.submissions.consistency import inconsistency, keep_comparison, kept_comparison
from billboards.site.submissions.records import Submission
from billboards.site.web.app import create_app
from billboards.site.work.jobs import run_job
from billboards.site.work.order_secret import order_secret
from billboards.site.work.worker import work_until_done
from billboards.site.work.worklist import next_job

#: Prints what it is given, and scores what each output shares with its first reference.
SHARED = b"""import json
def load():
    return None
def score(outputs, references, inputs, loaded):
    print("given " + json.dumps(outputs))
    return [1 / (1 + len(set(o.split()) & set(r[0].split()))) for o, r in zip(outputs, references)]
"""
PLAIN = SHARED.replace(b"def load():\n    return None\n", b"").replace(b", loaded", b"")


def send(harbour: Harbour, code: bytes = SHARED, name: str = "shared", **declared: object) -> Submission:
    manifest = {**DECLARED, "higher_is_better": False, **declared}
    who = harbour.person("ann")
    return sending.submit_metric(harbour.site, who, "ferry", code, name=name, manifest=manifest).submission


def calls_of(harbour: Harbour, sent: Submission) -> list[list[str]]:
    """What a program printed of the calls it got, those of the trial left out."""
    lines = sending.read_log(harbour.site, harbour.owner, sent.id)
    text = "".join(line.text for line in lines).partition("trial passed")[2]
    return [json.loads(given) for given in re.findall(r"given (\[[^]]*\])", text)]


def expected(board: Board) -> dict[str, Floats]:
    """The scores of every row against all references, worked out here; lower is better."""
    texts = [instance.references[0].text for instance in board.instances]
    return {
        row.version: -np.array([_shared(o, t) for o, t in zip(row.texts, texts, strict=True)]) for row in board.rows
    }


def _shared(output: str | None, text: str) -> float:
    return np.nan if output is None else 1 / (1 + len(set(output.split()) & set(text.split())))


@pytest.fixture
def gappy(make_harbour: MakeHarbour) -> Harbour:
    """A board of which one generator lacks some outputs."""
    board = make_board(generators=3)
    texts = tuple(None if k in (2, 7) else f"{text} at noon" for k, text in enumerate(board.rows[1].texts))
    return make_harbour(replace(board, rows=(*board.rows, row_of(Generator("gappy"), board.instances, texts))))


@pytest.mark.long
@pytest.mark.parametrize("code", [SHARED, PLAIN])
def test_every_score_is_that_of_its_own_output_whatever_the_mix(gappy: Harbour, code: bytes) -> None:
    work_until_done(gappy.site)
    sent = send(gappy, code)
    work_until_done(gappy.site)
    assert gappy.now(sent).state == "scored", gappy.now(sent).reason
    late = sending.submit_generator(gappy.site, gappy.person("bea"), "ferry", "late", gappy.outputs(3)).submission
    work_until_done(gappy.site)
    assert gappy.now(late).state == "scored"
    stored = dict[str, list[Floats]]()
    for (signature, _, version, _), scores in all_cells(gappy.site).items():
        if signature.startswith("shared|"):
            stored.setdefault(version, []).append(np.frombuffer(scores))
    wanted = expected(gappy.board)
    assert len(stored) == len(wanted) + 1
    for version, own in wanted.items():
        assert any(np.array_equal(own, each, equal_nan=True) for each in stored[version])
    assert inconsistency(gappy.now(sent)) is None


@pytest.mark.long
@pytest.mark.parametrize("code", [SHARED, PLAIN])
def test_no_call_is_one_generators_and_a_sample_is_scored_again(harbour: Harbour, code: bytes) -> None:
    work_until_done(harbour.site)
    sent = send(harbour, code)
    writers = {row.name: set(row.texts) for row in harbour.board.rows}
    while (job := next_job(harbour.site, "worker")) is not None and job.kind != "cell":
        run_job(harbour.site, job)
    assert job is not None
    assert len(job.companions) >= 3
    run_job(harbour.site, job)
    calls = calls_of(harbour, sent)
    # The rows are dealt out over as many calls, and a sample of them is scored again.
    assert len(calls) == len(job.companions) + 2
    for call in calls:
        assert not any(set(call) <= texts for texts in writers.values())
    kept = kept_comparison(harbour.now(sent))
    assert kept == Comparison(len(calls[-1]), 0)
    assert len(calls[-1]) == min(50, 12 * (len(job.companions) + 1))


@pytest.mark.long
def test_a_generator_that_comes_alone_is_put_among_strays_that_are_scored_again(harbour: Harbour) -> None:
    work_until_done(harbour.site)
    sent = send(harbour, PLAIN)
    work_until_done(harbour.site)
    late = sending.submit_generator(harbour.site, harbour.person("bea"), "ferry", "late", harbour.outputs(3)).submission
    seen = []
    while (job := next_job(harbour.site, "worker")) is not None:
        if job.cell is not None and job.cell.metric.name == "shared":
            # A finished metric's log is closed; what it is given now, it is told under a submission that isn't.
            assert job.submission is not None
            seen.append(job.cell.row.name)
            job = replace(job, submission=replace(job.submission, state="scoring"))
        run_job(harbour.site, job)
    assert seen
    assert harbour.now(late).state == "scored"
    last = calls_of(harbour, sent)[-1]
    own = set(harbour.outputs(3).decode().splitlines())
    others = {text for row in harbour.board.rows for text in row.texts}
    assert sum(output in own for output in last) >= 12
    assert len(last) >= 12 + 36
    assert all(output in own | others for output in last)


def test_who_needs_the_corpus_gets_whole_generators_in_a_random_order(harbour: Harbour) -> None:
    work_until_done(harbour.site)
    sent = send(harbour, needs=["references", "corpus"])
    work_until_done(harbour.site)
    now = harbour.now(sent)
    assert now.state == "scored", now.reason
    assert "needs:references+corpus" in now.settings["signature"]
    rows = [list(map(str, row.texts)) for row in harbour.board.rows]
    calls = calls_of(harbour, sent)
    assert all(any(sorted(call) == sorted(row) for row in rows) for call in calls)
    assert not any(call in rows for call in calls)
    # One of them is scored again, whole.
    assert kept_comparison(now) == Comparison(12, 0)
    page = TestClient(create_app(harbour.site), "http://localhost").get("/boards/ferry/metrics/shared")
    assert "given all outputs of a generator at once" in page.text


def test_a_metric_from_before_is_given_whole_generators_as_it_was_promised(harbour: Harbour) -> None:
    work_until_done(harbour.site)
    sent = send(harbour)
    while (job := next_job(harbour.site, "worker")) is not None and job.kind != "cell":
        run_job(harbour.site, job)
    with harbour.site.database.writing() as connection:
        settings = dict(submissions.get(connection, sent.id).settings)
        del settings["needs_corpus"]
        submissions.change(connection, sent.id, "test", actor="test", now=harbour.clock(), settings=settings)
    harbour.clock.now += harbour.site.settings.lease_seconds + 1
    work_until_done(harbour.site)
    assert harbour.now(sent).state == "scored"
    rows = [sorted(map(str, row.texts)) for row in harbour.board.rows]
    assert all(sorted(call) in rows for call in calls_of(harbour, sent))


def test_orders_follow_from_a_secret_that_only_the_sites_user_can_read(harbour: Harbour, tmp_path: Path) -> None:
    data = harbour.site.data
    secret = order_secret(data)
    assert len(secret) == 32
    assert order_secret(data) == secret
    assert stat.S_IMODE((data / "order.secret").stat().st_mode) == 0o600
    back_up(harbour.site, tmp_path / "site.tar.gz")
    restore(tmp_path / "site.tar.gz", tmp_path / "restored")
    assert order_secret(tmp_path / "restored") == secret
    assert stat.S_IMODE((tmp_path / "restored" / "order.secret").stat().st_mode) == 0o600
    (data / "order.secret").write_text("short")
    with pytest.raises(StoreFailed, match="is no secret of 32 bytes"):
        order_secret(data)


def test_an_endpoint_cannot_need_the_corpus(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour(settings='[metrics]\nendpoints = ["https://a.example.org/*"]\n')
    parts = {"url": "https://a.example.org/score", "version": "1"}
    manifest = {**DECLARED, "needs": ["references", "corpus"]}
    with pytest.raises(InvalidInput, match="so it can't need the corpus"):
        sending.submit_address(
            harbour.site, harbour.person("ann"), "ferry", "endpoint", "mine", parts, manifest=manifest
        )


def test_what_was_seen_adds_up_and_consistency_is_written_down_once(harbour: Harbour) -> None:
    sent = send(harbour)
    for seen, kept in [
        (Comparison(0, 0), None),
        (Comparison(50, 0), Comparison(50, 0)),
        (Comparison(50, 0), Comparison(50, 0)),
        (Comparison(40, 3), Comparison(90, 3)),
    ]:
        with harbour.site.database.writing() as connection:
            keep_comparison(connection, sent.id, seen, now=harbour.clock())
        assert kept_comparison(harbour.now(sent)) == kept
    words = "scores depend on company or order: 3 of 90 outputs got another score in another mix"
    assert inconsistency(harbour.now(sent)) == words
