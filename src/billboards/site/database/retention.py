"""What a database holds longer than it should: found and measured, and deleted a little at a time.

Rows that are too old are a table, a condition and the column that makes them large; they go in batches, so that nobody
who wants to write waits long. Old rankings are thinned to the last of each day: what they said goes, their number,
name, time and cause stay. What is still on its way is never too old: a notice that waits, the log of a submission that
is not over.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    LargeBinary,
    Table,
    Text,
    and_,
    bindparam,
    case,
    cast,
    delete,
    func,
    literal,
    or_,
    select,
    tuple_,
    update,
)

from billboards.site.boards import snapshots
from billboards.site.boards.packed_documents import read_text, replace_text
from billboards.site.campaigns.annotator_records import NAMELESS
from billboards.site.database.schema import (
    access_requests,
    account_invitations,
    annotators,
    audit,
    campaigns,
    deliveries,
    entry_links,
    leases,
    logs,
    participations,
    payments,
    rankings,
    sessions,
    standings,
    studies,
    submissions,
)
from billboards.site.submissions.records import TERMINAL

DAY = 86400.0
MONTH = 30 * DAY
#: States that a submission never leaves, and in which nobody needs its file.
OVER = ("withdrawn", "rejected")
#: What a submission says of its file after that was deleted.
DELETED_FILE = "deleted_file"


@dataclass(frozen=True)
class Amount:
    """How many there are, and how many bytes they take."""

    count: int = 0
    bytes: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.count + other.count, self.bytes + other.bytes)


@dataclass(frozen=True)
class OldRows:
    """Rows of a table that may go, and the column whose content is most of them."""

    table: Table
    where: ColumnElement[bool]
    large: Column[Any] | None = None


def sessions_over(now: float) -> OldRows:
    """Log-ins that have expired."""
    return OldRows(sessions, sessions.c.expires <= now)


def links_over(now: float) -> OldRows:
    """Links that were used or ran out a day ago, and such that were never sent."""
    over = func.coalesce(entry_links.c.used, entry_links.c.expires, entry_links.c.created) < now - DAY
    return OldRows(entry_links, over)


def requests_over(now: float) -> OldRows:
    """Requests for access that were decided a month ago."""
    return OldRows(access_requests, access_requests.c.decided < now - MONTH)


def invitations_over(now: float) -> OldRows:
    """Invitations that were accepted, revoked or ran out a month ago."""
    columns = account_invitations.c
    over = func.coalesce(columns.accepted, columns.revoked, columns.expires) < now - MONTH
    return OldRows(account_invitations, over)


def leases_over(now: float) -> OldRows:
    """Leases that ran out a day ago: until then they count how often a job was tried in vain."""
    return OldRows(leases, leases.c.expires <= now - DAY)


def log_lines(before: float) -> OldRows:
    """Log lines of submissions that are over."""
    over = select(submissions.c.id).where(submissions.c.state.in_(sorted(TERMINAL)))
    return OldRows(logs, and_(logs.c.at < before, logs.c.submission_id.in_(over)), logs.c.text)


def trail_entries(before: float) -> OldRows:
    """Entries of the audit trail."""
    return OldRows(audit, audit.c.at < before, audit.c.detail)


def notices(before: float) -> OldRows:
    """Notices that were sent or given up."""
    settled = and_(deliveries.c.created < before, deliveries.c.state != "waiting")
    return OldRows(deliveries, settled, deliveries.c.payload)


def measure(connection: Connection, old: OldRows) -> Amount:
    """How many rows may go."""
    query = select(func.count(), func.coalesce(func.sum(_bytes(connection, old.large)), 0))
    count, size = connection.execute(query.select_from(old.table).where(old.where)).one()
    return Amount(int(count), int(size))


def delete_some(connection: Connection, old: OldRows, most: int) -> Amount:
    """Delete so many of the rows that may go; needs a writing transaction."""
    key = tuple(old.table.primary_key)
    query = select(_bytes(connection, old.large), *key).where(old.where).order_by(*key).limit(most)
    rows = connection.execute(query).all()
    if not rows:
        return Amount()
    # Looked at once more: claims don't wait for writers, and a lease may just have been taken again.
    these = and_(tuple_(*key).in_([tuple(row[1:]) for row in rows]), old.where)
    return Amount(connection.execute(delete(old.table).where(these)).rowcount, sum(row[0] for row in rows))


@dataclass(frozen=True)
class OldRanking:
    """A ranking that may be thinned out."""

    board: str
    audience: str
    number: int


def old_rankings(connection: Connection, before: float, cited: Collection[str] = ()) -> list[OldRanking]:
    """Rankings older than a time but the last of each day (UTC), the latest of all, and those that are cited.

    Later ones come first: an earlier one may be what they are kept as differences to, and would be replaced as their
    base again and again.
    """
    query = select(*(rankings.c[word] for word in ("board", "audience", "number", "id", "created")))
    query = query.where(snapshots.IS_KEPT).order_by(rankings.c.board, rankings.c.audience, rankings.c.number)
    rows = connection.execute(query).all()
    last_of_day = {(row.board, row.audience, row.created // DAY): row.number for row in rows}
    latest = {(row.board, row.audience): row.number for row in rows}
    return [
        OldRanking(row.board, row.audience, row.number)
        for row in reversed(rows)
        if row.created < before
        and row.id not in cited
        and row.number != latest[row.board, row.audience]
        and row.number != last_of_day[row.board, row.audience, row.created // DAY]
    ]


def measure_rankings(connection: Connection, old: Iterable[OldRanking]) -> Amount:
    """How many rankings may be thinned out, and the bytes of what they say."""
    size = select(_bytes(connection, rankings.c.document) + _packed_bytes(connection))
    return sum((Amount(1, connection.execute(size.where(*_is(ranking))).scalar() or 0) for ranking in old), Amount())


def thin(connection: Connection, old: OldRanking) -> Amount:
    """Delete what a ranking said; nothing where it is gone already. Needs a writing transaction."""
    query = select(_bytes(connection, rankings.c.document) + _packed_bytes(connection))
    row = connection.execute(query.where(*_is(old), snapshots.IS_KEPT)).one_or_none()
    if row is None:
        return Amount()
    # By their whole keys: the places of one ranking lie among those of all others.
    key = [standings.c[word] == getattr(old, word) for word in ("board", "audience", "number")]
    key += [standings.c.side == bindparam("of_side"), standings.c.name == bindparam("of_name")]
    document = json.loads(read_text(connection, old.board, old.audience, old.number))
    places = [{"of_side": place["side"], "of_name": place["name"]} for place in snapshots.places_of(document)]
    if places:
        connection.execute(delete(standings).where(*key), places)
    replace_text(connection, old.board, old.audience, old.number, "")
    connection.execute(update(rankings).where(*_is(old)).values(basis="", moves=[]))
    return Amount(1, int(row[0]))


def annotators_over(connection: Connection, before: float) -> dict[int, int]:
    """Annotators, with the bytes of their names, whose campaigns were all closed before a time and owe nobody anything.

    Those with an account are known by it anyway.
    """
    going = select(campaigns.c.id).where(or_(campaigns.c.state != "closed", campaigns.c.closed >= before))
    unpaid = select(studies.c.campaign_id).join(payments, payments.c.study_id == studies.c.id, isouter=True)
    unpaid = unpaid.where(or_(studies.c.state != "ended", payments.c.state.in_(("prepared", "sent"))))
    part = participations.c
    needed = select(part.annotator_id).where(part.campaign_id.in_(going.union(unpaid)))
    query = select(annotators.c.id, _bytes(connection, annotators.c.name)).where(
        annotators.c.account_id.is_(None),
        annotators.c.created < before,
        annotators.c.id.not_in(needed),
        annotators.c.name != NAMELESS + annotators.c.pseudonym,
    )
    return {row[0]: row[1] for row in connection.execute(query.order_by(annotators.c.id))}


def part_from_name(connection: Connection, annotator: int, before: float) -> bool:
    """Delete an annotator's real name, if it is still over; answers stay under the pseudonym."""
    if annotator not in annotators_over(connection, before):
        return False
    nameless = NAMELESS + annotators.c.pseudonym
    connection.execute(update(annotators).where(annotators.c.id == annotator).values(name=nameless))
    return True


def files_over(connection: Connection, before: float, among: Collection[str] | None = None) -> list[str]:
    """Submitted files, of all or of some, that nobody names but submissions withdrawn or rejected before a time."""
    over = and_(submissions.c.state.in_(OVER), submissions.c.changed < before)
    needed = func.max(case((over, 0), else_=1))
    query = select(submissions.c.blob).where(submissions.c.blob != "").group_by(submissions.c.blob)
    if among is not None:
        query = query.where(submissions.c.blob.in_(among))
    return sorted(connection.execute(query.having(needed == 0)).scalars())


def part_from_file(connection: Connection, blob: str) -> None:
    """Let submissions no longer name a file that was deleted; what it was called stays, as the version of outputs."""
    named = select(submissions.c.id, submissions.c.settings).where(submissions.c.blob == blob)
    for row in connection.execute(named).all():
        values = {"blob": "", "settings": {**row.settings, DELETED_FILE: blob}}
        connection.execute(update(submissions).where(submissions.c.id == row.id).values(**values))


def named_files(connection: Connection) -> set[str]:
    """Every file that a submission names."""
    return set(connection.execute(select(submissions.c.blob).distinct()).scalars()) - {""}


def _is(old: OldRanking) -> tuple[ColumnElement[bool], ...]:
    return tuple(rankings.c[word] == getattr(old, word) for word in ("board", "audience", "number"))


def _packed_bytes(connection: Connection) -> ColumnElement[int]:
    """How many bytes a packed document takes."""
    length = func.octet_length if connection.dialect.name == "postgresql" else func.length
    return func.coalesce(length(rankings.c.packed), 0)


def _bytes(connection: Connection, column: Column[Any] | None) -> ColumnElement[int]:
    """How many bytes a text or document takes as it is kept."""
    if column is None:
        return literal(0)
    text = cast(column, Text)
    return func.octet_length(text) if connection.dialect.name == "postgresql" else func.length(cast(text, LargeBinary))


def unreferenced(connection: Connection, blobs: Collection[str]) -> list[str]:
    """Which of some submitted files no submission names any more."""
    named = set(connection.execute(select(submissions.c.blob).where(submissions.c.blob.in_(blobs))).scalars())
    return sorted(set(blobs) - named)
