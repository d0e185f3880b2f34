"""Taking a person out of the database: what is theirs goes, and the numbers that others rest on stay under no name.

Each function is one part of it, for one writing transaction. Rows that others refer to stay, with a name drawn for them
in place of the real one; texts, addresses, tokens and logs are deleted.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, select, update

from billboards.show.documents import dumps
from billboards.site.accounts.records import Account
from billboards.site.campaigns.annotator_records import Annotator, nameless
from billboards.site.database.campaign_schema import annotators, campaigns, invitations, items, rulings
from billboards.site.database.schema import (
    accounts,
    audit,
    cell_failures,
    deliveries,
    logs,
    rankings,
    sessions,
    standings,
    submissions,
    teams,
    tokens,
    webhooks,
)
from billboards.site.submissions.records import Submission

#: What a submission says of its file after that was deleted.
DELETED_FILE = "deleted_file"
#: What stands where a text was.
DELETED = "(deleted on request)"
#: Details of an audit entry that say what happened and nothing of whom it happened to.
HARMLESS = frozenset({"from", "to", "kind", "version", "role", "platform", "entry", "token"})


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
    values = {"name": pseudonym, "email": None, "oidc_subject": None, "role": "submitter"}
    connection.execute(update(accounts).where(accounts.c.id == account.id).values(**values))
    if team_is_own(connection, account):
        connection.execute(update(teams).where(teams.c.id == account.team_id).values(name=pseudonym))
    return gone


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


def unreferenced(connection: Connection, blobs: Collection[str]) -> list[str]:
    """Which of some submitted files no submission names any more."""
    named = set(connection.execute(select(submissions.c.blob).where(submissions.c.blob.in_(blobs))).scalars())
    return sorted(set(blobs) - named)


def rename_generators(connection: Connection, board: str, names: Mapping[str, str]) -> int:
    """Give generators other names in every past ranking of a board; the numbers stay. Returns how many rankings."""
    changed = 0
    for row in connection.execute(select(rankings).where(rankings.c.board == board)).mappings().all():
        values = {"document": _renamed_text(row["document"], names)}
        values |= {word: _renamed_places(row[word], names) for word in ("cause", "moves")}
        if all(values[word] == row[word] for word in values):
            continue
        where = [rankings.c[word] == row[word] for word in ("board", "audience", "number")]
        connection.execute(update(rankings).where(*where).values(**values))
        changed += 1
    for old, new in names.items():
        where = [standings.c.board == board, standings.c.side == "generator", standings.c.name == old]
        connection.execute(update(standings).where(*where).values(name=new))
    return changed


def _renamed_text(text: str, names: Mapping[str, str]) -> str:
    """A ranking's document with other names; of one that was thinned out there is none."""
    if not text:
        return text
    document = json.loads(text)
    renamed = _renamed_document(document, names)
    return text if renamed == document else dumps(renamed)


def _renamed_document(document: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    ranking = dict(document["ranking"])
    ranking["generators"] = [{**one, "name": names.get(one["name"], one["name"])} for one in ranking["generators"]]
    rows = {names.get(name, name): version for name, version in document.get("rows", {}).items()}
    return {**document, "ranking": ranking, **({"rows": rows} if "rows" in document else {})}


def _renamed_places(found: Any, names: Mapping[str, str]) -> Any:
    """The same lists of places, wherever they stand, with generators under their other names."""
    if isinstance(found, dict) and found.get("side") == "generator":
        return _renamed_names(found, names)
    return _mapped(found, lambda one: _renamed_places(one, names))


def asking_about(connection: Connection, board: str, versions: Collection[str]) -> list[str]:
    """The campaigns of a board, not closed yet, that ask people about some outputs."""
    query = select(campaigns.c.name, items.c.slots).join(items, items.c.campaign_id == campaigns.c.id)
    found = connection.execute(query.where(campaigns.c.board == board, campaigns.c.state.not_in(["closed"])))
    return sorted({name for name, slots in found if _versions(slots) & set(versions)})


def forget_items(connection: Connection, board: str, versions: Collection[str], names: Mapping[str, str]) -> int:
    """Delete outputs' texts from what campaigns asked; answers and whose version they are of stay."""
    query = select(items.c.id, items.c.row, items.c.slots).join(campaigns, campaigns.c.id == items.c.campaign_id)
    changed = 0
    for item in connection.execute(query.where(campaigns.c.board == board)).all():
        if not _versions(item.slots) & set(versions):
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
    for one in connection.execute(
        select(campaigns.c.id, campaigns.c.generators).where(campaigns.c.board == board)
    ).all():
        renamed = [names.get(name, name) for name in one.generators]
        connection.execute(update(campaigns).where(campaigns.c.id == one.id).values(generators=renamed))
    return changed


def _versions(slots: Sequence[Mapping[str, Any]]) -> set[str]:
    return {str(slot.get("version")) for slot in slots}


def forget_annotator(connection: Connection, annotator: Annotator) -> str:
    """Part an annotator's answers from the person: another pseudonym, drawn, that no key leads back to."""
    drawn = f"a-{secrets.token_hex(6)}"
    connection.execute(delete(invitations).where(invitations.c.annotator_id == annotator.id))
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
            values["detail"] = {word: said for word, said in values["detail"].items() if word in HARMLESS}
        if any(values[word] != row[word] for word in values):
            connection.execute(update(audit).where(audit.c.id == row["id"]).values(**values))
    for old, new in names.items():
        connection.execute(update(rulings).where(rulings.c.actor == old).values(actor=new))


def _renamed(found: Any, names: Mapping[str, str]) -> Any:
    if isinstance(found, str):
        return names.get(found, found)
    return _mapped(found, lambda one: _renamed(one, names))


def _renamed_names(found: Any, names: Mapping[str, str]) -> Any:
    mapped = _mapped(found, lambda one: _renamed_names(one, names))
    return {**mapped, "name": names.get(mapped["name"], mapped["name"])} if _has_name(mapped) else mapped


def _has_name(found: Any) -> bool:
    return isinstance(found, dict) and isinstance(found.get("name"), str)


def _mapped(found: Any, change: Callable[[Any], Any]) -> Any:
    """A document with every part below it changed."""
    if isinstance(found, list):
        return [change(one) for one in found]
    return {key: change(value) for key, value in found.items()} if isinstance(found, dict) else found
