"""Boards with many columns: those that say most are shown, and all of them when a reader asks."""

from __future__ import annotations

from dataclasses import replace

from ranking_examples import RANKING, generator, metric
from starlette.datastructures import QueryParams

from billboards.site.pages.board_table import MOST_COLUMNS, board_table
from billboards.site.pages.board_view import table_context
from billboards.site.pages.board_wish import Wish, read_wish

NAMES = [f"m{k:02}" for k in range(79)]
WIDE = replace(
    RANKING,
    metrics=tuple(metric(name, k + 1, 0.9 - k / 100) for k, name in enumerate(NAMES)),
    generators=(
        generator("one", 1, 70.0, **dict.fromkeys(NAMES, 1.0)),
        generator("two", 2, 60.0, **dict.fromkeys(NAMES, 0.5)),
    ),
    ranked_by="m50",
)


def test_a_wide_board_shows_people_what_leads_and_the_metrics_that_agree_best() -> None:
    table = board_table(WIDE, None, Wish())
    keys = [column.key for column in table.columns]
    assert len(keys) == MOST_COLUMNS == 20
    assert {"people", "m50", "m00", "m17"} <= set(keys)
    assert "m18" not in keys
    assert (table.hidden, table.is_choice) == (60, True)


def test_a_column_that_is_sorted_by_or_pinned_is_always_there() -> None:
    table = board_table(WIDE, None, Wish(sort="m70", pinned=("m60",)))
    assert {"m70", "m60"} <= {column.key for column in table.columns}


def test_all_columns_are_one_link_away_and_a_choice_of_the_readers_stands() -> None:
    context = table_context(WIDE, None, QueryParams(""), "/boards/b")
    assert context["all_columns"] == "/boards/b?columns=all"
    assert len(board_table(WIDE, None, read_wish(QueryParams("columns=all"))).columns) == 80
    chosen = board_table(WIDE, None, read_wish(QueryParams("columns=all&hide=m01&hide=m02")))
    assert (len(chosen.columns), chosen.is_choice) == (78, False)
    assert [choice["key"] for choice in context["choices"] if not choice["hidden"]] == [
        "people",
        *NAMES[:18],
        "m50",
    ]
