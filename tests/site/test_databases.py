"""One site on SQLite and one on PostgreSQL: the same life, the same board, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from postgres import PostgresServer
from small_sites import DECLARED, SHARED_WORDS, Clock, Harbour, make_board

from billboards.board.writing import write_board
from billboards.campaigns.plan import CampaignPlan
from billboards.site.accounts.access import local_viewer
from billboards.site.boards.live import live_board
from billboards.site.campaigns.annotator_work import enter, next_item, submit_answer
from billboards.site.campaigns.annotators import invite
from billboards.site.campaigns.lifecycle import close_campaign, create_campaign, open_campaign
from billboards.site.settings import DATABASE
from billboards.site.site import Site, open_site
from billboards.site.submissions import sending as submitting
from billboards.site.work.worker import work_until_done


@pytest.fixture
def both(tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Harbour]]:
    """Two sites that differ in their database only; one hears of it from the environment."""
    opened = []
    for kind in ("sqlite", "postgresql"):
        board = make_board()
        write_board(board, tmp_path / kind / "boards" / board.name)
        if kind == "postgresql":
            monkeypatch.setenv(DATABASE, postgres.new_database())
        clock = Clock()
        site = open_site(tmp_path / kind, clock=clock)
        opened.append(Harbour(site, clock, local_viewer(site), board))
    yield opened
    for harbour in opened:
        harbour.site.close()


def _live(harbour: Harbour) -> None:
    """Submissions of both kinds, and a campaign that ranks."""
    site, owner = harbour.site, harbour.owner
    work_until_done(site)
    submitting.submit_generator(site, harbour.person("ann"), "ferry", "tug", harbour.outputs(0))
    submitting.submit_metric(
        site, harbour.person("bob"), "ferry", SHARED_WORDS.encode(), name="words", file_name="m.py", manifest=DECLARED
    )
    work_until_done(site)
    plan = CampaignPlan(instances=5, positive=0.0, negative=0.0)
    campaign = create_campaign(site, owner, "ferry", "votes", "binary", generators=("g0", "g3"), plan=plan)
    open_campaign(site, owner, campaign.id)
    (link,) = invite(site, owner, campaign.id, ["eve"])
    _annotate(site, link.token)
    close_campaign(site, owner, campaign.id)
    work_until_done(site)


def _annotate(site: Site, token: str) -> None:
    who = enter(site, token)
    for k in range(100):
        item = next_item(site, who).item
        if item is None:
            return
        answer = {name: int("wrong" not in item.outputs[0]) for stage in item.stages for name in stage.dimensions}
        submit_answer(site, who, item.assignment, f"answer-{k}", answer, seconds=3.0)


def _said(harbour: Harbour) -> tuple[Any, ...]:
    live = live_board(harbour.site, "ferry", audience="owners")
    assert live.document is not None
    assert live.snapshot is not None
    judged = live.board.judgments
    ratings = sorted(zip(judged.instance.tolist(), judged.row.tolist(), map(repr, judged.values.tolist()), strict=True))
    return live.snapshot.number, live.document["ranking"]["metrics"], live.document["ranking"]["generators"], ratings


@pytest.mark.long
def test_the_same_life_gives_the_same_rankings_on_both(both: list[Harbour]) -> None:
    for harbour in both:
        _live(harbour)
    on_sqlite, on_postgresql = map(_said, both)
    assert on_sqlite == on_postgresql
    assert "words" in {metric["name"] for metric in on_postgresql[1]}
    assert "tug" in {generator["name"] for generator in on_postgresql[2]}
    assert not list(both[1].site.data.glob("site.sqlite*")), "nothing is kept in a file there"
