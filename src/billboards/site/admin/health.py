"""Whether a site can do its work, and how much of it there is: what those who watch a site ask."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass

from billboards.errors import StoreFailed
from billboards.site.database.schema import REVISION
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.work import leases


@dataclass(frozen=True)
class Work:
    """Submissions by kind and state, jobs that somebody is working on by kind, and workers that are there."""

    submissions: Mapping[tuple[str, str], int]
    jobs: Mapping[str, int]
    workers: int

    @property
    def waiting(self) -> int:
        """Submissions that are not through yet."""
        return sum(n for (_, state), n in self.submissions.items() if state not in submissions.TERMINAL)


def obstacles(site: Site) -> tuple[str, ...]:
    """What keeps the site from taking and keeping things now; empty where nothing does."""
    found = []
    try:
        revision = site.database.revision()
        if revision != REVISION:
            found.append(f"the database is at migration {revision}, this program at {REVISION}")
    except StoreFailed:
        # The message names the server and its user, which is for the log and not for whoever asks.
        found.append("the database can't be reached")
    try:
        free = shutil.disk_usage(site.data).free
        if free < site.settings.free_bytes:
            found.append(f"the disk has {free:,} bytes left, fewer than {site.settings.free_bytes:,}")
    except OSError:
        found.append("the data folder can't be reached")
    return tuple(found)


def count_work(site: Site) -> Work:
    """How much there is to do, and who does it."""
    with site.database.reading() as connection:
        return Work(
            submissions.count_states(connection),
            leases.count_held(connection, now=site.clock()),
            leases.count_workers(connection, now=site.clock()),
        )
