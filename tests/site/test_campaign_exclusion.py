"""Who answers at random is found by test questions, left out, and readmitted by a person's word only."""

from __future__ import annotations

import pytest
from asked_statements import statements
from small_campaigns import by_reference, distinct_board, people, small_campaign, the_contrary
from small_sites import Harbour, MakeHarbour

from billboards.errors import InvalidInput, Refused
from billboards.site.boards.live import live_board
from billboards.site.campaigns import annotator_records as kept
from billboards.site.campaigns.annotators import annotator_lines, exclude, readmit, rulings
from billboards.site.campaigns.lifecycle import close_campaign
from billboards.site.campaigns.results import both_rankings, both_results, campaign_answers
from billboards.site.campaigns.status import campaign_status
from billboards.site.submissions.sending import change_settings
from billboards.site.work.worker import work_until_done


@pytest.fixture
def port(make_harbour: MakeHarbour) -> Harbour:
    harbour = make_harbour(distinct_board(16, 3))
    change_settings(harbour.site, harbour.owner, "ferry", {"draws": 10})
    return harbour


@pytest.mark.long
def test_the_contrarian_is_excluded_by_the_model_and_the_items_are_judged_by_others(port: Harbour) -> None:
    work_until_done(port.site)
    campaign = small_campaign(port, instances=12, positive=0.2, negative=0.2, exclusion="model", early=0)
    ann, con = people(port, campaign, by_reference, the_contrary)
    assert con.answer_all().state == "excluded"
    (ruling,) = rulings(port.site, port.owner, campaign.id)
    assert (ruling.actor, ruling.verdict, ruling.name) == (
        "annotator model",
        "excluded",
        con.participant.annotator.pseudonym,
    )
    assert "0 of" in ruling.reason
    assert ruling.detail["model"] == "class/learned/2"
    void = [one for one in campaign_answers(port.site, port.owner, campaign.id) if one.state == "void"]
    assert len(void) == len(con.sent) < 30
    assert campaign_status(port.site, port.owner, campaign.id).done == 0, "its items are open again"
    assert ann.answer_all().state == "done"
    assert campaign_status(port.site, port.owner, campaign.id).done == 36

    without, with_all = both_results(port.site, port.owner, campaign.id)
    clean = {estimate.generator: estimate for estimate in without.estimates}
    mixed = {estimate.generator: estimate for estimate in with_all.estimates}
    assert [clean[name].instances for name in clean] == [mixed[name].instances for name in clean] == [12, 12, 12]
    # Whose outputs the contrarian was shown before the exclusion is a matter of chance.
    more = {name: mixed[name].labels - 12 for name in clean}
    assert {estimate.labels for estimate in clean.values()} == {12}
    assert sum(more.values()) == sum(answer.is_right is None for answer in void) > 0
    assert clean["g0"].mean == 100
    assert (mixed["g0"].mean < 100) == (more["g0"] > 0)
    close_campaign(port.site, port.owner, campaign.id)
    work_until_done(port.site)
    assert set(live_board(port.site, "ferry").board.judgments.annotators) == {ann.participant.annotator.pseudonym}
    ranked, mixed_up = both_rankings(port.site, port.owner, "ferry")
    (one, other) = ({m.name: m.correlation or 0.0 for m in r.metrics} for r in (ranked, mixed_up))
    assert one["chrF"] > other["chrF"]

    lines = {one.pseudonym: one for one in annotator_lines(port.site, port.owner, campaign.id)}
    noisy = lines[con.participant.annotator.pseudonym]
    good = lines[ann.participant.annotator.pseudonym]
    assert (noisy.state, good.state) == ("excluded", "active")
    assert noisy.positive.right == noisy.negative.right == 0
    assert good.positive.wrong == good.negative.wrong == 0
    assert max(noisy.positive.noisy or 0, noisy.negative.noisy or 0) > 0.99 > 0.01 > (good.positive.noisy or 1)


def test_a_person_may_readmit_and_then_the_model_is_silent(port: Harbour) -> None:
    campaign = small_campaign(port, instances=12, positive=0.2, negative=0.2)
    (con,) = people(port, campaign, the_contrary)
    con.answer_all()
    who = con.participant.annotator.pseudonym
    before = len(con.sent)
    with pytest.raises(InvalidInput, match="needs a reason"):
        readmit(port.site, port.owner, campaign.id, who, " ")
    readmit(port.site, port.owner, campaign.id, who, "the scale was upside down on this phone")
    states = {one.state for one in campaign_answers(port.site, port.owner, campaign.id)}
    assert states == {"valid"}
    for _ in range(10):
        assert con.answer().state == "item"
    assert len(con.sent) == before + 10
    assert [one.verdict for one in rulings(port.site, port.owner, campaign.id)] == ["excluded", "readmitted"]
    with pytest.raises(Refused, match="nothing to readmit"):
        readmit(port.site, port.owner, campaign.id, who, "again")


def test_a_person_may_exclude_with_a_reason_that_stays(port: Harbour) -> None:
    campaign = small_campaign(port)
    ann, ben = people(port, campaign, by_reference, by_reference)
    ann.answer()
    ruling = exclude(port.site, port.owner, campaign.id, ann.participant.annotator.pseudonym, "is the author of g1")
    assert (ruling.actor, ruling.reason) == ("local", "is the author of g1")
    assert ann.turn().state == "excluded"
    assert ben.turn().state == "item"
    with pytest.raises(Refused, match="excluded already"):
        exclude(port.site, port.owner, campaign.id, ann.participant.annotator.pseudonym, "once more")


def test_answers_are_read_again_only_when_they_or_those_who_count_change(port: Harbour) -> None:
    campaign = small_campaign(port)
    ann, ben = people(port, campaign, by_reference, by_reference)
    while ann.answer().item is not None:
        ben.answer()
    close_campaign(port.site, port.owner, campaign.id)
    who = {one.participant.annotator.pseudonym for one in (ann, ben)}
    assert set(live_board(port.site, "ferry").board.judgments.annotators) == who
    with statements(port.site.database) as asked:
        change_settings(port.site, port.owner, "ferry", {"draws": 20})
        live = live_board(port.site, "ferry")
    assert set(live.board.judgments.annotators) == who
    assert not [statement for statement, _ in asked if "answers.answers" in statement]
    for change, left in ((exclude, who - {min(who)}), (readmit, who)):
        change(port.site, port.owner, campaign.id, min(who), "the clock stands still meanwhile")
        assert set(live_board(port.site, "ferry").board.judgments.annotators) == left


def test_a_review_that_was_cut_off_is_made_up_for_at_the_next_item(port: Harbour) -> None:
    campaign = small_campaign(port, instances=12, positive=0.2, negative=0.2)
    (con,) = people(port, campaign, the_contrary)
    con.answer_all()
    who = con.participant.annotator
    with port.site.database.writing() as connection:
        # As it stands when the server dies between the answer and the review.
        kept.set_standing(connection, campaign.id, who.id, "active", now=1.0)
        kept.set_reviewed(connection, campaign.id, {who.id: 0})
    assert con.turn().state == "excluded"


def test_who_is_noisy_in_one_campaign_of_a_task_is_so_in_the_next(port: Harbour) -> None:
    first = small_campaign(port, "first", instances=12, positive=0.2, negative=0.2)
    (con,) = people(port, first, the_contrary)
    assert con.answer_all().state == "excluded"
    second = small_campaign(port, "second", instances=12)
    (again,) = people(port, second, the_contrary)
    assert again.turn().state == "excluded"
    other = small_campaign(port, "third", instances=12, template="binary")
    (elsewhere,) = people(port, other, the_contrary)
    assert elsewhere.turn().state == "item", "each task has a model of its own"


def test_a_qualification_test_lets_in_who_passes(port: Harbour) -> None:
    campaign = small_campaign(port, instances=12, qualification=4, pass_mark=0.75)
    ann, con = people(port, campaign, by_reference, the_contrary)
    first = ann.turn()
    assert first.item is not None
    assert first.item.qualifying
    assert first.progress.qualified == (0, 4)
    for _ in range(4):
        ann.answer()
        con.answer()
    turn = ann.turn()
    assert turn.item is not None
    assert not turn.item.qualifying
    assert con.turn().state == "failed"
    said = {(one.verdict, one.reason) for one in rulings(port.site, port.owner, campaign.id)}
    assert said == {
        ("passed", "4 of 4 questions right; 75% are needed"),
        ("failed", "0 of 4 questions right; 75% are needed"),
    }
    outside = {one.instance for one in campaign_answers(port.site, port.owner, campaign.id)}
    assert not outside & set(campaign.instances), "the test is made of instances that are not judged"
