"""Deleting somebody's data when they ask for it.

Deleted are: outputs and programs they sent in, with logs, descriptions and names; their e-mail address, log-ins, tokens
and webhooks; their real name as an annotator. What stays stands under a name drawn for it: scores and places of their
generators in past rankings, because those rankings were published and others' places in them rest on theirs; answers
they gave as annotators, because judgments rest on them; that something was done, and when, in the audit trail. A
metric's column keeps its name, which is part of the signatures that published ensembles are cited by.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from billboards.errors import Refused, UnknownName
from billboards.site.accounts import records as accounts
from billboards.site.accounts.records import Account
from billboards.site.admin import forgetting
from billboards.site.admin.unused_files import is_unnamed, remove_file
from billboards.site.campaigns.annotator_records import Annotator
from billboards.site.database import trail
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.submissions.records import Submission

#: Seconds since a file was last sent before it may be deleted: somebody may be sending the same one now.
SETTLED = 120.0


@dataclass(frozen=True)
class Forgotten:
    """What was deleted, or would be, and the name under which the rest stays, if there is an account."""

    name: str
    pseudonym: str | None
    submissions: int
    annotators: int
    deleted: Mapping[str, int]
    #: Submitted files that others sent too, or that were sent a moment ago.
    files_kept: int
    done: bool


@dataclass(frozen=True)
class _Person:
    """Somebody by their account, what they sent in, and as an annotator."""

    account: Account | None
    sent: tuple[Submission, ...]
    annotators: tuple[Annotator, ...]

    @property
    def pseudonym(self) -> str | None:
        return None if self.account is None else f"forgotten-{self.account.id}"

    @property
    def blobs(self) -> frozenset[str]:
        return frozenset(one.blob for one in self.sent if one.blob)

    def on(self, board: str) -> tuple[Submission, ...]:
        return tuple(one for one in self.sent if one.board == board)

    @property
    def boards(self) -> list[str]:
        return sorted({one.board for one in self.sent})


def plan_forgetting(site: Site, name: str) -> Forgotten:
    """What would be deleted; raises where it can't be yet."""
    with site.database.reading() as connection:
        person = _person(connection, name)
        own = {one.id for one in person.sent}
        shared = {one.blob for one in submissions.find(connection) if one.id not in own} & person.blobs
    return _said(name, person, {"files": len(person.blobs - shared)}, len(shared), done=False)


def forget(site: Site, name: str, *, actor: str) -> Forgotten:
    """Delete somebody's data; all that is in the database at once, then the files that nothing names any more."""
    began = time.time()
    with site.database.writing() as connection:
        person = _person(connection, name)
        deleted = _forget_rows(connection, person, actor, site.clock())
        gone = forgetting.unreferenced(connection, person.blobs)
    removed = sum(remove_file(site, blob, before=began - SETTLED, release=is_unnamed) for blob in gone)
    return _said(name, person, {**deleted, "files": removed}, len(person.blobs) - removed, done=True)


def _said(name: str, person: _Person, deleted: Mapping[str, int], kept: int, *, done: bool) -> Forgotten:
    return Forgotten(name, person.pseudonym, len(person.sent), len(person.annotators), deleted, kept, done)


def _person(connection: Connection, name: str) -> _Person:
    """Whoever has this name, as an account or an annotator; raises where they can't be forgotten yet."""
    account = accounts.account_named(connection, name)
    known = {name} if account is None or not account.email else {name, account.email}
    people = forgetting.annotators_of(connection, account, known)
    if account is None:
        if not people:
            raise UnknownName("account or annotator", name, (one.name for one in accounts.list_accounts(connection)))
        return _Person(None, (), people)
    sent = tuple(one for one in submissions.find(connection) if one.account_id == account.id)
    person = _Person(account, sent, people)
    _check(connection, account, person)
    return person


def _check(connection: Connection, account: Account, person: _Person) -> None:
    """Refuse while something is still on its way, or where nobody would be left to own the site."""
    for one in person.sent:
        if not one.is_terminal:
            raise Refused(f"submission {one.name} ({one.id}) is {one.state}; cancel it first, or wait for its end")
    for board in person.boards:
        asking = forgetting.asking_about(connection, board, _versions(person.on(board)))
        if asking:
            raise Refused(f"campaign {asking[0]} on board {board} asks people about these outputs; close it first")
    owners = [one.id for one in accounts.list_accounts(connection) if one.role == "owner"]
    if owners == [account.id]:
        raise Refused(f"{account.name} is the only owner of this site; make another one first")


def _forget_rows(connection: Connection, person: _Person, actor: str, now: float) -> dict[str, int]:
    names, generators = dict[str, str](), dict[str, str]()
    deleted: Counter[str] = Counter()
    for board in person.boards:
        own = _new_names(connection, board, person)
        versions = _versions(person.on(board))
        deleted["texts in campaigns"] += forgetting.forget_items(connection, board, versions, own)
        deleted["rankings made anonymous"] += forgetting.rename_generators(connection, board, own)
        generators |= own
    for one in person.sent:
        generators.setdefault(one.name, _drawn(one, person))
        deleted["log lines"] += forgetting.forget_submission(connection, one, _drawn(one, person))
    if person.account is not None and person.pseudonym is not None:
        names |= _names_of(connection, person.account, person.pseudonym)
        deleted.update(forgetting.forget_account(connection, person.account, person.pseudonym))
    _withdraw(connection, person, now)
    for annotator in person.annotators:
        drawn = forgetting.forget_annotator(connection, annotator)
        names = {annotator.name: drawn, annotator.pseudonym: drawn, **names}
    subjects = {*names, *(one.id for one in person.sent)}
    forgetting.rename_in_trail(connection, names, generators, subjects)
    detail = {"submissions": len(person.sent), "annotators": len(person.annotators), **deleted}
    subject = person.pseudonym or "annotator"
    trail.note(connection, actor, "account.forgotten", subject, now=now, detail=detail)
    return dict(deleted)


def _withdraw(connection: Connection, person: _Person, now: float) -> None:
    for one in person.sent:
        if "withdrawn" in submissions.TRANSITIONS[one.state]:
            submissions.advance(connection, one.id, "withdrawn", actor="site", now=now)
    for board in person.boards:
        trail.raise_generation(connection, board, now=now)


def _names_of(connection: Connection, account: Account, pseudonym: str) -> dict[str, str]:
    """What somebody is called in the audit trail, and will be."""
    called = [account.name, *([account.email] if account.email else [])]
    called += [account.team] if forgetting.team_is_own(connection, account) else []
    return dict.fromkeys(called, pseudonym)


def _versions(sent: Iterable[Submission]) -> set[str]:
    return {forgetting.file_of(one)[:16] for one in sent} - {""}


def _drawn(submission: Submission, person: _Person) -> str:
    """The name a submission gets; versions of one name share that of the first."""
    alike = [one for one in person.on(submission.board) if (one.kind, one.name) == (submission.kind, submission.name)]
    return f"forgotten-{min(alike, key=lambda one: one.version).id[:6]}"


def _new_names(connection: Connection, board: str, person: _Person) -> dict[str, str]:
    """The names of somebody's generators on a board, old to new, unless a team mate has sent in a version as well."""
    own, found = {one.id for one in person.sent}, {}
    for one in person.on(board):
        alike = submissions.find(connection, board=board, kind="generator", name=one.name)
        if one.kind == "generator" and {each.id for each in alike} <= own:
            found[one.public_name] = _drawn(one, person)
    return found
