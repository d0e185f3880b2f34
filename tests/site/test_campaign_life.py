"""A campaign from plan to ranking: what it asks, what it costs, and what the board says when it closes."""

from __future__ import annotations

import pytest
from small_campaigns import by_reference, distinct_board, people, small_campaign
from small_sites import Harbour, MakeHarbour

from billboards.campaigns.plan import CampaignPlan
from billboards.errors import InvalidInput, NotAllowed, Refused, UnknownName
from billboards.site.accounts.access import VISITOR
from billboards.site.admin import deliveries
from billboards.site.boards.live import live_board
from billboards.site.campaigns import campaign_records as kept
from billboards.site.campaigns.campaign import get_campaign
from billboards.site.campaigns.lifecycle import (
    close_campaign,
    create_campaign,
    list_campaigns,
    open_campaign,
    pause_campaign,
    quote_campaign,
    resume_campaign,
    top_up,
)
from billboards.site.campaigns.status import campaign_status
from billboards.site.database import trail
from billboards.site.submissions.sending import change_settings
from billboards.site.work.worker import work_until_done


@pytest.fixture
def port(make_harbour: MakeHarbour) -> Harbour:
    harbour = make_harbour(distinct_board())
    change_settings(harbour.site, harbour.owner, "ferry", {"draws": 10})
    return harbour


def test_every_generator_is_judged_on_the_same_instances_and_a_quote_says_what_that_costs(port: Harbour) -> None:
    plan = CampaignPlan(instances=9, pay=0.5, fee=0.2, budget=100.0, seconds_per_item=60, early=0, annotators=1)
    made = create_campaign(port.site, port.owner, "ferry", "first", "genie-translation", plan=plan)
    assert (made.state, made.generators) == ("draft", ("g0", "g1", "g2"))
    with port.site.database.reading() as connection:
        items = kept.list_items(connection, made.id, "label")
    of = {name: {item.instance for item in items if item.row == name} for name in made.generators}
    assert of["g0"] == of["g1"] == of["g2"] == set(made.instances)
    assert len(made.instances) == 9
    found = quote_campaign(port.site, port.owner, made.id)
    assert (found.labels, found.test_answers, found.answers) == (27, 3, 30)
    assert found.cost == pytest.approx(30 * 0.6)
    assert found.cost_per_generator == pytest.approx(6.0)
    assert found.hourly == pytest.approx(30.0)
    assert found.worst_se == pytest.approx(0.5 / 3)
    assert found.warnings == ()
    (advice,) = found.advice
    assert "with about 3 questions each; ask more early" in advice


def test_a_quote_says_how_many_test_questions_people_get_and_counts_the_qualification(port: Harbour) -> None:
    plan = CampaignPlan(instances=12, qualification=4, annotators=2)
    made = create_campaign(port.site, port.owner, "ferry", "first", "genie-translation", plan=plan)
    found = quote_campaign(port.site, port.owner, made.id)
    assert (found.labels, found.annotators) == (36, 2)
    # 18 labels each: about eleven questions of the first twenty answers and half of the rest, and four to be let in.
    assert 15 <= found.questions_per_person <= 19
    assert found.answers == found.labels + found.test_answers == round(2 * found.answers_per_person)
    alone = quote_campaign(port.site, port.owner, made.id, annotators=1)
    assert found.test_answers > alone.test_answers, "everybody is tested anew"
    assert 0.9 < found.recall_random <= alone.recall_random
    assert 0.4 < found.recall_half_random < found.recall_random


def test_a_campaign_runs_pauses_goes_on_and_closes_for_good(port: Harbour) -> None:
    campaign = small_campaign(port)
    (ann,) = people(port, campaign, by_reference)
    assert ann.turn().state == "item"
    pause_campaign(port.site, port.owner, campaign.id, reason="the board is being checked")
    assert ann.answer().state == "item", "what is in hands may be answered"
    assert ann.turn().state == "paused"
    with pytest.raises(Refused, match="is paused, not draft"):
        open_campaign(port.site, port.owner, campaign.id)
    resume_campaign(port.site, port.owner, campaign.id)
    assert ann.turn().state == "item"
    close_campaign(port.site, port.owner, campaign.id)
    assert ann.turn().state == "closed"
    with pytest.raises(Refused, match="can't become open"):
        kept_open(port, campaign.id)
    with port.site.database.reading() as connection:
        actions = [one.action for one in trail.entries(connection, subject=campaign.id)]
    assert actions == [
        "campaign.closed",
        "campaign.open",
        "campaign.paused",
        "annotator.invited",
        "campaign.open",
        "campaign.created",
    ]


def kept_open(port: Harbour, campaign_id: str) -> None:
    with port.site.database.writing() as connection:
        kept.advance(connection, campaign_id, "open", actor="test", now=1.0)


def test_owners_webhooks_hear_of_a_campaign(port: Harbour) -> None:
    from billboards.site.accounts.access import add_webhook

    add_webhook(port.site, port.owner, "https://example.org/hook")
    campaign = small_campaign(port)
    with port.site.database.reading() as connection:
        (notice,) = deliveries.due(connection, now=port.clock())
    assert (notice.event, notice.payload["name"], notice.payload["path"]) == (
        "campaign.open",
        "first",
        f"/campaigns/{campaign.id}",
    )


@pytest.mark.long
def test_the_board_is_ranked_by_the_campaign_when_it_closes(port: Harbour) -> None:
    work_until_done(port.site)
    before = live_board(port.site, "ferry")
    assert before.board.ranks is None
    campaign = small_campaign(port)
    ann, ben = people(port, campaign, by_reference, by_reference)
    while ann.answer().item is not None:
        ben.answer()
    assert ben.answer().state == "done"
    assert len(live_board(port.site, "ferry").board.judgments) == 0, "nothing stands on the board before it closes"
    close_campaign(port.site, port.owner, campaign.id)
    work_until_done(port.site)
    live = live_board(port.site, "ferry")
    assert live.board.ranks == "genie-translation"
    assert live.board.judgments.campaigns == ("first",)
    assert set(live.board.judgments.annotators) == {
        ann.participant.annotator.pseudonym,
        ben.participant.annotator.pseudonym,
    }
    assert live.board.judgments.details[0]["template"] == campaign.template.signature
    assert len(live.board.judgments) == 36
    assert live.document is not None
    ranked = {one["name"]: one["rank"] for one in live.document["ranking"]["metrics"]}
    assert ranked["chrF"] is not None, "metrics are ranked by agreement with the campaign"
    assert live.document["ranking"]["generators"][0]["name"] == "g0"


def test_owners_decide_which_judgments_rank(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour()
    campaign = small_campaign(harbour, instances=3, positive=0.0, negative=0.0)
    people(harbour, campaign, by_reference)[0].answer_all()
    assert live_board(harbour.site, "ferry").board.ranks == "overall"
    close_campaign(harbour.site, harbour.owner, campaign.id, ranks=True)
    assert live_board(harbour.site, "ferry").board.ranks == "genie-translation"
    change_settings(harbour.site, harbour.owner, "ferry", {"ranks": "overall"})
    assert live_board(harbour.site, "ferry").board.ranks == "overall"
    assert len(live_board(harbour.site, "ferry").board.judgments) == 60 + 12


def test_answers_may_join_a_dimension_of_the_board_on_its_own_scale(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour()
    plan = CampaignPlan(instances=3, positive=0.0, negative=0.0)
    made = create_campaign(
        harbour.site, harbour.owner, "ferry", "more", "genie-translation", plan=plan, joins={"adequacy": "adequacy"}
    )
    open_campaign(harbour.site, harbour.owner, made.id)
    people(harbour, made, lambda shown, chance: 3)[0].answer_all()
    close_campaign(harbour.site, harbour.owner, made.id)
    board = live_board(harbour.site, "ferry").board
    assert board.ranks == "overall", "what has joined is ranked with what it has joined"
    joined = board.judgments.values[60:, board.judgments.dimensions.index("adequacy")]
    assert set(joined) == {4.0}, "agree, 75 of 100, is 4 on a scale from 1 to 5"


def test_topping_up_adds_money_generators_and_labels(port: Harbour) -> None:
    plan = CampaignPlan(instances=6, pay=1.0, budget=5.0, positive=0.0, negative=0.0)
    made = create_campaign(port.site, port.owner, "ferry", "first", "genie-translation", plan=plan, generators=["g0"])
    open_campaign(port.site, port.owner, made.id)
    ann, ben = people(port, made, by_reference, by_reference)
    assert ann.answer_all().state == "budget"
    assert campaign_status(port.site, port.owner, made.id).spent == 5.0
    after = top_up(port.site, port.owner, made.id, 20.0, generators=["g1"], labels=2)
    assert (after.plan.budget, after.plan.labels, after.generators) == (25.0, 2, ("g0", "g1"))
    with port.site.database.reading() as connection:
        told = [entry.detail for entry in trail.entries(connection, subject=made.id)]
    assert {"budget": 20.0, "generators": ["g1"], "labels": 2} in told
    assert ann.answer_all().state == "done"
    assert ben.answer_all().state == "done"
    status = campaign_status(port.site, port.owner, made.id)
    assert status.by_generator == (("g0", 12, 12), ("g1", 12, 12))
    assert (status.spent, status.left) == (24.0, 1.0)
    with pytest.raises(InvalidInput, match="g1 takes part already"):
        top_up(port.site, port.owner, made.id, generators=["g1"])


def test_money_and_an_hours_wage_are_told(port: Harbour) -> None:
    campaign = small_campaign(port, pay=0.1, budget=10.0, instances=3)
    (ann,) = people(port, campaign, by_reference)
    ann.seconds = 30.0
    for _ in range(4):
        ann.answer()
    ann.turn()
    status = campaign_status(port.site, port.owner, campaign.id)
    assert (status.answers, status.leased, status.median_seconds) == (4, 1, 30.0)
    assert status.spent == pytest.approx(0.4)
    assert status.committed == pytest.approx(0.1)
    assert status.left == pytest.approx(9.5)
    assert status.hourly == pytest.approx(12.0)
    assert status.hourly_ok is False
    assert status.by_day == (("2027-01-15", 4),)


def test_only_owners_plan_open_and_look_at_campaigns(port: Harbour) -> None:
    submitter = port.person("sam")
    with pytest.raises(NotAllowed, match="sam may not administer"):
        create_campaign(port.site, submitter, "ferry", "first", "genie-translation")
    campaign = small_campaign(port)
    create_campaign(port.site, port.owner, "ferry", "second", "genie-translation")
    for verb in (open_campaign, pause_campaign, close_campaign, quote_campaign, campaign_status):
        with pytest.raises(NotAllowed):
            verb(port.site, VISITOR, campaign.id)
    assert [one.name for one in list_campaigns(port.site, port.owner)] == ["first", "second"]
    assert [one.name for one in list_campaigns(port.site, VISITOR)] == ["first"], "drafts are the owner's own"


def test_what_can_not_be_asked_is_refused_with_what_to_do(port: Harbour) -> None:
    with pytest.raises(UnknownName, match="did you mean genie-translation"):
        create_campaign(port.site, port.owner, "ferry", "first", "genie-translations")
    with pytest.raises(UnknownName, match="no generator named 'g9'"):
        create_campaign(port.site, port.owner, "ferry", "first", "genie-translation", generators=["g9"])
    with pytest.raises(InvalidInput, match="compares 4 generators, and there are 3"):
        create_campaign(port.site, port.owner, "ferry", "first", "best-worst")
    with pytest.raises(InvalidInput, match="so it can't be rolling"):
        create_campaign(port.site, port.owner, "ferry", "first", "pairwise", rolling=True)
    small_campaign(port)
    with pytest.raises(Refused, match="there is a campaign first on board ferry already"):
        small_campaign(port)
    assert get_campaign(port.site, "first").name == "first"
    with pytest.raises(UnknownName, match="no campaign named 'frist'; did you mean first"):
        get_campaign(port.site, "frist")
