"""The one way a submission's state changes, and everything that changes with it."""

from __future__ import annotations

import pytest
from outbox import list_deliveries
from sqlalchemy import select

from billboards.errors import Refused, UnknownName
from billboards.site.accounts.records import Account
from billboards.site.database import trail
from billboards.site.database.engine import Database
from billboards.site.database.schema import audit
from billboards.site.submissions import records as submissions
from billboards.site.submissions.records import TERMINAL, TRANSITIONS, Draft, Submission


def send(database: Database, account: Account, name: str = "tug", blob: str = "b", now: float = 10.0) -> Submission:
    draft = Draft(
        board="ferry",
        kind="generator",
        name=name,
        team_id=account.team_id,
        account_id=account.id,
        blob=blob,
        phase=None,
        anonymous=False,
        entry="primary",
        settings={},
    )
    with database.writing() as connection:
        return submissions.create(connection, draft, actor="ann", now=now)


def move(database: Database, submission: Submission, to: str, **said: object) -> Submission:
    with database.writing() as connection:
        return submissions.advance(connection, submission.id, to, actor="test", now=20.0, **said)  # type: ignore[arg-type]


def test_every_state_can_reach_a_terminal_one_and_rejected_and_withdrawn_are_the_end() -> None:
    reachable = {state: set(nexts) for state, nexts in TRANSITIONS.items()}
    for state in TRANSITIONS:
        assert state in TERMINAL or reachable[state] & TERMINAL
    assert TRANSITIONS["rejected"] == TRANSITIONS["withdrawn"] == frozenset()


def test_a_change_writes_trail_generation_and_notices_together(database: Database, account: Account) -> None:
    one = send(database, account)
    for state in ("checking", "scoring", "scored"):
        one = move(database, one, state)
    with database.reading() as connection:
        said = [entry.action for entry in trail.entries(connection, subject=one.id)]
        waiting = list_deliveries(connection)
        generation = trail.generation(connection, "ferry")
    assert said == ["submission.scored", "submission.scoring", "submission.checking", "submission.received"]
    assert generation == 1 + 4
    assert sorted((note.event, note.target) for note in waiting) == [
        ("submission.received", "mailto:ann@example.org"),
        ("submission.scored", "mailto:ann@example.org"),
    ]


def test_a_change_that_is_not_in_the_table_is_refused_and_leaves_nothing(database: Database, account: Account) -> None:
    one = send(database, account)
    with pytest.raises(Refused, match=r"tug .* is received: it can't become scored"):
        move(database, one, "scored")
    with database.reading() as connection:
        assert submissions.get(connection, one.id).state == "received"
        assert connection.execute(select(audit.c.action).where(audit.c.subject == one.id)).scalars().all() == [
            "submission.received"
        ]


def test_what_failed_always_has_a_log(database: Database, account: Account) -> None:
    one = move(database, send(database, account), "failed", reason="the disk is full", platform=True)
    with database.reading() as connection:
        assert [line.text for line in trail.read_log(connection, one.id)] == ["the disk is full"]


def test_versions_count_up_by_name(database: Database, account: Account) -> None:
    versions = [send(database, account, blob=blob).version for blob in "abc"]
    assert versions == [1, 2, 3]
    assert send(database, account, "barge").version == 1


@pytest.mark.parametrize(
    ("path", "said", "counted"),
    [
        (["checking", "scoring", "scored"], {}, 1),
        (["checking", "scoring", "failed"], {"reason": "yours"}, 1),
        (["checking", "scoring", "failed"], {"reason": "ours", "platform": True}, 0),
        (["checking", "rejected"], {"reason": "no such file"}, 0),
        (["checking", "scoring", "cancelled"], {}, 1),
        (["cancelled"], {}, 0),
    ],
)
def test_quota_is_spent_by_what_ran_and_given_back_for_the_platforms_faults(
    database: Database, account: Account, path: list[str], said: dict[str, object], counted: int
) -> None:
    one = send(database, account)
    for state in path:
        move(database, one, state, **(said if state == path[-1] else {}))
    with database.reading() as connection:
        assert submissions.count_spent(connection, "ferry", "generator", account.team_id) == counted
        assert submissions.count_spent(connection, "ferry", "generator", account.team_id, since=11.0) == 0


def test_pages_of_submissions_leave_none_out_and_show_none_twice(database: Database, account: Account) -> None:
    made = [send(database, account, f"tug {k}", now=10.0 + k // 3).id for k in range(8)]
    seen: list[str] = []
    before = None
    while True:
        with database.reading() as connection:
            page = submissions.find(connection, board="ferry", before=before, limit=3)
        if not page:
            break
        seen += [one.id for one in page]
        before = (page[-1].created, page[-1].id)
    assert sorted(seen) == sorted(made)


def test_an_unknown_submission_is_named(database: Database) -> None:
    with database.reading() as connection, pytest.raises(UnknownName, match="no submission named 'nowhere'"):
        submissions.get(connection, "nowhere")


def test_whatever_a_program_says_can_be_kept(database: Database, account: Account) -> None:
    one = send(database, account)
    move(database, one, "checking")
    failed = move(database, one, "failed", reason="half \ud800 and \0", log="a\0b")
    assert failed.reason == "half ? and \ufffd"
    with database.reading() as connection:
        assert [line.text for line in trail.read_log(connection, one.id)][-1] == "a\ufffdb"
