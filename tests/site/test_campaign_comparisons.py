"""Campaigns of comparisons: strengths beside shares, balanced and adaptive schedules, newcomers in pairs."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from small_campaigns import distinct_board, people, small_campaign
from small_sites import Harbour, MakeHarbour
from sqlalchemy import select
from starlette.testclient import TestClient

from billboards.analyses._view import look_at
from billboards.analyses.arena import arena
from billboards.campaigns.plan import CampaignPlan, read_plan
from billboards.errors import InvalidInput
from billboards.site.accounts.access import new_owner_token
from billboards.site.boards.live import live_board
from billboards.site.campaigns import campaign_records
from billboards.site.campaigns.adapting import adapt_schedule, adapted
from billboards.site.campaigns.campaign import Campaign, get_campaign
from billboards.site.campaigns.comparisons import campaign_arena
from billboards.site.campaigns.lifecycle import close_campaign, create_campaign, quote_campaign
from billboards.site.campaigns.shown_items import Shown
from billboards.site.campaigns.status import campaign_status
from billboards.site.database import trail
from billboards.site.database.schema import assignments
from billboards.site.submissions.sending import change_settings, submit_generator
from billboards.site.web.app import create_app
from billboards.site.work.worker import work_until_done

PLAIN: dict[str, Any] = {"positive": 0.0, "negative": 0.0}


def wrong_words(text: str) -> int:
    return text.split().count("wrong")


def by_words(shown: Shown, chance: random.Random) -> int:
    """The output with fewer wrong words is better: clearly, slightly, or they are about the same."""
    difference = wrong_words(shown.outputs[0]) - wrong_words(shown.outputs[1])
    return 2 + max(-2, min(2, difference))


def often_by_words(shown: Shown, chance: random.Random) -> int:
    """As `by_words`, but of every four pairs of texts one is answered anyhow, always alike."""
    own = random.Random(repr(shown.outputs))
    return own.randrange(5) if own.random() < 0.25 else by_words(shown, chance)


def ends_by_words(shown: Shown, chance: random.Random) -> Any:
    wrong = [wrong_words(text) + chance.random() / 2 for text in shown.outputs]
    return {"best": wrong.index(min(wrong)), "worst": wrong.index(max(wrong))}


@pytest.fixture
def port(make_harbour: MakeHarbour) -> Harbour:
    harbour = make_harbour(distinct_board(30, 4))
    change_settings(harbour.site, harbour.owner, "ferry", {"draws": 10})
    return harbour


def label_items(port: Harbour, campaign: Campaign) -> tuple[campaign_records.ItemRow, ...]:
    with port.site.database.reading() as connection:
        return campaign_records.list_items(connection, campaign.id, "label")


def pair_of(item: campaign_records.ItemRow) -> tuple[str, str]:
    """The two generators as they are shown."""
    first, second = (str(item.slots[k]["name"]) for k in item.shown_order)
    return first, second


def test_results_show_strengths_beside_shares_and_the_closed_board_has_the_same(port: Harbour) -> None:
    campaign = small_campaign(port, template="pairwise", schedule="balanced", instances=30, **PLAIN)
    assert campaign_arena(port.site, port.owner, campaign.id) is None, "nobody has compared anything yet"
    for person in people(port, campaign, often_by_words, often_by_words, often_by_words):
        person.answer_all(most=20)
    result = campaign_arena(port.site, port.owner, campaign.id)
    assert result is not None
    assert [entrant.name for entrant in result.value.generators] == ["g0", "g1", "g2", "g3"]
    assert (result.value.comparisons, result.value.annotators) == (60, 3)
    sent = {"authorization": f"Bearer {new_owner_token(port.site, 'second owner')}"}
    with TestClient(create_app(port.site), "http://localhost") as client:
        told = client.get(f"/api/v1/campaigns/{campaign.id}/results", headers=sent).json()["arena"]
    assert [(e["name"], e["rating"]) for e in told["generators"]] == [
        (entrant.name, pytest.approx(entrant.rating)) for entrant in result.value.generators
    ]
    close_campaign(port.site, port.owner, campaign.id)
    board = live_board(port.site, "ferry", audience="owners").board
    on_board = arena(look_at(board)).value
    assert {e.name: round(e.rating, 6) for e in on_board.generators} == {
        e.name: round(e.rating, 6) for e in result.value.generators
    }
    assert on_board.tie_share == result.value.tie_share > 0


def test_best_and_worst_have_strengths_by_maximum_difference(port: Harbour) -> None:
    campaign = small_campaign(port, template="best-worst", schedule="balanced", instances=30, **PLAIN)
    for person in people(port, campaign, ends_by_words, ends_by_words):
        person.answer_all()
    result = campaign_arena(port.site, port.owner, campaign.id)
    assert result is not None
    assert result.value.choices == 30
    ranks = {entrant.name: entrant.rank for entrant in result.value.generators}
    assert ranks == {"g0": 1, "g1": 2, "g2": 2, "g3": 4}, "nobody said anything about the two in the middle"


def test_ratings_of_single_outputs_have_no_strengths(port: Harbour) -> None:
    campaign = small_campaign(port, **PLAIN)
    assert campaign_arena(port.site, port.owner, campaign.id) is None


def test_a_balanced_campaign_has_every_pair_and_order_equally_often(port: Harbour) -> None:
    campaign = small_campaign(port, template="pairwise", schedule="balanced", instances=24, **PLAIN)
    shown = Counter(pair_of(item) for item in label_items(port, campaign))
    # 24 instances are 8 cycles of 3 rounds: each of 6 pairs 8 times, 4 times in each order.
    assert set(shown.values()) == {4}
    assert len(shown) == 12


@pytest.mark.long
def test_an_adaptive_campaign_asks_as_much_and_more_about_neighbours(make_harbour: MakeHarbour) -> None:
    port = make_harbour(distinct_board(60, 4))
    change_settings(port.site, port.owner, "ferry", {"draws": 10})
    planned = []
    for name in ("first", "second"):
        campaign = small_campaign(port, name, template="pairwise", schedule="adaptive", instances=60, **PLAIN)
        before = quote_campaign(port.site, port.owner, campaign.id).labels
        (ann,) = people(port, campaign, often_by_words)
        ann.chance = random.Random(name)  # an id that was sent before would be a request that is sent again
        assert ann.answer_all().state == "done"
        assert quote_campaign(port.site, port.owner, campaign.id).labels == before == 120
        rounds = adapted(get_campaign(port.site, name)).round
        assert rounds >= 4
        planned.append([(item.instance, pair_of(item)) for item in label_items(port, campaign)])
        with port.site.database.reading() as connection:
            told = [entry.action for entry in trail.entries(connection, subject=campaign.id)]
        assert told.count("campaign.adapted") == rounds
    assert planned[0] == planned[1], "the same seed and the same answers give the same plan"
    met = Counter(frozenset(pair) for _, pair in planned[0])
    neighbours = sum(met[frozenset(pair)] for pair in (("g0", "g1"), ("g1", "g2"), ("g2", "g3")))
    assert neighbours > 60, "a balanced schedule has 60 of 120"
    assert min(met[frozenset(pair)] for pair in (("g0", "g2"), ("g1", "g3"), ("g0", "g3"))) > 0
    assert len({(instance, frozenset(pair)) for instance, pair in planned[0]}) == 120, "once on an instance"


def test_a_plan_is_made_anew_once_however_many_ask(port: Harbour) -> None:
    campaign = small_campaign(port, template="pairwise", schedule="adaptive", instances=30, **PLAIN)
    (ann,) = people(port, campaign, often_by_words)
    for _ in range(20):
        ann.answer()
    given = {item.id: item for item in label_items(port, campaign)}
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: adapt_schedule(port.site, campaign.id), range(8)))
    assert sorted(done) == [False] * 7 + [True]
    assert adapted(get_campaign(port.site, "first")).answers == 20
    after = {item.id: item for item in label_items(port, campaign)}
    assert {k: item.instance for k, item in after.items()} == {k: item.instance for k, item in given.items()}
    changed = [k for k in after if after[k] != given[k]]
    with port.site.database.reading() as connection:
        given_out = set(connection.execute(select(assignments.c.item_id)).scalars())
    assert len(given_out) == 20
    assert changed
    assert given_out.isdisjoint(changed), "what was given out stays"


@pytest.mark.long
def test_a_newcomer_meets_everybody_and_its_items_stay_its_own(make_harbour: MakeHarbour) -> None:
    port = make_harbour(distinct_board(40, 2))
    change_settings(port.site, port.owner, "ferry", {"draws": 10})
    campaign = small_campaign(port, template="pairwise", schedule="adaptive", rolling=True, instances=40, **PLAIN)
    submit_generator(port.site, port.person("sam"), "ferry", "boat", port.outputs())
    work_until_done(port.site)
    assert get_campaign(port.site, "first").generators == ("g0", "g1", "boat")
    mine = [item for item in label_items(port, campaign) if item.row == "boat"]
    assert len(mine) == 40
    assert {item.slots[0]["name"] for item in mine} == {"boat"}
    assert Counter(item.slots[1]["name"] for item in mine) == {"g0": 20, "g1": 20}
    assert 15 <= sum(item.shown_order[0] == 0 for item in mine) <= 25
    (ann,) = people(port, campaign, often_by_words)
    assert ann.answer_all().state == "done"
    assert adapted(get_campaign(port.site, "first")).round >= 2
    status = campaign_status(port.site, port.owner, campaign.id)
    assert {name: wanted for name, _, wanted in status.by_generator}["boat"] == 40
    assert all(done == wanted for _, done, wanted in status.by_generator)
    result = campaign_arena(port.site, port.owner, campaign.id)
    assert result is not None
    assert {entrant.name for entrant in result.value.generators} == {"g0", "g1", "boat"}


def test_schedules_that_make_no_sense_are_refused(port: Harbour) -> None:
    def plan(template: str, schedule: str, *, rolling: bool = False) -> None:
        settings = CampaignPlan(schedule=schedule)  # type: ignore[arg-type]
        create_campaign(port.site, port.owner, "ferry", "odd", template, plan=settings, rolling=rolling)

    with pytest.raises(InvalidInput, match="asks about one generator at a time, so there is no balanced schedule"):
        plan("genie-translation", "balanced")
    with pytest.raises(InvalidInput, match="adaptive schedule is for pairs"):
        plan("best-worst", "adaptive")
    with pytest.raises(InvalidInput, match="template mqm-contrastive asks about whole documents, whose generators are"):
        plan("mqm-contrastive", "balanced")
    with pytest.raises(InvalidInput, match="so it can't be rolling, but for pairs"):
        plan("best-worst", "balanced", rolling=True)
    with pytest.raises(InvalidInput, match="schedule must be random or balanced or adaptive"):
        read_plan({"schedule": "even"})
    assert read_plan({}).schedule == "random", "as older campaigns were planned"
