"""Who may come in: teams, accounts, tokens and sessions.

A token or session is kept as a digest only: whoever reads the database can't log in with it. Everybody is in a team;
an account that is put in none gets one of its own name.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Select, delete, func, insert, select, update

from billboards.errors import Refused, UnknownName
from billboards.site.database import trail
from billboards.site.database.schema import accounts, sessions, teams, tokens

Role = Literal["owner", "submitter", "annotator"]
ROLES: tuple[Role, ...] = ("owner", "submitter", "annotator")

#: A token's last use is written down this often at most (seconds): a request should not have to write.
USE_NOTED = 300.0


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


@dataclass(frozen=True, kw_only=True)
class Token:
    """What is known of a token; the token itself was shown once and is not."""

    id: int
    account_id: int
    label: str
    created: float
    last_used: float | None
    revoked: float | None


@dataclass(frozen=True)
class Session:
    """A browser that is logged in."""

    account: Account
    csrf: str
    expires: float


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
) -> Account:
    """Make an account, and its team where there is none of that name."""
    if role not in ROLES:
        raise UnknownName("role", role, ROLES)
    if connection.execute(select(accounts.c.id).where(accounts.c.name == name)).one_or_none() is not None:
        raise Refused(f"there is an account {name} already; choose another name")
    values = {"name": name, "role": role, "email": email, "oidc_subject": oidc_subject, "created": now}
    team = _own_team(connection, name) if team is None else team
    team_id = _team(connection, team, now=now)
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
) -> Account:
    """Give an account another role, team or address; one that is disabled opens nothing, and its sessions end."""
    if role is not None and role not in ROLES:
        raise UnknownName("role", role, ROLES)
    fields = {"role": role, "team": team, "email": email, "disabled": disabled}
    changes: dict[str, Any] = {word: value for word, value in fields.items() if value is not None}
    values = {word: value for word, value in changes.items() if word not in ("team", "disabled")}
    if disabled is not None:
        values["disabled"] = now if disabled else None
        connection.execute(delete(sessions).where(sessions.c.account_id == account_id))
    if team is not None:
        values["team_id"] = _team(connection, team, now=now)
    before = account(connection, account_id)
    if values:
        connection.execute(update(accounts).where(accounts.c.id == account_id).values(**values))
    trail.note(connection, actor, "account.changed", before.name, now=now, detail=changes)
    return account(connection, account_id)


def add_token(connection: Connection, account_id: int, label: str, *, actor: str, now: float) -> tuple[Token, str]:
    """Make a token; its text is returned here and never again."""
    text = f"bb_{secrets.token_urlsafe(32)}"
    values = {"account_id": account_id, "digest": digest(text), "label": label, "created": now}
    made = connection.execute(insert(tokens).values(**values)).inserted_primary_key
    assert made is not None
    name = account(connection, account_id).name
    trail.note(connection, actor, "token.added", name, now=now, detail={"token": int(made[0]), "label": label})
    return Token(id=int(made[0]), account_id=account_id, label=label, created=now, last_used=None, revoked=None), text


def list_tokens(connection: Connection, account_id: int) -> tuple[Token, ...]:
    """An account's tokens, the latest first."""
    columns = (getattr(tokens.c, word) for word in ("id", "account_id", "label", "created", "last_used", "revoked"))
    query = select(*columns).where(tokens.c.account_id == account_id).order_by(tokens.c.id.desc())
    return tuple(Token(**row) for row in connection.execute(query).mappings())


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


def account_of_token(connection: Connection, text: str, *, now: float) -> tuple[Account, bool] | None:
    """Whose token this is, and whether its use should be written down; None for one that opens nothing."""
    query = select(tokens.c.account_id, tokens.c.last_used)
    row = connection.execute(query.where(tokens.c.digest == digest(text), tokens.c.revoked.is_(None))).one_or_none()
    holder = None if row is None else account(connection, row.account_id)
    if row is None or holder is None or holder.disabled is not None:
        return None
    return holder, row.last_used is None or now - row.last_used > USE_NOTED


def token_id(connection: Connection, text: str) -> int | None:
    """The number of a token that is in use."""
    query = select(tokens.c.id).where(tokens.c.digest == digest(text), tokens.c.revoked.is_(None))
    return connection.execute(query).scalar()


def note_use(connection: Connection, text: str, *, now: float) -> None:
    """Write down that a token was used."""
    connection.execute(update(tokens).where(tokens.c.digest == digest(text)).values(last_used=now))


def has_tokens(connection: Connection) -> bool:
    """Whether anybody could log in with a token."""
    return bool(connection.execute(select(func.count()).where(tokens.c.revoked.is_(None))).scalar())


def begin_session(
    connection: Connection, account_id: int, *, now: float, seconds: float, token_id: int | None = None
) -> tuple[str, str]:
    """Log a browser in, with a token or elsewhere; returns what its cookie holds and the text its forms send along."""
    text, csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(24)
    connection.execute(delete(sessions).where(sessions.c.expires <= now))
    values = {"id": digest(text), "account_id": account_id, "csrf": csrf, "created": now, "expires": now + seconds}
    connection.execute(insert(sessions).values(**values, token_id=token_id))
    return text, csrf


def session(connection: Connection, text: str, *, now: float) -> Session | None:
    """The session behind a cookie, unless it is over."""
    query = select(sessions.c.account_id, sessions.c.csrf, sessions.c.expires).where(sessions.c.id == digest(text))
    row = connection.execute(query.where(sessions.c.expires > now)).one_or_none()
    holder = None if row is None else account(connection, row.account_id)
    if row is None or holder is None or holder.disabled is not None:
        return None
    return Session(holder, row.csrf, row.expires)


def end_session(connection: Connection, text: str) -> None:
    """Log a browser out."""
    connection.execute(delete(sessions).where(sessions.c.id == digest(text)))


def _query() -> Select[Any]:
    return select(accounts, teams.c.name.label("team")).join(teams, teams.c.id == accounts.c.team_id)


def _own_team(connection: Connection, name: str) -> str:
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
