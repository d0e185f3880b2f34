"""Who answers without reading is found by all signs together; attention questions and caps do what the plan says."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from campaign_sites import campaign_site
from small_campaigns import by_reference, carelessly, distinct_board, people, small_campaign, the_contrary
from small_sites import Harbour, MakeHarbour

from billboards.board import Board, Generator, Instance, Reference, row_of
from billboards.cli.campaign_tables import annotators_table, quote_table
from billboards.site.campaigns.annotators import annotator_lines, rulings
from billboards.site.campaigns.campaign import campaign_of
from billboards.site.campaigns.campaign_records import get
from billboards.site.campaigns.lifecycle import quote_campaign
from billboards.site.campaigns.results import campaign_answers
from billboards.site.campaigns.shown_items import Shown


@pytest.fixture
def port(make_harbour: MakeHarbour) -> Harbour:
    return make_harbour(distinct_board(30, 3))


def half_the_time(shown: Shown, chance: random.Random) -> int:
    return carelessly(shown, chance) if chance.random() < 0.5 else by_reference(shown, chance)


@pytest.mark.long
def test_random_clickers_are_stopped_early_and_the_record_says_which_signs(port: Harbour) -> None:
    campaign = small_campaign(port, instances=30, labels=2)
    crew = people(port, campaign, *[by_reference] * 4, carelessly)
    for _ in range(40):
        for person in crew:
            person.answer()
    states = {one.pseudonym: one.state for one in annotator_lines(port.site, port.owner, campaign.id)}
    clicker = crew[-1].participant.annotator.pseudonym
    assert states == {
        person.participant.annotator.pseudonym: "excluded" if person is crew[-1] else "active" for person in crew
    }
    assert len(crew[-1].sent) < 40
    (ruling,) = rulings(port.site, port.owner, campaign.id)
    assert (ruling.actor, ruling.name, ruling.verdict) == ("annotator signs", clicker, "excluded")
    assert ruling.reason.startswith("evidence ")
    assert "questions " in ruling.reason
    assert ruling.detail["total"] >= ruling.detail["enough"] == 100
    assert {"questions", "positive", "negative", "speed"} <= set(ruling.detail["signs"])


def test_everybody_sees_each_signs_evidence(port: Harbour) -> None:
    campaign = small_campaign(port, instances=30, labels=2)
    ann, con = people(port, campaign, by_reference, the_contrary)
    for _ in range(12):
        ann.answer()
        con.answer()
    lines = {line.pseudonym: line for line in annotator_lines(port.site, port.owner, campaign.id)}
    good, bad = (lines[person.participant.annotator.pseudonym].evidence for person in (ann, con))
    assert good is not None
    assert bad is not None
    assert good.total < 1 < 100 < bad.total
    assert bad.signs["questions"] > 100
    table = annotators_table("first", tuple(lines.values()))
    assert [column.key for column in table.columns if column.key in ("questions", "evidence")] == [
        "questions",
        "evidence",
    ]
    quoted = {
        row["what"]: row["value"]
        for row in quote_table("first", quote_campaign(port.site, port.owner, campaign.id)).rows
    }
    assert quoted["people who share it"] == 2
    assert str(quoted["found if answering at random"]).endswith("%")


def test_test_questions_come_early_and_thin_out_for_who_reads(port: Harbour) -> None:
    campaign = small_campaign(port, instances=30)
    (ann,) = people(port, campaign, by_reference)
    ann.answer_all(60)
    purposes = [one.is_right is not None for one in campaign_answers(port.site, port.owner, campaign.id)]
    assert sum(purposes[:20]) >= 11
    assert sum(purposes[40:60]) == 2


def test_nobody_gives_more_answers_than_the_plan_lets_one_person_give(port: Harbour) -> None:
    campaign = small_campaign(port, instances=12, most_answers=9)
    ann, ben = people(port, campaign, by_reference, by_reference)
    last = ann.answer_all()
    assert (last.state, len(ann.sent)) == ("enough", 9)
    assert "as many answers as one person" in last.message
    assert ben.turn().state == "item"


def test_qualification_answers_count_as_evidence(port: Harbour) -> None:
    campaign = small_campaign(port, instances=12, qualification=8, pass_mark=0.0, positive=0.0, negative=0.0)
    (con,) = people(port, campaign, the_contrary)
    for _ in range(9):
        con.answer()
    (line,) = annotator_lines(port.site, port.owner, campaign.id)
    assert line.evidence is not None
    assert line.evidence.signs["questions"] > 100


SENTENCES = (
    "Anna met the captain at pier 12, and the ferry was late.",
    "The storm had ended in the night, so they left Oslo early.",
    "There were 40 tickets left for the island, and nobody wanted them.",
    "Olsen has painted the old bridge, but it is not dry yet.",
    "The lantern was found in the harbour, where it had been lost.",
    "They will build 3 new piers, as the council has decided.",
)


def sentences_board() -> Board:
    tested = tuple(
        Instance(f"i{k}", references=(Reference("Ada", f"{SENTENCES[k % 6]} ({k})"),), input="x") for k in range(12)
    )
    rows = (row_of(Generator("g0"), tested, tuple(f"output {k}" for k in range(12))),)
    return replace(distinct_board(2, 1), instances=tested, rows=rows, metrics=(), output_language="en")


def test_a_spoilt_text_is_right_when_it_is_found_worse_than_the_good_one(make_harbour: MakeHarbour) -> None:
    port = make_harbour(sentences_board())
    texts = {instance.references[0].text for instance in port.board.instances}

    def careful(shown: Shown, chance: random.Random) -> int:
        return 100 if shown.outputs[0] in texts else 60

    def careless_eye(shown: Shown, chance: random.Random) -> int:
        return 90

    campaign = small_campaign(
        port,
        template="direct-assessment",
        instances=12,
        labels=2,
        attention=0.2,
        positive=0.2,
        early=0,
        exclusion="model",
    )
    ann, ben = people(port, campaign, careful, careless_eye)
    for person in (ann, ben):
        person.answer_all(40)
    lines = {line.pseudonym: line for line in annotator_lines(port.site, port.owner, campaign.id)}
    good, bad = (lines[person.participant.annotator.pseudonym].evidence for person in (ann, ben))
    assert good is not None
    assert bad is not None
    assert good.signs["attention"] < 1 < bad.signs["attention"]


def test_campaigns_planned_before_go_on_as_they_were_begun(port: Harbour) -> None:
    campaign = small_campaign(port)
    with port.site.database.reading() as connection:
        row = get(connection, campaign.id)
    older = {key: value for key, value in row.plan.items() if key not in ("early", "exclusion", "most_answers")}
    plan = campaign_of(replace(row, plan=older)).plan
    assert (plan.early, plan.exclusion, plan.most_answers) == (0, "model", None)
    assert (campaign.plan.early, campaign.plan.exclusion) == (12, "signs")


@pytest.mark.long
def test_pages_and_programs_show_the_signs(tmp_path: Path) -> None:
    site = campaign_site(tmp_path)
    # Of twenty items twelve are test questions, wherever they fall: fourteen answers have some, and some labels.
    tests: dict[str, Any] = {"positive": 0.3, "negative": 0.3, "exclusion": "e-value", "pass_mark": 0.1}
    campaign, links = site.start("first", people=("ann", "ben"), instances=8, labels=2, **tests)
    for link in links:
        for _ in range(14):
            site.answer(link)
    page = site.read(f"{site.home(campaign)}/annotators")
    assert "Evidence is an e-value that somebody answers without reading" in page
    assert "questions " in page
    lines = json.loads(site.read(f"/api/v1/campaigns/{campaign.id}/annotators"))
    assert {"questions", "repetition"} <= set(lines[0]["evidence"]["signs"])
    quote = json.loads(site.read(f"/api/v1/campaigns/{campaign.id}/quote"))
    assert quote["annotators"] == 2
    assert quote["questions_per_person"] > 0
    form = site.read("/boards/ferry/campaigns/new")
    assert all(f'name="{name}"' in form for name in ("early", "attention", "most_answers", "annotators"))
