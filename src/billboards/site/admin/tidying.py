"""What a site keeps no longer than its owner says, deleted on demand and once a day.

What `[retention]` in site.toml does not name is kept for ever; log-ins and leases that have expired go anyway. The
scores, ensembles and last ranking that a board stands on never go. Of all workers of a site one tidies, by a lease:
should it die, another goes on.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from billboards.errors import BillboardsError, Refused
from billboards.site.admin.chores import Chore, list_chores
from billboards.site.database import trail
from billboards.site.database.retention import DAY, Amount
from billboards.site.site import Site
from billboards.site.work import leases
from billboards.site.work.leases import Lease

log = logging.getLogger("billboards.tidying")

#: The lease that lets one worker of all tidy.
KIND = "tidying"
#: Seconds after its start until a worker looks whether it is time to tidy, and from then on.
FIRST_LOOK, LOOK = 20.0, 600.0


@dataclass(frozen=True)
class Tidied:
    """What went, or would go, chore by chore; None is what is kept for ever or was left alone, as a note says."""

    chores: tuple[Chore, ...]
    amounts: Mapping[str, Amount | None]
    notes: tuple[str, ...]
    done: bool


def plan_tidying(site: Site) -> Tidied:
    """What would go now; nothing is changed."""
    return _through(site, lambda chore: chore.look(), done=False)


def tidy(site: Site, *, actor: str, go_on: Callable[[], bool] = lambda: True) -> Tidied:
    """Delete what is kept too long, until told to stop; the audit trail says how much."""
    found = _through(site, lambda chore: _do(chore, go_on), done=True)
    went = {what: amount.count for what, amount in found.amounts.items() if amount is not None and amount.count}
    if went:
        with site.database.writing() as connection:
            trail.note(connection, actor, "site.tidied", "site", now=site.clock(), detail=went)
    return found


def _do(chore: Chore, go_on: Callable[[], bool]) -> Amount:
    total, steps = Amount(), chore.do()
    while go_on() and (step := next(steps, None)) is not None:
        total += step
    return total


def _through(site: Site, visit: Callable[[Chore], Amount], *, done: bool) -> Tidied:
    chores, amounts, notes = list_chores(site), dict[str, Amount | None](), []
    for chore in chores:
        amounts[chore.what] = None
        if chore.setting is None or chore.days is not None:
            try:
                amounts[chore.what] = visit(chore)
            except Refused as error:
                notes.append(str(error))
    return Tidied(chores, amounts, tuple(notes), done)


def tidy_if_due(site: Site, worker: str, stop: threading.Event | None = None) -> Tidied | None:
    """Tidy, unless somebody has within a day or is at it."""
    seconds = site.settings.lease_seconds
    with site.database.claiming() as connection:
        lease = leases.acquire(connection, "", KIND, "site", worker, now=site.clock(), seconds=seconds)
    if lease is None:
        return None
    turn = _Turn(site, lease, stop or threading.Event())
    found = tidy(site, actor="site", go_on=turn)
    if turn():
        with site.database.claiming() as connection:
            leases.put_off(connection, lease, until=site.clock() + DAY)
    return found


class _Turn:
    """Whether to go on: nobody said stop, and nobody else has the lease, which is renewed now and then."""

    def __init__(self, site: Site, lease: Lease, stop: threading.Event) -> None:
        self.site, self.lease, self.stop = site, lease, stop
        self._renewed = site.clock()

    def __call__(self) -> bool:
        now, seconds = self.site.clock(), self.site.settings.lease_seconds
        if self.stop.is_set() or now - self._renewed < seconds / 3:
            return not self.stop.is_set()
        self._renewed = now
        with self.site.database.claiming() as connection:
            return leases.renew(connection, self.lease, now=now, seconds=seconds)


def tidy_daily(site: Site, worker: str, stop: threading.Event) -> None:
    """Look again and again whether it is time to tidy, until told to stop."""
    pause = FIRST_LOOK
    while not stop.wait(pause):
        pause = LOOK
        try:
            found = tidy_if_due(site, worker, stop)
            for note in () if found is None else found.notes:
                log.warning("tidying: %s", note)
        except BillboardsError as error:
            log.error("tidying: %s", error)
