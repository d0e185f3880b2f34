"""Coming in by a mailed link: signing up, logging in again, asking for access, and confirming an address.

Whoever asks gets the same answer whether or not the address is known here; only the mailbox tells. Opening a link shows
a button, and sending that uses the link up, so a program that looks at links in mails uses up none. No password is kept
at all.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from sqlalchemy import Connection, insert, select

from billboards.board.names import look_alike
from billboards.errors import Gone, InvalidInput, Refused
from billboards.site.accounts import link_records as links
from billboards.site.accounts import records as accounts
from billboards.site.accounts.access import Viewer, check_alike, check_email, check_word, require
from billboards.site.accounts.link_records import AccessRequest, EntryLink
from billboards.site.accounts.records import Account, Role
from billboards.site.admin import deliveries
from billboards.site.admin.mail_kinds import KINDS, MailKind, read_unsubscribe_word
from billboards.site.database import trail
from billboards.site.database.schema import keys
from billboards.site.settings import SiteSettings
from billboards.site.site import Site

HOUR = 3600.0
#: Links in an hour: mailed to an address, and asked for by one client.
PER_ADDRESS, PER_CLIENT = 5, 30
#: Characters of the sentence that goes with a request, and of the reason that goes with an answer.
LONGEST_WORDS = 2000
#: What everybody is told who asks for a link.
ASKED = "If this address may log in here, a mail with a link is on its way. The link works once, for one hour."
OVER = "this link is not in use: it was used, is too old, or a newer one was sent; ask for another one"

#: What a link leads to: logging in as an account, choosing a name for a new one, asking the owners for one, nothing
#: where sign-up is closed, or confirming an address.
Leads = Literal["log-in", "sign-up", "ask", "waits", "closed", "address"]


@dataclass(frozen=True, kw_only=True)
class Opened:
    """What somebody sees who opens a link."""

    leads: Leads
    email: str
    #: The accounts with this address.
    people: tuple[Account, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Entered:
    """What came of a link: an account that is logged in, or a request that waits, and the page that follows."""

    account: Account | None
    next: str
    #: Whether a browser is logged in by it; confirming an address logs nobody in.
    logs_in: bool = True


def inside(page: str | None) -> str:
    """A page of this site; whatever else an address says leads to the first one."""
    try:
        parts = urlsplit(page or "/")
    except ValueError:
        return "/"
    safe = page and page.startswith("/") and not page.startswith(("//", "/\\")) and not parts.netloc
    return page if page and safe and all(32 < ord(letter) < 127 for letter in page) else "/"


def ask_for_link(site: Site, email: str, *, client: str, next: str | None = None) -> str:
    """Mail a link to whom it may let in; returns what everybody is told, whoever asks."""
    email = checked_address(site, email)
    now = site.clock()
    with site.database.writing() as connection:
        word = _client_word(connection, client)
        if links.count_links(connection, since=now - HOUR, client=word) >= PER_CLIENT:
            raise Refused("too many links were asked for from here; try again in an hour")
        often = links.count_links(connection, since=now - HOUR, email=email.lower()) >= PER_ADDRESS
        people = accounts.accounts_of_email(connection, email)
        link = links.add_link(connection, "enter", email.lower(), now=now, client=word, next=inside(next))
        allowed = bool(people) or _may_come_in(site, connection, email)
        unsent = None if allowed else "nobody with this address may come in"
        unsent = f"more than {PER_ADDRESS} links in an hour" if often else unsent
        # An account's own spelling of the address is where its mail goes.
        to = people[0].email or email if people else email
        deliveries.mail_address(connection, "link.enter", {"link": link}, to, now=now, unsent=unsent)
    return ASKED


def checked_address(site: Site, email: str) -> str:
    """An address that a link can be mailed to."""
    if not site.settings.sends_links:
        raise Refused("this site sends no mail; ask its owner for a token")
    email = email.strip()
    check_email(email)
    if not email.isascii():
        raise InvalidInput(f"{email!r} has letters that not every mail server takes; give an address without accents")
    return email


def may_sign_up(settings: SiteSettings, email: str) -> bool:
    """Whether somebody with an address may have an account by asking."""
    domain = email.rpartition("@")[2].lower()
    ends = [end.lower().lstrip("@.") for end in settings.accounts.domains]
    allowed = not ends or any(domain == end or domain.endswith(f".{end}") for end in ends)
    return settings.sign_up != "closed" and allowed


def _may_come_in(site: Site, connection: Connection, email: str) -> bool:
    """Whether an address without an account that is open may have one; who was shut out does not sign up anew."""
    return may_sign_up(site.settings, email) and not accounts.is_shut_out(connection, email)


def open_link(site: Site, text: str) -> Opened:
    """What a link leads to; nothing is used up by looking."""
    with site.database.reading() as connection:
        return _opened(site, connection, _link(site, connection, text))


def _opened(site: Site, connection: Connection, link: EntryLink) -> Opened:
    if link.purpose == "address":
        return Opened(leads="address", email=link.email, people=(accounts.account(connection, link.account_id or 0),))
    people = accounts.accounts_of_email(connection, link.email)
    if people:
        return Opened(leads="log-in", email=link.email, people=people)
    if links.waiting_request(connection, link.email) is not None:
        return Opened(leads="waits", email=link.email)
    if not _may_come_in(site, connection, link.email):
        return Opened(leads="closed", email=link.email)
    return Opened(leads="sign-up" if site.settings.sign_up == "open" else "ask", email=link.email)


def enter(
    site: Site, text: str, *, account_id: int | None = None, name: str = "", team: str = "", words: str = ""
) -> Entered:
    """Use a link: log in, sign up under a name and team, ask for access, or confirm an address."""
    try:
        with site.database.writing() as connection:
            link = _link(site, connection, text)
            opened = _opened(site, connection, link)
            entered = _entered(site, connection, link, opened, account_id, name.strip(), team.strip(), words.strip())
            if not links.use_link(connection, link, now=site.clock()):
                raise Gone(OVER)
            return entered
    except (InvalidInput, Refused):
        # What was refused is undone but for this: with many tries a link would tell which names there are.
        with site.database.writing() as connection:
            links.note_try(connection, text)
        raise


def _entered(
    site: Site,
    connection: Connection,
    link: EntryLink,
    opened: Opened,
    account_id: int | None,
    name: str,
    team: str,
    words: str,
) -> Entered:
    now = site.clock()
    if opened.leads == "address":
        person = opened.people[0]
        accounts.change_account(connection, person.id, actor=person.name, now=now, email=link.email, confirmed=now)
        return Entered(account=person, next="/account", logs_in=False)
    if opened.leads == "log-in":
        return Entered(account=_chosen(connection, opened, account_id, now), next=link.next)
    if opened.leads == "waits":
        raise Refused("your request waits for the organisers; they write to you when they have decided")
    if opened.leads == "closed":
        raise Refused("this address has no account that is open, and can't have a new one; write to the organisers")
    check_word(name, "person")
    if team:
        check_word(team, "team")
    if opened.leads == "ask":
        _ask(connection, opened.email, name, team or None, words, now)
        return Entered(account=None, next="/", logs_in=False)
    check_alike(connection, name)
    if team:
        check_new_team(connection, team)
    made = accounts.add_account(
        connection, name, "submitter", actor="sign-up", now=now, team=team or None, email=link.email, confirmed=now
    )
    return Entered(account=made, next=link.next)


def _chosen(connection: Connection, opened: Opened, account_id: int | None, now: float) -> Account:
    """The account to log in as; where several have the address, the one that was chosen."""
    people = {person.id: person for person in opened.people}
    if account_id is None and len(people) > 1:
        raise InvalidInput("several accounts have this address; choose one of them")
    person = people.get(opened.people[0].id if account_id is None else account_id)
    if person is None:
        raise InvalidInput("this account does not have the link's address; open the link again")
    if person.confirmed is None and person.email is not None:
        accounts.change_account(connection, person.id, actor=person.name, now=now, email=person.email, confirmed=now)
    return person


def check_new_team(connection: Connection, team: str) -> None:
    """Nobody walks into a team that is there, or takes a name that is taken for it."""
    if any(look_alike(team, other) or team == other for other in accounts.team_names(connection)):
        raise Refused(f"there is a team {team} already; ask one of its leads for an invitation, or choose another name")


def _ask(connection: Connection, email: str, name: str, team: str | None, words: str, now: float) -> None:
    if len(words) > LONGEST_WORDS:
        raise InvalidInput(f"the sentence has {len(words)} characters; at most {LONGEST_WORDS} are taken")
    asked = links.add_request(connection, email, name, team, trail.storable(words), now=now)
    told = {"name": asked.name, "team": asked.team, "words": asked.words, "email": asked.email}
    deliveries.mail_owners(connection, "access.asked", told, now=now)


def approve(
    site: Site,
    viewer: Viewer,
    request_id: int,
    *,
    name: str | None = None,
    team: str | None = None,
    role: Role = "submitter",
) -> Account:
    """An owner lets somebody in who asked, under the name they chose or another; they get a link by mail."""
    require(viewer, "administer")
    now = site.clock()
    with site.database.writing() as connection:
        asked = links.request(connection, request_id)
        name, team = name or asked.name, team or asked.team
        check_word(name, "person")
        if team is not None:
            check_word(team, "team")
        check_alike(connection, name)
        if not links.decide(connection, request_id, "approved", actor=viewer.name, now=now):
            raise Refused(f"the request of {asked.name} is {asked.state} already")
        made = accounts.add_account(
            connection, name, role, actor=viewer.name, now=now, team=team, email=asked.email, confirmed=now
        )
        link = links.add_link(connection, "welcome", asked.email, now=now, account_id=made.id)
        told = {"link": link, "name": made.name, "team": made.team}
        deliveries.mail_address(connection, "link.welcome", told, asked.email, now=now)
        return made


def decline(site: Site, viewer: Viewer, request_id: int, *, reason: str = "") -> AccessRequest:
    """An owner does not let somebody in; they are told, with the reason."""
    require(viewer, "administer")
    now, reason = site.clock(), reason.strip()
    if len(reason) > LONGEST_WORDS:
        raise InvalidInput(f"the reason has {len(reason)} characters; at most {LONGEST_WORDS} are taken")
    with site.database.writing() as connection:
        asked = links.request(connection, request_id)
        if not links.decide(connection, request_id, "declined", actor=viewer.name, now=now, reason=reason):
            raise Refused(f"the request of {asked.name} is {asked.state} already")
        trail.note(connection, viewer.name, "access.declined", asked.name, now=now)
        told = {"name": asked.name, "reason": reason}
        deliveries.mail_address(connection, "access.declined", told, asked.email, now=now)
        return links.request(connection, request_id)


def ask_for_address(site: Site, viewer: Viewer, email: str, *, client: str) -> str:
    """Mail a link to a new address of one's own account; it is the account's once the link was used."""
    own = require(viewer, "own-account")
    email, now = checked_address(site, email), site.clock()
    with site.database.writing() as connection:
        word = _client_word(connection, client)
        if links.count_links(connection, since=now - HOUR, client=word) >= PER_CLIENT:
            raise Refused("too many links were asked for from here; try again in an hour")
        if links.count_links(connection, since=now - HOUR, email=email.lower()) >= PER_ADDRESS:
            raise Refused("too many links were asked for with this address; try again in an hour")
        link = links.add_link(connection, "address", email.lower(), now=now, client=word, account_id=own.id)
        told = {"link": link, "name": own.name}
        deliveries.mail_address(connection, "link.address", told, email, now=now)
    return f"A mail with a link went to {email}. The address is yours here once you have opened that link."


def mute(site: Site, viewer: Viewer, kinds: Collection[str]) -> Account:
    """Switch kinds of mail off, and all others on."""
    own = require(viewer, "own-account")
    wrong = next((kind for kind in kinds if kind not in KINDS), None)
    if wrong is not None:
        raise InvalidInput(f"{wrong[:40]!r} is no kind of mail; there are {', '.join(KINDS)}")
    with site.database.writing() as connection:
        return accounts.change_account(connection, own.id, actor=own.name, now=site.clock(), muted=set(kinds))


def unsubscription(site: Site, word: str) -> tuple[Account, MailKind]:
    """Whose mail of which kind an unsubscribe link stops."""
    with site.database.reading() as connection:
        named = read_unsubscribe_word(connection, word)
        if named is None:
            raise Gone("this link stops no mails; copy the whole link from the mail, or use the account page")
        return accounts.account(connection, named[0]), named[1]


def unsubscribe(site: Site, word: str, *, all_kinds: bool = False) -> MailKind:
    """Switch off the mails that an unsubscribe link names, or all; needs no log-in."""
    person, kind = unsubscription(site, word)
    with site.database.writing() as connection:
        muted = set(KINDS) if all_kinds else {*(person.muted or ()), kind}
        accounts.change_account(connection, person.id, actor=person.name, now=site.clock(), muted=muted)
    return kind


def _link(site: Site, connection: Connection, text: str) -> EntryLink:
    link = links.find_link(connection, text, now=site.clock())
    if link is None:
        raise Gone(OVER)
    return link


#: The name of the key among the site's keys with which addresses of clients are made unreadable.
CLIENTS = "clients"


def _client_word(connection: Connection, client: str) -> str:
    """What is kept of who asks for links, to count them: a keyed digest of the network address."""
    key = connection.execute(select(keys.c.value).where(keys.c.name == CLIENTS)).scalar()
    if key is None:
        key = secrets.token_hex(32)
        connection.execute(insert(keys).values(name=CLIENTS, value=key))
    return hmac.new(bytes.fromhex(key), client.encode(), hashlib.sha256).hexdigest()[:32]
