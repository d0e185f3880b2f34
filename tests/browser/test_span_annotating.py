"""Professional translators at work: a whole document in MQM by keyboard alone, on a phone, through lost connections."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from browser_pages import OpenPage, watched_pages
from playwright.sync_api import Browser, Locator, Page, expect
from served_sites import Served, serving
from translated_documents import HARBOUR, document_board

from billboards.board.writing import write_board
from billboards.campaigns.plan import CampaignPlan
from billboards.importers.mqm import mqm
from billboards.site.accounts.access import local_viewer
from billboards.site.campaigns.annotators import invite
from billboards.site.campaigns.campaign_files import campaign_file
from billboards.site.campaigns.lifecycle import create_campaign, open_campaign
from billboards.site.campaigns.results import AnswerLine, board_of_campaign, campaign_answers
from billboards.site.site import open_site

PHONE = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}
Start = Callable[..., tuple[str, list[str]]]
Picture = Callable[[Page, str], None]


@pytest.fixture(scope="module")
def quay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A site with a document of twelve segments, and one with two documents."""
    home = tmp_path_factory.mktemp("documents")
    write_board(document_board(documents=("harbour",)), home / "boards" / "harbour")
    write_board(document_board("both"), home / "boards" / "both")
    site = open_site(home)
    with serving(site) as found:
        yield found
    site.close()


@pytest.fixture
def start(quay: Served) -> Start:
    """Begin a campaign; returns its id and a link for each annotator."""

    def begin(
        name: str, template: str, *, board: str = "harbour", generators: tuple[str, ...] = ("word",), **plan: Any
    ) -> tuple[str, list[str]]:
        owner = local_viewer(quay.site)
        settings = CampaignPlan(**{"instances": 15, "positive": 0.0, "negative": 0.0, **plan})
        made = create_campaign(quay.site, owner, board, name, template, generators=generators, plan=settings)
        open_campaign(quay.site, owner, made.id)
        return made.id, [link.path for link in invite(quay.site, owner, made.id, 1)]

    return begin


@pytest.fixture
def page(chromium: Browser, quay: Served) -> Iterator[OpenPage]:
    """Opens an annotator's page, wide enough for source and target side by side."""
    with watched_pages(chromium, quay.address, viewport={"width": 1280, "height": 900}) as make:
        yield make


def _lines(served: Served, campaign: str, *, history: bool = False) -> list[AnswerLine]:
    return list(campaign_answers(served.site, local_viewer(served.site), campaign, history=history))


def _press(opened: Page, *keys: str) -> None:
    for key in keys:
        opened.keyboard.press(key)


def _focused(opened: Page) -> str:
    """The segment that the focus is in, and what it is on there."""
    return str(
        opened.evaluate(
            """() => {
                const it = document.activeElement;
                const at = it.closest("[data-item]")?.id ?? "";
                const what = "output" in it.dataset ? "output" : "source" in it.dataset ? "source" : it.tagName;
                return `${at} ${what}`;
            }"""
        )
    )


def _marks(opened: Page, segment: int) -> Locator:
    return opened.locator(f"#segment-{segment} .marks li")


def _said(opened: Page, segment: int) -> Locator:
    return opened.locator(f"#segment-{segment} .kept")


def _span(
    segment: int, words: str, severity: str, category: str, *, comment: str = "", source: bool = False
) -> dict[str, Any]:
    """An error as it should be kept, by the words that are marked."""
    text = HARBOUR[segment - 1][0 if source else 2]
    start = text.index(words)
    span = {"output": 0, "start": start, "end": start + len(words), "severity": severity, "category": category}
    return span | ({"comment": comment} if comment else {}) | ({"source": True} if source else {})


@pytest.mark.long
def test_a_document_of_twelve_segments_is_annotated_by_keyboard_alone_through_lost_connections(
    quay: Served, start: Start, page: OpenPage, picture: Picture, tmp_path: Path
) -> None:
    campaign, (link,) = start("keys", "mqm-document")
    opened = page(link)
    expect(opened.get_by_text("Read the document segment by segment")).to_be_visible()
    expect(opened.locator("#in-document")).to_have_text("this document: 0/12")

    # 1 "The harbour was still at morning.": two marks; the cursor stays at its word after each.
    _press(opened, "ArrowRight")
    assert _focused(opened) == "segment-1 output"
    _press(opened, *["ArrowRight"] * 4, "2")
    expect(_marks(opened, 1)).to_have_text(["“still”: major, Accuracy/Mistranslation remove"])
    assert _focused(opened) == "segment-1 output"
    _press(opened, "ArrowRight", "1", "c")
    opened.keyboard.type("gram")
    _press(opened, "Enter")
    expect(_marks(opened, 1).nth(1)).to_have_text("“at”: minor, Fluency/Grammar remove")
    assert _focused(opened) == "segment-1 output"
    # Its extent grows by a word, and its severity changes twice; both go back and forth.
    _press(opened, "e", "Shift+ArrowRight", "Escape")
    expect(_marks(opened, 1).nth(1)).to_contain_text("“at morning”: minor")
    _press(opened, "2", "Control+z")
    expect(_marks(opened, 1).nth(1)).to_contain_text("“at morning”: minor")
    _press(opened, "Control+z")
    expect(_marks(opened, 1).nth(1)).to_contain_text("“at”: minor")
    _press(opened, "Control+y")
    expect(_marks(opened, 1).nth(1)).to_contain_text("“at morning”: minor")
    expect(_said(opened, 1)).to_have_text("Kept.")
    picture(opened, "annotating-mqm")
    _press(opened, "Enter")
    assert _focused(opened) == "segment-2 output"
    expect(_said(opened, 1)).to_have_text("Answered.")
    expect(opened.locator("#in-document")).to_have_text("this document: 1/12")

    # 2 "The ferry leaves today.": "nicht" is left out, marked in the source, with a comment.
    _press(opened, "s")
    assert _focused(opened) == "segment-2 source"
    _press(opened, *["ArrowRight"] * 4, "2", "n")
    opened.keyboard.type("the contrary")
    _press(opened, "Enter")
    expect(_marks(opened, 2)).to_have_text(["left out: “nicht”: major, Accuracy/Omission – the contrary remove"])
    assert _focused(opened) == "segment-2 source"
    _press(opened, "Enter")
    expect(_said(opened, 2)).to_have_text("Answered.")

    # 3: the connection is lost. Marks and two submissions go on, and all of it arrives when it is back.
    for what in ("draft", "submit"):
        opened.route(f"**/{what}*", lambda route: route.abort())
    _press(opened, *["ArrowLeft"] * 2, "2")
    expect(_marks(opened, 3)).to_contain_text(["“chapter”: major, Accuracy/Mistranslation"])
    _press(opened, "Enter")
    expect(_said(opened, 3)).to_contain_text("Not sent yet: there is no connection")
    assert _focused(opened) == "segment-4 output"
    # 4 has no error.
    _press(opened, "Enter")
    assert _focused(opened) == "segment-5 output"
    assert len(_lines(quay, campaign)) == 2
    for what in ("draft", "submit"):
        opened.unroute(f"**/{what}*")
    for segment in (3, 4):
        expect(_said(opened, segment)).to_have_text("Answered.")
    assert len(_lines(quay, campaign)) == 4

    # 5 "At 8.30 clock came the first guests.": a mark is made and deleted, another one stays.
    _press(opened, "ArrowRight", "1", "Delete")
    expect(_marks(opened, 5)).to_have_count(0)
    _press(opened, "ArrowRight", "Shift+ArrowRight", "1")
    expect(_marks(opened, 5)).to_have_count(1)
    # The page says "Kept." of an earlier draft, too.
    begins = [_span(5, "8.30 clock", "minor", "")["start"]]
    for _ in range(100):
        latest = _lines(quay, campaign, history=True)[-1]
        if [mark["start"] for mark in latest.answers.get("mqm", ())] == begins:
            break
        opened.wait_for_timeout(100)

    # The connection is lost again, and with it the page; by the same link it goes on where it was, in another browser.
    opened.context.set_offline(True)
    _press(opened, "2")
    expect(_said(opened, 5)).to_contain_text("Not kept yet")
    opened.context.close()
    again = page(link)
    assert _focused(again) == "segment-5 output"
    expect(again.locator("#in-document")).to_have_text("this document: 4/12")
    # A browser that is closed is not offline any more, and the last change may still come through.
    expect(_marks(again, 5)).to_contain_text([re.compile("“8.30 clock”: (minor|major)")])
    _press(again, "Enter")

    # 6 "… give the cards back .": punctuation takes off 0.1. 7: nothing. 8: not a translation, then one, then not.
    _press(again, "ArrowLeft", "1", "c")
    again.keyboard.type("punct")
    _press(again, "Enter", "Enter", "Enter", "x")
    expect(_marks(again, 8)).to_contain_text(["not a translation: major"])
    _press(again, "x")
    expect(_marks(again, 8)).to_have_count(0)
    _press(again, "x", "Enter")

    # 9 "… sat down on the banks at the quay 🚢.": behind a character of two units. 10 to 12 have no error.
    _press(again, "ArrowLeft", "ArrowLeft", "3", "Enter")
    # Back to what was answered: the cursor is where it was; its mark is changed, and the answer with it.
    _press(again, "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp")
    assert _focused(again) == "segment-6 output"
    _press(again, "2")
    expect(_said(again, 6)).to_have_text("Answered.")
    _press(again, *["ArrowDown"] * 4)
    assert _focused(again) == "segment-10 output"
    _press(again, "Enter", "Enter", "Enter")
    expect(again.get_by_text("There is nothing left for you to judge")).to_be_visible()

    lines = {line.instance: line for line in _lines(quay, campaign)}
    mistranslation = "Accuracy/Mistranslation"
    expected: dict[int, list[dict[str, Any]]] = {
        1: [_span(1, "still", "major", mistranslation), _span(1, "at morning", "minor", "Fluency/Grammar")],
        2: [_span(2, "nicht", "major", "Accuracy/Omission", comment="the contrary", source=True)],
        3: [_span(3, "chapter", "major", mistranslation)],
        5: [_span(5, "8.30 clock", "minor", mistranslation)],
        6: [_span(6, ".", "major", "Fluency/Punctuation")],
        8: [_span(8, HARBOUR[7][2], "major", "Non-translation")],
        9: [_span(9, "🚢", "neutral", mistranslation)],
    }
    given = {int(instance.split("::")[1]): line.answers["mqm"] for instance, line in lines.items()}
    assert given == {segment: expected.get(segment, []) for segment in range(1, 13)}
    assert {segment: lines[f"harbour::{segment}"].values[0]["mqm"] for segment in (1, 2, 4, 8, 9)} == {
        1: -6.0, 2: -5.0, 4: 0.0, 8: -25.0, 9: 0.0,
    }  # fmt: skip
    assert all(0 < line.seconds < 600 for line in lines.values()), "every segment has a time of its own"
    # The exported file opens in the importer of raw MQM ratings, with equal spans.
    owner = local_viewer(quay.site)
    path = tmp_path / "mqm_harbour.tsv"
    path.write_text(campaign_file(quay.site, owner, campaign, "mqm"), encoding="utf-8")
    imported = mqm(path, language_pair="de-en").board
    own, _ = board_of_campaign(quay.site, owner, campaign)
    assert _spans(imported) == _spans(own)
    assert {instance.input for instance in imported.instances} == {source for source, _, _ in HARBOUR}


def _spans(board: Any) -> dict[tuple[str, str], Any]:
    """The spans of each output by its source, with who marked them."""
    ids, rows = tuple(one.id for one in board.instances), tuple(row.name for row in board.rows)
    return {
        (board.instances[board.position[one.instance]].input, one.annotator): one.details.get("spans", [])
        for one in board.judgments.each(ids, rows)
    }


@pytest.mark.long
def test_a_document_on_a_phone_by_touch(quay: Served, start: Start, page: OpenPage, picture: Picture) -> None:
    campaign, (link,) = start("phone", "mqm-document")
    opened = page(link, **PHONE)
    opened.locator("details.manual summary").tap()
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing may stick out"
    _tap_word(opened, 1, "at")
    _tap_word(opened, 1, "morning")
    tools = opened.locator("#segment-1 .tools")
    expect(tools).to_be_in_viewport()
    tools.get_by_role("button", name="minor").tap()
    expect(_marks(opened, 1)).to_contain_text(["“at morning”: minor"])
    tools.get_by_label("Kind").select_option("Fluency/Grammar")
    # A tap on the mark opens it: it becomes major.
    _tap_word(opened, 1, "still")
    _tap_word(opened, 1, "morning")
    _tap_word(opened, 1, "morning")
    picture(opened, "annotating-mqm-phone")
    tools.get_by_role("button", name="major").tap()
    expect(_marks(opened, 1)).to_contain_text(["“at morning”: major, Fluency/Grammar"])
    expect(_said(opened, 1)).to_have_text("Kept.")
    tools.get_by_role("button", name="Next").tap()
    expect(_said(opened, 1)).to_have_text("Answered.")
    (line,) = _lines(quay, campaign)
    assert line.answers["mqm"] == [_span(1, "at morning", "major", "Fluency/Grammar")]


def _tap_word(opened: Page, segment: int, word: str) -> None:
    """Tap in the middle of a word of the translation."""
    text = opened.locator(f"#segment-{segment} [data-output]")
    text.scroll_into_view_if_needed()
    x, y = text.evaluate(
        """(element, word) => {
            const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
            for (let node = walker.nextNode(); node; node = walker.nextNode()) {
                const at = node.data.search(new RegExp(`\\\\b${word}\\\\b`));
                if (at < 0) continue;
                const range = document.createRange();
                range.setStart(node, at);
                range.setEnd(node, at + word.length);
                const box = range.getBoundingClientRect();
                return [box.left + box.width / 2, box.top + box.height / 2];
            }
        }""",
        word,
    )
    opened.touchscreen.tap(x, y)


def test_marks_are_changed_by_mouse(start: Start, page: OpenPage) -> None:
    _, (link,) = start("mouse", "mqm-document")
    opened = page(link)
    opened.locator("details.manual summary").click()
    text = opened.locator("#segment-1 [data-output]")
    text.dblclick(position={"x": 20, "y": 18})
    tools = opened.locator("#segment-1 .tools")
    tools.get_by_role("button", name="minor").click()
    expect(_marks(opened, 1)).to_contain_text(["“The”: minor"])
    opened.locator("#segment-1 .marked").click()
    tools.get_by_label("Kind").select_option("Style/Awkward")
    expect(_marks(opened, 1)).to_contain_text(["“The”: minor, Style/Awkward"])
    tools.get_by_role("button", name="extent").click()
    box = text.bounding_box()
    assert box is not None
    opened.mouse.click(box["x"] + 70, box["y"] + 18)
    expect(_marks(opened, 1)).to_contain_text(["“The harbour”: minor, Style/Awkward"])
    tools.get_by_label("Comment").fill("so so")
    opened.keyboard.press("Enter")
    expect(_marks(opened, 1)).to_contain_text(["Style/Awkward – so so"])
    tools.get_by_role("button", name="remove").click()
    expect(_marks(opened, 1)).to_have_count(0)
    tools.get_by_role("button", name="undo").click()
    expect(_marks(opened, 1)).to_have_count(1)
    tools.get_by_role("button", name="redo").click()
    expect(_marks(opened, 1)).to_have_count(0)


def test_esa_asks_for_the_score_after_the_marks_and_goes_on_by_keyboard(
    quay: Served, start: Start, page: OpenPage, picture: Picture
) -> None:
    campaign, (link,) = start("esa", "esa-document", board="both", instances=3)
    opened = page(link)
    _press(opened, "ArrowRight", "ArrowRight", "1", "Enter")
    assert _focused(opened) == "segment-1 INPUT"
    opened.keyboard.type("61")
    picture(opened, "annotating-esa")
    for score in ("7", "100"):
        _press(opened, "Enter")
        _press(opened, "Enter")
        opened.keyboard.type(score)
    _press(opened, "Enter")
    expect(opened.get_by_text("There is nothing left for you to judge")).to_be_visible()
    scores = {line.instance: line.answers["score"] for line in _lines(quay, campaign)}
    assert scores == {"lantern::1": 61.0, "lantern::2": 7.0, "lantern::3": 100.0}


def test_the_first_typed_score_of_esa_is_not_lost_and_the_focus_stays(
    quay: Served, start: Start, page: OpenPage
) -> None:
    campaign, (link,) = start("plain-esa", "esa")
    opened = page(link)
    for k, score in enumerate(("61", "62")):
        expect(opened.locator("#progress")).to_contain_text(f"{k} done")
        if k:
            assert _focused(opened).endswith(" output"), "the text to mark has the focus after a submission"
        _press(opened, "ArrowRight", "ArrowRight", "1")
        expect(opened.locator(".marks li")).to_have_count(1)
        _press(opened, "Enter")
        expect(opened.get_by_label("Score from 0 to 100")).to_be_visible()
        # The question is drawn before its script listens to keys.
        expect(opened.locator("body.scripted")).to_be_attached()
        opened.keyboard.type(score)
        _press(opened, "Enter")
    expect(opened.locator("#progress")).to_contain_text("2 done")
    assert [line.answers["score"] for line in _lines(quay, campaign)] == [61.0, 62.0]


def test_two_translations_side_by_side_are_marked_each(
    quay: Served, start: Start, page: OpenPage, picture: Picture
) -> None:
    campaign, (link,) = start("two", "mqm-contrastive", board="both", generators=("word", "plain"), instances=3)
    opened = page(link)
    _press(opened, "ArrowRight", "ArrowRight", "2")
    opened.locator("#segment-1 [data-output='1']").focus()
    _press(opened, "ArrowLeft", "1", "s", "ArrowRight", "2")
    expect(_marks(opened, 1)).to_have_count(3)
    expect(_marks(opened, 1).nth(2)).to_contain_text("left out")
    picture(opened, "annotating-mqm-contrastive")
    _press(opened, "Enter")
    expect(_said(opened, 1)).to_have_text("Answered.")
    (line,) = _lines(quay, campaign)
    assert set(line.outputs) == {"word", "plain"}
    assert [mark["output"] for mark in line.answers["mqm"]] == [0, 1, 1]
    assert [values["mqm"] for values in line.values] == [-5.0, -6.0]


@pytest.mark.parametrize(
    ("language", "selected", "marked", "listed"),
    [
        ("de", "Ausgewählt: „The“", "Markiert: „The“, major", "„The“: major, Accuracy/Mistranslation entfernen"),
        (
            "ar",
            "المحدَّد: \u2068«\u2068The\u2069»\u2069",
            "عُلِّم: \u2068«\u2068The\u2069»\u2069، \u2068major\u2069",
            "«\u2068The\u2069»: major, Accuracy/Mistranslation حذف",
        ),
    ],
    ids=["German", "Arabic"],
)
def test_marks_are_made_in_the_annotators_language(
    start: Start, page: OpenPage, language: str, selected: str, marked: str, listed: str
) -> None:
    _, (link,) = start(f"in {language}", "mqm-document")
    opened = page(f"{link}?lang={language}")
    state = opened.locator("#segment-1 .marking .state")
    _press(opened, "ArrowRight", "ArrowRight")
    expect(state).to_have_text(selected)
    _press(opened, "2")
    expect(state).to_have_text(marked)
    expect(_marks(opened, 1)).to_have_text([listed])
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing lies beside the page"


def test_scripts_blocked_the_page_says_that_marking_needs_them(start: Start, page: OpenPage) -> None:
    _, (link,) = start("blocked", "mqm-document")
    opened = page(link, java_script_enabled=False)
    assert "Marking errors needs scripts" in opened.content()
    expect(opened.get_by_text("Die Insel lag in der Sonne.")).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("template", ["mqm-document", "esa-document", "mqm-contrastive"])
def test_the_pages_of_documents_are_accessible(
    start: Start, page: OpenPage, picture: Picture, template: str, scheme: str
) -> None:
    _, (link,) = start(f"axe-{template}-{scheme}", template, generators=("word", "plain"))
    opened = page(link, color_scheme=scheme)
    opened.locator("details.manual summary").click()
    opened.locator("#segment-1 [data-output='0']").focus()
    _press(opened, "ArrowRight", "1", "ArrowRight", "2")
    expect(_said(opened, 1)).to_have_text("Kept.")
    if (template, scheme) == ("mqm-document", "dark"):
        picture(opened, "annotating-mqm-dark")
    found = Axe().run(opened)
    assert found.violations_count == 0, found.generate_report()
