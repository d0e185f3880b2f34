"""The metric side of a board: its rows are the ranking's, found, chosen by kind and sorted by the address."""

from __future__ import annotations

import re

import pytest
from page_sites import PageSite, page_site

from billboards.show.words import value_text
from billboards.site.boards.live import live_board
from billboards.site.boards.masked import Look
from billboards.site.pages.explanations import EXPLANATIONS
from billboards.site.pages.metric_list import _making, metric_lines, seconds_text

ADDRESS = "/boards/harbour/metrics"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> PageSite:
    site = page_site(tmp_path_factory.mktemp("metric-side"))
    site.work()
    return site


def names(page: str) -> list[str]:
    return re.findall(r'<th scope="row"><a href="[^"]*"(?: title="[^"]*")?>([^<]*)</a>', page)


def look(small: PageSite) -> Look:
    return Look(live_board(small.site, "harbour"))


def test_every_metric_of_the_ranking_has_a_row_with_its_numbers(small: PageSite) -> None:
    page = small.get(ADDRESS).text
    ranking = look(small).ranking
    assert ranking is not None
    assert names(page) == [metric.label for metric in ranking.metrics]
    for metric in ranking.metrics:
        assert f"<td>{value_text(metric.correlation, 3)}" in page or metric.correlation is None
        assert metric.within is None or f"<td>{value_text(metric.within, 3)} " in page


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("kind=statistic", {"length"}),
        ("kind=reference-free", {"length"}),
        ("kind=reference", {"chrF", "ROUGE-1"}),
        ("find=RoUgE", {"ROUGE-1"}),
        ("find=none%20has%20this", set()),
    ],
)
def test_kind_and_search_leave_the_others_out(small: PageSite, query: str, expected: set[str]) -> None:
    page = small.get(f"{ADDRESS}?{query}").text
    assert set(names(page)) == expected
    assert f"{len(expected) or 'None'} of 3 metrics" in page


@pytest.mark.parametrize("sort", ["metric", "agreement", "within", "overrating", "weight"])
@pytest.mark.parametrize("way", ["ascending", "descending"])
def test_rows_are_sorted_by_any_column_with_missing_values_last(small: PageSite, sort: str, way: str) -> None:
    shown = names(small.get(f"{ADDRESS}?sort={sort}&direction={way}").text)
    lines = {line.label: line for line in metric_lines(look(small))}
    if sort == "metric":
        assert shown == sorted(lines, key=str.casefold, reverse=way == "descending")
        return
    values = [getattr(lines[label], sort) for label in shown]
    there = [value for value in values if value is not None]
    assert values == [*there, *[None] * (len(values) - len(there))]
    assert there == sorted(there, reverse=way == "descending")


@pytest.mark.parametrize("query", ["sort=nothing", "direction=sideways", "kind=nice"])
def test_what_the_address_says_wrongly_is_named(small: PageSite, query: str) -> None:
    answer = small.get(f"{ADDRESS}?{query}")
    assert answer.status_code == 422
    assert query.partition("=")[2] in answer.text


def test_an_interval_is_drawn_where_it_is(small: PageSite) -> None:
    for line in metric_lines(look(small)):
        assert line.dot is not None
        assert 0 < line.dot.low <= line.dot.value <= line.dot.high < 160


def test_the_help_page_holds_the_sentences_of_the_tooltips(small: PageSite) -> None:
    page, board = small.get("/help").text, small.get("/boards/harbour").text
    for explanation in EXPLANATIONS.values():
        assert explanation.what.replace("'", "&#39;") in page
    assert EXPLANATIONS["agreement"].caution in board


def test_a_board_without_a_ranking_says_so(tmp_path_factory: pytest.TempPathFactory) -> None:
    fresh = page_site(tmp_path_factory.mktemp("unranked"))
    answer = fresh.get(ADDRESS)
    assert answer.status_code == 200
    assert "no ranking yet" in answer.text


def test_the_home_page_shows_the_liveliest_board(small: PageSite) -> None:
    page = small.get("/").text
    assert "Which text generator is best" in page
    assert "/boards/harbour/charts/people.svg" in page


def test_the_metric_side_has_speed_agreement_with_the_ensemble_and_who_is_not_told_apart(small: PageSite) -> None:
    lines = metric_lines(look(small))
    assert all(line.speed is not None and line.speed > 0 for line in lines)
    assert all(line.ensemble is None or -1 <= line.ensemble <= 1 for line in lines)
    assert any(line.ensemble is not None for line in lines) == (look(small).ranking.ensemble is not None)  # type: ignore[union-attr]
    assert all(line.cluster for line in lines)
    page = small.get(f"{ADDRESS}?sort=speed").text
    assert "time per output" in page
    assert names(page) == [line.label for line in sorted(lines, key=lambda line: line.speed or 0.0)]


@pytest.mark.parametrize(("name", "making"), [("chrF", []), ("COMET", ["learned"]), ("no-such-metric", [])])
def test_a_card_says_whether_a_metric_is_learned(name: str, making: list[str]) -> None:
    assert _making(name) == making


@pytest.mark.parametrize(("seconds", "text"), [(2.0, "2 s"), (0.0125, "12.5 ms"), (0.00004, "40 µs")])
def test_short_times_are_written_as_people_read_them(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text
