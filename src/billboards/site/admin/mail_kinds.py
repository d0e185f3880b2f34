"""The kinds of mail that a person may switch off, and the signed word by which that is done without logging in.

A link to log in, an invitation and the answer to a request are no such kind: they are sent because somebody asked. The
word in a mail's unsubscribe link names an account and a kind and is signed with a key of the site, so that nobody can
switch off another's mail.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import Literal

from sqlalchemy import Connection, insert, select

from billboards.site.database.schema import keys

MailKind = Literal["receipt", "result", "rank", "deadline", "message", "site"]

#: Every kind, and what it is in the words of the account page.
KINDS: Mapping[MailKind, str] = {
    "receipt": "A submission of yours was received",
    "result": "A submission of yours was scored, rejected, judged by people, or failed",
    "rank": "A submission of yours has a rank",
    "deadline": "A phase closes in 7 days, and in 1 day",
    "message": "The organisers write to all teams of a board",
    "site": "For owners: requests for access, and boards that can’t be read",
}
#: The key's name among the site's keys.
KEY = "unsubscribe"


def kind_of(event: str) -> MailKind:
    """The kind of mail that tells of an event of a submission, campaign or board."""
    if event == "submission.received":
        return "receipt"
    if event == "submission.ranked":
        return "rank"
    return "site" if event.startswith(("board.", "access.")) else "result"


def unsubscribe_word(connection: Connection, account_id: int, kind: MailKind) -> str:
    """What stands in a mail's unsubscribe link; needs a writing transaction, because the key is made on first use."""
    key = connection.execute(select(keys.c.value).where(keys.c.name == KEY)).scalar()
    if key is None:
        key = secrets.token_hex(32)
        connection.execute(insert(keys).values(name=KEY, value=key))
    body = f"{account_id}.{kind}"
    return base64.urlsafe_b64encode(f"{body}.{_signature(key, body)}".encode()).decode().rstrip("=")


def read_unsubscribe_word(connection: Connection, word: str) -> tuple[int, MailKind] | None:
    """The account and kind that a word names; None for one that this site has not signed."""
    key = connection.execute(select(keys.c.value).where(keys.c.name == KEY)).scalar()
    try:
        body, _, signature = base64.urlsafe_b64decode(word + "=" * (-len(word) % 4)).decode("ascii").rpartition(".")
        account, _, named = body.partition(".")
    except (binascii.Error, ValueError):
        return None
    if key is None or not hmac.compare_digest(signature, _signature(key, body)):
        return None
    kind = next((kind for kind in KINDS if kind == named), None)
    return None if kind is None else (int(account), kind)


def _signature(key: str, body: str) -> str:
    return hmac.new(bytes.fromhex(key), f"unsubscribe {body}".encode(), hashlib.sha256).hexdigest()
