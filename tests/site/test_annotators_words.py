"""Annotators' pages in seven languages: every message in each, chosen by browser or switch, nothing left in English."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from campaign_sites import CampaignSite, campaign_site

from billboards.campaigns.plan import CampaignPlan
from billboards.campaigns.template_files import SentTemplate, template_source
from billboards.site.campaigns.annotators import invite
from billboards.site.campaigns.lifecycle import close_campaign, create_campaign, open_campaign, pause_campaign
from billboards.site.campaigns.turns import MESSAGES
from billboards.site.campaigns.words import LANGUAGES, chosen_words, preferred, words_of

ROOT = Path(__file__).resolve().parents[2] / "src" / "billboards"
ENGLISH = words_of("en")
OTHERS = LANGUAGES[1:]
#: What is spelled as in English: single words, quotes, and what is printed on keys.
ALIKE = {
    "de": {"segment"},
    "es": {"marks_control_key"},
    "fr": {"image", "segment", "source", "marks_control_key"},
    "zh": {"marks_quoted", "marks_delete_key", "marks_control_key"},
    "hi": {"marks_quoted", "marks_delete_key", "marks_control_key"},
    "ar": {"marks_delete_key", "marks_control_key"},
}
KEYS = {"Shift", "Ctrl", "Enter", "Esc", "Del"}
SURVEY = """
[[survey]]
name = "age"
kind = "slider"
question = "Q1"
[[survey]]
name = "more"
kind = "text"
question = "Q2"
when = "after"
required = false
"""


@pytest.fixture
def ferry(tmp_path: Path) -> CampaignSite:
    return campaign_site(tmp_path)


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_has_every_message_with_its_places(code: str) -> None:
    words = words_of(code)
    assert list(words.messages) == list(ENGLISH.messages)
    assert words.places == ENGLISH.places
    assert all(message.strip() == message and message for message in words.messages.values())
    assert words.direction == ("rtl" if code == "ar" else "ltr")


@pytest.mark.parametrize("code", OTHERS)
def test_messages_are_translated(code: str) -> None:
    words = words_of(code)
    same = {key for key, message in words.messages.items() if message == ENGLISH.messages[key]}
    assert same == ALIKE[code]


def test_every_message_is_used_and_every_message_used_is_there() -> None:
    folders = (ROOT / "site" / "campaigns", ROOT / "campaigns" / "questions")
    pages = [path.read_text("utf-8") for folder in folders for path in folder.rglob("*.html.j2")]
    used = {key for page in pages for key in re.findall(r'\bt\("(\w+)"[,)]', page)}
    used |= {key for page in pages for pair in re.findall(r't\("(\w+)" if [^}]+? else "(\w+)"\)', page) for key in pair}
    used |= {f"turn_{state}" for state in MESSAGES if state != "item"} | {"best", "worst"}
    assert used <= set(ENGLISH.messages)
    python = "\n".join(path.read_text("utf-8") for path in (ROOT / "site" / "campaigns").glob("*.py"))
    for key in set(ENGLISH.messages) - used:
        spoken = re.split(r"\{\w+\}", ENGLISH.messages[key])[0].strip()
        assert spoken in python or key in ("output", "output_number"), key


def test_what_turns_say_is_what_pages_say_in_english() -> None:
    for state, message in MESSAGES.items():
        assert state == "item" or ENGLISH(f"turn_{state}") == message


def test_a_message_is_found_by_its_english_words() -> None:
    german = words_of("de")
    assert german.text("Input") == "Eingabe"
    assert german.text("Output 2") == "Ausgabe 2"
    assert german.text("Not answered yet: fluency, style") == "Noch nicht beantwortet: fluency, style"
    assert german.text("The owner's own words") == "The owner's own words"


@pytest.mark.parametrize(
    ("accepted", "code"),
    [
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("zh-Hant-TW", "zh"),
        ("en;q=0.5, ar;q=0.7", "ar"),
        ("pt, fr;q=0.3", "fr"),
        ("hi;q=0, es;q=0.2", "es"),
        ("", "en"),
        ("*;q=nonsense,,;;", "en"),
        ("x" * 5000, "en"),
    ],
)
def test_the_browser_chooses(accepted: str, code: str) -> None:
    assert chosen_words(None, None, accepted).code == code
    assert chosen_words(None, "hi", accepted).code == "hi", "what was chosen before comes first"
    assert chosen_words("fr", "hi", accepted).code == "fr", "and what is asked for now before that"
    assert chosen_words("../en", "xx", accepted).code == code


def test_weights_decide_and_then_the_order() -> None:
    assert preferred("a;q=0.1,b,c;q=0.9,d") == ["b", "d", "c", "a"]


def _rich(ferry: CampaignSite, **plan: Any) -> tuple[str, str]:
    """An open campaign with consent, surveys, tests to begin with and pay; its id and an annotator's link."""
    source = template_source("genie-translation").replace("version = 1\n", 'version = 1\nconsent = "C"\n', 1) + SURVEY
    settings: dict[str, Any] = {
        "instances": 2,
        "positive": 0.0,
        "negative": 0.0,
        "qualification": 2,
        "pass_mark": 0.0,
        "pay": 0.5,
    }
    site, owner = ferry.pages.site, ferry.pages.owner
    sent = SentTemplate("mine.toml", source)
    made = create_campaign(
        site, owner, "ferry", "rich", sent, generators=["g0"], plan=CampaignPlan(**{**settings, **plan})
    )
    (link,) = invite(site, owner, made.id, ["ann"])
    return open_campaign(site, owner, made.id).id, link.path


def _check(page: str, code: str) -> None:
    """Nothing that a page says in English is left in it."""
    words = words_of(code)
    assert f'<html lang="{code}" dir="{words.direction}">' in page
    told = html.unescape(page)
    for key, message in ENGLISH.messages.items():
        spoken = max(re.split(r"\{\w+\}", message), key=len).strip()
        if words.messages[key] != message and len(spoken) > 6:
            assert not re.search(rf"(?<!\w){re.escape(spoken)}(?!\w)", told), (code, key)


@pytest.mark.long
@pytest.mark.parametrize("code", OTHERS)
def test_no_page_of_an_annotator_has_english_left(ferry: CampaignSite, code: str) -> None:
    campaign, link = _rich(ferry)
    site, owner = ferry.pages.site, ferry.pages.owner
    head = {"accept-language": code}

    def look() -> str:
        page = ferry.pages.get(link, **head).text
        _check(page, code)
        return str(page)

    def send(form: str, **data: str) -> str:
        answer = ferry.pages.post(f"{link}/{form}", headers=head, data=data)
        if answer.status_code != 303:
            _check(answer.text, code)
        return str(answer.status_code)

    digest = re.search(r'name="digest" value="(\w+)"', look())
    assert digest is not None
    assert send("consent", digest=digest[1]) == "422"
    assert send("consent", digest="x", agree="yes") == "409"
    assert send("consent", digest=digest[1], agree="yes") == "303"
    look()
    assert send("survey", page="before") == "422"
    assert send("survey", **{"page": "before", "answer:age": "30"}) == "303"
    assert send("undo", answer_id="a") == "409"
    page = look()
    assert words_of(code)("qualification", number=1, total=2) in html.unescape(page)
    for _ in range(4):
        page = look()
        fields = {name: re.search(rf'name="{name}" value="([^"]*)"', page) for name in ("assignment", "answer_id")}
        sent = {name: found[1] for name, found in fields.items() if found is not None}
        assert send("answer", **sent) == "422"
        sent["answer_id"] += "b"
        assert send("answer", **sent, **{"answer:adequacy": "4"}) == "303"
    assert words_of(code)("turn_done") in html.unescape(look())
    assert send("survey", page="after") == "303"
    pause_campaign(site, owner, campaign)
    look()
    close_campaign(site, owner, campaign)
    assert words_of(code)("turn_closed") in html.unescape(look())


def _marking(page: str) -> tuple[list[str], dict[str, str]]:
    """What the tools for marking say: texts and labels, without the template's words, and the words of their script."""
    found = re.search(r"<noscript>.*?</details>", page, re.DOTALL)
    assert found is not None
    own = re.sub(r"<select.*?</select>|<bdi>.*?</bdi>", "", found[0], flags=re.DOTALL)
    labels = re.findall(r'(?:aria-label|title|placeholder|alt)="([^"]*)"', own)
    words = re.search(r"data-words='([^']*)'", own)
    assert words is not None
    texts = re.sub(r"<[^>]*>", "\n", re.sub(r"data-words='[^']*'", "", own)).split("\n")
    return [html.unescape(text).strip() for text in (*texts, *labels) if text.strip()], json.loads(words[1])


def test_marking_errors_has_no_english_left_in_any_language(ferry: CampaignSite) -> None:
    every_tool = "allows_missing = true\nmarks_source = true\ncomments = true\nno_translation = 25\n"
    source = template_source("mqm").replace("allows_missing = true\n", every_tool, 1)
    plan = CampaignPlan(instances=2, positive=0.0, negative=0.0)
    site, owner = ferry.pages.site, ferry.pages.owner
    sent = SentTemplate("mine.toml", source)
    made = create_campaign(site, owner, "ferry", "marks", sent, generators=["g0"], plan=plan)
    open_campaign(site, owner, made.id)
    (link,) = invite(site, owner, made.id, ["ann"])
    texts, script = _marking(ferry.pages.get(link.path).text)
    told = {*texts, *script.values()}
    english = {message for key, message in ENGLISH.messages.items() if key.startswith("marks_")}
    assert english <= told, "every message is on the page of a template with every tool"
    fixed = {text for text in told - english if re.search(r"\w\w", text)}
    assert fixed == set(), "and nothing else is said"
    for code in OTHERS:
        words = words_of(code)
        texts, script = _marking(ferry.pages.get(link.path, **{"accept-language": code}).text)
        told = {*texts, *script.values()}
        assert {message for key, message in words.messages.items() if key.startswith("marks_")} <= told
        alike = {ENGLISH.messages[key] for key in ALIKE[code]}
        assert told & english <= alike, code
        if code in ("zh", "hi", "ar"):
            latin = set(re.findall(r"[A-Za-z]{2,}", re.sub(r"\{\w+\}", "", " ".join(told))))
            assert latin <= KEYS, code


def test_the_script_for_marking_says_only_words_of_the_page() -> None:
    folder = ROOT / "campaigns" / "questions" / "spans"
    script = (folder / "question.js").read_text("utf-8")
    page = (folder / "question.html.j2").read_text("utf-8")
    given = set(re.findall(r'"(\w+)": t\("marks_', page))
    asked = {name for call in re.findall(r"this\.word\(([^{)]*)", script) for name in re.findall(r'"(\w+)"', call)}
    assert given == asked
    said = [*re.findall(r'"([^"\n]*)"', script), *re.findall(r"`([^`]*)`", script)]
    for key, message in ENGLISH.messages.items():
        spoken = max(re.split(r"\{\w+\}", message), key=len).strip(" ,:.")
        if key.startswith("marks_") and len(spoken) > 3 and key != "marks_remove":
            assert not any(re.search(rf"(?<![\w-]){re.escape(spoken)}(?![\w-])", literal) for literal in said), key


def test_the_switch_leads_to_every_language_and_is_remembered(ferry: CampaignSite) -> None:
    _, link = _rich(ferry)
    page = ferry.pages.get(f"{link}?external=me&lang=ar")
    assert '<html lang="ar" dir="rtl">' in page.text
    assert "annotator-language=ar" in page.headers["set-cookie"]
    for code in LANGUAGES:
        assert f'href="{link}?external=me&amp;lang={code}"' in page.text
    again = ferry.pages.get(link, cookie="annotator-language=ar")
    assert '<html lang="ar" dir="rtl">' in again.text
    assert "set-cookie" not in again.headers
    assert 'lang="en"' in ferry.pages.get(link, cookie="annotator-language=xx").text


def test_a_message_without_its_values_and_a_key_that_is_none_are_mistakes() -> None:
    with pytest.raises(KeyError):
        ENGLISH("progress", done=1)
    with pytest.raises(KeyError):
        ENGLISH("no such message")
