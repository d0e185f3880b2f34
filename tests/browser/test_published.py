"""A published board opened from a disk, with scripts and without: it is sorted, searched and compared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, expect
from small_sites import make_board

from billboards.board.writing import write_board
from billboards.cli.main import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve instances and five generators, as files."""
    home = tmp_path_factory.mktemp("published")
    board = write_board(make_board(metrics=("chrF", "ROUGE-1", "length")), home / "ferry")
    asked = ("--draft", "--no-analyses", "--no-parts", "--jobs", "1")
    assert main(["publish", str(board), "-o", str(home / "public"), *asked]) == 0
    return home / "public"


def lacking(failed: Request) -> list[str]:
    """The file that is not there; what is given up because a test leads to the next page is no fault of the files."""
    return [] if failed.failure == "net::ERR_ABORTED" else [failed.url]


@pytest.fixture
def opened(chromium: Browser, folder: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The board's page, from the disk; a script that fails, or a file that is not there, fails the test."""
    context = chromium.new_context(java_script_enabled=request.param, viewport={"width": 1280, "height": 900})
    page, faults = context.new_page(), []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("requestfailed", lambda failed: faults.extend(lacking(failed)))
    page.goto((folder / "boards" / "ferry" / "index.html").as_uri())
    yield page
    context.close()
    assert faults == []


with_scripts = pytest.mark.parametrize("opened", [True], indirect=True)
without_scripts = pytest.mark.parametrize("opened", [False], indirect=True)


def names(page: Page) -> list[str]:
    return page.locator("#board tbody tr:not([hidden]) th a").all_inner_texts()


@pytest.mark.long
@with_scripts
def test_the_table_is_sorted_and_searched_on_the_page(opened: Page) -> None:
    at_first = names(opened)
    assert len(at_first) == 5
    opened.get_by_label("Sort by name").click()
    assert names(opened) == sorted(at_first, key=str.lower)
    opened.get_by_role("searchbox", name="Find a generator").fill("g1")
    assert names(opened) == ["g1"]
    opened.locator("#columns summary").click()
    opened.get_by_label("hide chrF").check()
    expect(opened.locator("#board th[data-key=chrF]")).to_be_hidden()


@with_scripts
def test_outputs_are_found_by_a_word_and_lead_to_their_instance(opened: Page) -> None:
    opened.get_by_role("link", name="Instances", exact=True).click()
    opened.get_by_label("search in texts").fill("input 3")
    opened.get_by_role("button", name="Find").click()
    expect(opened.locator("#explored-status")).to_have_text("5 outputs with “input 3”.")
    rows = opened.locator("#explored tbody tr")
    expect(rows).to_have_count(5)
    opened.locator("#explored tbody th a").first.click()
    expect(opened.get_by_role("heading", level=1)).to_have_text("Instance i3")


@with_scripts
def test_outputs_are_found_where_and_against_whom_the_reader_says(opened: Page) -> None:
    opened.get_by_role("link", name="Instances", exact=True).click()
    opened.get_by_label("search in texts").fill("input 3")
    opened.get_by_label("where").select_option("output")
    opened.get_by_role("button", name="Find").click()
    expect(opened.locator("#explored-status")).to_have_text("0 outputs with “input 3”.")
    opened.get_by_label("where").select_option("source")
    opened.locator("summary", has_text="More filters").click()
    opened.get_by_label("disagreement with").select_option("length")
    opened.get_by_label("metric", exact=True).select_option("chrF")
    opened.get_by_role("button", name="Find").click()
    expect(opened.locator("#explored tbody tr")).to_have_count(5)
    expect(opened.locator("#explored")).to_contain_text("Disagreement is chrF minus length")
    opened.keyboard.press("?")
    expect(opened.locator("dialog#keys")).to_be_visible()
    opened.get_by_role("button", name="Close").click()
    expect(opened.locator("dialog#keys")).to_be_hidden()


@with_scripts
def test_outputs_are_ordered_as_the_written_list_orders_them(opened: Page, folder: Path) -> None:
    opened.goto((folder / "boards" / "ferry" / "instances-sort-disagreement.html").as_uri())
    written = opened.locator("main table tbody tr").all_inner_texts()
    opened.get_by_label("order").select_option("disagreement")
    opened.get_by_role("button", name="Find").click()
    expect(opened.locator("#explored tbody tr")).to_have_count(25)
    found = opened.locator("#explored tbody tr").all_inner_texts()
    assert [row.split("\t")[:3] for row in found] == [row.split("\t")[:3] for row in written]


@with_scripts
def test_two_generators_are_compared_whichever_comes_first(opened: Page) -> None:
    opened.get_by_role("link", name="Compare", exact=True).click()
    for first, second in (("g2", "g0"), ("g0", "g2")):
        opened.locator("#g-1").select_option(first)
        opened.locator("#g-2").select_option(second)
        opened.get_by_role("button", name="Compare generators").click()
        opened.wait_for_url("**/compare-first-*.html")
        expect(opened.get_by_role("heading", level=1)).to_contain_text("against")
        assert "g0" in opened.title()
        assert "g2" in opened.title()
        opened.go_back()


@with_scripts
def test_three_generators_are_compared_in_the_browser_with_the_means_of_the_board(opened: Page, folder: Path) -> None:
    opened.get_by_role("link", name="Compare", exact=True).click()
    expect(opened.get_by_text("All others are computed here, in your browser")).to_be_visible()
    assert opened.locator("[id^=g-]").count() == 6
    for place, name in enumerate(("g2", "g0", "g3"), start=1):
        opened.locator(f"#g-{place}").select_option(name)
    opened.get_by_role("button", name="Compare generators").click()
    table = opened.locator("#compared table").first
    expect(table.locator("thead")).to_contain_text("g2")
    found = {
        row.split("\t")[0].removesuffix(" ↓"): row.split("\t")[1:]
        for row in table.locator("tbody tr").all_inner_texts()
    }
    scores = [
        json.loads(line) for line in (folder / "boards/ferry/downloads/scores.jsonl").read_text("utf-8").splitlines()
    ]
    for metric in ("people", "chrF", "ROUGE-1", "length"):
        by_name = {
            name: {
                line["instance"]: line[metric]
                for line in scores
                if line["generator"] == name and line[metric] is not None
            }
            for name in ("g2", "g0", "g3")
        }
        shared = set.intersection(*(set(values) for values in by_name.values()))
        means = [sum(values[k] for k in shared) / len(shared) for values in by_name.values()]
        places = 2 if any(abs(mean) >= 10 for mean in means) else 3
        assert found[metric] == [*(f"{mean:.{places}f}" for mean in means), str(len(shared))], metric
    opened.get_by_label("decide by").select_option("length")
    expect(opened.locator("#compared")).to_contain_text("Where they differ most by length")
    opened.reload()
    expect(opened.locator("#compared")).to_contain_text("Where they differ most by length")
    assert opened.locator("#compared a", has_text="against").count() == 3


@with_scripts
def test_three_metrics_are_compared_in_the_browser_with_the_agreement_of_the_board(opened: Page, folder: Path) -> None:
    opened.get_by_role("link", name="Compare", exact=True).click()
    for place, name in enumerate(("chrF", "ROUGE-1", "length"), start=1):
        opened.locator(f"#m-{place}").select_option(name)
    opened.get_by_role("button", name="Compare metrics").click()
    rows = opened.locator("#compared table tbody tr")
    expect(rows).to_have_count(3)
    ranking = json.loads((folder / "boards/ferry/downloads/ranking.json").read_text("utf-8"))
    agreement = {metric["name"]: metric["correlation"] for metric in ranking["metrics"]}
    for row in rows.all_inner_texts():
        name, _, agrees = row.split("\t")[:3]
        assert agrees == f"{agreement[name]:.3f}".replace("-", "−")
    with_others = [row.split("\t")[4:] for row in rows.all_inner_texts()]
    assert [with_others[k][k] for k in range(3)] == ["–"] * 3
    assert with_others[0][1] == with_others[1][0] != "–"


@with_scripts
def test_a_chart_comes_to_life_from_the_disk_and_leads_to_a_page(opened: Page, folder: Path) -> None:
    opened.goto((folder / "boards" / "ferry" / "charts" / "correlations.html").as_uri())
    figure = opened.locator("figure[data-chart]").first
    expect(figure).to_have_attribute("data-drawn", "light")
    expect(figure.locator("picture")).to_be_hidden()
    bar = figure.locator(".mark-rect path").first
    bar.hover()
    expect(opened.locator(".chart-tip")).to_contain_text("correlation")
    bar.click()
    opened.wait_for_url("**/boards/ferry/metrics/*.html")


@without_scripts
def test_without_scripts_a_chart_is_its_picture(opened: Page, folder: Path) -> None:
    opened.goto((folder / "boards" / "ferry" / "charts" / "correlations.html").as_uri())
    expect(opened.locator("figure picture img")).to_be_visible()
    assert opened.locator("figure img").evaluate("image => image.naturalWidth") > 0


@without_scripts
def test_without_scripts_sorted_tables_and_comparisons_are_links(opened: Page) -> None:
    expect(opened.locator("#columns")).to_be_hidden()
    opened.get_by_label("Sort by chrF").click()
    expect(opened.locator("#board th[aria-sort]")).to_have_attribute("data-key", "chrF")
    opened.get_by_role("link", name="Compare", exact=True).click()
    expect(opened.locator("form[data-compare]").first).to_be_hidden()
    opened.locator("summary", has_text="All 10 comparisons").click()
    opened.locator("details[open] a").first.click()
    expect(opened.get_by_role("heading", level=1)).to_contain_text("against")


@without_scripts
def test_without_scripts_every_instance_can_be_reached(opened: Page) -> None:
    opened.get_by_role("link", name="Instances", exact=True).click()
    expect(opened.locator("form[data-explore]")).to_be_hidden()
    opened.locator("main table tbody th a").first.click()
    seen = []
    while True:
        seen.append(opened.get_by_role("heading", level=1).inner_text())
        after = opened.locator("a[rel=next]")
        if after.count() == 0:
            break
        after.click()
    assert len(seen) == 12
