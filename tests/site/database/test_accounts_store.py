"""Accounts, tokens and sessions: what is kept can't be used to log in."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from billboards.errors import Refused, UnknownName
from billboards.site.accounts import records as accounts
from billboards.site.accounts.records import Account
from billboards.site.database.engine import Database
from billboards.site.database.schema import sessions, tokens


def test_a_token_is_shown_once_and_kept_as_a_digest(database: Database, account: Account) -> None:
    with database.writing() as connection:
        _, text = accounts.add_token(connection, account.id, "laptop", actor="ann", now=2.0)
    with database.reading() as connection:
        kept = connection.execute(select(tokens)).mappings().one()
        found = accounts.account_of_token(connection, text, now=3.0)
    assert text not in map(str, kept.values())
    assert kept["digest"] == accounts.digest(text)
    assert found is not None
    assert found[0] == account


def test_a_revoked_or_invented_token_opens_nothing(database: Database, account: Account) -> None:
    with database.writing() as connection:
        token, text = accounts.add_token(connection, account.id, "laptop", actor="ann", now=2.0)
        assert accounts.revoke_token(connection, token.id, account.id, actor="ann", now=3.0)
        assert accounts.account_of_token(connection, text, now=4.0) is None
        assert accounts.account_of_token(connection, "bb_invented", now=4.0) is None


def test_nobody_revokes_anothers_token(database: Database, account: Account) -> None:
    with database.writing() as connection:
        other = accounts.add_account(connection, "ben", "submitter", actor="test", now=2.0)
        token, _ = accounts.add_token(connection, account.id, "laptop", actor="ann", now=2.0)
        assert not accounts.revoke_token(connection, token.id, other.id, actor="ben", now=3.0)


def test_the_use_of_a_token_is_noted_now_and_then(database: Database, account: Account) -> None:
    with database.writing() as connection:
        _, text = accounts.add_token(connection, account.id, "laptop", actor="ann", now=2.0)
        first = accounts.account_of_token(connection, text, now=10.0)
        accounts.note_use(connection, text, now=10.0)
        again = accounts.account_of_token(connection, text, now=20.0)
    assert first is not None
    assert again is not None
    assert (first[2], again[2]) == (True, False)


def test_a_session_ends_by_itself_and_its_cookie_is_not_kept(database: Database, account: Account) -> None:
    with database.writing() as connection:
        cookie, csrf = accounts.begin_session(connection, account.id, now=100.0, seconds=50.0)
        assert connection.execute(select(sessions.c.id)).scalars().all() == [accounts.digest(cookie)]
        found = accounts.session(connection, cookie, now=149.0)
        assert found is not None
        assert (found.account.name, found.csrf) == ("ann", csrf)
        assert accounts.session(connection, cookie, now=150.0) is None


def test_nobody_joins_a_team_by_being_called_like_it(database: Database) -> None:
    with database.writing() as connection:
        first = accounts.add_account(connection, "ann", "submitter", actor="test", now=1.0, team="harbour")
        second = accounts.add_account(connection, "harbour", "submitter", actor="test", now=1.0)
    assert second.team == "harbour 2"
    assert first.team_id != second.team_id


def test_names_are_given_once_and_roles_are_known_ones(database: Database, account: Account) -> None:
    with database.writing() as connection, pytest.raises(Refused, match="an account ann already"):
        accounts.add_account(connection, "ann", "submitter", actor="test", now=1.0)
    with database.writing() as connection, pytest.raises(UnknownName, match="no role named 'king'"):
        accounts.change_account(connection, account.id, actor="test", now=1.0, role="king")  # type: ignore[arg-type]
