"""Judging the judges: blind checks, answers worth a second look, and disputes that a person decides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from small_campaigns import by_reference, distinct_board, people, small_campaign
from small_sites import Harbour, MakeHarbour

from billboards.board import Aggregate, Dimension
from billboards.board.judgments import JudgmentColumns
from billboards.errors import InvalidInput, NotEnoughData, Refused, UnknownName
from billboards.site.boards.live import live_board
from billboards.site.campaigns.annotator_work import next_item, submit_answer
from billboards.site.campaigns.annotators import rulings
from billboards.site.campaigns.lifecycle import close_campaign, open_campaign
from billboards.site.campaigns.meta_evaluation import create_meta_campaign, decide, dispute, meta_results
from billboards.site.campaigns.results import (
    board_of_campaign,
    campaign_answers,
    disagreements,
    metric_estimates,
    second_look,
)
from billboards.site.campaigns.status import campaign_status
from billboards.site.submissions.sending import change_settings
from billboards.site.work.worker import work_until_done

PLAIN: dict[str, Any] = {"positive": 0.0, "negative": 0.0}


@pytest.fixture
def port(make_harbour: MakeHarbour) -> Harbour:
    harbour = make_harbour(distinct_board(8, 2))
    change_settings(harbour.site, harbour.owner, "ferry", {"draws": 10})
    return harbour


def test_blind_judges_side_with_the_source_that_is_right(make_harbour: MakeHarbour) -> None:
    board = distinct_board(8, 2)
    judged = JudgmentColumns(("crowd", "expert"))
    for row in range(2):
        for k in range(8):
            # Experts prefer g0, which is better; the crowd prefers g1.
            judged.add(k, row, {"expert": 5.0 - 3 * row - k % 2 / 4, "crowd": 2.0 + 3 * row - k % 3 / 4})
    said = {name: Dimension(name, range=(1, 5)) for name in ("crowd", "expert")}
    sums = {"overall": Aggregate("overall", ("expert",))}
    port = make_harbour(replace(board, judgments=judged.build(), dimensions=said, aggregates=sums, ranks="overall"))
    made = create_meta_campaign(port.site, port.owner, "ferry", "blind", "crowd", "expert", per_corner=4)
    assert (made.kind, made.ranks, len(made.instances) <= 8) == ("meta", False, True)
    open_campaign(port.site, port.owner, made.id)
    (judge,) = people(port, made, lambda shown, chance: int("wrong wrong" not in shown.outputs[0]))
    turn = judge.turn()
    assert turn.item is not None
    assert turn.item.references == (), "the judge is not told more than the template shows"
    judge.answer_all()
    crowd, expert = meta_results(port.site, port.owner, made.id)
    assert (crowd.higher, crowd.judged, crowd.good, crowd.sides_with) == ("crowd", 4, 0, "expert")
    assert (expert.higher, expert.judged, expert.good, expert.sides_with) == ("expert", 4, 4, "expert")
    close_campaign(port.site, port.owner, made.id)
    assert live_board(port.site, "ferry").board.ranks == "overall", "a check of judges ranks nothing"
    with pytest.raises(Refused, match="is no meta-evaluation"):
        meta_results(port.site, port.owner, small_campaign(port, **PLAIN).id)


def test_sources_that_agree_everywhere_leave_nothing_to_check(make_harbour: MakeHarbour) -> None:
    judged = JudgmentColumns(("crowd", "expert"))
    for row in range(2):
        for k in range(8):
            judged.add(k, row, {"expert": 1.0 + (k + row) % 5, "crowd": 1.0 + (k + row) % 5})
    scales = {name: Dimension(name, range=(1, 5)) for name in ("crowd", "expert")}
    sums = {"overall": Aggregate("overall", ("expert",))}
    board = replace(distinct_board(8, 2), judgments=judged.build(), dimensions=scales, aggregates=sums, ranks="overall")
    port = make_harbour(board)
    with pytest.raises(NotEnoughData, match="crowd and expert nowhere disagree on board ferry"):
        create_meta_campaign(port.site, port.owner, "ferry", "blind", "crowd", "expert")


def test_an_answer_is_disputed_struck_out_judged_again_and_restored(port: Harbour) -> None:
    campaign = small_campaign(port, **PLAIN)
    ann, ben = people(port, campaign, by_reference, by_reference)
    ann.answer_all()
    doubted = ann.sent[0]
    dispute(port.site, port.owner, campaign.id, doubted, "the team of g1 says that the reference is wrong")
    assert campaign_status(port.site, port.owner, campaign.id).done == 16, "a dispute changes nothing by itself"
    with pytest.raises(InvalidInput, match="needs a reason"):
        decide(port.site, port.owner, campaign.id, doubted, "struck", "")
    decide(port.site, port.owner, campaign.id, doubted, "struck", "the reference is of another text")
    assert campaign_status(port.site, port.owner, campaign.id).done == 15
    assert ben.answer().state == "item", "its item opened again"
    assert ben.answer().state == "done"
    with pytest.raises(Refused, match="is struck, so it can't be struck"):
        decide(port.site, port.owner, campaign.id, doubted, "struck", "again")
    decide(port.site, port.owner, campaign.id, doubted, "restored", "it was right after all")
    assert [one.verdict for one in rulings(port.site, port.owner, campaign.id)] == ["disputed", "struck", "restored"]
    assert len(disagreements(port.site, port.owner, campaign.id)) == 1
    with pytest.raises(UnknownName):
        dispute(port.site, port.owner, campaign.id, "nothing", "why")


def test_an_answer_that_no_metric_would_expect_is_listed_first(port: Harbour) -> None:
    work_until_done(port.site)
    campaign = small_campaign(port, **PLAIN)
    (ann,) = people(port, campaign, by_reference)
    for _ in range(7):
        ann.answer()
    item = next_item(port.site, ann.participant).item
    assert item is not None
    wrong = 0 if by_reference(item, ann.chance) == 4 else 4
    submit_answer(port.site, ann.participant, item.assignment, "slip", {"adequacy": wrong}, seconds=1.0)
    ann.answer_all()
    first, *_ = second_look(port.site, port.owner, campaign.id, metric="chrF", limit=3)
    assert first.answer_id == "slip"
    assert abs(first.rating.residual) > 3
    assert first.rating.annotator == ann.participant.annotator.pseudonym

    board, _ = board_of_campaign(port.site, port.owner, campaign.id)
    assert (len(board.judgments), board.ranks) == (16, "genie-translation")
    found = {one.generator: one for one in metric_estimates(port.site, port.owner, campaign.id, metric="chrF")}
    assert set(found) == {"g0", "g1"}
    assert found["g0"].labels == 8


def test_disagreements_are_listed_widest_first(port: Harbour) -> None:
    campaign = small_campaign(port, instances=4, labels=2, **PLAIN)
    ann, ben = people(port, campaign, by_reference, lambda shown, chance: 2)
    ann.answer_all()
    ben.answer_all()
    found = disagreements(port.site, port.owner, campaign.id)
    assert len(found) == 8
    assert [one.difference for one in found] == sorted((one.difference for one in found), reverse=True)
    assert found[0].difference == 50.0
    assert {who for who, _ in found[0].labels} == {
        ann.participant.annotator.pseudonym,
        ben.participant.annotator.pseudonym,
    }
    assert len(list(campaign_answers(port.site, port.owner, campaign.id))) == 16
