"""Annotators' pages asked without a browser: what is refused, what is kept, and what must not be in their source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from campaign_sites import CampaignSite, campaign_site, field

from billboards.site.campaigns.annotators import annotator_lines, revoke_link, shared_link
from billboards.site.campaigns.campaign import Campaign
from billboards.site.campaigns.results import campaign_answers


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CampaignSite]:
    found = campaign_site(tmp_path_factory.mktemp("annotating"))
    yield found
    found.pages.site.close()


def kept(ferry: CampaignSite, campaign: Campaign) -> list[tuple[str, dict[str, object]]]:
    """Everything that was ever kept: what kind it was, and what it said."""
    lines = campaign_answers(ferry.pages.site, ferry.pages.owner, campaign.id, history=True)
    return [(one.kind, dict(one.answers)) for one in lines]


def test_a_link_that_opens_nothing_says_so(ferry: CampaignSite) -> None:
    campaign, (link,) = ferry.start("revoked")
    assert ferry.pages.get(link).headers["x-robots-tag"] == "noindex"
    assert ferry.pages.get(link).headers["cache-control"] == "no-store"
    (line,) = annotator_lines(ferry.pages.site, ferry.pages.owner, campaign.id)
    revoke_link(ferry.pages.site, ferry.pages.owner, campaign.id, line.pseudonym)
    for path in (link, "/annotate/nothing"):
        answer = ferry.pages.get(path)
        assert (answer.status_code, "opens nothing" in answer.text) == (401, True)
    assert ferry.pages.post(f"{link}/answer", data={}).status_code == 401


def test_what_is_not_answered_is_named_and_the_rest_is_kept(ferry: CampaignSite) -> None:
    campaign, (link,) = ferry.start("partly", "genie-summarisation")
    page = ferry.pages.get(link).text
    sent = {name: field(page, name) for name in ("assignment", "answer_id", "stage")}
    answer = ferry.pages.post(f"{link}/answer", data={**sent, "answer:fluency": "1"})
    assert (answer.status_code, "Not answered yet: conciseness" in answer.text) == (422, True)
    assert kept(ferry, campaign) == [("draft", {"fluency": 1})]
    assert re.search(r'name="answer:fluency" value="1" checked', ferry.pages.get(link).text)


@pytest.mark.parametrize("odd", ["9", "-1", "true", "[]", "{}", "best", "1e400", "9" * 5000, "[" * 9999])
def test_an_answer_that_the_page_does_not_offer_is_refused(ferry: CampaignSite, odd_link: str, odd: str) -> None:
    assert ferry.answer(odd_link, **{"answer:adequacy": odd}).status_code == 422


@pytest.fixture(scope="module")
def odd_link(ferry: CampaignSite) -> str:
    return ferry.start("odd-forms")[1][0]


def test_somebody_elses_item_can_not_be_answered(ferry: CampaignSite) -> None:
    campaign, (ann, ben) = ferry.start("two", people=("ann", "ben"))
    hers = field(ferry.pages.get(ann).text, "assignment")
    assert ferry.answer(ben, assignment=hers).status_code in (401, 403)
    assert kept(ferry, campaign) == []


def test_a_form_that_is_sent_twice_is_kept_once(ferry: CampaignSite) -> None:
    campaign, (link,) = ferry.start("twice")
    page = ferry.pages.get(link).text
    sent = {name: field(page, name) for name in ("assignment", "answer_id", "stage")}
    for _ in range(2):
        assert ferry.pages.post(f"{link}/answer", data={**sent, "answer:adequacy": "2"}).status_code == 303
    assert kept(ferry, campaign) == [("submitted", {"adequacy": 2})]


@pytest.mark.parametrize("headers", [{"origin": "https://elsewhere.example"}, {"sec-fetch-site": "cross-site"}])
def test_another_sites_page_can_not_answer(ferry: CampaignSite, headers: dict[str, str]) -> None:
    campaign, (link,) = ferry.start(f"foreign-{len(headers)}-{next(iter(headers))}")
    page = ferry.pages.get(link).text
    sent = {name: field(page, name) for name in ("assignment", "answer_id", "stage")} | {"answer:adequacy": "2"}
    assert ferry.pages.post(f"{link}/answer", headers=headers, data=sent).status_code == 403
    draft = {"assignment": sent["assignment"], "answer_id": "x", "answers": {"adequacy": 2}}
    assert ferry.pages.post(f"{link}/draft", headers=headers, json=draft).status_code == 403
    assert kept(ferry, campaign) == []


def test_the_article_is_not_in_the_source_before_its_stage(ferry: CampaignSite) -> None:
    campaign, (link,) = ferry.start("staged", "genie-summarisation")
    asked = {"no-hallucination": "0", "informativeness": "0", "overall": "0"}
    for path in (link, f"{link}?stage=1", f"{link}?stage=99"):
        page = ferry.pages.get(path).text
        assert not re.search(r"input \d", page)
        assert "answer:overall" not in page
    jumped = {f"answer:{name}": value for name, value in asked.items()}
    refused = ferry.answer(link, stage="1", **jumped, **{"answer:fluency": "", "answer:conciseness": ""})
    assert (refused.status_code, "Not answered yet: fluency, conciseness" in refused.text) == (422, True)
    assert ferry.answer(link, 2).status_code == 303
    page = ferry.pages.get(link).text
    assert re.search(r"input \d", page)
    assert field(page, "stage") == "1"
    assert {kind for kind, _ in kept(ferry, campaign)} == {"draft"}


def test_nothing_in_the_source_tells_a_test_question(ferry: CampaignSite) -> None:
    """What the pages of test questions have beside their texts is what all pages have."""
    # A whole block of 20: 8 labels and 6 test questions of each kind, wherever in it they are; whoever gets all of a
    # kind wrong stays.
    patience: dict[str, Any] = {"exclusion": "e-value", "pass_mark": 0.01}
    campaign, (link,) = ferry.start("secret-tests", "binary", instances=8, positive=0.3, negative=0.3, **patience)
    skeletons = set()
    for _ in range(20):
        page = ferry.pages.get(link).text
        if 'name="assignment"' not in page:
            break
        bare = re.sub(r'<div class="text".*?</div>|value="[^"]*"|data-before="[^"]*"', "", page, flags=re.DOTALL)
        bare = re.sub(r"\d+ done, \d+ left|<details class=\"manual\".*?>|<button type=\"submit\"[^>]*>", "", bare)
        skeletons.add(bare)
        ferry.answer(link, 1)
    lines = list(campaign_answers(ferry.pages.site, ferry.pages.owner, campaign.id))
    assert {line.test for line in lines} == {None, "positive", "negative"}, "all three kinds came up"
    assert len(skeletons) == 1


def test_a_shared_link_needs_the_platforms_word_for_who_comes(ferry: CampaignSite) -> None:
    campaign, _ = ferry.start("shared", people=())
    token = shared_link(ferry.pages.site, ferry.pages.owner, campaign.id, "prolific")
    assert ferry.pages.get(f"/annotate/{token}").status_code == 422
    assert ferry.pages.get(f"/annotate/{token}?external={'x' * 201}").status_code == 422
    for name, who in (("PROLIFIC_PID", "p1"), ("external", "p2"), ("external", "p1"), ("workerId", "p3")):
        page = ferry.pages.get(f"/annotate/{token}?{name}={who}")
        assert page.status_code == 200
        assert f"/answer?{name}={who}" in page.text, "the form says again who answers"
    names = {one.name for one in annotator_lines(ferry.pages.site, ferry.pages.owner, campaign.id)}
    assert names == {"prolific:p1", "prolific:p2", "prolific:p3"}


def test_who_has_an_account_annotates_without_a_link(ferry: CampaignSite) -> None:
    campaign, _ = ferry.start("account", people=())
    door = f"/campaigns/{campaign.id}/annotate"
    page = ferry.pages.get(door, "annotator").text
    sent = {name: field(page, name) for name in ("assignment", "answer_id", "stage")} | {"answer:adequacy": "3"}
    draft = {"assignment": sent["assignment"], "answer_id": "d", "answers": {"adequacy": 1}, "seconds": 3}
    assert ferry.pages.post(f"{door}/draft", "annotator", json=draft).json()["kept"] == "d"
    answer = ferry.pages.post(f"{door}/answer", "annotator", data=sent)
    assert (answer.status_code, answer.headers["location"]) == (303, door)
    assert kept(ferry, campaign) == [("draft", {"adequacy": 1}), ("submitted", {"adequacy": 3})]
    assert [ferry.pages.get(door, asker).status_code for asker in (None, "stranger")] == [401, 403]
    assert ferry.pages.post(f"{door}/answer", "stranger", data=sent).status_code == 403
    (line,) = annotator_lines(ferry.pages.site, ferry.pages.owner, campaign.id)
    assert line.name == "account:annotator"


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"answers": 3}', b"[" * 5000, b'{"answers": {}}' + b" " * 300_000])
def test_a_draft_that_is_none_is_refused(ferry: CampaignSite, odd_link: str, raw: bytes) -> None:
    assert ferry.pages.post(f"{odd_link}/draft", content=raw).status_code == 422
