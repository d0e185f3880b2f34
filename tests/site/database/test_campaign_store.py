"""Campaigns in the database: states that only move forward, answers that are only added, names that stay here."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from billboards.errors import Refused, UnknownName
from billboards.site.accounts.records import Account
from billboards.site.campaigns import annotator_records as annotators
from billboards.site.campaigns import answer_records as answers
from billboards.site.campaigns import campaign_records as campaigns
from billboards.site.database import trail
from billboards.site.database.engine import Database
from billboards.site.database.schema import keys


def draft(connection: Any, account: Account, name: str = "first") -> campaigns.CampaignRow:
    values: dict[str, Any] = {"board": "ferry", "name": name, "kind": "labels", "template": "", "plan": {}}
    values |= {"generators": ["g"], "instances": ["i0"], "rolling": False, "ranks": True, "joins": {}, "details": {}}
    return campaigns.create(connection, {**values, "account_id": account.id}, actor="ann", now=1.0)


def items(count: int, **changes: Any) -> list[dict[str, Any]]:
    one = {"row": "g", "purpose": "label", "test": None, "wanted": 1, "part": None, "shown_order": [0], "slots": []}
    return [{"instance": f"i{k}", **one, **changes} for k in range(count)]


def answer(held: answers.Assignment, answer_id: str, kind: str = "submitted") -> dict[str, Any]:
    said = {"annotator_id": held.annotator_id, "answer_id": answer_id, "assignment_id": held.id, "kind": kind}
    return {**said, "campaign_id": held.campaign_id, "answers": {"good": 1}, "is_right": None, "seconds": 1.0,
            "at": 2.0, "template": "t@1:x", "supersedes": None}  # fmt: skip


def test_a_campaign_moves_forward_and_every_step_is_on_record(database: Database, account: Account) -> None:
    with database.writing() as connection:
        one = draft(connection, account)
        before = trail.generation(connection, "ferry")
        assert before is not None
        for state in ("open", "paused", "open", "closed"):
            one = campaigns.advance(connection, one.id, state, actor="ann", now=5.0)
        assert (one.opened, one.closed) == (5.0, 5.0)
        assert trail.generation(connection, "ferry") == before + 4
        for state in ("draft", "open", "paused"):
            with pytest.raises(Refused, match="is closed"):
                campaigns.advance(connection, one.id, state, actor="ann", now=6.0)  # type: ignore[arg-type]
        assert [e.action for e in trail.entries(connection, subject=one.id)] == [
            "campaign.closed",
            "campaign.open",
            "campaign.paused",
            "campaign.open",
            "campaign.created",
        ]


def test_a_name_is_taken_once_on_a_board(database: Database, account: Account) -> None:
    with database.writing() as connection:
        one = draft(connection, account)
        with pytest.raises(Refused, match="choose another name"):
            draft(connection, account)
        assert campaigns.named(connection, "first") == campaigns.named(connection, one.id) == one
        with pytest.raises(UnknownName, match="did you mean first"):
            campaigns.named(connection, "firsr")


def test_an_item_is_taken_while_it_is_held_or_answered_and_free_when_abandoned_or_void(
    database: Database, account: Account
) -> None:
    with database.writing() as connection:
        one = draft(connection, account)
        campaigns.add_items(connection, one.id, items(1))
        (item,) = campaigns.list_items(connection, one.id)
        ann, ben = (annotators.annotator_of(connection, name, now=1.0) for name in ("ann", "ben"))
        held = answers.assign(connection, one.id, item.id, ann.id, [0], now=10.0, seconds=60.0)
        assert answers.open_items(connection, one.id, ben.id, now=69.0) == []
        assert [free.id for free in answers.open_items(connection, one.id, ben.id, now=70.0)] == [item.id]
        answers.set_state(connection, held.id, "submitted", now=70.0)
        assert answers.open_items(connection, one.id, ben.id, now=1000.0) == []
        assert answers.labels_left(connection, one.id) == 0
        assert answers.set_all(connection, one.id, ann.id, ("submitted",), "void", now=71.0) == 1
        assert [free.id for free in answers.open_items(connection, one.id, ben.id, now=1000.0)] == [item.id]
        assert answers.open_items(connection, one.id, ann.id, now=1000.0) == [], "not to the same annotator"
        assert answers.labels_left(connection, one.id) == 1


def test_the_database_itself_refuses_an_answer_twice(database: Database, account: Account) -> None:
    with database.writing() as connection:
        one = draft(connection, account)
        campaigns.add_items(connection, one.id, items(1))
        (item,) = campaigns.list_items(connection, one.id)
        ann = annotators.annotator_of(connection, "ann", now=1.0)
        held = answers.assign(connection, one.id, item.id, ann.id, [0], now=10.0, seconds=60.0)
        kept = answers.add_answer(connection, answer(held, "x"))
        assert answers.answer_with_id(connection, ann.id, "x") == kept

    def again() -> None:
        with database.writing() as connection:
            answers.add_answer(connection, answer(held, "x"))

    with pytest.raises(IntegrityError):
        again()


def test_a_pseudonym_is_the_same_on_a_site_and_another_elsewhere(database: Database) -> None:
    with database.writing() as connection:
        one = annotators.annotator_of(connection, "ann@example.org", now=1.0)
        assert annotators.annotator_of(connection, "ann@example.org", now=2.0) == one
        assert len(one.pseudonym) == 14
        key = connection.execute(select(keys.c.value)).scalar_one()
        connection.execute(keys.delete())
        other = annotators.annotator_of(connection, "ann@example.com", now=1.0)
        assert connection.execute(select(keys.c.value)).scalar_one() != key
        assert other.pseudonym != one.pseudonym


def test_links_are_kept_as_digests_and_end(database: Database, account: Account) -> None:
    with database.writing() as connection:
        one = draft(connection, account)
        who = annotators.annotator_of(connection, "ann", now=1.0)
        token = annotators.add_link(connection, one.id, now=1.0, annotator_id=who.id, expires=10.0)
        found = annotators.link(connection, token, now=9.0)
        assert found is not None
        assert (found.annotator_id, found.campaign_id) == (who.id, one.id)
        assert annotators.link(connection, token, now=10.0) is None
        assert annotators.link(connection, token + "x", now=9.0) is None
        assert annotators.revoke_links(connection, one.id, who.id, now=5.0) == 1
        assert annotators.link(connection, token, now=9.0) is None
