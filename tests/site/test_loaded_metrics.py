"""A submitted program that is loaded once: how often, for how many cells, and what becomes of it when one fails."""

from __future__ import annotations

import numpy as np
import pytest
from small_sites import DECLARED, Harbour, all_cells

from billboards.site.boards.live import live_board
from billboards.site.submissions import sending
from billboards.site.submissions.records import Submission
from billboards.site.work import leases
from billboards.site.work.jobs import run_job
from billboards.site.work.worker import Heartbeat, work_until_done
from billboards.site.work.worklist import hand_back, next_job

#: Gives every output how often it was loaded, and how many outputs were scored before in the same memory.
COUNTER = b"""
LOADS, SEEN = [], []
def load():
    print("loading")
    LOADS.append(1)
    return LOADS
def score(outputs, references, inputs, loaded):
    before = len(SEEN)
    SEEN.extend(outputs)
    return [len(o.split()) + 100 * (len(loaded) - 1) + 1000 * before for o in outputs]
"""
NEEDS = {**DECLARED, "needs": []}


def sent(harbour: Harbour, code: bytes = COUNTER, name: str = "counter") -> Submission:
    who = harbour.person("ann")
    return sending.submit_metric(harbour.site, who, "ferry", code, name=name, manifest=NEEDS).submission


def test_five_generators_are_scored_after_one_load_and_end_in_a_ranked_column(harbour: Harbour) -> None:
    work_until_done(harbour.site)
    one = sent(harbour)
    work_until_done(harbour.site)
    now = harbour.now(one)
    assert now.state == "scored", now.reason
    log = "".join(line.text for line in sending.read_log(harbour.site, harbour.owner, one.id))
    # Twice in the trial, once for the five generators of the board, and once for outputs that are scored again.
    assert log.count("loading") == 4
    mine = [scores for (signature, *_), scores in all_cells(harbour.site).items() if signature.startswith("counter|")]
    assert len(mine) == 5
    assert max(float(np.frombuffer(scores).max()) for scores in mine) < 100
    document = live_board(harbour.site, "ferry").document
    assert document is not None
    (column,) = [m for m in document["ranking"]["metrics"] if m["name"] == "counter"]
    assert column["rank"] is not None


@pytest.mark.long
def test_a_failure_is_told_of_the_generator_that_fails_and_others_are_scored(harbour: Harbour) -> None:
    code = COUNTER.replace(
        b"    before =",
        b"    if len(outputs) > 8 and 'wrong wrong' in ' '.join(outputs): raise ValueError('bad')\n    before =",
    )
    work_until_done(harbour.site)
    one = sent(harbour, code)
    work_until_done(harbour.site)
    assert harbour.now(one).state == "failed"
    scored = [key for key in all_cells(harbour.site) if key[0].startswith("counter|")]
    assert 1 <= len(scored) < 5


def test_companions_are_leased_kept_alive_and_handed_back(harbour: Harbour) -> None:
    work_until_done(harbour.site)
    sent(harbour)
    site = harbour.site
    while (job := next_job(site, "worker")) is not None and job.kind != "cell":
        run_job(site, job)
    assert job is not None
    assert len(job.companions) == 4
    assert next_job(site, "another") is None
    with Heartbeat(site, job) as heartbeat:
        assert heartbeat._renew(1000.0)
    harbour.clock.now += 500
    with site.database.reading() as connection:
        held = leases.held(connection, "ferry", now=harbour.clock())
    assert len([subject for kind, subject in held if kind == "cell"]) == 5
    hand_back(site, job)
    again = next_job(site, "another")
    assert again is not None
    assert len(again.companions) == 4
