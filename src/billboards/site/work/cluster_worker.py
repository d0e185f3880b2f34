"""A worker whose cells are computed on a cluster: several are leased at once, each with its own heartbeat.

Cells stay the unit, and the database never learns where they were computed: whoever dies, worker or machine, leaves a
missing cell. What can't travel (checks, trials, submitted programs, rankings) one more thread does here. While the
scheduler is away nothing is leased.
"""

from __future__ import annotations

import logging
import threading
from functools import partial

from billboards.board.scoring import Cell
from billboards.errors import BillboardsError
from billboards.metrics.base import Metric
from billboards.run.dask import DaskExecutor
from billboards.run.dask_cluster import Cluster
from billboards.site.site import Site
from billboards.site.submissions.records import Submission
from billboards.site.work.worker import do_job, work
from billboards.site.work.worklist import Job, Kind, Scorer, anything, next_job

log = logging.getLogger("billboards.worker")

#: Seconds to wait after the cluster or the database was found to be away.
AWAY = 2.0


def for_cluster(_: Kind, cell: Cell[Scorer] | None, __: Submission | None = None) -> bool:
    """Whether a job is a cell that another machine can compute."""
    return cell is not None and isinstance(cell.metric, Metric) and cell.metric.travels


def for_this_machine(kind: Kind, cell: Cell[Scorer] | None, submission: Submission | None = None) -> bool:
    return not for_cluster(kind, cell) and anything(kind, cell, submission)


def work_on_cluster(site: Site, name: str, stop: threading.Event, cluster: Cluster, *, leases: int) -> None:
    """Do jobs until told to stop, so many cells at a time on a cluster and everything else here."""
    turn = threading.Lock()
    lanes = [
        threading.Thread(target=_lane, args=(site, f"{name}-{k + 1}", stop, cluster, turn), daemon=True)
        for k in range(leases)
    ]
    for lane in lanes:
        lane.start()
    work(site, name, stop, for_this_machine)
    for lane in lanes:
        lane.join()


def _lane(site: Site, name: str, stop: threading.Event, cluster: Cluster, turn: threading.Lock) -> None:
    """Do one cell after the other; should this end otherwise than by being told, the worker ends with it."""
    try:
        while not stop.is_set():
            try:
                job = _next_cell(site, name, stop, cluster, turn)
                if job is not None:
                    do_job(site, job, name, stop, engine=partial(DaskExecutor, cluster))
            except BillboardsError as error:
                log.error("worker %s: %s", name, error)
                stop.wait(AWAY)
    finally:
        stop.set()


def _next_cell(site: Site, name: str, stop: threading.Event, cluster: Cluster, turn: threading.Lock) -> Job | None:
    """A cell leased to this lane. One lane looks at a time; the others wait for their turn, not for the database."""
    with turn:
        if stop.is_set():
            return None
        cluster.connect()
        job = next_job(site, name, for_cluster)
        if job is None:
            stop.wait(site.settings.poll_seconds)
        return job
