"""A board of more generators than a page has rows: nothing grows with it, and nothing is lost."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from large_boards import large_board
from page_sites import PageSite, page_site
from ranking_examples import RANKING, generator
from starlette.datastructures import QueryParams

from billboards.analyses.rank import Ranking
from billboards.errors import InvalidInput
from billboards.site.pages.board_rows import MOST_NAMED, MOST_ROWS
from billboards.site.pages.board_table import BoardTable, board_table
from billboards.site.pages.board_view import MOST_UNRANKED, table_context
from billboards.site.pages.board_wish import Wish
from billboards.site.pages.long_lists import pager, read_page, stretch

BOARD, SIZE = "/boards/crowded", 230
#: No page has more rows, choices or cards than this, however many generators there are.
MOST = 250


def names(table: BoardTable) -> list[str]:
    return [row.name for row in table.rows]


def long_ranking(size: int = SIZE, *, cluster: int = 50) -> Ranking:
    """Generators g000, g001, …, each a point worse under A than the one before; under B it is the other way round."""
    standings = (
        replace(
            generator(f"g{k:03d}", 1 + k // cluster * cluster, None, A=1000.0 - k, B=float(k)), cluster=k // cluster
        )
        for k in range(size)
    )
    return replace(RANKING, generators=tuple(standings))


def whole(ranking: Ranking, wish: Wish, find: str = "") -> list[str]:
    """All pages one after the other."""
    last = board_table(ranking, None, wish, find=find).shown.last
    return [
        name for page in range(1, last + 1) for name in names(board_table(ranking, None, wish, page=page, find=find))
    ]


@pytest.mark.parametrize(
    ("wish", "first"),
    [(Wish(), "g000"), (Wish(sort="B"), "g229"), (Wish(sort="generator", direction="descending"), "g229")],
)
def test_the_pages_together_are_the_board_in_the_order_asked_for(wish: Wish, first: str) -> None:
    found = whole(long_ranking(), wish)
    assert found[0] == first
    assert found == sorted(found, reverse=first != "g000")
    assert len(found) == len(set(found)) == SIZE


def test_ranks_shades_and_cluster_borders_are_the_whole_boards() -> None:
    first, second = (board_table(long_ranking(), None, Wish(), page=page) for page in (1, 2))
    assert [len(table.rows) for table in (first, second)] == [MOST_ROWS, MOST_ROWS]
    row = second.rows[0]
    assert (row.name, row.rank_text, row.opens_cluster) == ("g100", "101=", True)
    assert [(cell.rank, cell.shade) for cell in row.cells] == [(101, 2), (130, 2)]
    assert [cell.shade for cell in first.rows[0].cells] == [4, 0]
    assert [row.name for row in first.rows if row.opens_cluster] == ["g050"]


def test_a_search_looks_through_all_pages() -> None:
    table = board_table(long_ranking(), None, Wish(), find=" G22")
    assert names(table) == [f"g{k}" for k in range(220, 230)]
    assert (table.shown.total, table.total, table.shown.last) == (10, SIZE, 1)
    assert table.rows[0].cells[0].rank == 221
    assert whole(long_ranking(), Wish(sort="B"), find="g1") == [f"g1{k:02d}" for k in range(99, -1, -1)]


def test_links_keep_every_wish_and_begin_anew_where_the_order_changes() -> None:
    asked = QueryParams("sort=B&order=name&hide=C&pin=A&show=ranks&find=g&page=2&since=7")
    context = table_context(long_ranking(), None, asked, "/boards/b")
    kept = "find=g&since=7&sort=B&order=name&hide=C&pin=A&show=ranks"
    assert context["pager"].before == f"/boards/b?{kept}#pages"
    assert context["pager"].after == context["pager"].last_page == f"/boards/b?{kept}&page=3#pages"
    assert "page=" not in str(context["sorter"]("A", "A"))
    assert ("page", "2") in context["kept_for_columns"]
    assert "page=2" in context["shown_as"]
    assert all(key != "page" for key, _ in context["kept_for_finding"])


def test_a_cluster_is_named_by_its_first_members() -> None:
    told = board_table(long_ranking(cluster=SIZE), None, Wish()).rows[2].more[1]
    first = [f"g{k:03d}" for k in range(MOST_NAMED + 1) if k != 2]
    assert told == f"Not told apart from {', '.join(first)} and {SIZE - 1 - MOST_NAMED} others"
    few = board_table(long_ranking(MOST_NAMED + 2, cluster=SIZE), None, Wish()).rows[0].more[1]
    assert few == f"Not told apart from {', '.join(f'g{k:03d}' for k in range(1, MOST_NAMED + 2))}"


def test_those_without_a_rank_are_counted_where_they_are_many() -> None:
    unranked = [replace(generator(f"u{k}", None, None), reason="no scores") for k in range(40)]
    notes = table_context(replace(RANKING, generators=tuple(unranked)), None, QueryParams(), "/boards/b")["notes"]
    assert len(notes) == MOST_UNRANKED + 1
    assert notes[-1].startswith("30 more are not ranked")


@pytest.mark.parametrize("asked", ["x", "-1", "1.5", "٣", "9" * 30])
def test_a_page_that_is_no_number_is_named(asked: str) -> None:
    with pytest.raises(InvalidInput, match="page must be a whole number"):
        read_page(QueryParams({"page": asked}))


def test_a_page_before_the_first_or_beyond_the_last_is_that_one() -> None:
    assert [stretch(range(230), number, 100).number for number in (0, 1, 3, 99)] == [1, 1, 3, 3]
    assert (stretch(range(230), 99, 100).start, stretch(range(230), 99, 100).end) == (201, 230)
    assert stretch((), 7, 100).last == 1
    ends = pager(1, 1, "/b", {})
    assert (ends.first_page, ends.before, ends.after, ends.last_page) == (None, None, None, None)


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> PageSite:
    found = page_site(tmp_path_factory.mktemp("crowded"), board=large_board(SIZE))
    found.work()
    return found


def rows(page: str) -> list[str]:
    return re.findall(r'data-name="([^"]+)"', page)


def test_every_generator_stands_on_one_page_in_the_order_of_the_ranking(crowded: PageSite) -> None:
    ranking = crowded.client.get(f"/api/v1{BOARD}/ranking").json()["ranking"]
    pages = [crowded.get(f"{BOARD}?page={page}").text for page in (1, 2, 3)]
    assert [name for page in pages for name in rows(page)] == [one["name"] for one in ranking["generators"]]
    assert [len(rows(page)) for page in pages] == [100, 100, 30]
    assert "Generators 101–200 of 230" in pages[1]
    assert crowded.get(f"{BOARD}?page=99").text.count("Page 3 of 3") == 2
    assert crowded.get(f"{BOARD}?page=x").status_code == 422


def test_a_search_on_the_page_finds_who_stands_on_another(crowded: PageSite) -> None:
    page = crowded.get(f"{BOARD}?find=SYSTEM-22").text
    assert sorted(rows(page)) == [f"system-{k}" for k in range(220, 230)]
    assert "10 of 230 generators have “SYSTEM-22” in their name" in page
    assert "None of 230 generators has “zz”" in crowded.get(f"{BOARD}?find=zz").text


def test_a_board_of_one_page_has_no_pages_and_all_that_a_script_sorts_by(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    small = page_site(tmp_path_factory.mktemp("small"), board=large_board(MOST_ROWS))
    small.work()
    page = small.get(BOARD).text
    assert len(rows(page)) == MOST_ROWS
    assert 'id="pages"' not in page
    assert "data-part" not in page
    assert page.count("data-value=") == MOST_ROWS * (1 + page.count('<th scope="col" class="metric'))


PAGES = [
    "",
    "?page=2&sort=TER",
    "/rankings/1",
    "/generators/system-003",
    "/metrics/chrF",
    "/metrics/chrF?firm=yes",
    "/instances",
    "/instances/i1",
    "/instances/i1?page=3&metric=TER&against=Ada",
    "/compare",
    "/compare?first=system-000&second=system-220",
    "/rankings",
    "/ensembles",
    "/submissions",
    "/card",
]


@pytest.mark.parametrize("path", PAGES)
def test_no_page_has_more_entries_than_a_reader_can_take(crowded: PageSite, path: str) -> None:
    answer = crowded.get(BOARD + path)
    assert answer.status_code in (200, 202), answer.text[-400:]
    for tag in ("tr", "option", "li"):
        assert len(re.findall(rf"<{tag}[ >]", answer.text)) <= MOST, tag


def test_the_outputs_of_an_instance_go_on_over_its_pages(crowded: PageSite) -> None:
    pages = [crowded.get(f"{BOARD}/instances/i1?metric=TER&page={page}").text for page in (1, 2, 3)]
    shown = [re.findall(r"<h3><a [^>]*>(system-\d+)</a>", page) for page in pages]
    assert [len(one) for one in shown] == [100, 100, 30]
    cards = [card for page in pages for card in page.split('<li class="card">')[1:]]
    scores = [float(match[1]) for card in cards if (match := re.search(r"<span>TER <b>([\d.]+)</b>", card))]
    assert len(scores) == SIZE
    assert scores == sorted(scores, reverse=True)
    assert len({name for one in shown for name in one}) == SIZE


def test_a_generator_that_is_misspelt_is_offered_its_neighbours(crowded: PageSite) -> None:
    answer = crowded.get(f"{BOARD}/compare?first=system-000&second=sistem-001")
    assert answer.status_code == 404
    assert "did you mean" in answer.text
    assert "system-001" in answer.text
