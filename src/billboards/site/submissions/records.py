"""Submissions and the one way their state changes.

    received → checking → (trial →) scoring → scored
                  any of these → rejected, failed, cancelled;  failed, cancelled → received again;  scored → withdrawn

Every change goes through `advance`: it looks at the table of transitions, and writes the new state, a line of the audit
trail, the board's new generation and the notices that are due in one transaction, so that none is ever there without
the others. What fails always has a log, because the change to `failed` writes it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, RowMapping, Select, func, insert, select, update

from billboards.errors import Refused, UnknownName
from billboards.site.admin import deliveries
from billboards.site.database import trail
from billboards.site.database.ids import new_id
from billboards.site.database.schema import accounts, submissions, teams

Kind = Literal["generator", "metric"]
Entry = Literal["primary", "contrastive"]
Way = Literal["program", "scores", "hub", "image", "endpoint"]

#: Of a submission to a suite: the suite's name, and what its submissions to all boards have in common.
SUITE, SENT = "suite", "sent"

#: From which state to which; what is not here does not happen.
TRANSITIONS: Mapping[str, frozenset[str]] = {
    "received": frozenset({"checking", "rejected", "failed", "cancelled", "withdrawn"}),
    "checking": frozenset({"trial", "scoring", "rejected", "failed", "cancelled", "withdrawn"}),
    "trial": frozenset({"scoring", "rejected", "failed", "cancelled", "withdrawn"}),
    "scoring": frozenset({"scored", "failed", "cancelled", "withdrawn"}),
    "scored": frozenset({"withdrawn"}),
    "failed": frozenset({"received", "withdrawn"}),
    "cancelled": frozenset({"received", "withdrawn"}),
    "rejected": frozenset(),
    "withdrawn": frozenset(),
}
TERMINAL = frozenset({"scored", "rejected", "failed", "cancelled", "withdrawn"})
#: Versions of one team stand between multiples of this: who sends a name that another team chose, unseen, begins at 1.
TEAM_VERSIONS = 1_000_000
#: States in which nothing of the submission has been run yet: ending there costs no quota.
BEFORE_RUNNING = frozenset({"received", "checking"})


@dataclass(frozen=True, kw_only=True)
class Submission:
    """A generator's outputs or a metric's program, as somebody sent it, and how far it has come."""

    id: str
    board: str
    kind: Kind
    name: str
    version: int
    team_id: int
    team: str
    account_id: int
    account: str
    phase: str | None
    state: str
    reason: str | None
    platform: bool
    refunded: bool
    anonymous: bool
    entry: Entry
    blob: str
    settings: Mapping[str, Any]
    created: float
    changed: float

    @property
    def is_terminal(self) -> bool:
        return self.state in TERMINAL

    @property
    def way(self) -> Way:
        """How a metric came in; a program unless it says otherwise."""
        way: Way = self.settings.get("way", "program")
        return way

    @property
    def public_name(self) -> str:
        """The name on the board: a pseudonym until the submission is revealed, one for all boards of a suite."""
        return f"anonymous-{str(self.settings.get(SENT, self.id))[:6]}" if self.anonymous else self.name

    @property
    def suite(self) -> str | None:
        """The suite that it was sent to, with all its boards."""
        return self.settings.get(SUITE)


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A submission before it is one."""

    board: str
    kind: Kind
    name: str
    team_id: int
    account_id: int
    blob: str
    phase: str | None
    anonymous: bool
    entry: Entry
    settings: Mapping[str, Any]


def create(connection: Connection, draft: Draft, *, actor: str, now: float) -> Submission:
    """Write a submission down as its team's next version of its name."""
    where = (
        submissions.c.board == draft.board,
        submissions.c.kind == draft.kind,
        submissions.c.name == draft.name,
    )
    highest = select(func.max(submissions.c.version)).where(*where)
    latest = connection.execute(highest.where(submissions.c.team_id == draft.team_id)).scalar()
    if latest is None and (others := connection.execute(highest).scalar()) is not None:
        latest = TEAM_VERSIONS * (1 + others // TEAM_VERSIONS)
    made = new_id()
    connection.execute(
        insert(submissions).values(
            id=made,
            board=draft.board,
            kind=draft.kind,
            name=draft.name,
            version=1 + (latest or 0),
            team_id=draft.team_id,
            account_id=draft.account_id,
            phase=draft.phase,
            state="received",
            reason=None,
            platform=False,
            refunded=False,
            anonymous=draft.anonymous,
            entry=draft.entry,
            blob=draft.blob,
            settings=dict(draft.settings),
            created=now,
            changed=now,
        )
    )
    submission = get(connection, made)
    detail = {"kind": draft.kind, "name": draft.name, "version": submission.version}
    trail.note(connection, actor, "submission.received", made, now=now, board=draft.board, detail=detail)
    trail.raise_generation(connection, draft.board, now=now)
    deliveries.mail_account(connection, "submission.received", _told(submission), draft.account_id, now=now)
    return submission


def advance(
    connection: Connection,
    submission_id: str,
    to: str,
    *,
    actor: str,
    now: float,
    reason: str | None = None,
    platform: bool = False,
    log: str | None = None,
) -> Submission:
    """Bring a submission into another state, with everything that belongs to it; needs a writing transaction."""
    before = get(connection, submission_id)
    if to not in TRANSITIONS[before.state]:
        raise Refused(f"submission {before.name} ({before.id}) is {before.state}: it can't become {to}")
    spent = to == "failed" and platform
    spent |= to in ("rejected", "cancelled") and before.state in BEFORE_RUNNING
    reason = None if reason is None else trail.storable(reason)
    values = {"state": to, "reason": reason, "platform": platform, "refunded": spent, "changed": now}
    connection.execute(update(submissions).where(submissions.c.id == submission_id).values(**values))
    if to == "failed" or log is not None:
        trail.write_log(connection, submission_id, log or reason or "failed without a reason", now=now)
    detail = {"from": before.state, "to": to, "reason": reason, "platform": platform}
    trail.note(connection, actor, f"submission.{to}", submission_id, now=now, board=before.board, detail=detail)
    trail.raise_generation(connection, before.board, now=now)
    after = get(connection, submission_id)
    if to in TERMINAL:
        deliveries.announce(connection, f"submission.{to}", _told(after), after.team_id, after.account_id, now=now)
    return after


def change(
    connection: Connection, submission_id: str, action: str, *, actor: str, now: float, **values: Any
) -> Submission:
    """Change what a submission says of itself (its name's mask, entry or settings), with a line of the audit trail."""
    before = get(connection, submission_id)
    connection.execute(update(submissions).where(submissions.c.id == submission_id).values(**values, changed=now))
    after = get(connection, submission_id)
    old, new = dict(before.settings), dict(values.get("settings", {}))
    detail = {**values, "settings": {word: new[word] for word in new if new[word] != old.get(word)}}
    trail.note(connection, actor, action, submission_id, now=now, board=after.board, detail=detail)
    trail.raise_generation(connection, after.board, now=now)
    return after


def get(connection: Connection, submission_id: str) -> Submission:
    """A submission by its id."""
    row = connection.execute(_query().where(submissions.c.id == submission_id)).mappings().one_or_none()
    if row is None:
        raise UnknownName("submission", submission_id, ())
    return _submission(row)


def find(
    connection: Connection,
    *,
    board: str | None = None,
    kind: str | None = None,
    name: str | None = None,
    states: Collection[str] | None = None,
    team_id: int | None = None,
    before: tuple[float, str] | None = None,
    limit: int | None = None,
) -> tuple[Submission, ...]:
    """Submissions, the latest first; `before` is the (created, id) of the last one seen, for the next page."""
    query = _query().order_by(submissions.c.created.desc(), submissions.c.id.desc())
    wanted = ((submissions.c.board, board), (submissions.c.kind, kind), (submissions.c.name, name))
    for column, value in (*wanted, (submissions.c.team_id, team_id)):
        if value is not None:
            query = query.where(column == value)
    if states is not None:
        query = query.where(submissions.c.state.in_(list(states)))
    if before is not None:
        created, last = before
        older = (submissions.c.created < created) | ((submissions.c.created == created) & (submissions.c.id < last))
        query = query.where(older)
    if limit is not None:
        query = query.limit(limit)
    return tuple(_submission(row) for row in connection.execute(query).mappings())


def names(connection: Connection, board: str, kind: str) -> tuple[str, ...]:
    """The names of all submissions of a kind to a board."""
    query = select(submissions.c.name).where(submissions.c.board == board, submissions.c.kind == kind).distinct()
    return tuple(connection.execute(query).scalars())


def count_spent(connection: Connection, board: str, kind: str, team_id: int, *, since: float = 0.0) -> int:
    """How many submissions count towards a team's quota; those the platform spoiled don't."""
    query = select(func.count()).where(
        submissions.c.board == board,
        submissions.c.kind == kind,
        submissions.c.team_id == team_id,
        submissions.c.created >= since,
        submissions.c.refunded.is_(False),
    )
    return connection.execute(query).scalar() or 0


def count_sent(connection: Connection, team_id: int, *, since: float) -> int:
    """How many submissions a team has sent since a time, to any board."""
    query = select(func.count()).where(submissions.c.team_id == team_id, submissions.c.created >= since)
    return connection.execute(query).scalar() or 0


def count_states(connection: Connection) -> dict[tuple[str, str], int]:
    """How many submissions there are of each kind and state."""
    query = select(submissions.c.kind, submissions.c.state, func.count())
    rows = connection.execute(query.group_by(submissions.c.kind, submissions.c.state))
    return {(str(kind), str(state)): int(count) for kind, state, count in rows}


def _query() -> Select[Any]:
    query = select(submissions, teams.c.name.label("team"), accounts.c.name.label("account"))
    return query.join(teams, teams.c.id == submissions.c.team_id).join(
        accounts, accounts.c.id == submissions.c.account_id
    )


def _submission(row: RowMapping) -> Submission:
    return Submission(**{**row, "version": row["version"] % TEAM_VERSIONS})


def _told(submission: Submission) -> dict[str, Any]:
    """What a notice says of a submission."""
    words = ("id", "board", "kind", "name", "version", "state", "reason", "platform", "created", "changed")
    return {word: getattr(submission, word) for word in words}
