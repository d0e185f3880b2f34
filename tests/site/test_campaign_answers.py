"""Answering: kept at every step, once for every id, never edited, and given to others when abandoned."""

from __future__ import annotations

from typing import Any

import pytest
from campaign_sites import campaign_judgments
from small_campaigns import by_reference, distinct_board, people, small_campaign
from small_sites import Harbour, MakeHarbour

from billboards.errors import InvalidInput, NotAllowed, Refused
from billboards.site.campaigns.annotator_work import (
    enter,
    enter_account,
    give_back,
    next_item,
    save_answer,
    submit_answer,
    undo,
)
from billboards.site.campaigns.annotators import invite, revoke_link, shared_link
from billboards.site.campaigns.lifecycle import close_campaign
from billboards.site.campaigns.results import campaign_answers
from billboards.site.campaigns.status import campaign_status

PLAIN: dict[str, Any] = {"positive": 0.0, "negative": 0.0}


@pytest.fixture
def port(make_harbour: MakeHarbour) -> Harbour:
    return make_harbour(distinct_board())


def test_what_was_saved_is_there_after_a_crash(port: Harbour) -> None:
    campaign = small_campaign(port, template="esa", **PLAIN)
    (ann,) = people(port, campaign, by_reference)
    turn = ann.turn()
    assert turn.item is not None
    assert (turn.item.stage, turn.item.answers) == (0, {})
    errors = [{"output": 0, "start": 0, "end": 5, "severity": "minor"}]
    save_answer(port.site, ann.participant, turn.item.assignment, "one", {"errors": errors}, seconds=7.0)
    again = ann.turn().item
    assert again is not None
    assert again.assignment == turn.item.assignment
    assert (again.stage, again.answers, again.seconds) == (1, {"errors": errors}, 7.0)
    with pytest.raises(InvalidInput, match="score is not answered yet"):
        submit_answer(port.site, ann.participant, again.assignment, "two", {"errors": errors}, seconds=9.0)


def test_an_answer_sent_twice_is_kept_once(port: Harbour) -> None:
    campaign = small_campaign(port, **PLAIN)
    (ann,) = people(port, campaign, by_reference)
    item = ann.turn().item
    assert item is not None
    first = submit_answer(port.site, ann.participant, item.assignment, "same", {"adequacy": 4}, seconds=5.0)
    port.clock.now += 60
    again = submit_answer(port.site, ann.participant, item.assignment, "same", {"adequacy": 0}, seconds=9.0)
    assert (first.repeated, again.repeated, again.at) == (False, True, first.at)
    (kept,) = campaign_answers(port.site, port.owner, campaign.id)
    assert (kept.answers, kept.seconds) == ({"adequacy": 4}, 5.0)
    with pytest.raises(Refused, match="has been answered"):
        submit_answer(port.site, ann.participant, item.assignment, "other", {"adequacy": 0}, seconds=1.0)


def test_undoing_adds_a_row_and_the_item_is_answered_again(port: Harbour) -> None:
    campaign = small_campaign(port, **PLAIN)
    (ann,) = people(port, campaign, by_reference)
    first = ann.turn().item
    assert first is not None
    submit_answer(port.site, ann.participant, first.assignment, "one", {"adequacy": 4}, seconds=5.0)
    ahead = ann.turn().item
    assert ahead is not None
    back = undo(port.site, ann.participant, "back").item
    assert back is not None
    assert (back.assignment, back.answers) == (first.assignment, {"adequacy": 4})
    assert undo(port.site, ann.participant, "back").item == back, "an undo sent twice is one"
    submit_answer(port.site, ann.participant, back.assignment, "two", {"adequacy": 1}, seconds=8.0)
    assert ann.turn().item == ahead, "what was in hands meanwhile comes back"
    history = list(campaign_answers(port.site, port.owner, campaign.id, history=True))
    assert [(one.answer_id, one.kind, one.state) for one in history] == [
        ("one", "submitted", "superseded"),
        ("back", "undone", "undone"),
        ("two", "submitted", "valid"),
    ]
    assert campaign_status(port.site, port.owner, campaign.id).done == 1


def test_there_is_nothing_to_undo_before_an_answer_and_after_the_end(port: Harbour) -> None:
    campaign = small_campaign(port, **PLAIN)
    (ann,) = people(port, campaign, by_reference)
    with pytest.raises(Refused, match="no answer that could be taken back"):
        undo(port.site, ann.participant, "back")
    ann.answer()
    close_campaign(port.site, port.owner, campaign.id)
    with pytest.raises(Refused, match="its answers stand"):
        undo(port.site, ann.participant, "back")


def test_an_abandoned_item_goes_to_somebody_else_and_a_late_answer_is_refused_only_then(port: Harbour) -> None:
    campaign = small_campaign(port, instances=2, lease_seconds=600.0, **PLAIN)
    ann, ben = people(port, campaign, by_reference, by_reference)
    item = ann.turn().item
    assert item is not None
    ben.seconds = 1.0
    assert ben.answer_all().state == "waiting", "five are done, and ann has the sixth"
    port.clock.now += 601
    late = ann.turn().item
    assert late is not None
    assert late.assignment == item.assignment, "nobody has taken it yet"
    port.clock.now += 601
    assert ben.answer().state == "item"
    with pytest.raises(Refused, match="went to somebody else"):
        submit_answer(port.site, ann.participant, item.assignment, "late", {"adequacy": 4}, seconds=1.0)
    assert ann.turn().state == "done"
    assert campaign_status(port.site, port.owner, campaign.id).done == 6


def test_an_item_that_is_given_back_does_not_return(port: Harbour) -> None:
    campaign = small_campaign(port, instances=2, **PLAIN)
    (ann,) = people(port, campaign, by_reference)
    item = ann.turn().item
    assert item is not None
    give_back(port.site, ann.participant, item.assignment)
    assert ann.answer_all().state == "done"
    assert campaign_status(port.site, port.owner, campaign.id).done == 5


@pytest.mark.long
def test_nobody_sees_an_instance_twice_while_there_is_another_and_everybody_sees_all_generators(port: Harbour) -> None:
    campaign = small_campaign(port, **PLAIN)
    ann, ben, cem = people(port, campaign, by_reference, by_reference, by_reference)
    for _ in range(12):
        for person in (ann, ben, cem):
            person.answer()
    lines = list(campaign_answers(port.site, port.owner, campaign.id))
    assert len(lines) == 36
    for person in (ann, ben, cem):
        mine = [one for one in lines if one.annotator == person.participant.annotator.pseudonym]
        assert len({one.instance for one in mine}) == 12
        counts = [sum(one.outputs == (name,) for one in mine) for name in ("g0", "g1", "g2")]
        assert max(counts) - min(counts) <= 2
    early = lines[:18]
    assert all(4 <= sum(one.outputs == (name,) for one in early) <= 8 for name in ("g0", "g1", "g2"))


def test_links_open_what_they_are_for_and_nothing_else(port: Harbour) -> None:
    campaign = small_campaign(port, **PLAIN)
    with pytest.raises(NotAllowed, match="this link opens nothing"):
        enter(port.site, "guessed")
    ann, ben = invite(port.site, port.owner, campaign.id, ["ann@example.org", "ben@example.org"])
    assert ann.path.startswith("/annotate/")
    one, other = enter(port.site, ann.token), enter(port.site, ben.token)
    item = next_item(port.site, one).item
    assert item is not None
    with pytest.raises(NotAllowed, match="was not given to you"):
        submit_answer(port.site, other, item.assignment, "x", {"adequacy": 1}, seconds=1.0)
    assert revoke_link(port.site, port.owner, campaign.id, ann.pseudonym) == 1
    with pytest.raises(NotAllowed, match="opens nothing, or no longer"):
        enter(port.site, ann.token)
    (late,) = invite(port.site, port.owner, campaign.id, ["cem"], expires=port.clock() + 10)
    port.clock.now += 11
    with pytest.raises(NotAllowed, match="no longer"):
        enter(port.site, late.token)


def test_a_shared_link_knows_people_by_the_platforms_id_and_an_account_by_its_name(port: Harbour) -> None:
    campaign = small_campaign(port, **PLAIN)
    token = shared_link(port.site, port.owner, campaign.id, "prolific")
    with pytest.raises(InvalidInput, match="this link is shared"):
        enter(port.site, token)
    one, again, other = (enter(port.site, token, external=who) for who in ("p1", "p1", "p2"))
    assert one.annotator == again.annotator
    assert one.annotator.name == "prolific:p1"
    assert one.annotator.pseudonym != other.annotator.pseudonym
    assert "p1" not in one.annotator.pseudonym
    account = enter_account(port.site, port.person("ann", "annotator"), campaign.id)
    assert account.annotator.name == "account:ann"
    with pytest.raises(NotAllowed, match="may not annotate"):
        enter_account(port.site, port.person("sam", "submitter"), campaign.id)


def test_exports_know_annotators_by_pseudonym_and_owners_may_ask_for_names(port: Harbour) -> None:
    campaign = small_campaign(port, **PLAIN)
    people(port, campaign, by_reference)[0].answer()
    (line,) = campaign_answers(port.site, port.owner, campaign.id)
    assert line.annotator.startswith("a-")
    assert "person 0" not in repr(line)
    (named,) = campaign_answers(port.site, port.owner, campaign.id, names=True)
    assert named.annotator == "person 0"
    with pytest.raises(NotAllowed):
        list(campaign_answers(port.site, port.person("sam"), campaign.id))


def test_the_article_is_hidden_until_how_the_summaries_read_is_judged(port: Harbour) -> None:
    campaign = small_campaign(port, template="genie-summarisation", **PLAIN)
    (ann,) = people(port, campaign, lambda shown, chance: 4)
    item = ann.turn().item
    assert item is not None
    assert "input" not in item.visible(0)
    assert item.visible(1) >= {"input", "outputs"}
    assert [stage.dimensions for stage in item.stages] == [
        ("fluency", "conciseness"),
        ("no-hallucination", "informativeness", "overall"),
    ]
    firsts = set()
    for _ in range(8):
        turn = ann.answer()
        assert turn.item is not None
        (line,) = list(campaign_answers(port.site, port.owner, campaign.id))[-1:]
        place = line.outputs.index("reference Ada")
        firsts.add(place)
        # "Summary 2, clearly" is worth 1 for the system where it stands second, and 0 where it stands first.
        assert line.values[1 - place] == dict.fromkeys(line.answers, 1.0 if place == 0 else 0.0)
        assert line.values[place] == {}
    assert firsts == {0, 1}, "either of the two is first by turns"


def test_outside_its_hours_nothing_is_given_out_and_what_is_in_hands_may_be_finished(port: Harbour) -> None:
    begin = port.clock()
    campaign = small_campaign(port, opens=begin + 60, closes=begin + 120, **PLAIN)
    (ann,) = people(port, campaign, by_reference)
    early = ann.turn()
    assert (early.state, early.again, early.item) == ("window", 60.0, None)
    port.clock.now += 60
    assert ann.turn().state == "item"
    port.clock.now += 60
    assert ann.answer().state == "item"
    assert ann.turn().state == "closed"


def test_marked_errors_reach_the_judgment_whole_but_for_their_place_on_the_page(port: Harbour) -> None:
    campaign = small_campaign(port, template="mqm", **PLAIN)
    (ann,) = people(port, campaign, by_reference)
    item = ann.turn().item
    assert item is not None
    error = {"start": 0, "end": 5, "severity": "major", "category": "style"}
    gap = {"start": 2, "end": 2, "severity": "minor", "category": "accuracy", "missing": True}
    marked = {"mqm": [{"output": 0, **error}, {"output": 0, **gap}]}
    submit_answer(port.site, ann.participant, item.assignment, "one", marked, seconds=5.0)
    judged = campaign_judgments(port.site, campaign.id)
    assert judged.details[0]["spans"] == [error, gap]
    assert set(judged.details[0]) == {"spans", "time", "template"}
    assert judged.details[0]["template"] == campaign.template.signature
