"""A worker whose cells are computed on a cluster: several are leased at once, each with its own heartbeat.

Cells stay the unit, and the database never learns where they were computed: whoever dies, worker or machine, leaves a
missing cell. What can't travel (checks, trials, submitted programs, rankings) one more thread does here.

Only what the cluster can take now is leased: two cells for each thread of workers that offer what the metric asks for.
While the scheduler is away, or has no worker that fits, nothing is, so that workers on other machines do it instead;
and cells that were sent to workers which then went away are given back after a few seconds.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from functools import partial

from billboards.board.missing_cells import Cell
from billboards.errors import BillboardsError
from billboards.metrics.base import Metric
from billboards.run.dask import DaskExecutor
from billboards.run.dask_cluster import Cluster
from billboards.site.site import Site
from billboards.site.submissions.records import Submission
from billboards.site.work.worker import do_job, work
from billboards.site.work.worklist import Job, Kind, Scorer, anything, next_job

log = logging.getLogger("billboards.worker")

#: Seconds to wait after the cluster or the database was found to be away, and without a worker until cells go back.
AWAY, PATIENCE = 2.0, 10.0


def for_cluster(_: Kind, cell: Cell[Scorer] | None, __: Submission | None = None) -> bool:
    """Whether a job is a cell that another machine can compute."""
    return cell is not None and isinstance(cell.metric, Metric) and cell.metric.travels


def for_this_machine(kind: Kind, cell: Cell[Scorer] | None, submission: Submission | None = None) -> bool:
    return not for_cluster(kind, cell) and anything(kind, cell, submission)


def work_on_cluster(site: Site, name: str, stop: threading.Event, cluster: Cluster, *, leases: int) -> None:
    """Do jobs until told to stop, at most so many cells at a time on a cluster and everything else here."""
    cluster.patience = min(cluster.patience, PATIENCE)
    traffic = _Traffic(cluster)
    lanes = [threading.Thread(target=_lane, args=(site, name, stop, traffic), daemon=True) for _ in range(leases)]
    for lane in lanes:
        lane.start()
    work(site, name, stop, for_this_machine)
    for lane in lanes:
        lane.join()


@dataclass
class _Traffic:
    """What is under way on a cluster, which lanes share."""

    cluster: Cluster
    #: One lane looks for a cell at a time; the others wait for their turn, not for the database.
    turn: threading.Lock = field(default_factory=threading.Lock)
    under_way: int = 0
    count: threading.Lock = field(default_factory=threading.Lock)

    def takes(self, kind: Kind, cell: Cell[Scorer] | None, submission: Submission | None = None) -> bool:
        """Whether a job is a cell that the cluster has room for now."""
        if not for_cluster(kind, cell, submission) or cell is None or not isinstance(cell.metric, Metric):
            return False
        return self.under_way < self.cluster.room(self.cluster.needs(cell.metric))

    def change(self, by: int) -> None:
        with self.count:
            self.under_way += by


def _lane(site: Site, name: str, stop: threading.Event, traffic: _Traffic) -> None:
    """Do one cell after the other; should this end otherwise than by being told, the worker ends with it."""
    try:
        while not stop.is_set():
            try:
                job = _next_cell(site, name, stop, traffic)
                if job is not None:
                    try:
                        do_job(site, job, name, stop, engine=partial(DaskExecutor, traffic.cluster))
                    finally:
                        traffic.change(-1)
            except BillboardsError as error:
                log.error("worker %s: %s", name, error)
                stop.wait(AWAY)
    finally:
        stop.set()


def _next_cell(site: Site, name: str, stop: threading.Event, traffic: _Traffic) -> Job | None:
    """A cell leased to this lane, counted as under way; None where there is none, or no room for one."""
    with traffic.turn:
        if stop.is_set():
            return None
        # All lanes have the worker's own name: together they are one worker.
        job = next_job(site, name, traffic.takes) if traffic.under_way < traffic.cluster.room() else None
        if job is None:
            stop.wait(site.settings.poll_seconds)
        else:
            traffic.change(1)
        return job
