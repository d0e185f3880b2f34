"""A campaign on a crowd platform, from draft to bonus; the platform is a stand-in with Prolific's rules."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest
from prolific_server import ProlificServer
from small_sites import Harbour, MakeHarbour

from billboards.campaigns.crowd.prolific import Prolific
from billboards.campaigns.plan import CampaignPlan
from billboards.cli.main import main
from billboards.errors import NotAllowed, PlatformFailed, Refused
from billboards.site.accounts.access import VISITOR
from billboards.site.campaigns.annotator_work import Participant, enter, next_item, submit_answer
from billboards.site.campaigns.crowd import (
    Drafted,
    approve_works,
    completion,
    draft_study,
    grow_study,
    pay_bonuses,
    prepare_bonuses,
    publish_study,
    reject_work,
    review_works,
    settle_payment,
)
from billboards.site.campaigns.lifecycle import create_campaign, open_campaign
from billboards.site.database import trail

LONG = (
    "Of the test questions, whose answers are known, most were answered wrongly, as the instructions explain at length."
)


@pytest.fixture
def server() -> Iterator[ProlificServer]:
    with ProlificServer() as server:
        yield server


@pytest.fixture
def platform(server: ProlificServer) -> Iterator[Prolific]:
    made = Prolific(address=server.address, key=server.key)
    yield made
    made.close()


@pytest.fixture
def harbour(make_harbour: MakeHarbour) -> Harbour:
    return make_harbour(settings='base_url = "https://boards.example.org"\n')


@pytest.fixture
def drafted(harbour: Harbour, platform: Prolific) -> Drafted:
    plan = CampaignPlan(instances=6, positive=0.0, negative=0.0)
    campaign = create_campaign(harbour.site, harbour.owner, "ferry", "paid", "binary", generators=("g0",), plan=plan)
    open_campaign(harbour.site, harbour.owner, campaign.id)
    return draft_study(harbour.site, harbour.owner, campaign.id, platform, hourly=1200, items_per_place=3)


def _token(server: ProlificServer, drafted: Drafted) -> str:
    address = server.studies[drafted.now.id]["external_study_url"]
    assert address.startswith("https://boards.example.org/annotate/")
    assert address.endswith("?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}")
    return str(address.partition("/annotate/")[2].partition("?")[0])


def _do(harbour: Harbour, token: str, who: str, items: int) -> Participant:
    participant = enter(harbour.site, token, external=who)
    for _ in range(items):
        turn = next_item(harbour.site, participant)
        assert turn.item is not None
        answer = {name: 1 for stage in turn.item.stages for name in stage.dimensions}
        submit_answer(harbour.site, participant, turn.item.assignment, uuid4().hex, answer, seconds=9.0)
    return participant


def test_a_draft_costs_nothing_and_says_what_it_would_cost(server: ProlificServer, drafted: Drafted) -> None:
    assert server.studies[drafted.now.id]["status"] == "UNPUBLISHED"
    # Six answers of 30 s in places of three: two places of two minutes at 12.00 an hour.
    assert (drafted.quote.places, drafted.quote.reward, drafted.quote.total) == (2, 40, 115)
    assert drafted.now.cost == 114


def test_nothing_is_published_before_it_is_confirmed(
    server: ProlificServer, harbour: Harbour, platform: Prolific, drafted: Drafted
) -> None:
    with pytest.raises(Refused, match=r"publishing spends money: .*1\.15 USD.* Say --confirm"):
        publish_study(harbour.site, harbour.owner, drafted.row.id, platform, confirmed=False)
    assert server.studies[drafted.now.id]["status"] == "UNPUBLISHED"
    publish_study(harbour.site, harbour.owner, drafted.row.id, platform, confirmed=True, zone="America/New_York")
    study = server.studies[drafted.now.id]
    assert study["status"] == "SCHEDULED"
    assert study["publish_at"].split("T")[1] in ("10:00:00-04:00", "10:00:00-05:00")


def test_who_did_a_place_s_items_gets_the_code_and_is_proposed_for_approval(
    server: ProlificServer, harbour: Harbour, platform: Prolific, drafted: Drafted
) -> None:
    publish_study(harbour.site, harbour.owner, drafted.row.id, platform, confirmed=True)
    token = _token(server, drafted)
    works = {who: server.take_place(drafted.now.id, who) for who in ("anna", "ben")}
    anna = _do(harbour, token, "anna", 2)
    assert completion(harbour.site, anna, is_over=False) is None
    anna = _do(harbour, token, "anna", 1)
    due = completion(harbour.site, anna, is_over=False)
    assert due is not None
    assert due.url == f"https://app.prolific.com/submissions/complete?cc={drafted.row.code}"
    server.finish(works["anna"], due.code)
    _do(harbour, token, "ben", 1)
    server.finish(works["ben"], "GUESSED")
    found = {one.work.participant: one for one in review_works(harbour.site, harbour.owner, drafted.row.id, platform)}
    assert (found["anna"].verdict, found["anna"].answers) == ("approve", 3)
    assert found["ben"].verdict == "look"
    assert found["ben"].reason == "entered GUESSED, which is not the study's"
    with pytest.raises(Refused, match=r"approving 1 works pays 0.40 USD and fees; say --confirm"):
        approve_works(harbour.site, harbour.owner, drafted.row.id, platform, [works["anna"]], confirmed=False)
    approve_works(harbour.site, harbour.owner, drafted.row.id, platform, [works["anna"]], confirmed=True)
    reject_work(harbour.site, harbour.owner, drafted.row.id, platform, works["ben"], "BAD_CODE", LONG)
    assert [entry["status"] for entry in server.submissions.values()] == ["APPROVED", "REJECTED"]
    with harbour.site.database.reading() as connection:
        actions = {entry.action for entry in trail.entries(connection, subject=drafted.row.campaign_id)}
    assert {"study.drafted", "study.published", "study.approved", "study.rejected"} <= actions


def test_more_places_cost_what_is_said(harbour: Harbour, platform: Prolific, drafted: Drafted) -> None:
    publish_study(harbour.site, harbour.owner, drafted.row.id, platform, confirmed=True)
    with pytest.raises(Refused, match=r"3 more places cost 1.71 USD"):
        grow_study(harbour.site, harbour.owner, drafted.row.id, platform, 5, confirmed=False)
    assert grow_study(harbour.site, harbour.owner, drafted.row.id, platform, 5, confirmed=True).places == 5


def test_a_bonus_is_paid_once_whatever_happens(
    server: ProlificServer, harbour: Harbour, platform: Prolific, drafted: Drafted
) -> None:
    publish_study(harbour.site, harbour.owner, drafted.row.id, platform, confirmed=True)
    server.finish(server.take_place(drafted.now.id, "anna"), drafted.row.code)
    payment = prepare_bonuses(harbour.site, harbour.owner, drafted.row.id, platform, {"anna": 150})
    with pytest.raises(Refused, match=r"pays 1 bonuses, 1.50 USD and fees; say --confirm"):
        pay_bonuses(harbour.site, harbour.owner, payment.id, platform, confirmed=False)
    server.lose_answer = True
    with pytest.raises(PlatformFailed, match="unknown whether this was done"):
        pay_bonuses(harbour.site, harbour.owner, payment.id, platform, confirmed=True)
    server.lose_answer = False
    with pytest.raises(Refused, match="is 'sent' and can't become 'sent'"):
        pay_bonuses(harbour.site, harbour.owner, payment.id, platform, confirmed=True)
    assert server.paid == {"anna": 150}
    settled = settle_payment(harbour.site, harbour.owner, payment.id, was_paid=True, reason="seen on the platform")
    assert settled.state == "paid"


def test_a_visitor_can_do_none_of_it(harbour: Harbour, platform: Prolific, drafted: Drafted) -> None:
    for act in (
        lambda: publish_study(harbour.site, VISITOR, drafted.row.id, platform, confirmed=True),
        lambda: review_works(harbour.site, VISITOR, drafted.row.id, platform),
        lambda: prepare_bonuses(harbour.site, VISITOR, drafted.row.id, platform, {"anna": 1}),
    ):
        with pytest.raises(NotAllowed):
            act()


def test_the_command_line_drafts_and_refuses_to_publish_without_a_word(
    server: ProlificServer, harbour: Harbour, drafted: Drafted, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("PROLIFIC_API_TOKEN", server.key)
    data, address = str(harbour.site.data), server.address
    asked = [
        "crowd",
        "draft",
        "paid",
        "--data",
        data,
        "--hourly",
        "12",
        "--address",
        address,
        "--screener",
        "language=19,20",
    ]
    assert main(asked) == 0
    study = capsys.readouterr().out.strip()
    assert main(["crowd", "publish", study, "--data", data, "--address", address]) == 1
    assert "Say --confirm to publish" in capsys.readouterr().err
    assert main(["crowd", "publish", study, "--data", data, "--address", address, "--confirm"]) == 0
    assert main(["crowd", "review", study, "--data", data, "--address", address]) == 0
    assert "no work waits" in capsys.readouterr().err
