"""Who may do what, from one table.

A viewer is somebody with a role, or a visitor without one. What an action needs stands in `PERMISSIONS`; where it says
`team`, the submission must be the viewer's own team's. Where no log-in is required, because only this machine can come
in, everybody is the owner called `local`. A token may be made for less than its account may do.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from sqlalchemy import Connection

from billboards.board.names import deceiving_mistake, look_alike, name_mistake
from billboards.errors import InvalidInput, NotAllowed, Refused, UnknownName
from billboards.run.addresses import NoAddress, lies_inside
from billboards.site.accounts import records as accounts
from billboards.site.accounts.records import Account, Role, Scope, Session, Token
from billboards.site.admin import deliveries
from billboards.site.admin.deliveries import Webhook
from billboards.site.boards import registry
from billboards.site.boards.snapshots import Audience
from billboards.site.database import trail
from billboards.site.site import Site
from billboards.site.submissions.records import Submission

LOCAL = "local"

Action = Literal[
    "read", "read-hidden", "submit", "see-submission", "change-submission", "annotate", "own-account", "administer"
]

#: What each action needs; `team` is a submitter on what its own team sent in.
PERMISSIONS: Mapping[Action, frozenset[str]] = {
    "read": frozenset({"visitor", "annotator", "submitter", "owner"}),
    "own-account": frozenset({"annotator", "submitter", "owner"}),
    "annotate": frozenset({"annotator", "owner"}),
    "submit": frozenset({"submitter", "owner"}),
    "see-submission": frozenset({"team", "owner"}),
    "change-submission": frozenset({"team", "owner"}),
    "read-hidden": frozenset({"owner"}),
    "administer": frozenset({"owner"}),
}


#: What a token of a scope is good for, as far as its account may do it.
SCOPED: Mapping[Scope, frozenset[Action]] = {
    "read": frozenset({"read", "read-hidden", "see-submission"}),
    "submit": frozenset({"read", "read-hidden", "see-submission", "submit", "change-submission"}),
    "everything": frozenset(PERMISSIONS),
}


@dataclass(frozen=True)
class Viewer:
    """Somebody who asks; without an account, a visitor."""

    account: Account | None = None
    scope: Scope = "everything"
    #: As whom an owner looks at the site; None where somebody looks as who they are.
    seen_as: str | None = None

    @property
    def role(self) -> str:
        return "visitor" if self.account is None else self.account.role

    @property
    def name(self) -> str:
        return "visitor" if self.account is None else self.account.name

    @property
    def audience(self) -> Audience:
        """Which boards and rankings this viewer is shown."""
        return "owners" if may(self, "read-hidden") else "public"


VISITOR = Viewer()
#: As whom an owner may look at the site, with the words for it.
AUDIENCES: Mapping[str, str] = {"visitor": "a visitor", "team": "a team", "annotator": "an annotator"}


def seen_as(owner: Viewer, audience: str) -> Viewer:
    """An owner who looks at the site as somebody else: with no more rights than they have, and none to change it."""
    if audience not in AUDIENCES or not may(owner, "administer"):
        return owner
    if audience == "visitor":
        return Viewer(seen_as=audience)
    return named_viewer(AUDIENCES[audience], "submitter" if audience == "team" else "annotator", seen_as=audience)


def named_viewer(name: str, role: Role, scope: Scope = "everything", *, seen_as: str | None = None) -> Viewer:
    """Somebody of whom name and role are known; nobody has this number, so nothing is this account's own."""
    account = Account(id=0, name=name, email=None, team_id=0, team=name, role=role, oidc_subject=None, created=0.0)
    return Viewer(account, scope, seen_as)


def may(viewer: Viewer, action: Action, submission: Submission | None = None) -> bool:
    """Whether a viewer may do something, to a submission where it is about one."""
    allowed = PERMISSIONS[action]
    if action not in SCOPED[viewer.scope]:
        return False
    if viewer.role in allowed:
        return True
    own = viewer.account is not None and submission is not None and viewer.account.team_id == submission.team_id
    return own and "team" in allowed


def require(viewer: Viewer, action: Action, submission: Submission | None = None) -> Account:
    """The viewer's account, where the viewer may do this; else `NotAllowed`."""
    if viewer.account is not None and may(viewer, action, submission):
        return viewer.account
    what = action.replace("-", " ")
    if action not in SCOPED[viewer.scope]:
        raise NotAllowed(f"this token may not {what}: it was made to {viewer.scope}; make one for more")
    allowed = " and ".join(
        "the team that sent it in" if role == "team" else f"{role}s" for role in sorted(PERMISSIONS[action])
    )
    who = "a visitor" if viewer.account is None else viewer.name
    raise NotAllowed(f"{who} may not {what}, only {allowed} may: log in with an account that may")


def local_viewer(site: Site) -> Viewer:
    """The owner of a site that only this machine can reach."""
    with site.database.reading() as connection:
        account = accounts.account_named(connection, LOCAL)
    if account is None:
        with site.database.writing() as connection:
            account = accounts.account_named(connection, LOCAL) or accounts.add_account(
                connection, LOCAL, "owner", actor="site", now=site.clock()
            )
    return Viewer(account)


def viewer_of_token(site: Site, text: str) -> Viewer | None:
    """Who holds a token; None where it opens nothing."""
    now = site.clock()
    with site.database.reading() as connection:
        holder = accounts.account_of_token(connection, text, now=now)
    if holder is None:
        return None
    account, scope, to_note = holder
    if to_note:
        with site.database.writing() as connection:
            accounts.note_use(connection, text, now=now)
    return Viewer(account, scope)


def nobody(site: Site) -> Viewer:
    """Who comes without token or session: a visitor, or the owner where nothing at all is asked for."""
    return VISITOR if site.login_required or site.start_token is not None else local_viewer(site)


def log_in(site: Site, token: str, agent: str | None = None) -> tuple[str, str] | None:
    """A session for who holds a token: its cookie's text and the text its forms send along."""
    viewer = viewer_of_token(site, token)
    return None if viewer is None or viewer.account is None else begin_session(site, viewer.account, token, agent=agent)


def begin_session(
    site: Site, account: Account, token: str | None = None, *, agent: str | None = None
) -> tuple[str, str]:
    """Log a browser in as an account; a session that a token began ends when that is revoked."""
    seconds, now = site.settings.session_seconds, site.clock()
    with site.database.writing() as connection:
        number = None if token is None else accounts.token_id(connection, token, now=now)
        return accounts.begin_session(
            connection, account.id, now=now, seconds=seconds, token_id=number, agent=agent_words(agent)
        )


def agent_words(agent: str | None) -> str | None:
    """What a browser says it is, as it can be kept and shown."""
    return "".join(letter for letter in agent or "" if letter.isprintable())[:200] or None


def session_of(site: Site, cookie: str) -> Session | None:
    """The session behind a cookie, unless it is over."""
    now = site.clock()
    with site.database.reading() as connection:
        session = accounts.session(connection, cookie, now=now)
    if session is not None and session.to_note:
        with site.database.writing() as connection:
            accounts.note_session(connection, cookie, now=now)
    return session


def end_sessions(site: Site, viewer: Viewer, *, key: str | None = None, but: str = "") -> int:
    """End one's own sessions: one, or all but the one whose forms send `but`."""
    own = require(viewer, "own-account")
    with site.database.writing() as connection:
        ended = accounts.end_sessions(connection, own.id, key=key, but=but)
        if key is not None and not ended:
            raise UnknownName("session", key, ())
        return ended


def end_sessions_of(site: Site, viewer: Viewer, account_id: int) -> int:
    """An owner logs somebody out everywhere."""
    require(viewer, "administer")
    with site.database.writing() as connection:
        person = accounts.account(connection, account_id)
        ended = accounts.end_sessions(connection, account_id)
        trail.note(
            connection, viewer.name, "account.logged-out", person.name, now=site.clock(), detail={"ended": ended}
        )
        return ended


def log_out(site: Site, cookie: str) -> None:
    with site.database.writing() as connection:
        accounts.end_session(connection, cookie)


def account_of_oidc(site: Site, subject: str, name: str, email: str | None, role: Role = "submitter") -> Account:
    """The account of somebody who logged in elsewhere; made on the first visit, under a name that is free."""
    email = email if email is not None and _EMAIL.fullmatch(email) else None
    with site.database.writing() as connection:
        account = accounts.account_of_subject(connection, subject)
        if account is not None and account.disabled is not None:
            raise NotAllowed(f"the account {account.name} is disabled; ask the site's owner")
        if account is not None:
            return account
        free = name
        while accounts.account_named(connection, free) is not None:
            free = f"{name}-{secrets.token_hex(3)}"
        now, shown = site.clock(), None if email is None else site.clock()
        return accounts.add_account(
            connection, free, role, actor="oidc", now=now, email=email, oidc_subject=subject, confirmed=shown
        )


def login_configured(site: Site) -> bool:
    """Whether anybody could log in, now or once they are let in again."""
    with site.database.reading() as connection:
        return bool(site.settings.oidc) or accounts.has_tokens(connection)


def login_expected(site: Site) -> bool:
    """Whether somebody else than this machine's own owner was let in: then even this machine has to log in."""
    with site.database.reading() as connection:
        return bool(site.settings.oidc) or accounts.has_others(connection, LOCAL)


def add_account(
    site: Site, viewer: Viewer, name: str, role: Role, *, team: str | None = None, email: str | None = None
) -> Account:
    """An owner lets somebody in."""
    require(viewer, "administer")
    check_word(name, "person")
    if team is not None:
        check_word(team, "team")
    check_email(email)
    with site.database.writing() as connection:
        check_alike(connection, name)
        return accounts.add_account(connection, name, role, actor=viewer.name, now=site.clock(), team=team, email=email)


def change_account(
    site: Site,
    viewer: Viewer,
    account_id: int,
    *,
    role: Role | None = None,
    team: str | None = None,
    email: str | None = None,
    disabled: bool | None = None,
    lead: bool | None = None,
) -> Account:
    """An owner gives somebody another role, team or address, or shuts them out."""
    require(viewer, "administer")
    if team is not None:
        check_word(team, "team")
    check_email(email)
    with site.database.writing() as connection:
        if role not in (None, "owner") or disabled:
            _check_other_owner(connection, account_id)
        return accounts.change_account(
            connection,
            account_id,
            actor=viewer.name,
            now=site.clock(),
            role=role,
            team=team,
            email=email,
            disabled=disabled,
            lead=lead,
        )


def _check_other_owner(connection: Connection, account_id: int) -> None:
    others = [
        account
        for account in accounts.list_accounts(connection)
        if account.role == "owner" and account.id != account_id and account.disabled is None
    ]
    changed = accounts.account(connection, account_id)
    if changed.role == "owner" and not others:
        raise Refused("this is the only owner; make another one first")


#: Days that a token may last, where it does not last until it is revoked.
MOST_DAYS = 3660


def add_token(
    site: Site,
    viewer: Viewer,
    label: str,
    *,
    account_id: int | None = None,
    scope: Scope = "everything",
    days: int | None = None,
) -> tuple[Token, str]:
    """A token for the viewer, or by an owner for somebody; its text is shown now and never again."""
    if scope not in accounts.SCOPES:
        raise UnknownName("scope of a token", scope, accounts.SCOPES)
    if days is not None and not 1 <= days <= MOST_DAYS:
        raise InvalidInput(f"a token lasts from 1 to {MOST_DAYS} days, not {days}; leave it empty for one without end")
    own = require(viewer, "own-account")
    if account_id is not None and account_id != own.id:
        require(viewer, "administer")
    with site.database.writing() as connection:
        owner, now = accounts.account(connection, own.id if account_id is None else account_id), site.clock()
        expires = None if days is None else now + 86400.0 * days
        return accounts.add_token(
            connection, owner.id, label[:200], actor=viewer.name, now=now, scope=scope, expires=expires
        )


def revoke_token(site: Site, viewer: Viewer, token_id: int, *, account_id: int | None = None) -> None:
    """Make a token useless."""
    own = require(viewer, "own-account")
    if account_id is not None and account_id != own.id:
        require(viewer, "administer")
    with site.database.writing() as connection:
        owner = own.id if account_id is None else account_id
        if not accounts.revoke_token(connection, token_id, owner, actor=viewer.name, now=site.clock()):
            raise Refused(f"there is no token {token_id} in use; list the tokens to see which there are")


def new_owner_token(site: Site, name: str) -> str:
    """A token for an owner, from whoever can write the data folder: how the first one comes in."""
    check_word(name, "person")
    now = site.clock()
    with site.database.writing() as connection:
        account = accounts.account_named(connection, name)
        if account is None:
            check_alike(connection, name)
            account = accounts.add_account(connection, name, "owner", actor="site", now=now)
        if account.disabled is not None:
            accounts.change_account(connection, account.id, actor="site", now=now, disabled=False)
        if account.role != "owner":
            raise Refused(f"account {name} is a {account.role}, not an owner; choose another name")
        return accounts.add_token(connection, account.id, "from the command line", actor="site", now=now)[1]


def add_webhook(site: Site, viewer: Viewer, url: str, *, board: str | None = None) -> Webhook:
    """Let an address hear of the viewer's submissions (an owner's, of all); its secret signs what is sent."""
    own = require(viewer, "own-account")
    if not _is_web_address(url):
        raise InvalidInput(f"{url[:200]!r} is no web address; give one as in https://example.org/hook")
    if own.role != "owner":
        _check_outside(url)
    with site.database.writing() as connection:
        if board is not None:
            registry.board(connection, board)
        return deliveries.add_webhook(connection, own.id, url, secrets.token_urlsafe(32), board=board, now=site.clock())


def _is_web_address(url: str) -> bool:
    """Whether something can be sent there; what only looks like an address would fail at each notice."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return usable and url.isprintable() and " " not in url


def _check_outside(url: str) -> None:
    """Refuse an address in the server's own network; a host that can't be found now may be there later."""
    try:
        inside = lies_inside(url)
    except NoAddress:
        return
    if inside:
        raise InvalidInput(
            f"{urlsplit(url).hostname} lies in the server's own network, where nothing is sent for submitters; "
            "give an address of the public network, or ask an owner of the site to add the webhook"
        )


def remove_webhook(site: Site, viewer: Viewer, webhook_id: int) -> None:
    own = require(viewer, "own-account")
    with site.database.writing() as connection:
        if not deliveries.remove_webhook(connection, webhook_id, own.id):
            raise Refused(f"there is no webhook {webhook_id} of yours")


#: One address, which can't smuggle another one or a header into a mail.
_EMAIL = re.compile(r"[^\s@<>,;:\"()\[\]\\]{1,64}@[A-Za-z0-9.-]{1,253}")


def check_email(email: str | None) -> None:
    if email is not None and not _EMAIL.fullmatch(email):
        raise InvalidInput(f"{email!r} is no e-mail address; write it as in ann@example.org")


def check_word(name: str, what: str) -> None:
    if not name.strip() or len(name) > 100 or name_mistake(name):
        raise InvalidInput(f"{name[:100]!r} can't be the name of a {what}; use one line of at most 100 characters")
    if wrong := deceiving_mistake(name):
        raise InvalidInput(f"{name!r} can't be the name of a {what}: it {wrong}")


def check_alike(connection: Connection, name: str) -> None:
    """Nobody is let in under a name that is taken for another's."""
    alike = next((other.name for other in accounts.list_accounts(connection) if look_alike(name, other.name)), None)
    if alike is not None and alike != name:
        raise Refused(f"there is an account {alike}, which looks like {name!r}; choose another name")
