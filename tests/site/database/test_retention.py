"""What a database keeps too long: the rows that go and stay at the boundary, and rankings thinned to one a day."""

from __future__ import annotations

from typing import Any

import pytest
from outbox import list_deliveries
from sqlalchemy import insert, select

from billboards.errors import Gone, UnknownName
from billboards.site.accounts.records import Account, begin_session
from billboards.site.admin import erasure
from billboards.site.boards import snapshots
from billboards.site.database import retention, trail
from billboards.site.database.engine import Database
from billboards.site.database.retention import DAY, Amount, OldRanking, OldRows
from billboards.site.database.schema import audit, leases, logs, rankings, sessions, standings
from billboards.site.database.schema import deliveries as outbox
from billboards.site.submissions import records as submissions
from billboards.site.submissions.records import Draft, Submission
from billboards.site.work.leases import acquire

NOW = 100 * DAY
BEFORE = NOW - 30 * DAY


def sent(database: Database, account: Account, name: str, blob: str, *states: str, at: float = 1.0) -> Submission:
    """A submission that went through some states."""
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
        settings={"file": "f"},
    )
    with database.writing() as connection:
        made = submissions.create(connection, draft, actor="ann", now=at)
        for state in states:
            made = submissions.advance(connection, made.id, state, actor="ann", now=at)
    return made


def sweep(database: Database, old: OldRows) -> Amount:
    """Delete all that is found, two rows at a time; it is as much as was said before."""
    with database.reading() as connection:
        said = retention.measure(connection, old)
    total = Amount()
    while True:
        with database.writing() as connection:
            went = retention.delete_some(connection, old, 2)
        assert went.count <= 2
        if not went.count:
            assert total == said
            return total
        total += went


def test_log_lines_go_from_the_boundary_on_and_only_of_submissions_that_are_over(
    database: Database, account: Account
) -> None:
    over = sent(database, account, "tug", "a" * 64, "cancelled")
    going = sent(database, account, "raft", "b" * 64, "checking")
    with database.writing() as connection:
        for at in (BEFORE - 20, BEFORE - 10, BEFORE - 1, BEFORE, BEFORE + 1):
            trail.write_log(connection, over.id, "käse", now=at)
            trail.write_log(connection, going.id, "käse", now=at)
    assert sweep(database, retention.log_lines(BEFORE)) == Amount(3, 15)
    with database.reading() as connection:
        left = connection.execute(select(logs.c.submission_id, logs.c.at)).all()
    assert sorted(at for who, at in left if who == over.id) == [BEFORE, BEFORE + 1]
    assert sum(who == going.id for who, _ in left) == 5


def test_entries_of_the_trail_go_from_the_boundary_on(database: Database) -> None:
    with database.writing() as connection:
        for at in (BEFORE - 1, BEFORE):
            trail.note(connection, "ann", "x", "y", now=at, detail={"a": 1})
    assert sweep(database, retention.trail_entries(BEFORE)).count == 2, "one is the board's, of the beginning"
    with database.reading() as connection:
        assert connection.execute(select(audit.c.at)).scalars().all() == [BEFORE]


def test_a_notice_that_waits_never_goes(database: Database) -> None:
    common = {"event": "e", "target": "mailto:a@example.org", "payload": {}, "attempts": 0, "next_at": 0.0}
    with database.writing() as connection:
        for state, at in (("sent", 1.0), ("given up", 1.0), ("waiting", 1.0), ("sent", BEFORE)):
            connection.execute(insert(outbox).values(**common, state=state, created=at))
    assert sweep(database, retention.notices(BEFORE)).count == 2
    with database.reading() as connection:
        left = [(one.state, one.created) for one in list_deliveries(connection)]
    assert left == [("sent", BEFORE), ("waiting", 1.0)]


def test_log_ins_go_when_they_expire_and_leases_a_day_later(database: Database, account: Account) -> None:
    with database.writing() as connection:
        begin_session(connection, account.id, now=NOW - 10, seconds=10)
        begin_session(connection, account.id, now=NOW - 10, seconds=11)
        for subject, seconds in (("old", 10.0), ("tried in vain", 11.0)):
            acquire(connection, "ferry", "cell", subject, "worker", now=NOW - DAY - 10, seconds=seconds)
    assert sweep(database, retention.sessions_over(NOW)) == Amount(1, 0)
    assert sweep(database, retention.leases_over(NOW)) == Amount(1, 0)
    with database.reading() as connection:
        assert connection.execute(select(sessions.c.expires)).scalars().all() == [NOW + 1]
        assert connection.execute(select(leases.c.subject)).scalars().all() == ["tried in vain"]


def said(k: int) -> dict[str, Any]:
    metrics = [{"name": name, "rank": 1, "correlation": k / 10} for name in ("BLEU", "chrF")]
    generators = [{"name": "tug", "rank": 1, "scores": {"BLEU": 0.5}}]
    return {"ranking": {"ranked_by": "BLEU", "metrics": metrics, "generators": generators, "ensemble": None}}


def keep(database: Database, k: int, at: float, audience: Any = "public") -> str:
    with database.writing() as connection:
        cause, moves = {"first": k == 1}, [{"side": "metric", "name": "BLEU"}]
        kept = snapshots.keep(
            connection, "ferry", audience, said(k), basis=f"b{k}", cause=cause, moves=moves, ensemble=None, now=at
        )
    return kept.id


@pytest.fixture
def ids(database: Database) -> list[str]:
    """Three rankings on one day, two on the day of the boundary, two today; the first and the last say the same."""
    times = (BEFORE - DAY, BEFORE - DAY + 1, BEFORE - DAY + 2, BEFORE, BEFORE + 1, NOW - 2, NOW - 1)
    return [keep(database, k, at) for k, at in zip((1, 2, 3, 4, 5, 6, 1), times, strict=True)]


def thin_all(database: Database, before: float, cited: tuple[str, ...] = ()) -> list[int]:
    with database.writing() as connection:
        old = retention.old_rankings(connection, before, cited)
        size = retention.measure_rankings(connection, old)
        assert sum((retention.thin(connection, one) for one in old), Amount()) == size
    return [one.number for one in old]


def test_of_old_days_the_last_ranking_stays_and_the_rest_says_that_it_is_gone(
    database: Database, ids: list[str]
) -> None:
    assert thin_all(database, BEFORE) == [2, 1]
    assert thin_all(database, BEFORE) == []
    with database.reading() as connection:
        assert [one.number for one in snapshots.list_snapshots(connection, "ferry")] == [7, 6, 5, 4, 3]
        for key in (2, ids[1]):
            with pytest.raises(Gone, match=rf"ranking 2 \({ids[1]}\) of ferry.*next one.*ranking 3 \({ids[2]}\)"):
                snapshots.snapshot(connection, "ferry", key)
        assert snapshots.snapshot(connection, "ferry", ids[0]).number == 7, "the last one says what the first did"
        with pytest.raises(Gone, match="1970-03-11 at 00:00 UTC"):
            snapshots.snapshot(connection, "ferry", 1)
        with pytest.raises(UnknownName):
            snapshots.snapshot(connection, "ferry", 8)
        places = snapshots.history(connection, "ferry", "metric", name="BLEU")
        assert [place.number for place in places] == [3, 4, 5, 6, 7]
        assert connection.execute(select(standings.c.number).distinct().order_by("number")).scalars().all() == [
            3, 4, 5, 6, 7,
        ]  # fmt: skip
        summary = connection.execute(select(rankings).where(rankings.c.number == 1)).mappings().one()
        assert (summary["id"], summary["cause"], summary["document"]) == (ids[0], {"first": True}, "")


def test_the_latest_ranking_and_those_that_are_cited_always_stay(database: Database, ids: list[str]) -> None:
    assert thin_all(database, NOW + 999 * DAY, (ids[1],)) == [6, 4, 1]
    with database.reading() as connection:
        last = snapshots.latest(connection, "ferry")
        assert last is not None
        assert (last.number, snapshots.document(connection, last)) == (7, said(1))
        assert snapshots.document(connection, snapshots.snapshot(connection, "ferry", ids[1])) == said(2)


def test_each_audience_has_its_own_last_ranking_of_a_day(database: Database) -> None:
    for k, audience in enumerate(("public", "owners", "public", "owners"), 1):
        keep(database, k, 1.0 + k, audience)
    with database.reading() as connection:
        old = retention.old_rankings(connection, NOW)
    assert old == [OldRanking("ferry", "public", 1), OldRanking("ferry", "owners", 1)]


def test_a_generator_is_renamed_in_the_rankings_that_are_kept_and_in_why_others_were_made(
    database: Database, ids: list[str]
) -> None:
    thin_all(database, BEFORE)
    with database.writing() as connection:
        assert erasure.rename_generators(connection, "ferry", {"tug": "forgotten-1"}) == 5
        last = snapshots.latest(connection, "ferry")
        assert last is not None
        assert snapshots.document(connection, last)["ranking"]["generators"][0]["name"] == "forgotten-1"
        with pytest.raises(Gone):
            snapshots.snapshot(connection, "ferry", ids[1])


def test_a_file_is_over_when_everybody_who_named_it_is(database: Database, account: Account) -> None:
    blobs = {name: name * 64 for name in "abcde"}
    sent(database, account, "rejected", blobs["a"], "rejected", at=BEFORE - 1)
    sent(database, account, "withdrawn", blobs["b"], "withdrawn", at=BEFORE)
    sent(database, account, "shared", blobs["c"], "withdrawn", at=1.0)
    sent(database, account, "shared too", blobs["c"], "checking", at=1.0)
    sent(database, account, "may be retried", blobs["d"], "failed", at=1.0)
    one = sent(database, account, "both", blobs["e"], "withdrawn", at=1.0)
    sent(database, account, "both of them", blobs["e"], "rejected", at=1.0)
    with database.writing() as connection:
        assert retention.files_over(connection, BEFORE) == [blobs["a"], blobs["e"]]
        assert retention.files_over(connection, BEFORE, [blobs["b"], blobs["e"]]) == [blobs["e"]]
        retention.part_from_file(connection, blobs["e"])
        assert retention.named_files(connection) == set(blobs.values()) - {blobs["e"]}
        parted = submissions.get(connection, one.id)
    assert (parted.blob, parted.settings["file"], erasure.file_of(parted)) == ("", "f", blobs["e"])
