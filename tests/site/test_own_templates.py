"""A template of an owner's own on the site: sent as a file or a text, looked at, asked in a campaign, and harmless."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from campaign_sites import BOARD, CampaignSite, campaign_site, field

from billboards.campaigns.template_files import LARGEST, template_source
from billboards.site.campaigns.campaign import get_campaign

NEW, LOOK = f"{BOARD}/campaigns/new", f"{BOARD}/campaigns/template"
OWN = template_source("binary").replace('name = "binary"', 'name = "my-own"')
#: Everything that a browser might take for more than text, in every place where text may stand.
HOSTILE = """
name = "hostile"
version = 1
title = "<script>alert(1)</script>"
task = "{{ 7 * 7 }}<img src=x onerror=alert(2)>"
language = '"><script>alert(3)</script>'
output_names = ["<b onclick=alert(4)>"]
instructions = "javascript:alert(5) <iframe src=//evil.example></iframe>\\n- {% include '/etc/passwd' %}"
[[stages]]
shows = ["outputs", "reference"]
dimensions = ['" autofocus onfocus=alert(6) x="']
instructions = "</style><script>alert(7)</script>"
[[dimensions]]
name = '" autofocus onfocus=alert(6) x="'
kind = "scale"
question = "<svg onload=alert(8)>"
help = "<a href='javascript:alert(9)'>look</a>"
labels = ["<script>", "</fieldset></form>"]
[[examples]]
outputs = ["<script>alert(10)</script>"]
answers = { '" autofocus onfocus=alert(6) x="' = 1 }
why = "<object data=evil>"
"""


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CampaignSite]:
    found = campaign_site(tmp_path_factory.mktemp("own-templates"))
    yield found
    found.pages.site.close()


def send(ferry: CampaignSite, path: str, text: str | bytes, asker: str | None = "owner", **fields: str) -> Any:
    """The form with a file."""
    raw = text.encode() if isinstance(text, str) else text
    files = {"file": ("mine.toml", raw, "application/toml")}
    sent = {"template": "own", "instances": "4", "positive": "0", "negative": "0", "generators": "g0", **fields}
    return ferry.pages.post(path, asker, data=sent, files=files)


def api(ferry: CampaignSite, path: str, asker: str, **sent: Any) -> Any:
    headers = {"authorization": f"Bearer {ferry.pages.tokens[asker]}"}
    return ferry.pages.client.post(f"/api/v1{path}", headers=headers, json=sent)


def test_a_file_is_looked_at_and_then_asked_in_a_campaign(ferry: CampaignSite) -> None:
    seen = send(ferry, LOOK, OWN)
    assert (seen.status_code, seen.headers["cache-control"]) == (200, "no-store")
    assert "As an annotator sees it" in seen.text
    assert "my-own" in seen.text
    assert send(ferry, NEW, OWN, name="with-a-file").status_code == 303
    campaign = get_campaign(ferry.pages.site, "with-a-file")
    assert (campaign.template.name, campaign.state) == ("my-own", "draft")
    assert "my-own" in ferry.read(f"{ferry.home(campaign)}/preview")


def test_a_pasted_text_does_as_well(ferry: CampaignSite) -> None:
    sent = {"name": "pasted", "template": "own", "pasted": OWN.replace("\n", "\r\n"), "generators": "g0"}
    assert ferry.pages.post(NEW, "owner", data=sent).status_code == 303
    assert get_campaign(ferry.pages.site, "pasted").template.name == "my-own"


def test_every_mistake_has_a_line_and_the_text_can_be_mended(ferry: CampaignSite) -> None:
    wrong = OWN.replace("version = 1", "version = 0").replace('name = "my-own"', 'name = "My Own"\ncolour = 1')
    for path in (LOOK, NEW):
        page = send(ferry, path, wrong, name="wrong")
        assert page.status_code == 422
        assert page.text.count("<li>mine.toml: ") == 3
        assert "version: must be a whole number from 1 on" in page.text
    assert "name = &#34;My Own&#34;" in page.text, "in the field, to be mended"
    assert 'value="wrong"' in page.text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "instructions: is missing; write it as a text in quotes"),
        ("x" * (LARGEST + 1), "has 200,001 bytes; a template may have 200,000"),
        (b"name = 'caf\xe9'", "is not UTF-8"),
        ("name = ", "is no TOML"),
        ("a = " + "[" * 5000, "nested too deeply"),
        (OWN.replace('name = "my-own"', 'name = "../../etc"'), "must be lower-case letters"),
        (
            OWN + '\n[[dimensions]]\nname = "a\\u0000"\nkind = "scale"\nquestion = "q"\nlabels = ["x", "y"]',
            "can be seen",
        ),
    ],
)
def test_what_is_no_template_is_refused_in_words(ferry: CampaignSite, text: str | bytes, said: str) -> None:
    for path in (LOOK, NEW):
        page = send(ferry, path, text, name="none")
        assert page.status_code == 422
        assert said in page.text


def test_a_template_that_would_mix_two_scales_is_refused(ferry: CampaignSite) -> None:
    scale = template_source("direct-assessment").replace('name = "direct-assessment"', 'name = "numbers"')
    assert send(ferry, NEW, scale, name="to-a-hundred").status_code == 303
    other = scale.replace("range = [0, 100]", "range = [0, 200]")
    page = send(ferry, NEW, other, name="to-two-hundred")
    assert page.status_code == 422
    assert "has another scale, and all of one name are counted together" in page.text
    assert send(ferry, NEW, other.replace('"numbers"', '"more-numbers"'), name="to-two-hundred").status_code == 303


def test_a_body_beyond_all_bounds_is_not_even_read(ferry: CampaignSite) -> None:
    assert send(ferry, LOOK, "x" * (2 * 2**20)).status_code == 413


def test_a_template_beside_another_choice_is_asked_about(ferry: CampaignSite) -> None:
    page = send(ferry, NEW, OWN, name="two", template="binary")
    assert (page.status_code, "choose yours, or take it out" in page.text) == (422, True)


def test_nobody_but_an_owner_may_send_one(ferry: CampaignSite) -> None:
    for asker, refused in ((None, 401), ("stranger", 403), ("annotator", 403)):
        assert send(ferry, LOOK, OWN, asker).status_code == refused
        assert send(ferry, NEW, OWN, asker, name="no").status_code == refused
    for asker in ("stranger", "annotator"):
        assert api(ferry, "/templates/preview", asker, source=OWN).status_code == 403
        assert api(ferry, "/boards/ferry/campaigns", asker, name="no", template_source=OWN).status_code == 403
    assert send(ferry, LOOK.replace("ferry", "nowhere"), OWN).status_code == 404


def test_a_session_needs_its_word_to_send_one(ferry: CampaignSite) -> None:
    client = ferry.pages.client
    client.post("/login", data={"token": ferry.pages.tokens["owner"]})
    try:
        sent = {"name": "by-session", "template": "own", "pasted": OWN}
        assert [client.post(path, data=sent).status_code for path in (LOOK, NEW)] == [403, 403]
        word = field(client.get(NEW).text, "csrf")
        assert client.post(LOOK, data={**sent, "csrf": word}).status_code == 200
    finally:
        client.cookies.clear()


def test_nothing_in_a_template_is_more_than_text(ferry: CampaignSite) -> None:
    assert send(ferry, NEW, HOSTILE, name="hostile").status_code == 303
    campaign, (link,) = open_own(ferry, "hostile")
    home = ferry.home(campaign)
    paths = [f"{home}{part}" for part in ("", "/preview", "/annotators", "/agreement", "/results")]
    pages = {path: ferry.read(path) for path in (*paths, f"{BOARD}/campaigns")}
    pages |= {"look": send(ferry, LOOK, HOSTILE).text, "annotator": ferry.pages.get(link).text}
    for path, page in pages.items():
        for live in ("<script>alert", "<img src=x", "<iframe", "<svg onload", "<object", "<b onclick", "'javascript:"):
            assert live not in page, (path, live)
        assert '" autofocus' not in page, path
        assert "49&lt;img" not in page, path
    assert "&lt;svg onload=alert(8)&gt;" in pages["annotator"]
    sent = {name: field(pages["annotator"], name) for name in ("assignment", "answer_id", "stage")}
    sent |= {"seconds": "9", 'answer:" autofocus onfocus=alert(6) x="': "1"}
    assert ferry.pages.post(f"{link}/answer", data=sent).status_code == 303
    assert ferry.pages.get(f"{home}/answers.csv", "owner").status_code == 200


def open_own(ferry: CampaignSite, name: str) -> tuple[Any, list[str]]:
    """A campaign that was planned by form, opened, with a link."""
    from billboards.site.campaigns.annotators import invite
    from billboards.site.campaigns.lifecycle import open_campaign

    site, owner = ferry.pages.site, ferry.pages.owner
    made = get_campaign(site, name)
    links = [one.path for one in invite(site, owner, made.id, ["ann"])]
    return open_campaign(site, owner, made.id), links


def test_programs_send_one_too(ferry: CampaignSite) -> None:
    seen = api(ferry, "/templates/preview", "owner", source=OWN).json()
    assert (seen["name"], seen["dimensions"]) == ("my-own", ["good"])
    assert "Stage 1 of 1" in seen["preview"]
    wrong = api(ferry, "/templates/preview", "owner", source='name = "x"')
    assert wrong.status_code == 422
    assert "template_source: error: title: is missing; write it as a text in quotes" in wrong.json()["problems"]
    made = api(ferry, "/boards/ferry/campaigns", "owner", name="by-program", template_source=OWN, generators=["g0"])
    assert (made.status_code, made.json()["template"]) == (201, seen["signature"])
    for both in ({}, {"template": "binary", "template_source": OWN}):
        refused = api(ferry, "/boards/ferry/campaigns", "owner", name="x", **both)
        assert (refused.status_code, "one of the two" in refused.text) == (422, True)


def test_a_shipped_templates_file_can_be_taken_to_begin_with(ferry: CampaignSite) -> None:
    answer = ferry.pages.get("/templates/esa/file")
    assert answer.text == template_source("esa")
    assert 'filename="esa.toml"' in answer.headers["content-disposition"]
    assert ferry.pages.get("/templates/..%2Fsecret/file").status_code == 404
    assert 'href="/templates/esa/file"' in ferry.read("/templates")
