"""What a board may use of what is dear: tokens of judges, and hours of submitted programs on graphics cards.

An owner sets a board's budgets, whoever runs the site sets the most that any board may have in `site.toml`, and the
lower of the two holds. What is used is counted in the database before it is used, so that many workers share one budget
and a killed one counts rather too much than too little. A budget is for all time: more is allowed by raising it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from sqlalchemy import Connection, select, update
from sqlalchemy.dialects import postgresql, sqlite

from billboards.errors import InvalidSettings
from billboards.site.database.schema import spending
from billboards.site.settings import BoardSettings, SiteSettings
from billboards.site.site import Site

What = Literal["judge tokens", "gpu seconds"]
JUDGES: What = "judge tokens"
CARDS: What = "gpu seconds"
HOUR = 3600.0
#: Seconds that a program may run before they are counted.
COUNTED = 1.0


def limit_of(what: What, board: BoardSettings, site: SiteSettings) -> float:
    """How much a board may use: what its owners say, and never more than whoever runs the site allows."""
    gpu = site.workers.gpu
    limits: list[float | None]
    if what == JUDGES:
        limits = [board.judge_tokens, site.judges.tokens]
    else:
        hours = [board.gpu_hours, None if gpu is None else gpu.hours]
        limits = [None if each is None else each * HOUR for each in hours]
    return min((float(limit) for limit in limits if limit is not None), default=math.inf)


def check_budgets(before: BoardSettings, after: BoardSettings, site: SiteSettings) -> None:
    """Refuse new budgets above what whoever runs the site allows: they would promise what nobody gets."""
    gpu = site.workers.gpu
    most = {"judge_tokens": site.judges.tokens, "gpu_hours": None if gpu is None else gpu.hours}
    wrong = {}
    for key, limit in most.items():
        wanted = getattr(after, key)
        if limit is not None and wanted is not None and wanted > limit and wanted != getattr(before, key):
            wrong[key] = f"{key} must be at most {limit:g}, which is what this site allows a board; found {wanted:g}"
    if wrong:
        raise InvalidSettings("settings", [*wrong.values()], [(key,) for key in wrong])


def is_raised(before: BoardSettings, after: BoardSettings, site: SiteSettings) -> bool:
    """Whether a board may use more than before: then what failed for want of it is worth another try."""
    return any(limit_of(what, after, site) > limit_of(what, before, site) for what in (JUDGES, CARDS))


def spent(connection: Connection, board: str, what: What) -> float:
    """How much a board has used so far."""
    query = select(spending.c.amount).where(spending.c.board == board, spending.c.what == what)
    return connection.execute(query).scalar() or 0.0


@dataclass(frozen=True)
class Purse:
    """One budget of a board."""

    site: Site
    board: str
    what: What
    limit: float

    def spent(self) -> float:
        """How much is used."""
        with self.site.database.reading() as connection:
            return spent(connection, self.board, self.what)

    def left(self) -> float:
        """How much may still be used."""
        return max(self.limit - self.spent(), 0.0)

    def take(self, amount: float) -> bool:
        """Count what is about to be used; False, and nothing is counted, where it would pass the limit."""
        with self.site.database.writing(boards=[self.board]) as connection:
            insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
            new = insert(spending).values(board=self.board, what=self.what, amount=0.0)
            connection.execute(new.on_conflict_do_nothing())
            mine = (spending.c.board == self.board, spending.c.what == self.what)
            fits = () if math.isinf(self.limit) else (spending.c.amount + amount <= self.limit,)
            counted = update(spending).where(*mine, *fits).values(amount=spending.c.amount + amount)
            return connection.execute(counted).rowcount == 1

    def give_back(self, amount: float) -> None:
        """Count what was not needed after all; below 0, what was needed more, even where it passes the limit."""
        replace(self, limit=math.inf).take(-amount)

    @property
    def words(self) -> str:
        """Whose budget it is, how large, and what to do when it is used up."""
        used = self.spent()
        if self.what == JUDGES:
            amounts = f"{used:,.0f} of {self.limit:,.0f} tokens are used"
            title = "judges' tokens"
        else:
            amounts = f"{used / HOUR:,.2f} of {self.limit / HOUR:,.2f} hours are used"
            title = "hours on graphics cards"
        return f"the board's budget of {title} ({amounts}); its owner can raise it under Organise, Settings"


def purse_of(site: Site, board: str, settings: BoardSettings, what: What) -> Purse:
    """A budget of a board as it is set now."""
    return Purse(site, board, what, limit_of(what, settings, site.settings))


@dataclass
class Meter:
    """Counts a program's seconds on graphics cards while it runs, and says when it must end."""

    purse: Purse
    cancelled: Callable[[], bool]
    is_spent: bool = False
    _last: float = field(default_factory=time.monotonic)

    def __call__(self) -> bool:
        """Whether the program is to end: nobody wants it, or the budget is used up."""
        if time.monotonic() - self._last >= COUNTED:
            self.count()
        return self.is_spent or self.cancelled()

    def count(self) -> None:
        """Count what has passed since the last time."""
        now = time.monotonic()
        passed, self._last = now - self._last, now
        if not self.purse.take(passed):
            # What ran has run; the last second may pass the limit, and is counted.
            self.purse.give_back(-passed)
            self.is_spent = True
