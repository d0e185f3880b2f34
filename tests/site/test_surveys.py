"""Consent, survey pages and free text: asked in their order, kept apart from judgments, exported to owners alone."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from campaign_sites import CampaignSite, campaign_site, field
from sqlalchemy import select

from billboards.campaigns.plan import CampaignPlan
from billboards.campaigns.template_files import SentTemplate
from billboards.cli.main import main
from billboards.errors import InvalidInput, Refused
from billboards.site.admin.erasure import annotators_of, forget_annotator
from billboards.site.boards.live import live_board
from billboards.site.campaigns.annotator_work import accept_consent, answer_survey, enter, next_item
from billboards.site.campaigns.annotators import invite
from billboards.site.campaigns.campaign import Campaign
from billboards.site.campaigns.lifecycle import close_campaign, create_campaign, open_campaign
from billboards.site.campaigns.results import campaign_results
from billboards.site.campaigns.surveys import consent_digest, survey_lines
from billboards.site.database.schema import annotator_pages

TEMPLATE = """
name = "spoken"
version = 1
title = "Good or bad"
task = "good"
instructions = "Say whether it is good."
consent = "We keep what you judge."
[[stages]]
shows = ["outputs"]
dimensions = ["good", "why"]
[[dimensions]]
name = "good"
kind = "scale"
question = "Is it good?"
labels = ["bad", "good"]
[[dimensions]]
name = "why"
kind = "text"
question = "Why?"
most = 80
[[survey]]
name = "native"
kind = "scale"
question = "Do you speak English since childhood?"
labels = ["no", "yes"]
[[survey]]
name = "remark"
kind = "text"
question = "Anything else?"
when = "after"
required = false
"""


@pytest.fixture
def ferry(tmp_path: Path) -> CampaignSite:
    return campaign_site(tmp_path)


def _start(ferry: CampaignSite, *, template: str = TEMPLATE, **plan: Any) -> tuple[Campaign, str]:
    """An open campaign of one item, and an annotator's link."""
    site, owner = ferry.pages.site, ferry.pages.owner
    settings = CampaignPlan(**{"instances": 1, "positive": 0.0, "negative": 0.0, **plan})
    sent = SentTemplate("spoken.toml", template)
    made = create_campaign(site, owner, "ferry", "first", sent, generators=["g0"], plan=settings)
    (link,) = invite(site, owner, made.id, ["ann"])
    return open_campaign(site, owner, made.id), link.path


def _agree(ferry: CampaignSite, link: str) -> Any:
    page = ferry.pages.get(link).text
    return ferry.pages.post(f"{link}/consent", data={"digest": field(page, "digest"), "agree": "yes"})


def test_consent_then_survey_then_items_then_the_last_survey(ferry: CampaignSite) -> None:
    campaign, link = _start(ferry)
    page = ferry.pages.get(link).text
    assert "We keep what you judge." in page
    assert 'id="answer"' not in page, "no item before the consent"
    assert ferry.pages.post(f"{link}/consent", data={"digest": field(page, "digest")}).status_code == 422
    assert ferry.pages.post(f"{link}/consent", data={"digest": "another", "agree": "yes"}).status_code == 409
    assert _agree(ferry, link).status_code == 303
    page = ferry.pages.get(link).text
    assert "since childhood" in page
    assert "Anything else?" not in page
    missing = ferry.pages.post(f"{link}/survey", data={"page": "before"})
    assert missing.status_code == 422
    assert "Not answered yet: Do you speak English since childhood?" in missing.text
    assert ferry.pages.post(f"{link}/survey", data={"page": "before", "answer:native": "1"}).status_code == 303
    answered = ferry.answer(link, 1, **{"answer:why": "It has every word.\r\nAll of them. "})
    assert answered.status_code == 303
    page = ferry.pages.get(link).text
    assert "There is nothing left for you to judge" in page
    assert "Anything else?" in page
    assert ferry.pages.post(f"{link}/survey", data={"page": "after", "answer:remark": ""}).status_code == 303
    assert "Anything else?" not in ferry.pages.get(link).text
    lines = list(survey_lines(ferry.pages.site, ferry.pages.owner, campaign.id))
    assert [(line.page, dict(line.answers)) for line in lines] == [
        ("consent", {}), ("before", {"native": 1}), ("after", {"remark": ""}),
    ]  # fmt: skip
    assert lines[0].digest == consent_digest("We keep what you judge.")
    assert lines[1].digest == campaign.template.digest


def test_a_text_is_exported_and_never_a_value(ferry: CampaignSite) -> None:
    campaign, link = _start(ferry, template=re.sub(r"(?s)\[\[survey\]\].*", "", TEMPLATE))
    _agree(ferry, link)
    ferry.answer(link, 1, **{"answer:why": "It has <b>every</b> word."})
    site, owner = ferry.pages.site, ferry.pages.owner
    results = campaign_results(site, owner, campaign.id)
    assert [estimate.dimension for estimate in results.estimates] == ["good"]
    answers = [json.loads(line) for line in ferry.read(f"{ferry.home(campaign)}/answers.jsonl").splitlines()]
    assert [answer["answers"] for answer in answers] == [{"good": 1, "why": "It has <b>every</b> word."}]
    assert answers[0]["values"] == [{"good": 1.0}]
    close_campaign(site, owner, campaign.id)
    board = live_board(site, "ferry").board
    assert "spoken.good" in board.dimensions
    assert "spoken.why" not in board.dimensions
    assert ferry.pages.get(f"{ferry.home(campaign)}/agreement", "owner").status_code == 200


def test_the_plans_own_consent_comes_before_the_templates(ferry: CampaignSite) -> None:
    _, link = _start(ferry, consent="Ours instead.\n\n- first\n- second")
    page = ferry.pages.get(link).text
    assert "Ours instead." in page
    assert '<li dir="auto">second</li>' in page
    assert "We keep what you judge." not in page


@pytest.mark.long
def test_programs_consent_and_answer_too(ferry: CampaignSite) -> None:
    _, link = _start(ferry)
    path = f"/api/v1/annotate/{link.rsplit('/', 1)[1]}"
    task = ferry.pages.get(path).json()
    assert (task["due"], task["consent"]) == ("consent", "We keep what you judge.")
    turn = ferry.pages.post(f"{path}/next").json()
    assert (turn["state"], turn["page"], turn["item"]) == ("consent", "consent", None)
    assert ferry.pages.post(f"{path}/consent", json={"digest": task["consent_digest"]}).status_code == 204
    assert ferry.pages.post(f"{path}/next").json()["page"] == "before"
    wrong = ferry.pages.post(f"{path}/survey", json={"page": "before", "answers": {"age": 3}})
    assert wrong.status_code == 404 or wrong.status_code == 422
    sent = {"page": "before", "answers": {"native": 0}}
    assert ferry.pages.post(f"{path}/survey", json=sent).status_code == 204
    assert ferry.pages.post(f"{path}/survey", json={**sent, "answers": {"native": 1}}).status_code == 204, "kept once"
    assert ferry.pages.post(f"{path}/next").json()["state"] == "item"


def test_owners_export_it_and_nobody_else_reads_it(ferry: CampaignSite, capsys: pytest.CaptureFixture[str]) -> None:
    campaign, link = _start(ferry)
    _agree(ferry, link)
    ferry.pages.post(f"{link}/survey", data={"page": "before", "answer:native": "1"})
    home = ferry.home(campaign)
    rows = list(csv.DictReader(io.StringIO(ferry.read(f"{home}/survey.csv"))))
    assert [(row["page"], row["native"]) for row in rows] == [("consent", ""), ("before", "yes")]
    assert len(ferry.read(f"{home}/survey.jsonl").splitlines()) == 2
    items = ferry.pages.get(f"/api/v1/campaigns/{campaign.id}/survey", "owner").json()["items"]
    assert [item["page"] for item in items] == ["consent", "before"]
    for path in (f"{home}/survey.csv", f"/api/v1/campaigns/{campaign.id}/survey"):
        for asker in ("annotator", "team", None):
            assert ferry.pages.get(path, asker).status_code in (401, 403, 303)
    assert "survey.csv" in ferry.read(f"{home}/results")
    assert main(["campaign", "survey", "first", "--json", "--data", str(ferry.pages.site.data)]) == 0
    pages = json.loads(capsys.readouterr().out)["pages"]
    assert [page["words"] for page in pages] == [{}, {"native": "yes"}]


def test_whoever_is_forgotten_takes_their_pages_along(ferry: CampaignSite) -> None:
    _, link = _start(ferry)
    _agree(ferry, link)
    with ferry.pages.site.database.writing() as connection:
        (person,) = annotators_of(connection, None, ["ann"])
        forget_annotator(connection, person)
        assert list(connection.execute(select(annotator_pages))) == []


@pytest.mark.long
def test_what_is_not_asked_or_no_answer_is_refused(ferry: CampaignSite) -> None:
    _, link = _start(ferry, template=re.sub(r"(?s)\[\[survey\]\].*|consent = .*?\n", "", TEMPLATE))
    site = ferry.pages.site
    participant = enter(site, link.rsplit("/", 1)[1])
    assert next_item(site, participant).state == "item", "nothing stands before it"
    with pytest.raises(Refused, match="not the text"):
        accept_consent(site, participant, "")
    with pytest.raises(Refused, match="nothing is asked"):
        answer_survey(site, participant, "before", {})
    with pytest.raises(InvalidInput, match="80 characters"):
        participant.campaign.template.dimension("why").check("x" * 81, ())
