"""What a newcomer does with the site in a real browser: by mouse, by keyboard alone, and with scripts blocked."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

OpenPage = Callable[..., Page]
Picture = Callable[[Page, str], None]

BOARD = "/boards/bulletins"
METRIC = """
def score(outputs, references, inputs):
    return [max(len(set(o.lower().split()) & set(r.lower().split())) / (1 + len(o.split())) for r in texts)
            for o, texts in zip(outputs, references)]
"""


def generators(page: Page) -> list[str]:
    return [str(row.get_attribute("data-name")) for row in page.locator("#board tbody tr:visible").all()]


def outputs(page: Page, end: str) -> str:
    """Texts for every instance, taken from the site's own download, each with something behind it."""
    import json

    lines = page.request.get(f"{BOARD}/downloads/outputs.jsonl").text().splitlines()
    kept = [json.loads(line) for line in lines]
    return "".join(json.dumps({**one, "text": f"{one['text']} {end}"} | {}) + "\n" for one in _of(kept, "Almanac"))


def _of(found: list[dict[str, str]], name: str) -> list[dict[str, str]]:
    return [{"instance": one["instance"], "text": one["text"]} for one in found if one["generator"] == name]


def ranked(page: Page, selector: str) -> None:
    """Wait until the board has been ranked with what came in, following its own word that it has changed."""
    for _ in range(20):
        if page.locator(selector).count():
            return
        page.get_by_role("link", name="Show it as it is now").click(timeout=60_000)
    raise AssertionError(f"{selector} never came")


@pytest.mark.long
def test_a_newcomer_finds_the_board_sorts_filters_and_opens_an_instance(open_page: OpenPage, picture: Picture) -> None:
    page = open_page("/")
    page.get_by_role("link", name="Bulletins of an imaginary coast").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Bulletins of an imaginary coast")
    first = generators(page)
    page.get_by_role("link", name="Sort by length").click()
    expect(page.locator("th[data-key=length]")).to_have_attribute("aria-sort", "descending")
    by_length = generators(page)
    assert sorted(by_length) == sorted(first)
    assert by_length != first
    assert "sort=length" in page.url
    page.get_by_role("link", name="Sort by length").click()
    assert generators(page) == by_length[::-1]
    page.reload()
    assert generators(page) == by_length[::-1]
    page.get_by_text("Rank a part of the board").click()
    page.get_by_label("domain").select_option("weather")
    expect(page.get_by_text("Ranked again on domain weather")).to_be_visible()
    page.get_by_role("link", name="Instances", exact=True).click()
    page.get_by_label("search in texts").fill("gale")
    page.get_by_label("order").select_option("largest disagreement first")
    page.get_by_role("button", name="Find").click()
    assert page.locator("mark").first.inner_text().lower() == "gale"
    picture(page, "instances")
    page.locator("tbody th a").first.click()
    expect(page.get_by_role("heading", name="References")).to_be_visible()
    assert page.locator("ins").count() > 0
    picture(page, "instance")


def test_finding_pinning_and_hiding_need_no_reload_and_stay_in_the_address(open_page: OpenPage) -> None:
    page = open_page(BOARD)
    page.evaluate("window.sameDocument = true")
    page.get_by_role("searchbox", name="Find a generator").fill("cri")
    assert generators(page) == ["Crier"]
    page.get_by_role("searchbox", name="Find a generator").fill("")
    page.get_by_text("Pin or hide columns").click()
    page.get_by_label("hide BLEU").check()
    expect(page.locator("th[data-key=BLEU]")).to_be_hidden()
    page.get_by_label("pin length").check()
    keys = [cell.get_attribute("data-key") for cell in page.locator("#board thead tr:first-child th").all()]
    assert keys[:3] == ["rank", "generator", "length"]
    assert page.evaluate("window.sameDocument") is True
    value = page.locator("tbody tr").first.locator("td").nth(1).inner_text()
    page.reload()
    expect(page.locator("th[data-key=BLEU]")).to_have_count(0)
    assert page.locator("tbody tr").first.locator("td").nth(1).inner_text() == value
    keys = [cell.get_attribute("data-key") for cell in page.locator("#board thead tr:first-child th").all()]
    assert keys[:3] == ["rank", "generator", "length"]


def test_intervals_and_clusters_show_on_hover_and_on_focus_and_go_with_escape(open_page: OpenPage) -> None:
    page = open_page(BOARD)
    tip = page.locator("#board thead .tip").filter(has_text="95% interval").first
    bubble = tip.get_by_role("tooltip", include_hidden=True)
    expect(bubble).to_be_hidden()
    tip.hover()
    expect(bubble).to_be_visible()
    page.keyboard.press("Escape")
    expect(bubble).to_be_hidden()
    page.mouse.move(0, 0)
    page.locator("#board thead .sort").last.focus()
    for _ in range(40):
        page.keyboard.press("Tab")
        if bubble.is_visible():
            break
    expect(bubble).to_be_visible()
    place = page.locator("#board tbody .place .tip").first
    place.hover()
    expect(place.get_by_role("tooltip")).to_contain_text("Rank 1")


def test_two_generators_and_two_metrics_are_compared(open_page: OpenPage, picture: Picture) -> None:
    page = open_page(f"{BOARD}/generators/Crier")
    picture(page, "generator")
    page.get_by_label("compare with").select_option("Almanac")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Crier against Almanac")
    assert page.locator(".texts ins").count() > 0
    picture(page, "compare")
    page.goto(f"{BOARD}/metrics/chrF")
    page.evaluate("() => document.images[0].closest('picture').parentElement.scrollIntoView()")
    # A picture is there until its chart has come to life, and gives way to it.
    shown = "(image) => image.naturalWidth > 0 || image.closest('picture')?.hidden"
    page.wait_for_function(f"() => [...document.images].every({shown})", timeout=60_000)
    page.evaluate("scrollTo(0, 0)")
    picture(page, "metric")
    page.get_by_label("compare with").select_option("BLEU")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_text("p, two-sided (Williams)")).to_be_visible()


@pytest.mark.long
def test_a_generator_is_sent_in_and_the_board_says_who_moved(open_page: OpenPage, picture: Picture) -> None:
    page = open_page(f"{BOARD}/submit/generator")
    page.get_by_label("Name").fill("Wanderer")
    page.get_by_label("or paste a column").fill('{"instance": "weather-01", "text": "a"}\n{"instance": "nowhere"}')
    page.get_by_role("button", name="Submit the generator").click()
    expect(page.get_by_role("alert")).to_contain_text("line 2")
    picture(page, "submit-mistakes")
    page.get_by_label("or paste a column").fill(outputs(page, "And so on."))
    page.get_by_role("button", name="Submit the generator").click()
    expect(page.get_by_text("on the board", exact=True)).to_be_visible(timeout=60_000)
    picture(page, "submission")
    page.goto(BOARD)
    ranked(page, "tr[data-name=Wanderer]")
    expect(page.get_by_text("Ranks moved")).to_be_visible()
    expect(page.locator("tr[data-name=Wanderer]")).to_be_visible()
    page.get_by_role("link", name="What changed").click()
    expect(page.get_by_text("new at")).to_be_visible()
    picture(page, "changes")


@pytest.mark.long
def test_a_metric_is_sent_in_tried_scored_and_ranked(open_page: OpenPage, picture: Picture) -> None:
    page = open_page(f"{BOARD}/submit/metric")
    page.get_by_label("Name").fill("shared words")
    page.get_by_label("or paste the Python file").fill(METRIC)
    page.get_by_label("Training data").fill("none")
    picture(page, "submit-metric")
    page.get_by_role("button", name="Submit the metric").click()
    expect(page.locator("#state")).to_have_text(re.compile("scored|failed|rejected"), timeout=120_000)
    assert page.locator("#state").inner_text() == "scored", page.locator("#log").inner_text()
    page.goto(BOARD)
    ranked(page, 'th[data-key="shared words"]')
    page.goto(f"{BOARD}/rankings")
    expect(page.get_by_text("shared words came in")).to_be_visible()
    picture(page, "history")


def test_tables_can_be_downloaded(open_page: OpenPage) -> None:
    page = open_page(f"{BOARD}/downloads")
    with page.expect_download() as started:
        page.get_by_role("link", name="generators.csv").click()
    assert started.value.suggested_filename == "bulletins-generators.csv"
    assert "Almanac" in started.value.path().read_text()


def press_until(page: Page, selector: str, key: str = "Tab", most: int = 150) -> None:
    """Move the focus until it is on what is wanted, as somebody without a mouse does."""
    for _ in range(most):
        page.keyboard.press(key)
        if page.evaluate("(selector) => document.activeElement?.matches(selector) ?? false", selector):
            return
    raise AssertionError(f"{selector} can't be reached with {key}")


@pytest.mark.long
def test_everything_can_be_done_with_the_keyboard_alone(open_page: OpenPage) -> None:
    page = open_page("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    press_until(page, "main h2 a")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{BOARD}")
    press_until(page, "th[data-key=length] .sort")
    page.keyboard.press("Enter")
    expect(page.locator("th[data-key=length]")).to_have_attribute("aria-sort", "descending")
    assert page.evaluate("document.activeElement.closest('th').dataset.key") == "length"
    press_until(page, "summary", "Shift+Tab")
    page.keyboard.press("Enter")
    press_until(page, "input[name=hide][value=BLEU]")
    page.keyboard.press("Space")
    expect(page.locator("th[data-key=BLEU]")).to_be_hidden()
    page.goto(f"{BOARD}/instances")
    press_until(page, "tbody th a")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Outputs")).to_be_visible()
    page.goto(f"{BOARD}/submit/generator")
    press_until(page, "#name")
    page.keyboard.type("Typist")
    press_until(page, "#pasted")
    page.keyboard.insert_text(outputs(page, "Typed."))
    press_until(page, "button.main")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Typist, version 1")


@pytest.mark.long
def test_reading_works_with_scripts_blocked(open_page: OpenPage) -> None:
    page = open_page(BOARD, java_script_enabled=False)
    first = page.locator("#board tbody tr").all_inner_texts()
    page.get_by_role("link", name="Sort by length").click()
    assert "sort=length" in page.url
    page.wait_for_load_state()
    assert page.locator("#board tbody tr").all_inner_texts() != first
    page.get_by_text("Pin or hide columns").click()
    page.get_by_label("hide BLEU").check()
    page.get_by_role("button", name="Apply").click()
    expect(page.locator("th[data-key=BLEU]")).to_have_count(0)
    page.get_by_role("searchbox", name="Find a generator").fill("cri")
    page.get_by_role("button", name="Find").click()
    expect(page.locator("#board tbody tr:visible")).to_have_count(1)
    page.get_by_role("link", name="Crier").click()
    page.get_by_label("compare with").select_option("Almanac")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Crier against Almanac")
    page.goto(f"{BOARD}/instances/weather-01")
    assert page.locator("ins").count() > 0
