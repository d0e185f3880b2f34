"""Budgets of a board: tokens of judges and hours on graphics cards, set by owners, never above the operator's."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from judge_purse import empty_purse
from judge_server import JudgeServer
from small_sites import DECLARED, Harbour, MakeHarbour, make_board

from billboards.errors import InvalidSettings, MetricFailed, Refused
from billboards.metrics.judges import endpoint
from billboards.metrics.judges.budget import Budget, Estimate
from billboards.metrics.judges.pace import shared_pace
from billboards.site.boards.budgets import CARDS, HOUR, JUDGES, Meter, limit_of, purse_of
from billboards.site.boards.live import live_board
from billboards.site.settings import read_board_settings
from billboards.site.submissions import sending
from billboards.site.submissions.records import Submission
from billboards.site.work.worker import work_once, work_until_done
from billboards.site.work.worklist import everything, standing

#: What the stand-in says of each answer.
TOKENS = 107
SLOW = """
import time
def load():
    time.sleep(SECONDS)
def score(outputs, references, inputs, loaded):
    return [float(len(output)) for output in outputs]
"""


@pytest.fixture
def server(judge_environment: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    monkeypatch.setattr(endpoint, "FIRST_WAIT", 0.001)
    shared_pace.cache_clear()
    endpoint.shared_manners.cache_clear()
    empty_purse()
    with JudgeServer() as found:
        monkeypatch.setenv("BILLBOARDS_JUDGE_URL", found.url)
        monkeypatch.setenv("BILLBOARDS_JUDGE_MODEL", "stand-in")
        yield found


def judged(make_harbour: MakeHarbour, settings: str = "") -> Harbour:
    return make_harbour(make_board(metrics=("length", "judge-DA")), settings=settings)


def settle(harbour: Harbour, **settings: object) -> None:
    sending.change_settings(harbour.site, harbour.owner, "ferry", settings)


def used(harbour: Harbour) -> float:
    return purse_of(harbour.site, "ferry", read_board_settings({}), JUDGES).spent()


def failures(harbour: Harbour) -> set[str]:
    return {failure.reason for failure in standing(harbour.site, "ferry").failed.values()}


def columns(harbour: Harbour) -> set[str]:
    document = live_board(harbour.site, "ferry").document
    assert document is not None
    return {metric["name"] for metric in document["ranking"]["metrics"] if metric["correlation"] is not None}


@pytest.mark.long
def test_no_judge_is_asked_on_a_board_whose_budget_is_nothing_and_it_is_ranked_without(
    make_harbour: MakeHarbour, server: JudgeServer
) -> None:
    harbour = judged(make_harbour)
    settle(harbour, judge_tokens=0)
    work_until_done(harbour.site)
    assert server.received == []
    reasons = failures(harbour)
    assert reasons
    for reason in reasons:
        assert "nothing was asked, because that passes the board's budget of judges' tokens (0 of 0 tokens" in reason
        assert "its owner can raise it under Organise, Settings" in reason
    assert columns(harbour) == {"length"}
    settle(harbour, judge_tokens=1_000_000)
    work_until_done(harbour.site)
    assert columns(harbour) == {"length", "judge-DA"}
    assert used(harbour) == TOKENS * len(server.received) > 0
    assert failures(harbour) == set()


def test_the_operators_cap_holds_whatever_the_owner_says(make_harbour: MakeHarbour, server: JudgeServer) -> None:
    harbour = judged(make_harbour, "[judges]\ntokens = 10\n")
    work_until_done(harbour.site)
    assert server.received == []
    assert "0 of 10 tokens are used" in next(iter(failures(harbour)))
    with pytest.raises(
        InvalidSettings, match="judge_tokens must be at most 10, which is what this site allows"
    ) as wrong:
        settle(harbour, judge_tokens=11)
    assert wrong.value.places == (("judge_tokens",),)
    settle(harbour, judge_tokens=9)
    assert limit_of(JUDGES, read_board_settings({"judge_tokens": 9}), harbour.site.settings) == 9
    assert limit_of(JUDGES, read_board_settings({"judge_tokens": 99}), harbour.site.settings) == 10
    assert limit_of(JUDGES, read_board_settings({}), harbour.site.settings) == 10


def test_many_workers_share_one_budget_and_a_question_that_would_pass_it_is_not_sent(harbour: Harbour) -> None:
    settings = read_board_settings({"judge_tokens": 1000})
    one, other = (purse_of(harbour.site, "ferry", settings, JUDGES) for _ in range(2))
    budget = Budget(allowance=one)
    budget.reserve(300, 100)
    assert other.left() == 600
    budget.settle((300, 100), (250, 50))
    assert other.left() == 700
    assert other.take(650)
    with pytest.raises(MetricFailed, match=r"next question would pass the board's budget.*950 of 1,000 tokens"):
        budget.reserve(40, 20)
    budget.reserve(40, 10)
    assert one.left() == 0
    with pytest.raises(MetricFailed, match="nothing was asked"):
        budget.check("judge", Estimate(questions=1, tokens_in=1, tokens_out=0), logging.getLogger("judges"))


def test_what_a_request_took_more_than_reserved_is_counted_even_beyond_the_budget(harbour: Harbour) -> None:
    purse = purse_of(harbour.site, "ferry", read_board_settings({"judge_tokens": 100}), JUDGES)
    budget = Budget(allowance=purse)
    budget.reserve(80, 20)
    budget.settle((80, 20), (80, 70))
    assert (purse.spent(), purse.left()) == (150, 0)


@pytest.fixture
def device(tmp_path: Path) -> Path:
    made = tmp_path / "stand-in-for-nvidia0"
    made.write_text("card")
    return made


def carded(make_harbour: MakeHarbour, device: Path, more: str = "") -> Harbour:
    return make_harbour(settings=f'[workers.gpu]\ndevices = ["{device}"]\naccounts = ["ann"]\n{more}')


def send(harbour: Harbour, seconds: float) -> Submission:
    content = SLOW.replace("SECONDS", str(seconds)).encode()
    manifest = {**DECLARED, "gpu": True}
    return sending.submit_metric(
        harbour.site, harbour.person("ann"), "ferry", content, name="carded", manifest=manifest
    ).submission


@pytest.mark.long
def test_a_program_on_a_card_is_counted_and_ended_when_the_boards_hours_are_used_up(
    make_harbour: MakeHarbour, device: Path
) -> None:
    harbour = carded(make_harbour, device)
    settle(harbour, gpu_hours=1.5 / HOUR)
    one = send(harbour, seconds=30)
    while work_once(harbour.site, "carded-worker", None, everything):
        pass
    now = harbour.now(one)
    assert (now.state, now.platform) == ("failed", True)
    assert "ended, because it would pass the board's budget of hours on graphics cards" in str(now.reason)
    purse = purse_of(harbour.site, "ferry", read_board_settings({}), CARDS)
    assert 1.5 <= purse.spent() < 30
    with pytest.raises(Refused, match="programs for graphics cards are not taken now"):
        send(harbour, seconds=0)
    settle(harbour, gpu_hours=None)
    assert send(harbour, seconds=0).state == "received"


def test_a_board_that_allows_no_hours_or_more_than_the_site_is_told_so(make_harbour: MakeHarbour, device: Path) -> None:
    harbour = carded(make_harbour, device, "hours = 2\n")
    with pytest.raises(InvalidSettings, match="gpu_hours must be at most 2"):
        settle(harbour, gpu_hours=2.5)
    settle(harbour, gpu_hours=0)
    with pytest.raises(Refused, match=r"0\.00 of 0\.00 hours are used"):
        send(harbour, seconds=0)


def test_an_owner_may_change_other_settings_when_the_operator_has_lowered_the_cap(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour()
    settle(harbour, judge_tokens=500)
    lowered = harbour.site.settings.judges.model_copy(update={"tokens": 100})
    harbour.site.settings = harbour.site.settings.model_copy(update={"judges": lowered})
    settle(harbour, judge_tokens=500, per_day=3)
    settings = read_board_settings(kept_settings(harbour))
    assert (settings.judge_tokens, settings.per_day) == (500, 3)
    assert purse_of(harbour.site, "ferry", settings, JUDGES).limit == 100


def kept_settings(harbour: Harbour) -> dict[str, object]:
    (board,) = harbour.site.boards()
    return dict(board.settings)


def test_a_meter_ends_a_run_that_nobody_wants_and_counts_nothing_it_did_not_run(harbour: Harbour) -> None:
    purse = purse_of(harbour.site, "ferry", read_board_settings({}), CARDS)
    meter = Meter(purse, lambda: True)
    assert meter()
    assert purse.spent() == 0
    meter.count()
    assert 0 < purse.spent() < 60
