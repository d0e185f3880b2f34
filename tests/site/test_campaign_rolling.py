"""A rolling board: whoever is accepted gets its annotation by itself, within the budget."""

from __future__ import annotations

from typing import Any

import pytest
from small_campaigns import by_reference, distinct_board, people, small_campaign
from small_sites import Harbour, MakeHarbour
from sqlalchemy import select, update

from billboards.errors import InvalidInput, Refused, UnknownName
from billboards.site.boards.live import live_board
from billboards.site.campaigns.campaign import Campaign, get_campaign
from billboards.site.campaigns.lifecycle import pause_campaign, top_up
from billboards.site.campaigns.rolling import admit_newcomers
from billboards.site.campaigns.status import campaign_status
from billboards.site.database import trail
from billboards.site.database.schema import accounts, deliveries
from billboards.site.submissions.sending import change_settings, submit_generator, withdraw
from billboards.site.work.worker import work_until_done

PLAIN: dict[str, Any] = {"positive": 0.0, "negative": 0.0}


@pytest.fixture
def port(make_harbour: MakeHarbour) -> Harbour:
    harbour = make_harbour(distinct_board(8, 1))
    change_settings(harbour.site, harbour.owner, "ferry", {"draws": 10})
    return harbour


def test_an_accepted_generator_joins_on_the_same_instances_and_ranks_when_it_is_judged(port: Harbour) -> None:
    campaign = small_campaign(port, rolling=True, instances=5, **PLAIN)
    (ann,) = people(port, campaign, by_reference)
    assert ann.answer_all().state == "done"
    assert len(live_board(port.site, "ferry").board.judgments) == 5, "g0 is done, so it stands on the board"
    submit_generator(port.site, port.person("sam"), "ferry", "boat", port.outputs())
    work_until_done(port.site)
    after = get_campaign(port.site, "first")
    assert after.generators == ("g0", "boat")
    assert campaign_status(port.site, port.owner, campaign.id).by_generator == (("g0", 5, 5), ("boat", 0, 5))
    for _ in range(4):
        ann.answer()
    assert len(live_board(port.site, "ferry").board.judgments) == 5, "not yet"
    ann.answer()
    board = live_board(port.site, "ferry").board
    assert len(board.judgments) == 10
    assert board.ranks == "genie-translation"
    boat = board.judgments.row == board.row_position["boat"]
    assert {board.instances[k].id for k in board.judgments.instance[boat]} == set(campaign.instances)


def _waits(port: Harbour, campaign: Campaign) -> list[tuple[str, str]]:
    """What the audit trail says of generators that wait, the oldest first."""
    with port.site.database.reading() as connection:
        entries = trail.entries(connection, subject=campaign.id)
    return [(e.detail["generator"], e.detail["reason"][:9]) for e in entries[::-1] if e.action == "campaign.waits"]


def _send(port: Harbour, *names: str) -> None:
    for name in names:
        submit_generator(port.site, port.person("sam"), "ferry", name, port.outputs(len(name) + ord(name[0])))
        work_until_done(port.site)


def test_a_generator_waits_where_the_budget_ends_and_joins_after_a_top_up(port: Harbour) -> None:
    campaign = small_campaign(port, rolling=True, instances=5, pay=1.0, budget=9.0, newcomer_each=5.0, **PLAIN)
    _send(port, "boat")
    assert get_campaign(port.site, "first").generators == ("g0",)
    assert _waits(port, campaign) == [("boat", "the budge")], "said once"
    top_up(port.site, port.owner, campaign.id, 1.0)
    work_until_done(port.site)
    assert get_campaign(port.site, "first").generators == ("g0", "boat")
    assert campaign_status(port.site, port.owner, campaign.id).waiting == ()


def test_a_paid_newcomer_waits_with_its_price_until_the_owner_confirms_it(port: Harbour) -> None:
    campaign = small_campaign(port, rolling=True, instances=5, pay=1.0, fee=0.2, **PLAIN)
    _send(port, "boat", "raft")
    status = campaign_status(port.site, port.owner, campaign.id)
    assert status.campaign.generators == ("g0",), "nothing is spent on what nobody has confirmed"
    assert [(each.generator, each.labels, each.price) for each in status.waiting] == [
        ("boat", 5, 6.0),
        ("raft", 5, 6.0),
    ]
    assert _waits(port, campaign) == [("boat", "its price"), ("raft", "its price")]
    admit_newcomers(port.site, port.owner, campaign.id, ["raft"])
    work_until_done(port.site)
    after = campaign_status(port.site, port.owner, campaign.id)
    assert after.by_generator == (("g0", 0, 5), ("raft", 0, 5))
    assert [each.generator for each in after.waiting] == ["boat"]
    assert _waits(port, campaign) == [("boat", "its price"), ("raft", "its price")], "told once, not at every look"
    with port.site.database.reading() as connection:
        (joined,) = [e for e in trail.entries(connection, subject=campaign.id) if e.action == "campaign.joined"]
    assert joined.actor == port.owner.name
    assert joined.detail == {"generator": "raft", "items": 5, "price": 6.0}


def test_newcomers_join_unasked_up_to_what_was_confirmed_for_each_and_for_all(port: Harbour) -> None:
    campaign = small_campaign(
        port, rolling=True, instances=5, pay=1.0, newcomer_each=5.0, newcomers_total=10.0, **PLAIN
    )
    _send(port, "boat", "raft", "sail")
    status = campaign_status(port.site, port.owner, campaign.id)
    assert status.campaign.generators == ("g0", "boat", "raft")
    assert [each.generator for each in status.waiting] == ["sail"], "a third one would make 15 of 10"
    dear = small_campaign(port, "dear", rolling=True, instances=5, pay=1.0, newcomer_each=4.99, **PLAIN)
    _send(port, "oar")
    assert [each.generator for each in campaign_status(port.site, port.owner, dear.id).waiting] == ["oar"]


def test_who_can_not_be_admitted_is_refused_by_name(port: Harbour) -> None:
    campaign = small_campaign(port, rolling=True, instances=5, pay=1.0, budget=9.0, **PLAIN)
    _send(port, "boat")
    with pytest.raises(UnknownName, match="raft"):
        admit_newcomers(port.site, port.owner, campaign.id, ["raft"])
    with pytest.raises(Refused, match="budget of campaign first does not cover boat"):
        admit_newcomers(port.site, port.owner, campaign.id, ["boat"])
    with pytest.raises(InvalidInput, match="each once"):
        admit_newcomers(port.site, port.owner, campaign.id, ["boat", "boat"])
    pause_campaign(port.site, port.owner, campaign.id)
    top_up(port.site, port.owner, campaign.id, 5.0)
    with pytest.raises(Refused, match="paused"):
        admit_newcomers(port.site, port.owner, campaign.id, ["boat"])


def test_a_generator_that_left_the_board_waits_no_more(port: Harbour) -> None:
    campaign = small_campaign(port, rolling=True, instances=5, pay=1.0, **PLAIN)
    sent = submit_generator(port.site, port.person("sam"), "ferry", "boat", port.outputs(7))
    work_until_done(port.site)
    withdraw(port.site, port.person("sam"), sent.submission.id)
    work_until_done(port.site)
    assert campaign_status(port.site, port.owner, campaign.id).waiting == ()


def test_an_owner_with_an_address_is_told_by_mail_once(port: Harbour) -> None:
    with port.site.database.writing() as connection:
        connection.execute(update(accounts).values(email="owner@example.org"))
    small_campaign(port, rolling=True, instances=5, pay=1.0, **PLAIN)
    _send(port, "boat")
    with port.site.database.reading() as connection:
        reasons = list(
            connection.execute(select(deliveries.c.payload).where(deliveries.c.event == "campaign.waits")).scalars()
        )
    assert [payload["reason"] for payload in reasons] == [
        "boat waits, 5 labels for 5.00 USD: its price is not confirmed; admit it, or leave it waiting"
    ]
