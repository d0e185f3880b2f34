"""Rankings with one more generator, for which a process keeps what the last one worked out."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from page_sites import PageSite, page_site
from ranking_examples import RANKING

from billboards.analyses.rank import GeneratorStanding, Ranking
from billboards.show.documents import Document, document_of, dumps
from billboards.site.admin import erasure
from billboards.site.boards import snapshots
from billboards.site.boards.document_texts import KeptTexts
from billboards.site.boards.live import live_board
from billboards.site.boards.refresh import rank_live


@pytest.fixture
def small(tmp_path: Path) -> Iterator[PageSite]:
    made = page_site(tmp_path)
    yield made
    made.site.close()


def shifted(standing: GeneratorStanding, by: int) -> GeneratorStanding:
    return replace(standing, rank=None if standing.rank is None else standing.rank + by)


def rankings() -> Iterator[Ranking]:
    """A ranking, the same with somebody new ahead, with other numbers, without one, and with odd names and numbers."""
    yield RANKING
    one, two, three = RANKING.generators
    new = replace(one, name="new", interval={"A": (1.0, 2.5), "B": (math.nan, math.inf)}, doubts=("odd",))
    moved = replace(RANKING, generators=(new, *(shifted(g, 1) for g in RANKING.generators)))
    yield moved
    yield replace(moved, generators=(new, one, replace(two, scores={**two.scores, "A": 8.5}), three))
    # The same numbers in another order are another text.
    yield replace(RANKING, generators=(replace(one, scores=dict(list(one.scores.items())[::-1])), two))
    named = replace(two, name='"Ünï\ud800"', scores={"scores": math.inf, "é\\": None}, corpus={"A": 1e-7})
    yield replace(RANKING, generators=(one, named))
    yield replace(RANKING, generators=())


def test_what_is_written_in_part_is_what_would_be_written_from_nothing() -> None:
    texts = KeptTexts()
    for ranking in rankings():
        said: Document = {"schema": 1, "ranking": texts.ranking_document(ranking), "rows": {"é": "1"}}
        expected: Document = {"schema": 1, "ranking": document_of(ranking), "rows": {"é": "1"}}
        assert said == expected
        assert list(said["ranking"]) == list(expected["ranking"])
        assert texts.stored_text(said) == dumps(expected, compact=True)
        assert texts.document_id(said) == snapshots.document_id(expected)


def test_a_ranking_from_what_is_kept_says_what_one_from_nothing_says(small: PageSite) -> None:
    small.work()
    for name, word in (("tug", "boat"), ("raft", "log"), ("tug", "ship")):
        small.submit(name, word=word)
        small.work()
        live = live_board(small.site, "harbour")
        assert live.snapshot is not None
        assert live.latest is not None
        kept, anew = document_of(live.latest.ranking), document_of(rank_live(live))
        # The ensemble is numbered where it is kept.
        kept["ensemble"] = anew["ensemble"] = None
        assert json.loads(dumps(kept)) == json.loads(dumps(anew))
        assert live.snapshot.id == snapshots.document_id(live.latest.document)


def test_the_next_ranking_does_not_know_a_name_that_was_forgotten(small: PageSite) -> None:
    small.work()
    small.submit("tug")
    small.work()
    with small.site.database.writing() as connection:
        assert erasure.rename_generators(connection, "harbour", {"tug": "forgotten-1"}) > 0
    small.submit("raft", word="log")
    small.work()
    with small.site.database.reading() as connection:
        last = snapshots.latest(connection, "harbour")
    assert last is not None
    gone = [change["name"] for change in last.cause["removed"]]
    assert gone == ["forgotten-1"]
    assert {"tug", "raft"} <= {change["name"] for change in last.cause["added"]}


def test_both_audiences_read_one_ranking_once_until_the_next(small: PageSite) -> None:
    small.work()
    first = live_board(small.site, "harbour").latest
    assert first is not None
    assert live_board(small.site, "harbour", audience="owners").latest is first
    small.submit("tug")
    small.work()
    second = live_board(small.site, "harbour").latest
    assert second is not None
    assert second is not first
    assert "tug" in second.document["rows"]
    assert "tug" not in first.document["rows"]
