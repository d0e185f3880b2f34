"""Sources of judgments stand side by side: a campaign adds one, and what ranks stays until the owner says otherwise."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_campaigns import by_reference, distinct_board, people, small_campaign
from small_sites import Clock, Harbour, MakeHarbour

from billboards.board import Aggregate, Board, Dimension
from billboards.board.coverage import Coverage, coverage
from billboards.board.folder import open_board
from billboards.board.judgment_sources import MQM
from billboards.board.judgments import JudgmentColumns, human_scores
from billboards.board.writing import write_board
from billboards.campaigns.plan import CampaignPlan
from billboards.errors import Refused
from billboards.site.accounts.access import local_viewer
from billboards.site.boards import snapshots
from billboards.site.boards.live import live_board
from billboards.site.campaigns.annotator_work import enter, next_item, submit_answer
from billboards.site.campaigns.annotators import exclude, invite
from billboards.site.campaigns.campaign import Campaign
from billboards.site.campaigns.lifecycle import (
    close_campaign,
    closing_effect,
    create_campaign,
    list_campaigns,
    open_campaign,
    pause_campaign,
    withdraw_campaign,
    withdrawing_effect,
)
from billboards.site.pages.board import cause_words
from billboards.site.site import open_site
from billboards.site.submissions.sending import change_settings
from billboards.site.work.worker import work_until_done

PLAIN: dict[str, Any] = {"positive": 0.0, "negative": 0.0}


def expert_board(instances: int = 12, generators: int = 4) -> Board:
    """Every output judged once by one of five experts, on a dimension and an aggregate that are both called mqm."""
    board = distinct_board(instances, generators)
    rng = np.random.default_rng(1)
    judged = JudgmentColumns(("mqm",))
    for row in range(generators):
        for instance in range(instances):
            value = -float(rng.integers(0, 20)) - row % 5
            judged.add(instance, row, {"mqm": value}, annotator=f"expert{(row + instance) % 5}", campaign="experts")
    summed = {"mqm": Aggregate("mqm", ("mqm",), ("experts",))}
    return replace(board, judgments=judged.build(), dimensions={"mqm": MQM}, aggregates=summed, ranks="mqm")


@pytest.fixture
def port(make_harbour: MakeHarbour) -> Harbour:
    harbour = make_harbour(expert_board())
    change_settings(harbour.site, harbour.owner, "ferry", {"draws": 10})
    return harbour


def board_of(port: Harbour) -> Board:
    return live_board(port.site, "ferry").board


def small(port: Harbour, name: str, generators: list[str] | None = None, **options: Any) -> Campaign:
    """An open campaign about some generators, on three instances."""
    plan = CampaignPlan(instances=3, **PLAIN)
    template = options.pop("template", "direct-assessment")
    made = create_campaign(port.site, port.owner, "ferry", name, template, generators=generators, plan=plan, **options)
    return open_campaign(port.site, port.owner, made.id)


def answered(port: Harbour, campaign: Campaign, *, most: int = 100) -> Campaign:
    """Somebody answers what is asked: no error, or always the same number."""
    (link,) = invite(port.site, port.owner, campaign.id, [f"{campaign.name} annotator"])
    who = enter(port.site, link.token)
    for k in range(most):
        item = next_item(port.site, who).item
        if item is None:
            break
        answers: dict[str, Any] = {q.name: [] if q.kind == "spans" else 1 for q in campaign.template.dimensions}
        submit_answer(port.site, who, item.assignment, f"{campaign.id}-{k}", answers, seconds=2.0)
    return campaign


def test_closing_tells_what_ranks_before_and_after_and_a_small_campaign_stands_beside(port: Harbour) -> None:
    campaign = answered(port, small(port, "few", ["g0", "g1"]))
    effect = closing_effect(port.site, port.owner, campaign.id)
    experts = Coverage(source="mqm", generators=4, outputs=48, judgments=48)
    assert (effect.before, effect.after) == (experts, experts)
    assert effect.own == Coverage(source="direct-assessment/few", generators=2, outputs=6, judgments=6)
    assert effect.why == "what ranks stays: it covers 2 of 4 generators that mqm covers"
    assert (effect.ranks, effect.is_other) == (False, False)
    close_campaign(port.site, port.owner, campaign.id)
    board = board_of(port)
    assert (board.ranks, coverage(board)) == ("mqm", experts)
    assert coverage(board, "direct-assessment/few") == effect.own, "its own judgments can be looked at and chosen"


def test_the_owner_may_say_that_a_campaign_ranks_and_the_board_goes_back_when_it_is_withdrawn(port: Harbour) -> None:
    before = board_of(port)
    campaign = answered(port, small(port, "few", ["g0", "g1"]))
    effect = closing_effect(port.site, port.owner, campaign.id, ranks=True)
    assert (effect.ranks, effect.after.source, effect.after.generators) == (True, "direct-assessment", 2)
    close_campaign(port.site, port.owner, campaign.id, ranks=True)
    assert board_of(port).ranks == "direct-assessment"
    back = withdrawing_effect(port.site, port.owner, campaign.id)
    assert (back.before.source, back.after.source, back.after.judgments) == ("direct-assessment", "mqm", 48)
    withdrawn = withdraw_campaign(port.site, port.owner, campaign.id, reason="the instructions were wrong")
    assert (withdrawn.state, withdrawn.withdrawn, withdrawn.reason) == (
        "closed",
        port.clock(),
        "the instructions were wrong",
    )
    assert board_of(port).version == before.version
    assert closing_effect(port.site, port.owner, campaign.id).own.judgments == 6, "its answers are kept"
    with pytest.raises(Refused, match="is withdrawn already"):
        withdraw_campaign(port.site, port.owner, campaign.id)


def test_only_a_closed_campaign_can_be_withdrawn(port: Harbour) -> None:
    with pytest.raises(Refused, match="is open; only a closed one"):
        withdraw_campaign(port.site, port.owner, small(port, "few").id)


def test_without_an_answer_that_counts_nothing_changes(port: Harbour) -> None:
    before = board_of(port).version
    empty = small(port, "empty")
    effect = closing_effect(port.site, port.owner, empty.id, ranks=True)
    assert (effect.ranks, effect.why) == (False, "no answer of it counts, so nothing changes")
    close_campaign(port.site, port.owner, empty.id, ranks=True)
    struck = answered(port, small(port, "struck", ranks=True))
    (line,) = [who.pseudonym for who in _people(port, struck)]
    exclude(port.site, port.owner, struck.id, line, "answered at random")
    close_campaign(port.site, port.owner, struck.id)
    assert board_of(port).version == before
    assert board_of(port).ranks == "mqm"


def _people(port: Harbour, campaign: Campaign) -> list[Any]:
    from billboards.site.campaigns.annotators import annotator_lines

    return list(annotator_lines(port.site, port.owner, campaign.id))


def test_a_template_called_as_the_experts_dimension_leaves_them_in_reach(port: Harbour) -> None:
    experts = human_scores(board_of(port).judgments, board_of(port).aggregate(), board_of(port).dimensions, (5, 12))
    campaign = answered(port, small(port, "second", template="mqm"))
    close_campaign(port.site, port.owner, campaign.id, ranks=True)
    board = board_of(port)
    assert board.ranks == "mqm (campaigns)"
    assert board.aggregate("mqm").campaigns == ("experts",)
    again = human_scores(board.judgments, board.aggregate("mqm"), board.dimensions, (5, 12))
    assert np.array_equal(again, experts, equal_nan=True)
    change_settings(port.site, port.owner, "ferry", {"ranks": "mqm"})
    assert coverage(board_of(port)) == Coverage(source="mqm", generators=4, outputs=48, judgments=48)


def test_a_dimension_that_the_folder_has_already_stays_apart(make_harbour: MakeHarbour) -> None:
    board = expert_board()
    named = replace(
        board,
        judgments=replace(board.judgments, dimensions=("direct-assessment.quality",)),
        dimensions={"direct-assessment.quality": Dimension("direct-assessment.quality", range=(-40, 0))},
        aggregates={"direct-assessment": Aggregate("direct-assessment", ("direct-assessment.quality",))},
        ranks="direct-assessment",
    )
    port = make_harbour(named)
    campaign = answered(port, small(port, "second"))
    question = campaign.template.overall
    close_campaign(port.site, port.owner, campaign.id)
    shown = board_of(port)
    assert (shown.ranks, coverage(shown).judgments) == ("direct-assessment", 48)
    other = shown.aggregate("direct-assessment/second").dimensions
    assert other != ("direct-assessment.quality",)
    assert question in other[0]


def test_a_campaign_can_not_have_the_name_of_one_in_the_folder(port: Harbour) -> None:
    with pytest.raises(Refused, match="has judgments of a campaign experts in its folder"):
        small(port, "experts")


def test_where_nothing_ranks_a_campaign_does_and_a_later_one_stands_beside(make_harbour: MakeHarbour) -> None:
    port = make_harbour(distinct_board(6, 2))
    first = answered(port, small(port, "first"))
    effect = closing_effect(port.site, port.owner, first.id)
    assert (effect.before.source, effect.after.source, effect.why) == (
        None,
        "direct-assessment",
        "nothing else ranks the board",
    )
    close_campaign(port.site, port.owner, first.id)
    port.clock.now += 10
    close_campaign(port.site, port.owner, answered(port, small(port, "second", template="binary")).id)
    assert board_of(port).ranks == "direct-assessment"
    port.clock.now += 10
    third = answered(port, small(port, "third"))
    assert "counted together with the campaigns of template direct-assessment" in (
        closing_effect(port.site, port.owner, third.id).why
    )
    close_campaign(port.site, port.owner, third.id)
    assert board_of(port).aggregate().campaigns == ("first", "third")
    assert coverage(board_of(port), "direct-assessment/first").judgments == 6
    withdraw_campaign(port.site, port.owner, first.id)
    withdraw_campaign(port.site, port.owner, third.id)
    assert board_of(port).ranks == "binary", "where nothing else ranks, what stood beside does"


@pytest.mark.long
def test_the_history_names_campaigns_closed_and_withdrawn_and_the_owners_choice(port: Harbour) -> None:
    work_until_done(port.site)
    campaign = answered(port, small(port, "few", ["g0", "g1"]))
    causes = []
    for act in (
        lambda: close_campaign(port.site, port.owner, campaign.id),
        lambda: change_settings(port.site, port.owner, "ferry", {"ranks": "direct-assessment/few"}),
        lambda: change_settings(port.site, port.owner, "ferry", {"ranks": None}),
        lambda: withdraw_campaign(port.site, port.owner, campaign.id),
    ):
        act()
        work_until_done(port.site)
        with port.site.database.reading() as connection:
            last = snapshots.latest(connection, "ferry")
        assert last is not None
        causes.append(cause_words(last))
    assert causes == [
        "campaign few closed",
        "the owner chose direct-assessment/few to rank",
        "the owner chose what ranks by the rule",
        "campaign few was withdrawn",
    ]


def test_a_board_with_several_sources_is_written_and_read_as_it_is(port: Harbour, tmp_path: Path) -> None:
    close_campaign(port.site, port.owner, answered(port, small(port, "second", template="mqm")).id, ranks=True)
    close_campaign(port.site, port.owner, answered(port, small(port, "few", ["g0"])).id)
    board = board_of(port)
    write_board(board, tmp_path / "written")
    again = open_board(tmp_path / "written")
    assert again.ranks == board.ranks == "mqm (campaigns)"
    assert again.aggregates == board.aggregates
    assert coverage(again, "mqm") == coverage(board, "mqm")


#: As many outputs as WMT23's experts judged: 13 generators on 1,009 segments.
GENERATORS, SEGMENTS = 13, 1009


@pytest.fixture(scope="module")
def wmt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harbour]:
    """A site with a board of 13,117 expert judgments, on which campaigns come and go from example to example."""
    data = tmp_path_factory.mktemp("wmt") / "data"
    board = replace(expert_board(SEGMENTS, GENERATORS), metrics=("length",))
    write_board(board, data / "boards" / board.name)
    clock = Clock()
    site = open_site(data, clock=clock)
    yield Harbour(site, clock, local_viewer(site), board)
    site.close()


ACTS = st.sampled_from(("open", "answer", "pause", "close", "withdraw"))
WHO = st.sampled_from((None, ["g0"], ["g0", "g1", "g2"]))
TEMPLATES = st.sampled_from(("mqm", "esa", "direct-assessment", "binary"))


#: Sequences of acts that are tried; each goes on where the last one ended.
SEQUENCES = int(os.environ.get("BILLBOARDS_SEQUENCES", "6"))


@pytest.mark.long
@settings(max_examples=SEQUENCES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(ACTS, WHO, TEMPLATES, st.integers(0, 20)), min_size=2, max_size=6))
def test_13117_expert_judgments_stay_ranking_through_any_sequence_of_campaigns(
    wmt: Harbour, acts: list[tuple[str, list[str] | None, str, int]]
) -> None:
    for act, generators, template, which in acts:
        _act(wmt, act, generators, template, which)
        board = board_of(wmt)
        assert board.ranks == "mqm"
        assert coverage(board) == Coverage(source="mqm", generators=13, outputs=13117, judgments=13117)
        assert board.aggregate().campaigns == ("experts",)


def _act(port: Harbour, act: str, generators: list[str] | None, template: str, which: int) -> None:
    """Do something to some campaign, if there is one that it can be done to."""
    port.clock.now += 1
    campaigns = list_campaigns(port.site, port.owner)
    state = {"answer": "open", "pause": "open", "close": "open", "withdraw": "closed"}.get(act)
    fitting = [one for one in campaigns if one.state == state and one.withdrawn is None]
    if act == "open" or not fitting:
        made = small(port, f"c{len(campaigns)}", generators, template=template)
        answered(port, made, most=which % 4)
    elif act == "answer":
        answered(port, fitting[which % len(fitting)], most=2)
    elif act == "pause":
        pause_campaign(port.site, port.owner, fitting[which % len(fitting)].id)
    elif act == "close":
        close_campaign(port.site, port.owner, fitting[which % len(fitting)].id)
    else:
        withdraw_campaign(port.site, port.owner, fitting[which % len(fitting)].id)


@pytest.mark.long
def test_rolling_campaigns_stand_beside_too(port: Harbour) -> None:
    campaign = small_campaign(port, rolling=True, instances=3, **PLAIN)
    people(port, campaign, by_reference)[0].answer_all()
    board = board_of(port)
    assert len(board.judgments) == 48 + 12
    assert board.ranks == "mqm"
    close_campaign(port.site, port.owner, campaign.id)
    assert board_of(port).ranks == "mqm"
