"""The owner's pages of campaigns and their interface for programs: planned, priced, watched, decided, downloaded."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from campaign_sites import BOARD, CampaignSite, campaign_site, shown_text

from billboards.campaigns.plan import SENTENCE, CampaignPlan
from billboards.campaigns.template_files import shipped
from billboards.site.campaigns.campaign import get_campaign
from billboards.site.campaigns.forms import plan_fields, sent_plan
from billboards.site.campaigns.status import campaign_status
from billboards.site.campaigns.views import live_document

SECTIONS = ("", "/annotators", "/agreement", "/results", "/preview", "/events", "/answers.csv", "/answers.jsonl")


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CampaignSite]:
    found = campaign_site(tmp_path_factory.mktemp("campaigns"))
    yield found
    found.pages.site.close()


@pytest.fixture(scope="module")
def odd_link(ferry: CampaignSite) -> str:
    return ferry.start("odd")[1][0]


def planned(ferry: CampaignSite, name: str, **fields: str) -> Any:
    return ferry.pages.post(f"{BOARD}/campaigns/new", "owner", data={"name": name, "template": "binary", **fields})


def api(ferry: CampaignSite, method: str, path: str, asker: str | None = "owner", **sent: Any) -> Any:
    headers = {} if asker is None else {"authorization": f"Bearer {ferry.pages.tokens[asker]}"}
    return ferry.pages.client.request(method, f"/api/v1{path}", headers=headers, **sent)


def test_a_plan_comes_back_from_its_form_as_it_was() -> None:
    plan = CampaignPlan(
        instances=300,
        overlap=0.125,
        positive=0.1,
        pass_mark=0.75,
        lease_seconds=90.0,
        pay=0.25,
        fee=0.333,
        budget=40.0,
        seconds_per_item=45.0,
        opens=1_800_000_000.0,
        days=("mon", "fri"),
        from_hour=9.5,
        until_hour=17.0,
        zone="Europe/Lisbon",
        seed=7,
    )
    assert sent_plan(plan_fields(plan)) == plan
    assert sent_plan({}) == SENTENCE


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"instances": "some"}, "Instances: 'some' is not a whole number"),
        ({"positive": "7"}, "positive must be so many in 20"),
        ({"opens": "tomorrow"}, "Not before: 'tomorrow' is not a time"),
        ({"seconds_per_item": "long"}, "Seconds an item takes: 'long' is not a number"),
        ({"template": "/etc/secret.toml"}, "there is no template '/etc/secret.toml'"),
        ({"generators": "g0\nnobody"}, "nobody"),
        ({"zone": "Atlantis"}, "is no time zone"),
    ],
)
def test_a_plan_that_can_not_be_is_shown_again_with_what_is_wrong(
    ferry: CampaignSite, fields: dict[str, str], words: str
) -> None:
    answer = planned(ferry, "kept-name", **fields)
    assert answer.status_code == 422
    said = answer.text.replace("&#39;", "'")
    assert words.lower() in said.lower()
    assert 'value="kept-name"' in said, "what was written is still there"


def test_money_is_spent_only_with_a_tick_beside_the_price(ferry: CampaignSite) -> None:
    fields = {"instances": "4", "pay": "0.5", "seconds_per_item": "60", "generators": "g0", "early": "0"}
    home = planned(ferry, "paid", **fields).headers["location"]
    assert "2.50 USD" in ferry.read(home), "four labels and a test question at 0.50"
    refused = ferry.pages.post(f"{home}/open", "owner", data={})
    assert (refused.status_code, "tick the box" in refused.text) == (422, True)
    assert get_campaign(ferry.pages.site, "paid").state == "draft"
    assert ferry.pages.post(f"{home}/open", "owner", data={"confirm": "yes"}).status_code == 303
    assert ferry.pages.post(f"{home}/top-up", "owner", data={"budget": "3"}).status_code == 422
    ferry.pages.post(f"{home}/top-up", "owner", data={"budget": "3", "confirm": "yes"})
    topped = get_campaign(ferry.pages.site, "paid")
    assert (topped.plan.budget, topped.plan.labels, topped.generators) == (3.0, 1, ("g0",)), "the rest is as it was"
    added = {"budget": "2", "labels": "2", "generators": "g1", "confirm": "yes"}
    assert ferry.pages.post(f"{home}/top-up", "owner", data=added).status_code == 303
    topped = get_campaign(ferry.pages.site, "paid")
    assert (topped.plan.budget, topped.plan.labels, topped.generators) == (5.0, 2, ("g0", "g1"))
    ferry.pages.post(f"{home}/pause", "owner", data={"reason": "lunch"})
    assert "lunch" in ferry.read(home)
    assert ferry.pages.post(f"{home}/resume", "owner", data={}).status_code == 422
    assert ferry.pages.post(f"{home}/close", "owner", data={}).status_code == 422
    assert ferry.pages.post(f"{home}/close", "owner", data={"confirm": "yes"}).status_code == 303
    assert get_campaign(ferry.pages.site, "paid").state == "closed"
    assert ferry.pages.post(f"{home}/pause", "owner", data={}).status_code == 409


def test_nobody_but_an_owner_sees_or_changes_a_campaign(ferry: CampaignSite) -> None:
    campaign, _ = ferry.start("guarded")
    home = ferry.home(campaign)
    for asker, refused in ((None, 401), ("stranger", 403), ("annotator", 403)):
        for section in SECTIONS:
            assert ferry.pages.get(f"{home}{section}", asker).status_code == refused, (asker, section)
        for action in ("close", "invite", "exclude", "decide"):
            sent = {"confirm": "yes", "count": "1", "reason": "x"}
            assert ferry.pages.post(f"{home}/{action}", asker, data=sent).status_code == refused
        for page in ("new", "blind-check"):
            assert ferry.pages.get(f"{BOARD}/campaigns/{page}", asker).status_code == refused
            assert ferry.pages.post(f"{BOARD}/campaigns/{page}", asker, data={}).status_code == refused
    assert get_campaign(ferry.pages.site, campaign.id).state == "open"
    assert ferry.pages.get(f"/boards/elsewhere/campaigns/{campaign.id}", "owner").status_code == 404
    assert ferry.pages.post(f"{home}/nonsense", "owner", data={}).status_code == 404


def test_the_tab_is_for_who_runs_campaigns_or_annotates(ferry: CampaignSite) -> None:
    tab = f'href="{BOARD}/campaigns"'
    seen = {asker: tab in ferry.pages.get(f"{BOARD}/submit", asker).text for asker in (None, "stranger")}
    assert seen == {None: False, "stranger": False}
    assert tab in ferry.read(f"{BOARD}/submit")
    assert tab in ferry.read(f"{BOARD}/submit", "annotator")


def test_an_annotator_is_shown_where_to_annotate_and_nothing_else_of_a_campaign(ferry: CampaignSite) -> None:
    campaign, _ = ferry.start("for-accounts", people=("zoe@example.org",))
    page = ferry.read(f"{BOARD}/campaigns", "annotator")
    assert f"/campaigns/{campaign.id}/annotate" in page
    assert f"{BOARD}/campaigns/{campaign.id}" not in page
    assert "zoe" not in page
    leads = {
        who: ferry.pages.get(f"/campaigns/{campaign.id}", who).headers["location"] for who in ("owner", "annotator")
    }
    assert leads == {"owner": ferry.home(campaign), "annotator": f"/campaigns/{campaign.id}/annotate"}
    assert ferry.pages.get(f"/campaigns/{campaign.id}").status_code == 401


def test_links_are_shown_once(ferry: CampaignSite) -> None:
    campaign, _ = ferry.start("links", people=())
    home = ferry.home(campaign)
    made = ferry.pages.post(f"{home}/invite", "owner", data={"names": "ann@example.org\r\nben@example.org\r\n"})
    tokens = re.findall(r'href="/annotate/([^"]+)"', made.text)
    assert (made.status_code, made.headers["cache-control"], len(tokens)) == (200, "no-store", 2)
    again = ferry.read(f"{home}/annotators")
    assert "ann@example.org" in again
    assert not any(token in again for token in tokens)
    assert ferry.pages.post(f"{home}/invite", "owner", data={}).status_code == 422
    shared = ferry.pages.post(f"{home}/share", "owner", data={"platform": "prolific"})
    (link,) = re.findall(r'href="(/annotate/[^"]+)"', shared.text)
    assert ferry.pages.get(link.replace("ID", "p1")).status_code == 200


def test_an_excluded_annotators_answers_stand_beside_the_results_and_no_name_leaves(ferry: CampaignSite) -> None:
    campaign, links = ferry.start("judged", people=("ann@example.org", "ben@example.org"), labels=2)
    for link, chosen in zip(links, (4, 0), strict=True):
        for _ in range(4):
            assert ferry.answer(link, chosen).status_code == 303
    home = ferry.home(campaign)
    assert "50.0" in ferry.read(f"{home}/results")
    spread = ferry.read(f"{home}/agreement")
    assert spread.count("<span>a-") == 8, "four outputs, on which two annotators differ"
    assert "Krippendorff" in spread
    pseudonyms = re.findall(r'name="annotator" value="(a-[0-9a-f]+)"', ferry.read(f"{home}/annotators"))
    without = ferry.pages.post(f"{home}/exclude", "owner", data={"annotator": pseudonyms[-1], "reason": " "})
    assert (without.status_code, "needs a reason" in without.text) == (422, True)
    ferry.pages.post(f"{home}/exclude", "owner", data={"annotator": pseudonyms[-1], "reason": "answers in his sleep"})
    assert "answers in his sleep" in ferry.read(f"{home}/annotators")
    cells = re.findall(r"<td>(\d+\.\d)</td>", ferry.read(f"{home}/results"))
    assert sorted(cells) == ["100.0", "50.0"], "as it counts, and with everybody"

    rows = list(csv.DictReader(io.StringIO(ferry.read(f"{home}/answers.csv"))))
    assert [row["state"] for row in rows].count("void") == 4
    assert {row["annotator"] for row in rows} == set(pseudonyms)
    records = [json.loads(line) for line in ferry.read(f"{home}/answers.jsonl?history=yes").splitlines()]
    assert len(records) == 8
    exported = ferry.read(f"{home}/answers.csv") + json.dumps(records)
    exported += json.dumps(api(ferry, "GET", f"/campaigns/{campaign.id}/annotators").json())
    assert "example.org" not in exported
    ferry.pages.post(f"{home}/readmit", "owner", data={"annotator": pseudonyms[-1], "reason": "awake again"})
    assert ferry.read(f"{home}/annotators").count("awake again") == 2, "on the line and on record"


def test_a_closed_campaign_tells_the_boards_places_with_and_without_the_excluded(ferry: CampaignSite) -> None:
    campaign, (link,) = ferry.start("placed")
    for _ in range(4):
        ferry.answer(link)
    home = ferry.home(campaign)
    ferry.pages.work()
    assert "?places=yes" not in ferry.read(f"{home}/results"), "an open campaign ranks nothing yet"
    ferry.pages.post(f"{home}/close", "owner", data={"confirm": "yes", "ranks": "yes"})
    assert f"{home}/results?places=yes" in ferry.read(f"{home}/results")
    places = re.findall(r"<td class=\"left\">(generator|metric)</td>", ferry.read(f"{home}/results?places=yes"))
    assert (places.count("generator"), places.count("metric")) == (3, 3)


def test_a_dispute_is_decided_on_record(ferry: CampaignSite) -> None:
    campaign, (link,) = ferry.start("disputed")
    ferry.answer(link, 4)
    home = ferry.home(campaign)
    answer = json.loads(ferry.read(f"{home}/answers.jsonl"))["answer_id"]
    for action, said in (("dispute", {}), ("decide", {"decision": "struck"}), ("decide", {"decision": "restored"})):
        sent = {"answer": answer, "reason": f"because of {action}", **said}
        assert ferry.pages.post(f"{home}/{action}", "owner", data=sent).status_code == 303
        state = json.loads(ferry.read(f"{home}/answers.jsonl"))["state"]
        assert state == ("struck" if said.get("decision") == "struck" else "valid")
    page = ferry.read(f"{home}/agreement")
    assert re.findall(r"<strong>(disputed|struck|restored)</strong> by owner", page) == [
        "disputed",
        "struck",
        "restored",
    ]
    assert ferry.pages.post(f"{home}/decide", "owner", data={"answer": answer, "reason": "x"}).status_code == 422


def test_a_blind_check_says_whom_the_judges_side_with(ferry: CampaignSite) -> None:
    sent = {"name": "blind", "first": "crowd", "second": "expert", "per_corner": "2", "template": "binary"}
    refused = ferry.pages.post(f"{BOARD}/campaigns/blind-check", "owner", data={**sent, "per_corner": "2.5"})
    assert (refused.status_code, 'value="blind"' in refused.text) == (422, True)
    compares = ferry.pages.post(f"{BOARD}/campaigns/blind-check", "owner", data={**sent, "template": "pairwise"})
    assert "judges them one by one" in compares.text
    home = ferry.pages.post(f"{BOARD}/campaigns/blind-check", "owner", data=sent).headers["location"]
    assert "Nobody has judged" in ferry.read(f"{home}/results")
    ferry.pages.post(f"{home}/open", "owner", data={})
    made = ferry.pages.post(f"{home}/invite", "owner", data={"count": "1"}).text
    (link,) = re.findall(r'href="(/annotate/[^"]+)"', made)
    for _ in range(4):
        wrong = "wrong wrong" in shown_text(ferry.pages.get(link).text)
        ferry.answer(link, 0 if wrong else 1)
    cells = re.findall(r'<td class="left">(crowd|expert)</td>', ferry.read(f"{home}/results"))
    assert cells == ["expert", "expert"], "in both corners"


def test_every_page_of_a_campaign_tells_what_was_answered_since_it_was_last_looked_at(ferry: CampaignSite) -> None:
    campaign, (link, other) = ferry.start("looked-at", people=("ann", "ben"), labels=2)
    home = ferry.home(campaign)
    before = {section: ferry.read(f"{home}{section}") for section in SECTIONS[:4]}
    for _ in range(4):
        ferry.answer(link)
    ferry.answer(other, 0)
    news = {
        "": '<dd data-fact="labels">5 of 8</dd>',
        "/annotators": "<td>4</td><td>9</td>",
        "/agreement": "<td>80.00</td>",
        "/results": "<td>87.5</td>",
    }
    for section, words in news.items():
        assert words not in before[section], section
        assert words in ferry.read(f"{home}{section}"), section


def test_what_the_stream_sends_is_what_the_page_says(ferry: CampaignSite) -> None:
    campaign, (link,) = ferry.start("streamed", pay=0.5)
    ferry.answer(link)
    told = live_document(campaign_status(ferry.pages.site, ferry.pages.owner, campaign.id))
    assert (told["state"], told["done"], told["total"], told["generators"]) == ("open", 1, 4, [[1, 4]])
    page = ferry.read(ferry.home(campaign))
    for key, text in told["facts"].items():
        assert f'data-fact="{key}">{text}<' in page
    assert told["facts"]["spent"] == "0.50 USD"


@pytest.mark.parametrize("name", shipped())
def test_every_template_can_be_looked_at_and_not_answered(ferry: CampaignSite, name: str) -> None:
    page = ferry.pages.get(f"/templates/{name}").text
    assert '<fieldset class="bare" disabled>' in page
    assert 'method="post" action="/annotate' not in page
    assert ferry.pages.get("/templates/pyproject.toml").status_code == 404


def test_a_session_needs_its_word_for_every_form(ferry: CampaignSite) -> None:
    campaign, _ = ferry.start("session")
    client = ferry.pages.client
    client.post("/login", data={"token": ferry.pages.tokens["owner"]})
    try:
        page = client.get(f"/campaigns/{campaign.id}/annotate").text
        word = re.search(r'name="csrf" value="([^"]+)"', page)
        assert word is not None
        paths = (f"{ferry.home(campaign)}/pause", f"/campaigns/{campaign.id}/annotate/skip")
        assert [client.post(path, data={}).status_code for path in paths] == [403, 403]
        assert client.post(f"/campaigns/{campaign.id}/annotate/draft", json={"answers": {}}).status_code == 403
        assert client.post(paths[0], data={"csrf": word[1]}).status_code == 303
    finally:
        client.cookies.clear()


def test_a_program_plans_opens_invites_annotates_and_reads_the_results(ferry: CampaignSite) -> None:
    plan = {"instances": 2, "positive": 0, "negative": 0, "pay": 0.1}
    sent = {"name": "by-program", "template": "genie-translation", "generators": ["g1"], "plan": plan}
    made = api(ferry, "POST", "/boards/ferry/campaigns", json=sent)
    assert (made.status_code, made.json()["state"], made.json()["instances"]) == (201, "draft", 2)
    home = f"/campaigns/{made.json()['id']}"
    assert api(ferry, "GET", f"{home}/quote").json()["answers"] == 2
    assert api(ferry, "POST", f"{home}/open", json={}).status_code == 409
    assert api(ferry, "POST", f"{home}/open", json={"confirm": True}).json()["state"] == "open"
    (link,) = api(ferry, "POST", f"{home}/annotators", json={"names": ["ann"]}).json()
    door = f"/annotate/{link['token']}"
    task = api(ferry, "GET", door, None).json()
    assert [question["name"] for question in task["questions"]] == ["adequacy"]
    turn = api(ferry, "POST", f"{door}/next", None).json()
    answer = {"assignment": turn["item"]["assignment"], "answer_id": "one", "answers": {"adequacy": 3}, "seconds": 5}
    assert api(ferry, "POST", f"{door}/submit", None, json={**answer, "answers": {}}).status_code == 422
    first = api(ferry, "POST", f"{door}/submit", None, json=answer).json()
    again = api(ferry, "POST", f"{door}/submit", None, json=answer).json()
    assert (first["kind"], first["repeated"], again["repeated"]) == ("submitted", False, True)
    undone = api(ferry, "POST", f"{door}/undo", None, json={"answer_id": "two"}).json()
    assert undone["item"]["answers"] == {"adequacy": 3}
    api(ferry, "POST", f"{door}/submit", None, json={**answer, "answer_id": "three", "answers": {"adequacy": 4}})
    skipped = api(ferry, "POST", f"{door}/next", None).json()["item"]["assignment"]
    assert api(ferry, "POST", f"{door}/skip", None, json={"assignment": skipped}).status_code == 204
    status = api(ferry, "GET", home).json()
    assert (status["done"], status["wanted"], round(status["spent"], 2)) == (1, 2, 0.1)
    (estimate,) = api(ferry, "GET", f"{home}/results").json()["estimates"]
    assert (estimate["generator"], estimate["mean"]) == ("g1", 100.0)
    answers = api(ferry, "GET", f"{home}/answers?history=true").json()["items"]
    assert [one["state"] for one in answers] == ["superseded", "undone", "valid"]
    nothing = {"right": 0, "wrong": 0, "accuracy": None, "low": None, "high": None, "noisy": None}
    (line,) = api(ferry, "GET", f"{home}/annotators").json()
    assert [line.pop(kind) for kind in ("positive", "negative")] == [nothing, nothing]
    facts = {"annotator": link["annotator"], "state": "active", "answers": 1, "median_seconds": 5.0, "reason": ""}
    evidence = line.pop("evidence")
    assert line == facts
    assert (evidence["signs"], evidence["total"]) == ({}, pytest.approx(1.0)), "one answer is no sign of anything"
    ruled = api(ferry, "POST", f"{home}/annotators/{link['annotator']}/exclude", json={"reason": "a machine"}).json()
    assert (ruled["verdict"], ruled["reason"]) == ("excluded", "a machine")
    unasked = api(ferry, "POST", f"{home}/close", json={})
    assert unasked.status_code == 409
    assert "no answer of it counts, so nothing changes; send confirm to close campaign" in unasked.text
    assert api(ferry, "GET", f"{home}/coverage").json()["own"]["judgments"] == 0
    assert api(ferry, "POST", f"{home}/close", json={"confirm": True}).json()["state"] == "closed"
    assert api(ferry, "POST", f"{door}/next", None).json()["state"] in ("excluded", "closed")


def test_a_program_is_told_what_its_stage_shows_and_no_test_question(ferry: CampaignSite) -> None:
    _, (link,) = ferry.start("staged-program", "genie-summarisation", positive=0.25, negative=0.25)
    door = link
    item = api(ferry, "POST", f"{door}/next", None).json()["item"]
    assert (item["stage"], item["input"], item["asked"]) == (0, None, ["fluency", "conciseness"])
    assert len(item["outputs"]) == 2
    kept = {"assignment": item["assignment"], "answer_id": "a", "answers": {"fluency": 1, "conciseness": 2}}
    assert api(ferry, "POST", f"{door}/save", None, json=kept).json()["kind"] == "draft"
    later = api(ferry, "POST", f"{door}/next", None).json()
    assert (later["item"]["stage"], later["item"]["input"].startswith("input")) == (1, True)
    assert not {"test", "purpose", "kind", "item", "instance"} & set(later["item"])


@pytest.mark.parametrize("odd", [None, [], {}, "4", -1, 99, 10**30, True, 1.5])
def test_an_answer_that_is_none_is_refused_and_brings_nothing_down(
    ferry: CampaignSite, odd_link: str, odd: object
) -> None:
    item = api(ferry, "POST", f"{odd_link}/next", None).json()["item"]
    sent = {"assignment": item["assignment"], "answer_id": f"odd {odd!r}"[:60], "answers": {"adequacy": odd}}
    for verb in ("save", "submit"):
        assert api(ferry, "POST", f"{odd_link}/{verb}", None, json=sent).status_code == 422


def test_the_links_of_a_closed_door_open_nothing(ferry: CampaignSite) -> None:
    assert api(ferry, "GET", "/annotate/nothing", None).status_code == 401
    assert api(ferry, "POST", "/boards/ferry/campaigns", "annotator", json={}).status_code == 403
    sent = {"name": "x", "template": "../../secret.toml"}
    assert api(ferry, "POST", "/boards/ferry/campaigns", json=sent).status_code == 422
