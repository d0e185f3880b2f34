"""The bidimensional table as values: order, gaps, pins and shades."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from bulletins.build import build_board
from ranking_examples import OVERRATING, RANKING
from starlette.datastructures import QueryParams

from billboards.analyses.ensemble import Ensemble
from billboards.analyses.rank import NOT_ALONE, citation
from billboards.errors import InvalidInput
from billboards.site.pages.board_table import BoardTable, board_table
from billboards.site.pages.board_view import has_scale, ranked_by_words, table_context
from billboards.site.pages.board_wish import Wish, read_wish
from billboards.site.pages.columns import board_column


def names(table: BoardTable) -> list[str]:
    return [row.name for row in table.rows]


@pytest.mark.parametrize("direction", ["ascending", "descending"])
@pytest.mark.parametrize(("sort", "missing"), [("A", "three"), ("B", "one"), ("people", "two"), ("rank", "three")])
def test_what_has_no_value_stands_last_whichever_way_a_column_is_sorted(
    sort: str, missing: str, direction: str
) -> None:
    wish = read_wish(QueryParams({"sort": sort, "direction": direction}))
    assert names(board_table(RANKING, None, wish))[-1] == missing


def test_scores_begin_with_the_best_and_names_with_the_first_letter() -> None:
    assert names(board_table(RANKING, None, Wish(sort="C"))) == ["three", "two", "one"]
    assert names(board_table(RANKING, None, Wish(sort="generator"))) == ["one", "three", "two"]


def test_the_column_of_people_says_what_its_numbers_are_and_leads_where_it_ranks() -> None:
    judged = replace(RANKING, generators=tuple(replace(standing, judged=400) for standing in RANKING.generators))
    people = board_table(judged, None, Wish()).columns[0]
    assert people.correlation.more == (
        f"Mean human score ({RANKING.aggregate}): 0 to 100 where its scale is known.",
        "1,200 judged outputs.",
    )
    assert not people.leads
    assert board_table(replace(RANKING, ranked_by="people"), None, Wish()).columns[0].leads


def test_a_declared_column_is_not_shaded_unless_it_says_that_more_is_better() -> None:
    plain = board_column("judged", "How many outputs were judged.")(lambda standing: standing.judged)
    better = board_column("judged", "How many outputs were judged.", shaded=True)(lambda standing: standing.judged)
    assert (plain.shaded, better.shaded) == (False, True)
    assert plain.explained(RANKING) == ("How many outputs were judged.",)


def test_a_hidden_column_can_still_be_sorted_by() -> None:
    table = board_table(RANKING, None, Wish(sort="C", hidden=frozenset({"C"})))
    assert names(table) == ["three", "two", "one"]
    assert [column.key for column in table.columns] == ["people", "A", "B"]
    assert table.hidden == 1


def test_pinned_columns_come_first_and_only_two_stay_in_sight() -> None:
    table = board_table(RANKING, None, Wish(pinned=("C", "B", "A")))
    assert [(column.key, column.pin) for column in table.columns] == [("C", 1), ("B", 2), ("people", 0), ("A", 0)]


def test_metrics_can_be_ordered_by_overrating_with_the_unmeasured_last() -> None:
    table = board_table(RANKING, OVERRATING, Wish(order="overrating"))
    assert [column.key for column in table.columns] == ["people", "B", "A", "C"]
    top = {column.key: column.overrating for column in table.columns}
    assert (top["A"].text, top["A"].role) == ("0.50", "down")
    assert "90% interval 0.30 to 0.70" in top["A"].more
    assert top["C"].more == ("no scores",)


def test_intervals_and_clusters_are_told_of_every_metric() -> None:
    columns = {column.key: column for column in board_table(RANKING, None, Wish()).columns}
    assert columns["A"].correlation.more == ("95% interval 0.500 to 0.700", "n = 40 judged outputs")
    assert columns["A"].rank.text == "1="
    assert columns["A"].rank.more == ("Rank 1, cluster 1", "Not told apart from B")
    assert columns["C"].correlation.more == ("no judged output has a score",)


def test_a_missing_score_is_a_dash_without_shade_or_rank() -> None:
    cell = board_table(RANKING, None, Wish()).rows[2].cells[1]
    assert (cell.text, cell.value, cell.shade, cell.rank) == ("–", None, None, None)


def test_choosing_the_sorted_column_again_turns_it_and_the_address_says_so() -> None:
    wish = Wish(sort="A")
    assert wish.way == "descending"
    assert wish.turned("A").way == "ascending"
    assert wish.turned("B").query() | {} == Wish(sort="B").query()
    assert Wish().query() == {
        "sort": None, "direction": None, "order": None, "hide": [], "pin": [], "show": None, "columns": None
    }  # fmt: skip


@pytest.mark.parametrize("query", [{"direction": "up"}, {"order": "size"}])
def test_an_order_that_there_is_not_is_named(query: dict[str, str]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(query.values()))):
        read_wish(QueryParams(query))


def test_finding_a_generator_hides_the_other_rows_and_keeps_the_order_in_links() -> None:
    context = table_context(RANKING, None, QueryParams({"find": "TW", "sort": "C"}), "/boards/b")
    assert [(row.name, row.hidden) for row in context["table"].rows] == [("three", True), ("two", False), ("one", True)]
    assert "find=TW" in context["sorter"]("A", "A")


def ensemble_of(r: float) -> Ensemble:
    zeros = {"A": 0.0, "B": 0.0}
    return Ensemble(
        board="b",
        board_version="v",
        version=1,
        references=(),
        lam=0.1,
        lam_range=None,
        k=3,
        weights={"A": 1.0, "B": 0.5},
        centres=zeros,
        scales=zeros,
        signatures={"A": "A|v1", "B": "B|v1"},
        intercept=0.0,
        correlation=r,
        n=40,
        aggregate="overall",
        candidates=("A", "B"),
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "ranked by <strong>A</strong>, which agrees best with people (0.600)."),
        (
            {"ranked_by": "B"},
            "ranked by <strong>B</strong>, chosen by the board’s owner: its agreement with people is 0.580, and A "
            "agrees best (0.600).",
        ),
        (
            {"ranked_by": "B", "notes": ("A uses no reference: " + NOT_ALONE,)},
            "ranked by <strong>B</strong>, which agrees best with people of those that may rank alone (0.580).",
        ),
        (
            {"ranked_by": "C"},
            "ranked by <strong>C</strong>, chosen by the board’s owner: its agreement with people is not known, and A "
            "agrees best (0.600).",
        ),
        (
            {"ranked_by": "ensemble", "ensemble": ensemble_of(0.7)},
            ", which agrees best with people (0.700 on generators it has not seen).",
        ),
        (
            {"ranked_by": "ensemble", "ensemble": ensemble_of(0.5)},
            ", chosen by the board’s owner: its agreement with people is 0.500, and A agrees best (0.600).",
        ),
        (
            {"ensemble": ensemble_of(0.7)},
            "<strong>A</strong>, chosen by the board’s owner: its agreement with people is 0.600, and ensemble agrees "
            "best (0.700).",
        ),
        ({"ranked_by": None}, "Generators are not ranked yet: no metric has a correlation with people."),
    ],
)
def test_the_page_says_why_a_metric_ranks(changes: dict[str, Any], words: str) -> None:
    assert str(ranked_by_words(replace(RANKING, **changes))).endswith(words)


def test_a_human_score_is_of_100_only_where_its_scale_is_known() -> None:
    board = build_board()
    names = board.aggregate().dimensions
    free = {name: replace(board.dimensions[name], range=None, to_100=None) for name in names}
    bare = replace(board, dimensions={**board.dimensions, **free})
    assert (has_scale(board, board.aggregate().name), has_scale(bare, board.aggregate().name)) == (True, False)
    assert not has_scale(board, "what no board has")


def test_a_board_that_nobody_judged_says_what_to_do() -> None:
    words = str(ranked_by_words(replace(RANKING, ranked_by=None, aggregate="")))
    assert words.startswith("Generators are not ranked yet: nobody has judged an output")
    assert "from a campaign" in words
    assert "judgments ," not in citation(replace(RANKING, aggregate=""))
