"""A campaign repeated on other days: planned, opened on its day, by whom it may be judged, and what it says."""

from __future__ import annotations

import json
import random
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from campaign_sites import CampaignSite, campaign_site
from small_campaigns import Answering, Person, by_reference, distinct_board, people, small_campaign
from small_sites import Harbour, MakeHarbour

from billboards.cli.main import main
from billboards.errors import InvalidInput, Refused, UnknownName
from billboards.site.campaigns import campaign_records
from billboards.site.campaigns.annotator_work import enter
from billboards.site.campaigns.annotators import invite, shared_link
from billboards.site.campaigns.campaign import Campaign
from billboards.site.campaigns.lifecycle import close_campaign, create_campaign, open_campaign
from billboards.site.campaigns.repeating import campaign_days, plan_repetitions
from billboards.site.campaigns.shown_items import Shown

PLAIN: dict[str, Any] = {"positive": 0.0, "negative": 0.0}


@pytest.fixture
def port(make_harbour: MakeHarbour) -> Harbour:
    return make_harbour(distinct_board(8, 3))


def _day(port: Harbour, ahead: int = 0) -> date:
    return datetime.fromtimestamp(port.clock.now, UTC).date() + timedelta(days=ahead)


def _harsher(shown: Shown, chance: random.Random) -> int:
    return max(0, by_reference(shown, chance) - 1)


def _judge(port: Harbour, campaign: Campaign, name: str, how: Answering) -> Person:
    """One person who judges a whole campaign, on its day."""
    if campaign.plan.opens is not None:
        port.clock.now = campaign.plan.opens + 3600
    (link,) = invite(port.site, port.owner, campaign.id, [name])
    person = Person(port, enter(port.site, link.token), how, random.Random(1))
    assert person.answer_all().state == "done"
    return person


def test_repetitions_ask_for_the_same_outputs_on_other_days(port: Harbour) -> None:
    campaign = small_campaign(port, instances=5, pay=0.25, labels=2)
    planned = plan_repetitions(port.site, port.owner, campaign.id, 3)
    assert [each.name for each in planned] == [f"first-{_day(port, k).isoformat()}" for k in (1, 2, 3)]
    assert {each.state for each in planned} == {"draft"}
    for k, each in enumerate(planned, 1):
        assert each.instances == campaign.instances
        assert each.generators == campaign.generators
        assert not each.ranks
        assert each.plan.pay == 0.25
        assert each.plan.seed == campaign.plan.seed + k
        assert each.plan.opens is not None
        assert each.plan.closes == each.plan.opens + 86400
        assert datetime.fromtimestamp(each.plan.opens, UTC).date() == _day(port, k)
    with port.site.database.reading() as connection:
        both = [campaign_records.list_items(connection, each, "label") for each in (campaign.id, planned[2].id)]
    first, again = ([(item.instance, item.slots, item.wanted) for item in items] for items in both)
    assert first == again


def test_a_repetition_gives_items_out_on_its_day_only(port: Harbour) -> None:
    campaign = small_campaign(port, instances=5, **PLAIN)
    (tomorrow,) = plan_repetitions(port.site, port.owner, campaign.id, 1)
    open_campaign(port.site, port.owner, tomorrow.id)
    (ann,) = people(port, tomorrow, by_reference)
    assert ann.turn().state == "window"
    port.clock.now += 86400
    assert ann.turn().state == "item"
    port.clock.now += 2 * 86400
    assert ann.turn().item is not None, "what is in hands may be finished"
    assert ann.answer().item is not None
    assert ann.turn().state == "closed"


def test_anchors_weekdays_and_distances_are_kept_to(port: Harbour) -> None:
    campaign = small_campaign(port, instances=5, days=("mon",), **PLAIN)
    planned = plan_repetitions(
        port.site, port.owner, campaign.id, 2, every=10, anchors=["g1"], instances=3, annotators="fresh"
    )
    days = [datetime.fromtimestamp(each.plan.opens or 0.0, UTC).date() for each in planned]
    assert [day.weekday() for day in days] == [0, 0]
    assert (days[1] - days[0]).days == 14, "ten days on, moved to the next Monday"
    assert [each.generators for each in planned] == [("g1",), ("g1",)]
    assert planned[0].instances == campaign.instances[:3]
    with port.site.database.reading() as connection:
        items = campaign_records.list_items(connection, planned[0].id, "label")
    assert [item.row for item in items] == ["g1"] * 3


def test_who_has_judged_before_is_turned_away_from_fresh_repetitions_and_wanted_by_same_ones(port: Harbour) -> None:
    campaign = small_campaign(port, instances=4, **PLAIN)
    _judge(port, campaign, "ann", by_reference)
    (fresh,) = plan_repetitions(port.site, port.owner, campaign.id, 1, annotators="fresh")
    (same,) = plan_repetitions(port.site, port.owner, campaign.id, 1, annotators="same", first=_day(port, 2))
    for each in (fresh, same):
        open_campaign(port.site, port.owner, each.id)
    with pytest.raises(Refused, match="ann can't be invited: this campaign repeats another one and takes only people"):
        invite(port.site, port.owner, fresh.id, ["ann"])
    with pytest.raises(Refused, match="only people who have judged these outputs before"):
        invite(port.site, port.owner, same.id, ["ben"])
    _judge(port, fresh, "ben", by_reference)
    _judge(port, same, "ann", by_reference)
    (third,) = plan_repetitions(port.site, port.owner, campaign.id, 1, annotators="fresh", first=_day(port, 4))
    link = shared_link(port.site, port.owner, open_campaign(port.site, port.owner, third.id).id, "prolific")
    assert enter(port.site, link, external="cyd").state == "active"
    (fourth,) = plan_repetitions(port.site, port.owner, campaign.id, 1, annotators="fresh", first=_day(port, 5))
    (early,) = invite(port.site, port.owner, fourth.id, ["dan"])
    _judge(port, third, "dan", by_reference)
    with pytest.raises(Refused, match="not judged these outputs before"):
        enter(port.site, early.token)


def test_the_family_says_how_far_results_scatter_from_day_to_day(port: Harbour) -> None:
    campaign = small_campaign(port, instances=8, **PLAIN)
    assert campaign_days(port.site, port.owner, campaign.id) is None
    _judge(port, campaign, "ann", by_reference)
    planned = plan_repetitions(port.site, port.owner, campaign.id, 2)
    assert campaign_days(port.site, port.owner, campaign.id) is None, "no output is judged twice yet"
    for each, how in zip(planned, (_harsher, by_reference), strict=True):
        open_campaign(port.site, port.owner, each.id)
        _judge(port, each, "ben", how)
    study = campaign_days(port.site, port.owner, planned[1].id)
    assert study is not None
    assert [day.name for day in study.days] == [campaign.name, planned[0].name, planned[1].name]
    assert [day.again for day in study.days] == [0, 1, 1]
    assert study.outputs == 24
    assert study.days[0].mean == study.days[2].mean
    assert study.days[1].mean < study.days[0].mean - 15
    assert study.scatter[0].sd > 5
    assert study.generators[0].half_width_days > study.generators[0].half_width


def test_what_can_not_be_repeated_is_refused(port: Harbour) -> None:
    draft = create_campaign(port.site, port.owner, "ferry", "draft", "genie-translation")
    with pytest.raises(Refused, match="is a draft"):
        plan_repetitions(port.site, port.owner, draft.id, 1)
    campaign = small_campaign(port, instances=4, **PLAIN)
    with pytest.raises(UnknownName, match="g9"):
        plan_repetitions(port.site, port.owner, campaign.id, 1, anchors=["g9"])
    with pytest.raises(InvalidInput, match="1 to 60 repetitions"):
        plan_repetitions(port.site, port.owner, campaign.id, 61)
    with pytest.raises(InvalidInput, match="which has passed"):
        plan_repetitions(port.site, port.owner, campaign.id, 1, first=date(2020, 1, 1))
    plan_repetitions(port.site, port.owner, campaign.id, 1, first=_day(port, 2))
    with pytest.raises(Refused, match="already; choose other days"):
        plan_repetitions(port.site, port.owner, campaign.id, 3)
    with port.site.database.reading() as connection:
        names = [row.name for row in campaign_records.find(connection, board="ferry")]
    assert len(names) == 3, "nothing was planned by halves"
    pairs = small_campaign(port, "pairs", template="pairwise", instances=4, **PLAIN)
    with pytest.raises(Refused, match="repeat it with all of them"):
        plan_repetitions(port.site, port.owner, pairs.id, 1, anchors=["g1"])


def test_a_closed_campaign_and_a_repetition_can_be_repeated(port: Harbour) -> None:
    campaign = small_campaign(port, instances=4, **PLAIN)
    close_campaign(port.site, port.owner, campaign.id)
    (again,) = plan_repetitions(port.site, port.owner, campaign.id, 1)
    (third,) = plan_repetitions(port.site, port.owner, again.id, 1, first=_day(port, 5))
    assert third.details["repeats"]["of"] == campaign.id
    assert third.plan.seed == campaign.plan.seed + 2


@pytest.fixture
def ferry(tmp_path: Path) -> CampaignSite:
    return campaign_site(tmp_path)


def test_the_page_plans_repetitions_and_lists_them(ferry: CampaignSite) -> None:
    campaign, _ = ferry.start("first")
    sent = {"days": "2", "every": "7", "annotators": "fresh", "anchors": "g0"}
    assert ferry.pages.post(f"{ferry.home(campaign)}/repeat", "owner", data=sent).status_code == 303
    page = ferry.read(ferry.home(campaign))
    assert page.count(">first-20") == 2
    refused = ferry.pages.post(f"{ferry.home(campaign)}/repeat", "owner", data={**sent, "first": "soon"})
    assert refused.status_code == 422
    assert "is no day" in refused.text
    assert (
        ferry.pages.post(f"{ferry.home(campaign)}/repeat", "owner", data={**sent, "annotators": ""}).status_code == 422
    )


def test_programs_plan_repetitions(ferry: CampaignSite) -> None:
    campaign, _ = ferry.start("first")
    path = f"/api/v1/campaigns/{campaign.id}"
    planned = ferry.pages.post(f"{path}/repeat", "owner", json={"days": 2, "annotators": "same"})
    assert planned.status_code == 201
    assert [each["state"] for each in planned.json()] == ["draft", "draft"]
    assert ferry.pages.post(f"{path}/repeat", "annotator", json={"days": 2}).status_code == 403
    assert ferry.pages.get(f"{path}/results", "owner").json()["days"] is None


def test_the_command_plans_repetitions_and_opens_paid_ones_only_with_confirm(
    ferry: CampaignSite, capsys: pytest.CaptureFixture[str]
) -> None:
    ferry.start("first", pay=0.5)
    data = ("--data", str(ferry.pages.site.data))
    assert main(["campaign", "repeat", "first", "--days", "2", "--open", "--json", *data]) == 0
    told = capsys.readouterr()
    assert "they take whoever comes" in told.err
    assert "opening them may cost 4.00 USD; they stay drafts" in told.err
    assert [each["state"] for each in json.loads(told.out)["repetitions"]] == ["draft", "draft"]
    words = ["campaign", "repeat", "first", "--days", "1", "--first", "2099-05-01", "--open", "--confirm", "--json"]
    assert main([*words, *data]) == 0
    assert [each["state"] for each in json.loads(capsys.readouterr().out)["repetitions"]] == ["open"]
