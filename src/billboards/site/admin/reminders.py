"""Reminders that a phase closes: a week and a day before, once each, to the teams who can still submit.

That a reminder was put into the outbox is written down in the same transaction, under the phase and its end: an end
that is moved is reminded of again. Who may not submit, or has nothing left of a quota, is not reminded.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, insert, select

from billboards.errors import Refused
from billboards.site.accounts import records as accounts
from billboards.site.accounts.records import Account
from billboards.site.admin import deliveries
from billboards.site.boards import registry
from billboards.site.boards.registry import Registered
from billboards.site.database.schema import reminders
from billboards.site.settings import BoardSettings, Phase, read_board_settings
from billboards.site.site import Site
from billboards.site.submissions import records as submissions

DAY = 86400.0
#: Days before the end of a phase on which teams are reminded; the nearest comes first.
DAYS = (1, 7)


def remind(site: Site) -> int:
    """Put every reminder that is due into the outbox; returns how many mails that makes."""
    if site.settings.mail is None:
        return 0
    due = [(board, phase, days) for board in site.boards() for phase, days in _due(board, site.clock())]
    return sum(_remind(site, board.name, phase, days) for board, phase, days in due)


def _due(board: Registered, now: float) -> Iterator[tuple[Phase, int]]:
    settings = read_board_settings(board.settings)
    phase = _open_phase(settings, now)
    if settings.frozen is not None or phase is None or phase.closes is None:
        return
    days = next((days for days in DAYS if phase.closes - now <= days * DAY), None)
    if days is not None:
        yield phase, days


def _open_phase(settings: BoardSettings, now: float) -> Phase | None:
    try:
        return settings.open_phase(now)
    except Refused:
        return None


def _remind(site: Site, board: str, phase: Phase, days: int) -> int:
    now, closes = site.clock(), phase.closes
    key = {"board": board, "phase": phase.name, "closes": closes, "days": days}
    where = [reminders.c[word] == value for word, value in key.items()]
    with site.database.reading() as connection:
        if connection.execute(select(reminders.c.at).where(*where)).one_or_none() is not None:
            return 0
    with site.database.writing() as connection:
        if connection.execute(select(reminders.c.at).where(*where)).one_or_none() is not None:
            return 0
        connection.execute(insert(reminders).values(**key, at=now))
        settings = read_board_settings(registry.board(connection, board).settings)
        told = [
            deliveries.mail_account(connection, "phase.closes", key, person.id, now=now, kind="deadline")
            for person in accounts.list_accounts(connection)
            if _can_submit(connection, board, settings, person)
        ]
        return sum(told)


def _can_submit(connection: Connection, board: str, settings: BoardSettings, person: Account) -> bool:
    """Whether somebody's team may still send something in."""
    if person.role != "submitter" or person.disabled is not None:
        return False
    if settings.total is None:
        return True
    spent = (submissions.count_spent(connection, board, kind, person.team_id) for kind in settings.accepts)
    return any(count < settings.total for count in spent)
