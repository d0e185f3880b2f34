"""Deleting somebody's data when they ask for it.

Deleted are: outputs and programs they sent in, with logs, descriptions and names; their e-mail address, log-ins, tokens
and webhooks; their real name as an annotator. What stays stands under a name drawn for it: scores and places of their
generators in past rankings, because those rankings were published and others' places in them rest on theirs; answers
they gave as annotators, because judgments rest on them; that something was done, and when, in the audit trail. A
metric's column keeps its name, which is part of the signatures that published ensembles are cited by.

Everything in the database goes in one writing transaction, then what SQLite's log still says of it, then the files that
nothing names any more.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, select, update

from billboards.errors import Refused, UnknownName
from billboards.show.documents import dumps
from billboards.site.accounts import records as account_records
from billboards.site.accounts.records import Account
from billboards.site.admin.expiry import is_unnamed, remove_file
from billboards.site.boards.packed_documents import change_texts
from billboards.site.campaigns.annotator_records import Annotator, nameless
from billboards.site.database import retention, trail
from billboards.site.database.retention import DELETED_FILE
from billboards.site.database.schema import (
    access_requests,
    account_invitations,
    accounts,
    annotator_pages,
    annotators,
    audit,
    campaigns,
    cell_failures,
    deliveries,
    entry_links,
    invitations,
    items,
    logs,
    rankings,
    rulings,
    sessions,
    standings,
    submissions,
    teams,
    tokens,
    webhooks,
)
from billboards.site.site import Site
from billboards.site.submissions import records as submission_records
from billboards.site.submissions.records import Submission

log = logging.getLogger("billboards.site.admin")

#: Seconds since a file was last sent before it may be deleted: somebody may be sending the same one now.
SETTLED = 120.0
#: What stands where a text was.
DELETED = "(deleted on request)"
#: Details of an audit entry that say what happened and nothing of whom it happened to.
HARMLESS = frozenset({"from", "to", "kind", "version", "role", "platform", "entry", "token"})


@dataclass(frozen=True, kw_only=True)
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
        return frozenset(submission.blob for submission in self.sent if submission.blob)

    def on(self, board: str) -> tuple[Submission, ...]:
        return tuple(submission for submission in self.sent if submission.board == board)

    @property
    def boards(self) -> list[str]:
        return sorted({submission.board for submission in self.sent})


def plan_forgetting(site: Site, name: str) -> Forgotten:
    """What would be deleted; raises where it can't be yet."""
    with site.database.reading() as connection:
        person = _person(connection, name)
        own = {submission.id for submission in person.sent}
        shared = {
            submission.blob for submission in submission_records.find(connection) if submission.id not in own
        } & person.blobs
    return _forgotten(name, person, {"files": len(person.blobs - shared)}, len(shared), done=False)


def forget(site: Site, name: str, *, actor: str) -> Forgotten:
    """Delete somebody's data; all that is in the database at once, then the files that nothing names any more."""
    began = time.time()
    with site.database.writing() as connection:
        person = _person(connection, name)
        deleted = _forget_rows(connection, person, actor, site.clock())
        gone = retention.unreferenced(connection, person.blobs)
    if not site.database.clear_log():
        log.warning("%s: its log could not be emptied; stop the site's processes once", site.database.shown)
    removed = sum(remove_file(site, blob, before=began - SETTLED, release=is_unnamed) for blob in gone)
    return _forgotten(name, person, {**deleted, "files": removed}, len(person.blobs) - removed, done=True)


def _forgotten(name: str, person: _Person, deleted: Mapping[str, int], kept: int, *, done: bool) -> Forgotten:
    return Forgotten(
        name=name,
        pseudonym=person.pseudonym,
        submissions=len(person.sent),
        annotators=len(person.annotators),
        deleted=deleted,
        files_kept=kept,
        done=done,
    )


def _person(connection: Connection, name: str) -> _Person:
    """Whoever has this name, as an account or an annotator; raises where they can't be forgotten yet."""
    account = account_records.account_named(connection, name)
    called = {name} if account is None or not account.email else {name, account.email}
    people = annotators_of(connection, account, called)
    if account is None:
        if not people:
            raise UnknownName(
                "account or annotator", name, (other.name for other in account_records.list_accounts(connection))
            )
        return _Person(None, (), people)
    sent = tuple(
        submission for submission in submission_records.find(connection) if submission.account_id == account.id
    )
    person = _Person(account, sent, people)
    _check(connection, account, person)
    return person


def _check(connection: Connection, account: Account, person: _Person) -> None:
    """Refuse while something is still on its way, or where nobody would be left to own the site."""
    for submission in person.sent:
        if not submission.is_terminal:
            raise Refused(
                f"submission {submission.name} ({submission.id}) is {submission.state}; "
                "cancel it first, or wait for its end"
            )
    for board in person.boards:
        asking = asking_about(connection, board, _versions(person.on(board)))
        if asking:
            raise Refused(f"campaign {asking[0]} on board {board} asks people about these outputs; close it first")
    owners = [other.id for other in account_records.list_accounts(connection) if other.role == "owner"]
    if owners == [account.id]:
        raise Refused(f"{account.name} is the only owner of this site; make another one first")


def _forget_rows(connection: Connection, person: _Person, actor: str, now: float) -> dict[str, int]:
    names, generators = dict[str, str](), dict[str, str]()
    deleted: Counter[str] = Counter()
    for board in person.boards:
        own = _new_names(connection, board, person)
        versions = _versions(person.on(board))
        deleted["texts in campaigns"] += forget_items(connection, board, versions, own)
        deleted["rankings made anonymous"] += rename_generators(connection, board, own)
        rename_in_notices(connection, board, own)
        generators |= own
    for submission in person.sent:
        generators.setdefault(submission.name, _drawn(submission, person))
        deleted["log lines"] += forget_submission(connection, submission, _drawn(submission, person))
    if person.account is not None and person.pseudonym is not None:
        names |= _names_of(connection, person.account, person.pseudonym)
        deleted.update(forget_account(connection, person.account, person.pseudonym))
    _withdraw(connection, person, now)
    for annotator in person.annotators:
        drawn = forget_annotator(connection, annotator)
        names = {annotator.name: drawn, annotator.pseudonym: drawn, **names}
    subjects = {*names, *(submission.id for submission in person.sent)}
    rename_in_trail(connection, names, generators, subjects)
    detail = {"submissions": len(person.sent), "annotators": len(person.annotators), **deleted}
    subject = person.pseudonym or "annotator"
    trail.note(connection, actor, "account.forgotten", subject, now=now, detail=detail)
    return dict(deleted)


def _withdraw(connection: Connection, person: _Person, now: float) -> None:
    for submission in person.sent:
        if "withdrawn" in submission_records.TRANSITIONS[submission.state]:
            submission_records.advance(connection, submission.id, "withdrawn", actor="site", now=now)
    for board in person.boards:
        trail.raise_generation(connection, board, now=now)


def _names_of(connection: Connection, account: Account, pseudonym: str) -> dict[str, str]:
    """What somebody is called in the audit trail, and will be."""
    called = [account.name, *([account.email] if account.email else [])]
    called += [account.team] if team_is_own(connection, account) else []
    return dict.fromkeys(called, pseudonym)


def _versions(sent: Iterable[Submission]) -> set[str]:
    return {file_of(submission)[:16] for submission in sent} - {""}


def _drawn(submission: Submission, person: _Person) -> str:
    """The name a submission gets; versions of one name share that of the first."""
    alike = [
        version
        for version in person.on(submission.board)
        if (version.kind, version.name) == (submission.kind, submission.name)
    ]
    return f"forgotten-{min(alike, key=lambda version: version.version).id[:6]}"


def _new_names(connection: Connection, board: str, person: _Person) -> dict[str, str]:
    """The names of somebody's generators on a board, old to new, unless a team mate has sent in a version as well."""
    own, names = {submission.id for submission in person.sent}, {}
    for submission in person.on(board):
        alike = submission_records.find(connection, board=board, kind="generator", name=submission.name)
        if submission.kind == "generator" and {version.id for version in alike} <= own:
            names[submission.public_name] = _drawn(submission, person)
    return names


def forget_account(connection: Connection, account: Account, pseudonym: str) -> dict[str, int]:
    """Delete how somebody comes in and is reached; the row stays, because submissions refer to it."""
    hooks = list(connection.execute(select(webhooks.c.id).where(webhooks.c.account_id == account.id)).scalars())
    sent = deliveries.c.webhook_id.in_(hooks) | (deliveries.c.target == f"mailto:{account.email}")
    gone = {
        "notices": connection.execute(delete(deliveries).where(sent)).rowcount,
        "webhooks": connection.execute(delete(webhooks).where(webhooks.c.account_id == account.id)).rowcount,
        "tokens": connection.execute(delete(tokens).where(tokens.c.account_id == account.id)).rowcount,
        "sessions": connection.execute(delete(sessions).where(sessions.c.account_id == account.id)).rowcount,
    }
    gone["links, requests and invitations"] = _forget_address(connection, account)
    values = {"name": pseudonym, "email": None, "oidc_subject": None, "role": "submitter"}
    values |= {"confirmed": None, "muted": None}
    connection.execute(update(accounts).where(accounts.c.id == account.id).values(**values))
    if team_is_own(connection, account):
        connection.execute(update(teams).where(teams.c.id == account.team_id).values(name=pseudonym))
    return gone


def _forget_address(connection: Connection, account: Account) -> int:
    """Delete every link, request and invitation that somebody was sent or made."""
    email = (account.email or "").lower()
    invited = account_invitations.c
    theirs = (
        (entry_links, (func.lower(entry_links.c.email) == email) | (entry_links.c.account_id == account.id)),
        (access_requests, func.lower(access_requests.c.email) == email),
        (account_invitations, (func.lower(invited.email) == email) | (invited.account_id == account.id)),
    )
    return sum(connection.execute(delete(table).where(where)).rowcount for table, where in theirs)


def team_is_own(connection: Connection, account: Account) -> bool:
    """Whether nobody else is in somebody's team."""
    query = select(func.count()).select_from(accounts).where(accounts.c.team_id == account.team_id)
    return connection.execute(query).scalar() == 1


def forget_submission(connection: Connection, submission: Submission, pseudonym: str) -> int:
    """Delete a submission's log, notices and all it said of itself; returns how many lines of log there were."""
    count = connection.execute(delete(logs).where(logs.c.submission_id == submission.id)).rowcount
    # Why a cell failed may quote an output or what a program printed.
    theirs = cell_failures.c.row_version == file_of(submission)[:16]
    theirs |= cell_failures.c.signature == str(submission.settings.get("signature"))
    connection.execute(update(cell_failures).where(theirs).values(reason=DELETED))
    values: dict[str, Any] = {"name": pseudonym, "blob": "", "settings": {}, "reason": None, "anonymous": False}
    connection.execute(update(submissions).where(submissions.c.id == submission.id).values(**values))
    for row in connection.execute(select(deliveries.c.id, deliveries.c.payload)).all():
        if submission.id in (row.payload.get("id"), dict(row.payload.get("submission") or {}).get("id")):
            connection.execute(delete(deliveries).where(deliveries.c.id == row.id))
    return count


def file_of(submission: Submission) -> str:
    """The name of the file that was sent in, even where it was deleted since (`retention`); empty after forgetting."""
    return submission.blob or str(submission.settings.get(DELETED_FILE, ""))


def rename_generators(connection: Connection, board: str, names: Mapping[str, str]) -> int:
    """Give generators other names in every past ranking of a board; the numbers stay. Returns how many rankings."""
    changed = set(change_texts(connection, board, lambda text: _renamed_text(text, names)))
    heads = select(*(rankings.c[word] for word in ("audience", "number", "cause", "moves")))
    for row in connection.execute(heads.where(rankings.c.board == board)).mappings().all():
        values = {word: _renamed_places(row[word], names) for word in ("cause", "moves")}
        if all(values[word] == row[word] for word in values):
            continue
        where = [rankings.c[word] == row[word] for word in ("audience", "number")]
        connection.execute(update(rankings).where(rankings.c.board == board, *where).values(**values))
        changed.add((row["audience"], row["number"]))
    for old, new in names.items():
        where = [standings.c.board == board, standings.c.side == "generator", standings.c.name == old]
        connection.execute(update(standings).where(*where).values(name=new))
    return len(changed)


def _renamed_text(text: str, names: Mapping[str, str]) -> str:
    """A ranking's document with other names."""
    document = json.loads(text)
    renamed = _renamed_document(document, names)
    return text if renamed == document else dumps(renamed)


def _renamed_document(document: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """A snapshot's document with generators under other names: in the ranking, and in what was found about them."""
    ranking = dict(document["ranking"])
    ranking["generators"] = [_renamed_standing(generator, names) for generator in ranking["generators"]]
    if common := ranking.get("common"):
        unscored = [names.get(name, name) for name in common["unscored"]]
        placed = [_renamed_standing(generator, names) for generator in common["generators"]]
        ranking["common"] = {**common, "unscored": unscored, "generators": placed}
    if people := ranking.get("people"):
        ranking["people"] = {
            **people,
            "overall": _renamed_people(people["overall"], names),
            "dimensions": [_renamed_people(column, names) for column in people["dimensions"]],
        }
    if outstanding := ranking.get("outstanding"):
        ranking["outstanding"] = _renamed_outstanding(outstanding, names)
    renamed = {**document, "ranking": ranking}
    if "rows" in document:
        renamed["rows"] = {names.get(name, name): version for name, version in document["rows"].items()}
    if "findings" in document:
        renamed["findings"] = {
            kind: {names.get(name, name): _renamed_words(words, names) for name, words in about.items()}
            for kind, about in document["findings"].items()
        }
    return renamed


def _renamed_standing(standing: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    renamed = {**standing, "name": names.get(standing["name"], standing["name"])}
    return renamed | {"doubts": _renamed_words(standing["doubts"], names)} if "doubts" in standing else renamed


def _renamed_outstanding(outstanding: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Who stands out in each column, and p-values against a baseline, with other names of generators."""
    renamed = dict(outstanding)
    for kind in ("generators", "corpus"):
        columns = renamed.get(kind, {})
        renamed[kind] = {column: [names.get(name, name) for name in best] for column, best in columns.items()}
    for kind in ("p_generators", "p_corpus"):
        columns = renamed.get(kind, {})
        renamed[kind] = {
            column: {names.get(name, name): p for name, p in own.items()} for column, own in columns.items()
        }
    if baseline := renamed.get("baseline"):
        renamed["baseline"] = names.get(baseline, baseline)
    return renamed


def _renamed_people(column: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {**column, "generators": [_renamed_standing(standing, names) for standing in column["generators"]]}


def _renamed_words(words: Any, names: Mapping[str, str]) -> Any:
    """Sentences that name another generator at their end, in brackets, with its other name."""
    if isinstance(words, list):
        return [_renamed_words(sentence, names) for sentence in words]
    for name, other in names.items():
        if words.endswith(f" ({name})"):
            return f"{words.removesuffix(f' ({name})')} ({other})"
    return words


def _renamed_places(document: Any, names: Mapping[str, str]) -> Any:
    """The same lists of places, wherever they stand, with generators under their other names."""
    if isinstance(document, dict) and document.get("side") == "generator":
        return _renamed_names(document, names)
    return _mapped(document, lambda part: _renamed_places(part, names))


def asking_about(connection: Connection, board: str, versions: Collection[str]) -> list[str]:
    """The campaigns of a board, not closed yet, that ask people about some outputs."""
    query = select(campaigns.c.name, items.c.slots).join(items, items.c.campaign_id == campaigns.c.id)
    rows = connection.execute(query.where(campaigns.c.board == board, campaigns.c.state.not_in(["closed"])))
    return sorted({name for name, slots in rows if _slot_versions(slots) & set(versions)})


def forget_items(connection: Connection, board: str, versions: Collection[str], names: Mapping[str, str]) -> int:
    """Delete outputs' texts from what campaigns asked; answers and whose version they are of stay."""
    query = select(items.c.id, items.c.row, items.c.slots).join(campaigns, campaigns.c.id == items.c.campaign_id)
    changed = 0
    for item in connection.execute(query.where(campaigns.c.board == board)).all():
        if not _slot_versions(item.slots) & set(versions):
            continue
        slots = [
            {**slot, "text": DELETED, "name": names.get(slot["name"], slot["name"])}
            if slot.get("version") in versions
            else slot
            for slot in item.slots
        ]
        values = {"slots": slots, "row": names.get(item.row, item.row)}
        connection.execute(update(items).where(items.c.id == item.id).values(**values))
        changed += 1
    for campaign in connection.execute(
        select(campaigns.c.id, campaigns.c.generators).where(campaigns.c.board == board)
    ).all():
        renamed = [names.get(name, name) for name in campaign.generators]
        connection.execute(update(campaigns).where(campaigns.c.id == campaign.id).values(generators=renamed))
    return changed


def _slot_versions(slots: Sequence[Mapping[str, Any]]) -> set[str]:
    return {str(slot.get("version")) for slot in slots}


def forget_annotator(connection: Connection, annotator: Annotator) -> str:
    """Part an annotator's answers from the person: another pseudonym, drawn, that no key leads back to."""
    drawn = f"a-{secrets.token_hex(6)}"
    connection.execute(delete(invitations).where(invitations.c.annotator_id == annotator.id))
    connection.execute(delete(annotator_pages).where(annotator_pages.c.annotator_id == annotator.id))
    values = {"pseudonym": drawn, "name": f"forgotten {drawn}", "account_id": None}
    connection.execute(update(annotators).where(annotators.c.id == annotator.id).values(**values))
    connection.execute(update(rulings).where(rulings.c.name == annotator.pseudonym).values(name=drawn))
    return drawn


def annotators_of(connection: Connection, account: Account | None, names: Collection[str]) -> tuple[Annotator, ...]:
    """Somebody as an annotator: by the account, or by the real name or address that invitations were made for."""
    who: ColumnElement[bool] = annotators.c.name.in_({*names, *nameless(connection, names)})
    if account is not None:
        who |= annotators.c.account_id == account.id
    rows = connection.execute(select(annotators).where(who).order_by(annotators.c.id)).mappings()
    return tuple(Annotator(**row) for row in rows)


def rename_in_trail(
    connection: Connection, names: Mapping[str, str], generators: Mapping[str, str], subjects: Collection[str]
) -> None:
    """Put other names into the audit trail and rulings: a person's wherever it stands, a generator's where it is one.

    Of entries about the person or a submission of theirs, only what happened and when stays.
    """
    for row in connection.execute(select(audit)).mappings().all():
        values = {word: _renamed(row[word], names) for word in ("actor", "subject", "detail")}
        values["detail"] = _renamed_names(values["detail"], generators)
        if row["subject"] in subjects:
            values["detail"] = {word: value for word, value in values["detail"].items() if word in HARMLESS}
        if any(values[word] != row[word] for word in values):
            connection.execute(update(audit).where(audit.c.id == row["id"]).values(**values))
    for old, new in names.items():
        connection.execute(update(rulings).where(rulings.c.actor == old).values(actor=new))


def rename_in_notices(connection: Connection, board: str, names: Mapping[str, str]) -> None:
    """Put other names of generators into what others are told: a mail says whose place a submission took."""
    if not names:
        return
    words = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    pattern = re.compile(rf"(?<![\w-])(?:{words})(?![\w-])")
    for row in connection.execute(select(deliveries.c.id, deliveries.c.payload)).all():
        if row.payload.get("board") != board:
            continue
        payload = _with_words(row.payload, lambda text: pattern.sub(lambda match: names[match[0]], text))
        if payload != row.payload:
            connection.execute(update(deliveries).where(deliveries.c.id == row.id).values(payload=payload))


def _with_words(document: Any, change: Callable[[str], str]) -> Any:
    """A document with every text in it changed."""
    if isinstance(document, str):
        return change(document)
    return _mapped(document, lambda part: _with_words(part, change))


def _renamed(document: Any, names: Mapping[str, str]) -> Any:
    if isinstance(document, str):
        return names.get(document, document)
    return _mapped(document, lambda part: _renamed(part, names))


def _renamed_names(document: Any, names: Mapping[str, str]) -> Any:
    mapped = _mapped(document, lambda part: _renamed_names(part, names))
    return {**mapped, "name": names.get(mapped["name"], mapped["name"])} if _has_name(mapped) else mapped


def _has_name(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("name"), str)


def _mapped(document: Any, change: Callable[[Any], Any]) -> Any:
    """A document with every part below it changed."""
    if isinstance(document, list):
        return [change(part) for part in document]
    return {key: change(value) for key, value in document.items()} if isinstance(document, dict) else document
