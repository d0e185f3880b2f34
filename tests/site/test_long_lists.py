"""Lists over HTTP are bounded: plain ones lead on by the header Link, and asked for nothing they are as they were."""

from __future__ import annotations

from typing import Any

import pytest
from api_sites import SmallSite, small_site

from billboards.site.boards import snapshots
from billboards.site.boards.ranking_routes import MOST_MOVES, _head
from billboards.site.boards.snapshots import Snapshot
from billboards.site.web.api import write_cursor


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> SmallSite:
    found = small_site(tmp_path_factory.mktemp("site"))
    found.work()
    for word in ("a", "b"):
        found.submit(name=f"late-{word}", raw=found.outputs(word=word))
        found.work()
    return found


def followed(small: SmallSite, path: str) -> list[Any]:
    """All items of a plain list, two at a time."""
    found, address = [], f"{path}{'&' if '?' in path else '?'}limit=2"
    while True:
        answer = small.ask("owner", "GET", address)
        assert answer.status_code == 200, answer.text
        assert len(answer.json()) <= 2
        found += answer.json()
        following = answer.links.get("next")
        if following is None:
            return found
        address = following["url"]


@pytest.mark.parametrize(
    "path",
    [
        "/boards",
        "/boards/small/generators",
        "/boards/small/metrics",
        "/boards/small/ensembles",
        "/boards/small/history/metric",
        "/boards/small/history/generator",
        "/boards/small/history/generator?name=late-a",
        "/boards/small/campaigns",
        "/accounts",
        "/account/tokens",
        "/account/webhooks",
    ],
)
def test_a_plain_list_in_pieces_is_the_whole_list(small: SmallSite, path: str) -> None:
    whole = small.ask("owner", "GET", path)
    assert "link" not in whole.headers
    assert followed(small, path) == whole.json()


def test_what_was_asked_for_stays_in_the_address_of_the_next_piece(small: SmallSite) -> None:
    answer = small.ask("visitor", "GET", "/boards/small/history/generator?name=late-a&limit=1")
    assert answer.links["next"]["url"].startswith("/api/v1/boards/small/history/generator?name=late-a&limit=1&cursor=")


def test_a_first_piece_that_others_follow_is_another_answer_than_the_same_piece_alone(small: SmallSite) -> None:
    every = small.ask("visitor", "GET", "/boards/small/metrics")
    size = len(every.json())
    alone, first = (small.ask("visitor", "GET", f"/boards/small/metrics?limit={n}") for n in (size, size - 1))
    assert (alone.headers["etag"], "link" in alone.headers) == (every.headers["etag"], False)
    again = small.ask(
        "visitor", "GET", f"/boards/small/metrics?limit={size - 1}", headers={"if-none-match": first.headers["etag"]}
    )
    assert (again.status_code, again.headers["link"]) == (304, first.headers["link"])


def test_generators_of_the_ranking_come_in_pages_as_the_ranking_has_them(small: SmallSite) -> None:
    whole = small.ask("visitor", "GET", "/boards/small/ranking").json()["ranking"]["generators"]
    first = small.ask("visitor", "GET", "/boards/small/ranking/generators?limit=3").json()
    second = small.ask("visitor", "GET", f"/boards/small/ranking/generators?cursor={first['next']}").json()
    assert first["items"] + second["items"] == whole
    assert (len(first["items"]), second["next"]) == (3, None)


def test_a_list_of_rankings_has_the_first_moves_and_counts_all() -> None:
    move = {"side": "generator", "name": "g", "before": 1, "after": 2, "change": "moved"}
    kept = Snapshot(
        board="b",
        audience="public",
        number=2,
        id="id",
        basis="basis",
        created=0.0,
        cause={},
        moves=[move] * 300,
        ensemble=None,
    )
    head, whole = _head(kept, MOST_MOVES), _head(kept)
    assert (len(head.moves), head.moved) == (MOST_MOVES, 300)
    assert (len(whole.moves), whole.moved) == (300, 300)


@pytest.mark.parametrize("place", [(2**80,), ("x",), (1.5,)])
def test_a_place_that_no_list_has_is_refused(small: SmallSite, place: tuple[Any, ...]) -> None:
    answer = small.ask("visitor", "GET", f"/boards/small/rankings?cursor={write_cursor(*place)}")
    assert answer.status_code == 422
    assert "no cursor of this list" in answer.json()["detail"]


def test_places_are_read_from_a_ranking_on_and_so_many_at_a_time(small: SmallSite) -> None:
    with small.site.database.reading() as connection:
        every = snapshots.history(connection, "small", "generator")
        last = max(place.number for place in every)
        lately = snapshots.history(connection, "small", "generator", since=last)
        some = snapshots.history(connection, "small", "generator", after=("late-a", last), limit=2)
    assert lately == tuple(place for place in every if place.number == last)
    position = next(k for k, place in enumerate(every) if (place.name, place.number) == ("late-a", last))
    assert some == every[position + 1 : position + 3]
