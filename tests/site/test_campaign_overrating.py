"""Overrating needs scores without the person's own text; a person whom only a campaign judged gets them too."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from small_campaigns import by_reference, distinct_board, people
from small_sites import Harbour, MakeHarbour

from billboards.board import Board, Reference
from billboards.campaigns.plan import CampaignPlan
from billboards.site.boards.live import live_board
from billboards.site.campaigns.lifecycle import close_campaign, create_campaign, open_campaign
from billboards.site.submissions.sending import change_settings, submit_generator
from billboards.site.work.worker import work_until_done


def two_references() -> Board:
    """Ada's text is a reference and stands on the board; Ben's is another reference."""
    board = distinct_board()
    both = tuple(
        replace(one, references=(*one.references, Reference("Ben", f"{one.references[0].text} ahoy")))
        for one in board.instances
    )
    return replace(board, instances=both)


@pytest.fixture
def port(make_harbour: MakeHarbour) -> Harbour:
    harbour = make_harbour(two_references())
    change_settings(harbour.site, harbour.owner, "ferry", {"draws": 10})
    return harbour


def judge(port: Harbour, *generators: str) -> None:
    """A campaign about these rows, answered by an honest person and closed."""
    plan = CampaignPlan(instances=12, positive=0.0, negative=0.0)
    made = create_campaign(
        port.site, port.owner, "ferry", "first", "genie-translation", generators=generators, plan=plan
    )
    open_campaign(port.site, port.owner, made.id)
    (ann,) = people(port, made, by_reference)
    ann.answer_all()
    close_campaign(port.site, port.owner, made.id)


def overrating(port: Harbour) -> dict[str, Any] | None:
    work_until_done(port.site)
    document = live_board(port.site, "ferry").document
    assert document is not None
    found: dict[str, Any] | None = document["overrating"]
    return found


def test_machines_are_compared_with_a_person_whom_a_campaign_judged(port: Harbour) -> None:
    assert overrating(port) is None, "nobody is judged yet"
    judge(port, "g0", "g1", "g2", "Ada")
    found = overrating(port)
    assert found is not None
    assert (found["human"], found["references"]) == ("Ada", ["Ben"])
    # Three machines and the person on twelve instances each.
    assert {one["name"]: one["n"] for one in found["metrics"]}["chrF"] == 48


@pytest.mark.long
def test_a_generator_that_was_sent_in_and_judged_takes_part(port: Harbour) -> None:
    outputs = "\n".join(f"{one.references[0].text} late" for one in port.board.instances).encode()
    submit_generator(port.site, port.owner, "ferry", "tug", outputs)
    work_until_done(port.site)
    judge(port, "g0", "g1", "tug", "Ada")
    found = overrating(port)
    assert found is not None
    assert {one["name"]: one["n"] for one in found["metrics"]}["chrF"] == 48
