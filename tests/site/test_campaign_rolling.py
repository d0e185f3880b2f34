"""A rolling board: whoever is accepted gets its annotation by itself, within the budget."""

from __future__ import annotations

from typing import Any

import pytest
from small_campaigns import by_reference, distinct_board, people, small_campaign
from small_sites import Harbour, MakeHarbour

from billboards.site.boards.live import live_board
from billboards.site.campaigns.campaign import get_campaign
from billboards.site.campaigns.lifecycle import top_up
from billboards.site.campaigns.status import campaign_status
from billboards.site.database import trail
from billboards.site.submissions.sending import change_settings, submit_generator
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


def test_a_generator_waits_where_the_budget_ends_and_joins_after_a_top_up(port: Harbour) -> None:
    campaign = small_campaign(port, rolling=True, instances=5, pay=1.0, budget=9.0, **PLAIN)
    submit_generator(port.site, port.person("sam"), "ferry", "boat", port.outputs())
    work_until_done(port.site)
    assert get_campaign(port.site, "first").generators == ("g0",)
    with port.site.database.reading() as connection:
        said = [one for one in trail.entries(connection, subject=campaign.id) if one.action == "campaign.waits"]
    assert [one.detail["generator"] for one in said] == ["boat"], "said once"
    top_up(port.site, port.owner, campaign.id, 1.0)
    work_until_done(port.site)
    assert get_campaign(port.site, "first").generators == ("g0", "boat")
