"""Who may come in: teams, accounts, tokens and sessions.

A token or session is kept as a digest only: whoever reads the database can't log in with it. Everybody is in a team;
an account that is put in none gets one of its own name.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Select, bindparam, delete, func, insert, select, update

from billboards.errors import Refused, UnknownName
from billboards.site.database import trail
from billboards.site.database.schema import accounts, sessions, teams, tokens

Role = Literal["owner", "submitter", "annotator"]
ROLES: tuple[Role, ...] = ("owner", "submitter", "annotator")

#: A token's last use is written down this often at most (seconds): a request should not have to write.
USE_NOTED = 300.0

#: What a token may be limited to; without a limit it does everything that its account may do.
Scope = Literal["read", "submit", "everything"]
SCOPES: tuple[Scope, ...] = ("read", "submit", "everything")


@dataclass(frozen=True, kw_only=True)
class Account:
    """Somebody with a role, in a team."""

    id: int
    name: str
    email: str | None
    team_id: int
    team: str
    role: Role
    oidc_subject: str | None
    created: float
    #: Since when the account opens nothing; None for one that does.
    disabled: float | None = None
    #: When the person showed that the address is theirs.
    confirmed: float | None = None
    #: Whether the account leads its team: leads invite and remove members.
    lead: bool = False
    #: Kinds of mail that are switched off; None is none.
    muted: Collection[str] | None = None


@dataclass(frozen=True, kw_only=True)
class Token:
    """What is known of a token; the token itself was shown once and is not."""

    id: int
    account_id: int
    label: str
    created: float
    last_used: float | None
    revoked: float | None
    scope: Scope = "everything"
    expires: float | None = None


@dataclass(frozen=True)
class Session:
    """A browser that is logged in; one that a token began may do what that may, and ends when that does."""

    account: Account
    csrf: str
    expires: float
    scope: Scope = "everything"
    #: Whether its use should be written down.
    to_note: bool = False


@dataclass(frozen=True, kw_only=True)
class OpenSession:
    """A browser that is logged in, as its account's list shows it; `key` is the beginning of what is kept of it."""

    key: str
    created: float
    expires: float
    last_used: float | None
    agent: str | None
    #: Whether it is the one that asks.
    current: bool = False


def digest(secret: str) -> str:
    """What is kept of a token or session; they are random and long, so a plain hash can't be searched."""
    return hashlib.sha256(secret.encode()).hexdigest()


def add_account(
    connection: Connection,
    name: str,
    role: Role,
    *,
    actor: str,
    now: float,
    team: str | None = None,
    email: str | None = None,
    oidc_subject: str | None = None,
    confirmed: float | None = None,
    lead: bool = False,
) -> Account:
    """Make an account, and its team where there is none of that name; whose address is shown is `confirmed`."""
    if role not in ROLES:
        raise UnknownName("role", role, ROLES)
    if connection.execute(select(accounts.c.id).where(accounts.c.name == name)).one_or_none() is not None:
        raise Refused(f"there is an account {name} already; choose another name")
    values = {"name": name, "role": role, "email": email, "oidc_subject": oidc_subject, "created": now}
    team = own_team(connection, name) if team is None else team
    team_id = _team(connection, team, now=now)
    # Whoever is in a team first leads it.
    values |= {"confirmed": confirmed, "lead": lead or not members(connection, team_id)}
    made = connection.execute(insert(accounts).values(**values, team_id=team_id)).inserted_primary_key
    assert made is not None
    trail.note(connection, actor, "account.added", name, now=now, detail={"role": role, "team": team})
    return account(connection, int(made[0]))


def account(connection: Connection, account_id: int) -> Account:
    """An account by its id."""
    row = connection.execute(_query().where(accounts.c.id == account_id)).mappings().one_or_none()
    if row is None:
        raise UnknownName("account", str(account_id), ())
    return Account(**row)


def account_named(connection: Connection, name: str) -> Account | None:
    """An account by its name."""
    row = connection.execute(_query().where(accounts.c.name == name)).mappings().one_or_none()
    return None if row is None else Account(**row)


def account_of_subject(connection: Connection, oidc_subject: str) -> Account | None:
    """The account of somebody who logged in elsewhere."""
    row = connection.execute(_query().where(accounts.c.oidc_subject == oidc_subject)).mappings().one_or_none()
    return None if row is None else Account(**row)


def list_accounts(connection: Connection) -> tuple[Account, ...]:
    """Everybody, by name."""
    return tuple(Account(**row) for row in connection.execute(_query().order_by(accounts.c.name)).mappings())


def accounts_of_email(connection: Connection, email: str) -> tuple[Account, ...]:
    """The accounts with an address that are not disabled; letters count the same in both cases."""
    query = _query().where(func.lower(accounts.c.email) == email.lower(), accounts.c.disabled.is_(None))
    return tuple(Account(**row) for row in connection.execute(query.order_by(accounts.c.id)).mappings())


def is_shut_out(connection: Connection, email: str) -> bool:
    """Whether an address has accounts, and all of them are disabled."""
    query = _query().where(func.lower(accounts.c.email) == email.lower())
    people = [Account(**row) for row in connection.execute(query).mappings()]
    return bool(people) and all(person.disabled is not None for person in people)


def members(connection: Connection, team_id: int) -> tuple[Account, ...]:
    """Who is in a team and not disabled, leads first."""
    query = _query().where(accounts.c.team_id == team_id, accounts.c.disabled.is_(None))
    query = query.order_by(accounts.c.lead.desc(), accounts.c.name)
    return tuple(Account(**row) for row in connection.execute(query).mappings())


def team_names(connection: Connection) -> tuple[str, ...]:
    """Every team's name."""
    return tuple(connection.execute(select(teams.c.name).order_by(teams.c.name)).scalars())


def has_others(connection: Connection, name: str) -> bool:
    """Whether there is an account of another name."""
    return connection.execute(select(accounts.c.id).where(accounts.c.name != name).limit(1)).one_or_none() is not None


def change_account(
    connection: Connection,
    account_id: int,
    *,
    actor: str,
    now: float,
    role: Role | None = None,
    team: str | None = None,
    email: str | None = None,
    disabled: bool | None = None,
    lead: bool | None = None,
    muted: Collection[str] | None = None,
    confirmed: float | None = None,
) -> Account:
    """Give an account another role, team or address; one that is disabled opens nothing, and its sessions end."""
    if role is not None and role not in ROLES:
        raise UnknownName("role", role, ROLES)
    fields: dict[str, Any] = {"role": role, "team": team, "email": email, "disabled": disabled, "lead": lead}
    fields["muted"] = None if muted is None else sorted(muted)
    changes: dict[str, Any] = {word: value for word, value in fields.items() if value is not None}
    values = {word: value for word, value in changes.items() if word not in ("team", "disabled")}
    if disabled is not None:
        values["disabled"] = now if disabled else None
        connection.execute(delete(sessions).where(sessions.c.account_id == account_id))
    before = account(connection, account_id)
    if email is not None:
        # An address that another gave has yet to be shown to be theirs.
        values["confirmed"] = confirmed
    if team is not None and team != before.team:
        values["team_id"] = _team(connection, team, now=now)
        values["lead"] = bool(lead) or not members(connection, values["team_id"])
    if values:
        connection.execute(update(accounts).where(accounts.c.id == account_id).values(**values))
    trail.note(connection, actor, "account.changed", before.name, now=now, detail=changes)
    return account(connection, account_id)


def add_token(
    connection: Connection,
    account_id: int,
    label: str,
    *,
    actor: str,
    now: float,
    scope: Scope = "everything",
    expires: float | None = None,
) -> tuple[Token, str]:
    """Make a token; its text is returned here and never again."""
    text = f"bb_{secrets.token_urlsafe(32)}"
    values = {"account_id": account_id, "digest": digest(text), "label": label, "created": now}
    values |= {"scope": None if scope == "everything" else scope, "expires": expires}
    made = connection.execute(insert(tokens).values(**values)).inserted_primary_key
    assert made is not None
    name = account(connection, account_id).name
    trail.note(connection, actor, "token.added", name, now=now, detail={"token": int(made[0]), "label": label})
    token = Token(
        id=int(made[0]),
        account_id=account_id,
        label=label,
        created=now,
        last_used=None,
        revoked=None,
        scope=scope,
        expires=expires,
    )
    return token, text


def list_tokens(connection: Connection, account_id: int) -> tuple[Token, ...]:
    """An account's tokens, the latest first."""
    words = ("id", "account_id", "label", "created", "last_used", "revoked", "scope", "expires")
    query = select(*(tokens.c[word] for word in words)).where(tokens.c.account_id == account_id)
    rows = connection.execute(query.order_by(tokens.c.id.desc())).mappings()
    return tuple(Token(**{**row, "scope": row["scope"] or "everything"}) for row in rows)


def revoke_token(connection: Connection, token_id: int, account_id: int, *, actor: str, now: float) -> bool:
    """Make a token useless and end the sessions that began with it; False where the account has none such in use."""
    where = (tokens.c.id == token_id, tokens.c.account_id == account_id, tokens.c.revoked.is_(None))
    done = connection.execute(update(tokens).where(*where).values(revoked=now)).rowcount == 1
    if done:
        # Of a session from before its token was kept, any token of its account may be the one.
        began = (sessions.c.token_id == token_id) | sessions.c.token_id.is_(None)
        connection.execute(delete(sessions).where(sessions.c.account_id == account_id, began))
        name = account(connection, account_id).name
        trail.note(connection, actor, "token.revoked", name, now=now, detail={"token": token_id})
    return done


def account_of_token(connection: Connection, text: str, *, now: float) -> tuple[Account, Scope, bool] | None:
    """Whose token this is, what it is good for, and whether its use should be written down; None opens nothing."""
    query = select(tokens.c.account_id, tokens.c.last_used, tokens.c.scope).where(*_in_use(text, now))
    row = connection.execute(query).one_or_none()
    holder = None if row is None else account(connection, row.account_id)
    if row is None or holder is None or holder.disabled is not None:
        return None
    return holder, row.scope or "everything", row.last_used is None or now - row.last_used > USE_NOTED


def token_id(connection: Connection, text: str, *, now: float) -> int | None:
    """The number of a token that is in use."""
    return connection.execute(select(tokens.c.id).where(*_in_use(text, now))).scalar()


def _in_use(text: str, now: float) -> tuple[ColumnElement[bool], ...]:
    lasts = tokens.c.expires.is_(None) | (tokens.c.expires > now)
    return tokens.c.digest == digest(text), tokens.c.revoked.is_(None), lasts


def note_use(connection: Connection, text: str, *, now: float) -> None:
    """Write down that a token was used."""
    connection.execute(update(tokens).where(tokens.c.digest == digest(text)).values(last_used=now))


def has_tokens(connection: Connection) -> bool:
    """Whether anybody could log in with a token."""
    return bool(connection.execute(select(func.count()).where(tokens.c.revoked.is_(None))).scalar())


def begin_session(
    connection: Connection,
    account_id: int,
    *,
    now: float,
    seconds: float,
    token_id: int | None = None,
    agent: str | None = None,
) -> tuple[str, str]:
    """Log a browser in, with a token or elsewhere; returns what its cookie holds and the text its forms send along."""
    text, csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(24)
    connection.execute(delete(sessions).where(sessions.c.expires <= now))
    values = {"id": digest(text), "account_id": account_id, "csrf": csrf, "created": now, "expires": now + seconds}
    values |= {"token_id": token_id, "last_used": now, "agent": None if agent is None else agent[:200]}
    connection.execute(insert(sessions).values(**values))
    return text, csrf


def session(connection: Connection, text: str, *, now: float) -> Session | None:
    """The session behind a cookie, unless it is over."""
    words = ("account_id", "csrf", "expires", "last_used")
    query = select(*(sessions.c[word] for word in words), tokens.c.scope)
    query = query.join(tokens, tokens.c.id == sessions.c.token_id, isouter=True).where(sessions.c.id == digest(text))
    lasts = tokens.c.expires.is_(None) | (tokens.c.expires > now)
    row = connection.execute(query.where(sessions.c.expires > now, lasts)).one_or_none()
    holder = None if row is None else account(connection, row.account_id)
    if row is None or holder is None or holder.disabled is not None:
        return None
    to_note = row.last_used is None or now - row.last_used > USE_NOTED
    return Session(holder, row.csrf, row.expires, row.scope or "everything", to_note)


@dataclass(frozen=True, slots=True)
class LiveSession:
    """What of a session decides which pages its browser is shown."""

    account: str
    role: Role
    csrf: str
    #: What the token that began it may; None is everything.
    scope: Scope | None
    last_used: float | None

    def is_noted(self, now: float) -> bool:
        """Whether its use was written down a short while ago, so that a request need not write."""
        return self.last_used is not None and now - self.last_used <= USE_NOTED


def live_session() -> Select[Any]:
    """The query for a `LiveSession` by the `id` that is kept of it: as `session` finds it, and nothing that is over."""
    lasts = tokens.c.expires.is_(None) | (tokens.c.expires > bindparam("now"))
    query = select(accounts.c.name, accounts.c.role, sessions.c.csrf, tokens.c.scope, sessions.c.last_used)
    query = query.select_from(sessions).join(accounts, accounts.c.id == sessions.c.account_id)
    query = query.join(tokens, tokens.c.id == sessions.c.token_id, isouter=True)
    is_open = (sessions.c.expires > bindparam("now"), lasts, accounts.c.disabled.is_(None))
    return query.where(sessions.c.id == bindparam("id"), *is_open)


def note_session(connection: Connection, text: str, *, now: float) -> None:
    """Write down that a session was used."""
    connection.execute(update(sessions).where(sessions.c.id == digest(text)).values(last_used=now))


#: Letters of what is kept of a session by which its account names it.
SESSION_KEY = 16


def list_sessions(connection: Connection, account_id: int, *, now: float, csrf: str = "") -> tuple[OpenSession, ...]:
    """The browsers that are logged in as an account, the last used first; `csrf` tells which of them asks."""
    words = ("id", "created", "expires", "last_used", "agent", "csrf")
    query = select(*(sessions.c[word] for word in words))
    query = query.where(sessions.c.account_id == account_id, sessions.c.expires > now)
    rows = connection.execute(query.order_by(func.coalesce(sessions.c.last_used, sessions.c.created).desc()))
    return tuple(
        OpenSession(
            key=row.id[:SESSION_KEY],
            created=row.created,
            expires=row.expires,
            last_used=row.last_used,
            agent=row.agent,
            current=secrets.compare_digest(row.csrf, csrf),
        )
        for row in rows
    )


def end_sessions(connection: Connection, account_id: int, *, key: str | None = None, but: str = "") -> int:
    """End an account's sessions: one by its key, or all, but the one whose forms send `but`; returns how many."""
    where = [sessions.c.account_id == account_id]
    if key is not None:
        where.append(func.substr(sessions.c.id, 1, SESSION_KEY) == key)
    if but:
        where.append(sessions.c.csrf != but)
    return connection.execute(delete(sessions).where(*where)).rowcount


def last_uses(connection: Connection) -> dict[int, float]:
    """When each account was last used, by browser or by token, as far as that is still kept."""
    latest: dict[int, float] = {}
    for table in (sessions, tokens):
        query = select(table.c.account_id, func.max(table.c.last_used)).group_by(table.c.account_id)
        for account_id, at in connection.execute(query):
            if at is not None:
                latest[account_id] = max(at, latest.get(account_id, at))
    return latest


def end_session(connection: Connection, text: str) -> None:
    """Log a browser out."""
    connection.execute(delete(sessions).where(sessions.c.id == digest(text)))


def _query() -> Select[Any]:
    return select(accounts, teams.c.name.label("team")).join(teams, teams.c.id == accounts.c.team_id)


def own_team(connection: Connection, name: str) -> str:
    """A team's name that is not taken, so that nobody walks into another's team by being called like it."""
    taken = set(
        connection.execute(select(teams.c.name).where(teams.c.name.startswith(name, autoescape=True))).scalars()
    )
    return next(own for own in (name, *(f"{name} {k}" for k in range(2, len(taken) + 3))) if own not in taken)


def _team(connection: Connection, name: str, *, now: float) -> int:
    team_id = connection.execute(select(teams.c.id).where(teams.c.name == name)).scalar()
    if team_id is not None:
        return int(team_id)
    made = connection.execute(insert(teams).values(name=name, created=now)).inserted_primary_key
    assert made is not None
    return int(made[0])
