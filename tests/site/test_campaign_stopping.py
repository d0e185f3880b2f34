"""Campaigns that stop when decided: what is asked no more, what that saves, and what stays valid while one watches."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from campaign_sites import campaign_site
from small_campaigns import Person, by_reference, distinct_board, people, small_campaign, the_contrary
from small_sites import Harbour, MakeHarbour

from billboards.campaigns.items import plan_items
from billboards.campaigns.plan import CampaignPlan, read_plan
from billboards.campaigns.template_files import open_template
from billboards.cli.campaign_tables import status_tables, watch_tables
from billboards.errors import InvalidInput, Refused
from billboards.site.campaigns.annotators import annotator_lines, exclude, readmit, rulings
from billboards.site.campaigns.campaign import get_campaign
from billboards.site.campaigns.decisions import CampaignWatch, watch_campaign, watch_words
from billboards.site.campaigns.lifecycle import close_campaign, create_campaign, top_up
from billboards.site.campaigns.results import campaign_answers, campaign_results
from billboards.site.campaigns.shown_items import Shown
from billboards.site.campaigns.status import campaign_status
from billboards.site.campaigns.views import status_facts
from billboards.site.database import trail

#: No test questions, so that every answer is a label, and a level at which little is needed.
PLAN: dict[str, Any] = {"instances": 16, "positive": 0.0, "negative": 0.0, "stop_level": 0.5, "pay": 0.5}


@pytest.fixture
def port(make_harbour: MakeHarbour) -> Harbour:
    return make_harbour(distinct_board(16, 3))


def strictly(shown: Shown, chance: random.Random) -> int:
    """100, 50 and 0 for the three generators."""
    return 2 * by_reference(shown, chance) - 4


def all_answer(persons: list[Person], most: int = 300) -> None:
    """Everybody answers in turn until nobody gets anything."""
    for _ in range(most):
        turns = [person.answer() for person in persons]
        if all(turn.item is None for turn in turns):
            return


def watched(harbour: Harbour, name: str) -> CampaignWatch:
    return watch_campaign(harbour.site, harbour.owner, get_campaign(harbour.site, name).id, draws=50)


def test_items_go_through_blocks_of_as_many_instances_as_there_are_generators() -> None:
    board = distinct_board(8, 3)
    template, rows = open_template("genie-translation"), board.rows[:3]
    instances = [instance.id for instance in board.instances]
    plan = CampaignPlan(instances=8, stop="decided")
    items = plan_items(board, template, plan, rows, instances)
    assert len({(item.row, item.instance) for item in items}) == len(items) == 24
    for start, block in ((0, {"i0", "i1", "i2"}), (9, {"i3", "i4", "i5"}), (18, {"i6", "i7"})):
        part = items[start : start + 9]
        assert {item.instance for item in part} == block
        assert {item.row for item in part[:3]} == {"g0", "g1", "g2"}
    assert {item.instance for item in items[:3]} == {"i0", "i1", "i2"}, "each on another instance"
    ordinary = plan_items(board, template, CampaignPlan(instances=8), rows, instances)
    assert {item.instance for item in ordinary[:9]} > {"i0", "i1", "i2"}


def test_a_campaign_stops_when_decided_and_says_what_that_saved(port: Harbour) -> None:
    campaign = small_campaign(port, **PLAN, stop="decided")
    persons = people(port, campaign, strictly, strictly, strictly)
    all_answer(persons)
    assert persons[0].turn().state == "done"
    watch = watched(port, "first")
    assert watch.stops
    assert watch.decided == len(watch.pairs) == 3
    assert (watch.pairs[0].better, watch.pairs[0].other) == ("g0", "g2")
    assert set(watch.dropped) == {"g0", "g1", "g2"}
    status = campaign_status(port.site, port.owner, campaign.id)
    assert status.saved == watch.saved == 48 - status.done > 10
    assert status.wanted == status.done == sum(len(person.sent) for person in persons)
    assert status.saved_money == pytest.approx(status.saved * 0.5)
    assert watch.instances * 3 <= status.done < watch.instances * 3 + 9, "hardly anything was begun in vain"
    words = " ".join(watch_words(watch))
    assert f"Stopping early saved {status.saved} labels ({status.saved_money:.2f} USD)." in words
    assert "Everything is decided" in words
    assert any(fact.name == "saved by stopping" for fact in status_facts(status))
    (entry,) = [
        entry for entry in _trail(port, campaign.id) if set(entry.detail.get("dropped", {})) == {"g0", "g1", "g2"}
    ]
    assert entry.actor == "stopping rule"
    text = " ".join(str(row) for table in status_tables(status) for row in table.rows)
    assert f"{status.saved} labels" in text
    closed = close_campaign(port.site, port.owner, campaign.id)
    assert closed.state == "closed"
    assert watched(port, "first").decided == 3


def _trail(harbour: Harbour, campaign_id: str) -> list[trail.Entry]:
    with harbour.site.database.reading() as connection:
        entries = trail.entries(connection, subject=campaign_id, limit=1000)
        return [entry for entry in entries if entry.action == "campaign.decided"]


def test_without_the_option_everything_is_asked_and_pairs_are_watched_all_the_same(port: Harbour) -> None:
    campaign = small_campaign(port, **PLAN)
    persons = people(port, campaign, strictly, strictly)
    all_answer(persons)
    status = campaign_status(port.site, port.owner, campaign.id)
    assert (status.done, status.wanted, status.saved) == (48, 48, 0)
    assert get_campaign(port.site, "first").details == {"ranking": "rule"}
    watch = watched(port, "first")
    assert (watch.stops, watch.saved, watch.dropped) == (False, 0, {})
    assert (watch.instances, watch.planned, watch.decided) == (16, 16, 3)
    means = {mean.generator: mean for mean in watch.means}
    results = campaign_results(port.site, port.owner, campaign.id, draws=50)
    assert {estimate.generator: estimate.mean for estimate in results.estimates} == {
        name: pytest.approx(mean.mean) for name, mean in means.items()
    }
    low, high = means["g1"].interval or (0.0, 0.0)
    assert low < means["g1"].once[0] <= means["g1"].mean <= means["g1"].once[1] < high


def test_one_annotator_alone_finishes_instances_one_block_after_the_other(port: Harbour) -> None:
    campaign = small_campaign(port, **PLAN, stop="decided")
    (ann,) = people(port, campaign, strictly)
    ann.answer_all(18)
    assert watched(port, "first").instances >= 3
    seen = [answer.instance for answer in campaign_answers(port.site, port.owner, campaign.id)]
    assert len(set(seen[:3])) == 3, "a new instance first, as long as the block has one"


def test_what_rests_on_an_excluded_annotator_is_decided_anew(port: Harbour) -> None:
    campaign = small_campaign(port, **PLAN, stop="decided")
    ann, ben = people(port, campaign, strictly, strictly)
    all_answer([ann, ben])
    assert set(get_campaign(port.site, "first").details["dropped"]) == {"g0", "g1", "g2"}
    who = ben.participant.annotator.pseudonym
    exclude(port.site, port.owner, campaign.id, who, "a test")
    assert get_campaign(port.site, "first").details["dropped"] == {}
    assert campaign_status(port.site, port.owner, campaign.id).saved == 0
    before = len(ann.sent)
    assert ann.turn().item is not None, "more is asked again"
    readmit(port.site, port.owner, campaign.id, who, "a mistake")
    assert set(get_campaign(port.site, "first").details["dropped"]) == {"g0", "g1", "g2"}
    assert len(ann.sent) == before


def test_several_labels_count_once_all_are_there(port: Harbour) -> None:
    campaign = small_campaign(port, **{**PLAN, "instances": 6, "labels": 2}, stop="decided")
    ann, ben = people(port, campaign, strictly, strictly)
    ann.answer_all()
    assert watched(port, "first").instances == 0
    ben.answer_all()
    watch = watched(port, "first")
    assert (watch.instances, watch.labels) == (6, 36)
    assert "0 of 3 pairs are decided after 36 labels; 6 of 6 instances are complete." in watch_words(watch)


def test_what_cannot_stop_early_is_refused(port: Harbour) -> None:
    plan = CampaignPlan(instances=4, stop="decided")
    with pytest.raises(InvalidInput, match="rolling campaign can't stop"):
        create_campaign(port.site, port.owner, "ferry", "roll", "genie-translation", plan=plan, rolling=True)
    with pytest.raises(InvalidInput, match="pairwise, which compares generators with one another, can't stop"):
        create_campaign(port.site, port.owner, "ferry", "pairs", "pairwise", plan=plan)
    made = create_campaign(
        port.site, port.owner, "ferry", "two", "direct-assessment", plan=plan, generators=["g0", "g1"]
    )
    with pytest.raises(Refused, match="stops when decided"):
        top_up(port.site, port.owner, made.id, generators=["g2"])


def test_plans_say_what_stop_and_exclusion_may_be() -> None:
    assert read_plan({}).stop == "never"
    assert read_plan({"stop": "decided", "stop_level": 0.1, "exclusion": "e-value"}).stop_level == 0.1
    with pytest.raises(InvalidInput, match="stop must be never or decided; found 'soon'"):
        read_plan({"stop": "soon"})
    with pytest.raises(InvalidInput, match="exclusion must be signs or model or e-value"):
        read_plan({"exclusion": "none"})
    with pytest.raises(InvalidInput, match="needs instances in random order"):
        read_plan({"stop": "decided", "selector": "consistency"})
    with pytest.raises(InvalidInput, match="pass mark between 0 and 1"):
        read_plan({"exclusion": "e-value", "pass_mark": 1.0})
    with pytest.raises(InvalidInput, match=r"stop_level must be a number from 0\.0001 to 0\.5"):
        read_plan({"stop_level": 0.9})


@pytest.mark.long
def test_evidence_excludes_who_falls_short_of_the_pass_mark(port: Harbour) -> None:
    campaign = small_campaign(port, instances=12, positive=0.2, negative=0.2, exclusion="e-value")
    ann, con = people(port, campaign, by_reference, the_contrary)
    assert con.answer_all().state == "excluded"
    (ruling,) = rulings(port.site, port.owner, campaign.id)
    assert (ruling.actor, ruling.verdict) == ("annotator e-value", "excluded")
    assert ruling.reason.startswith("e-value ")
    assert "against an accuracy of 0.8 or more: 0 of" in ruling.reason
    assert ruling.detail["e"] >= 100
    assert ann.answer_all().state == "done"
    lines = {line.pseudonym: line for line in annotator_lines(port.site, port.owner, campaign.id)}
    honest = lines[ann.participant.annotator.pseudonym]
    assert honest.state == "active"
    assert honest.reason.startswith("e-value 0.")


def test_pages_say_decided_and_looked_at_once(tmp_path: Path) -> None:
    site = campaign_site(tmp_path)
    campaign, links = site.start("first", people=("ann",), stop="decided", stop_level=0.1, exclusion="e-value")
    page = site.read(site.home(campaign))
    assert "at most 10% of decisions false" in page
    assert "saved by stopping" in page
    assert "by an e-value of 100" in page
    site.answer(links[0])
    page = site.read(f"{site.home(campaign)}/results")
    assert "95% interval, looked at once" in page
    assert "95%, valid while you watch" in page
    assert "0 of 0 pairs are decided after 1 labels; 1 of 4 instances are complete." in page
    form = site.read("/boards/ferry/campaigns/new")
    assert 'name="stop"' in form
    assert 'name="exclusion"' in form
    facts = json.loads(site.read(f"/api/v1/campaigns/{campaign.id}/results"))
    assert facts["watch"]["instances"] == 1
    assert facts["watch"]["means"][0]["generator"] == "g0"


def test_pairs_stand_on_the_page_and_in_tables(port: Harbour) -> None:
    campaign = small_campaign(port, **PLAN, stop="decided")
    all_answer(people(port, campaign, strictly, strictly))
    watch = watched(port, "first")
    tables = watch_tables("first", watch)
    assert [row["verdict"] for row in tables[1].rows] == [f"decided after {pair.labels} labels" for pair in watch.pairs]
    assert tables[0].columns[3].header == "95%, looked at once"
