"""A worker: one process that does one job after the other until it is told to stop.

While it works, a thread renews its lease and looks whether somebody has cancelled what it is doing. On SIGTERM it gives
the job back at once. It is started with a pipe for its standard input: when that closes, whoever started it is gone,
and it ends too, so that nothing is left running behind a killed server.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from pathlib import Path

from billboards.errors import BillboardsError, ClusterFailed, InvalidInput, OtherSchema, StoreFailed
from billboards.site.admin.expiry import tidy_daily
from billboards.site.admin.logs import about, reopen_on_hangup, write_logs
from billboards.site.admin.notices import send_due
from billboards.site.admin.reminders import remind
from billboards.site.boards.live import inputs_opened, open_inputs
from billboards.site.site import Site, notice_changes, open_site
from billboards.site.submissions import records as submissions
from billboards.site.work import leases
from billboards.site.work.jobs import Engine, run_job
from billboards.site.work.processes import stopping_on
from billboards.site.work.worklist import Job, Takes, anything, everything, hand_back, next_job

log = logging.getLogger("billboards.worker")

#: Seconds between looks at the board folders, and between saying that one is there.
LOOK, REPORT = 2.0, 20.0
#: Seconds to wait after the database was found to be of another version: somebody has to start this process again.
OUTDATED = 30.0
#: Seconds between two looks for reminders that are due.
REMINDED = 600.0


class Heartbeat:
    """Keeps a job's lease alive while it is worked on, and knows when the work is no longer wanted."""

    def __init__(self, site: Site, job: Job) -> None:
        self.site, self.job = site, job
        self.unwanted = threading.Event()
        self._over = threading.Event()
        # In a copy of the context, so that what the thread logs is about the job as well.
        self._thread = threading.Thread(target=copy_context().run, args=(self._beat,), daemon=True)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        seconds = self.site.settings.lease_seconds
        # Cancelling should not take as long as a lease lasts.
        while not self._over.wait(min(seconds / 3, 2.0)):
            try:
                if not self._renew(seconds):
                    self.unwanted.set()
                    return
            except StoreFailed as error:
                log.error("worker: %s", error)

    def _renew(self, seconds: float) -> bool:
        with self.site.database.writing(boards=[self.job.board]) as connection:
            if not leases.renew(connection, self.job.lease, now=self.site.clock(), seconds=seconds):
                return False
            for companion in self.job.companions:
                # One that is lost is somebody else's to write.
                leases.renew(connection, companion.lease, now=self.site.clock(), seconds=seconds)
            if self.job.submission is None:
                return True
            state = submissions.get(connection, self.job.submission.id).state
            return state not in ("cancelled", "withdrawn", "failed")


def check_gpu(site: Site) -> None:
    """Refuse to declare graphics cards that site.toml does not name, or that are not on this machine."""
    gpu = site.settings.workers.gpu
    if gpu is None:
        raise InvalidInput("site.toml names no devices under [workers.gpu], so no worker can declare a graphics card")
    missing = [device for device in gpu.devices if not Path(device).exists()]
    if missing:
        raise InvalidInput(f"{', '.join(missing)}: not on this machine; [workers.gpu] names what a program is given")


def work(site: Site, name: str, stop: threading.Event, takes: Takes = anything) -> None:
    """Do jobs until told to stop; a worker that takes `everything` declares a graphics card."""
    looked = reported = float("-inf")
    while not stop.is_set():
        try:
            if site.clock() - reported >= REPORT:
                _say_alive(site, name, gpu=takes is everything)
                reported = site.clock()
            if site.clock() - looked >= LOOK:
                notice_changes(site)
                notice_openings(site)
                looked = site.clock()
            if not work_once(site, name, stop, takes):
                stop.wait(site.settings.poll_seconds)
        except BillboardsError as error:
            log.error("worker %s: %s", name, error)
            stop.wait(OUTDATED if isinstance(error, OtherSchema) else 1.0)


def notice_openings(site: Site) -> None:
    """Show inputs on boards whose phase for that has opened; kept pages would go on without them."""
    for registered in site.boards():
        if inputs_opened(registered, site.clock()):
            open_inputs(site, registered.name)


def _say_alive(site: Site, name: str, *, gpu: bool = False) -> None:
    """Be counted among the workers that are there, idle or not."""
    with site.database.claiming() as connection:
        leases.note_alive(connection, name, now=site.clock(), seconds=3 * REPORT, gpu=gpu)
        leases.clamp(connection, now=site.clock(), seconds=site.settings.lease_seconds)


def work_once(site: Site, name: str, stop: threading.Event | None = None, takes: Takes = anything) -> bool:
    """Do one job, if there is one."""
    job = next_job(site, name, takes)
    if job is not None:
        do_job(site, job, name, stop)
    return job is not None


def do_job(
    site: Site, job: Job, name: str, stop: threading.Event | None = None, *, engine: Engine | None = None
) -> None:
    """Do a job while its lease is kept alive; one that was not finished is for whoever asks next."""
    stopped: Callable[[], bool] = (lambda: False) if stop is None else stop.is_set
    sent = None if job.submission is None else job.submission.id
    with about(worker=name, job=job.kind, board=job.board, subject=job.subject, submission=sent):
        log.info("begins %s", job)
        began = time.perf_counter()
        with Heartbeat(site, job) as heartbeat:
            try:
                run_job(site, job, cancelled=lambda: stopped() or heartbeat.unwanted.is_set(), engine=engine)
            except ClusterFailed:
                # No fault of the job's: it waits for the machines as if nobody had begun.
                hand_back(site, job)
                raise
        hand_back(site, job)
        log.info("ends %s", job, extra={"fields": {"seconds": round(time.perf_counter() - began, 6)}})


def work_until_done(site: Site, name: str = "worker") -> int:
    """Do jobs as long as there are any; returns how many."""
    count = 0
    while work_once(site, name):
        count += 1
    return count


def send_notices(site: Site, stop: threading.Event) -> None:
    """Send what waits in the outbox until told to stop; should this end otherwise, the worker ends with it."""
    looked = float("-inf")
    try:
        while not stop.wait(max(site.settings.poll_seconds, 0.2)):
            try:
                if site.clock() - looked >= REMINDED:
                    looked = site.clock()
                    remind(site)
                send_due(site)
            except BillboardsError as error:
                log.error("notices: %s", error)
                stop.wait(OUTDATED if isinstance(error, OtherSchema) else 0.0)
    finally:
        stop.set()


def end_with_parent(stop: Callable[[], None]) -> None:
    """Call `stop` when the standard input closes: the process that held its other end is gone."""

    def wait_for_end() -> None:
        with suppress(OSError):
            while os.read(0, 1024):
                pass
        stop()

    threading.Thread(target=wait_for_end, daemon=True).start()


def main(arguments: list[str] | None = None) -> int:
    parser = ArgumentParser("billboards worker")
    parser.add_argument("data", type=Path)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--name", default=f"{socket.gethostname()}-{os.getpid()}")
    parsed = parser.parse_args(arguments)
    stop = threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(stop.set)
    with stopping_on(signal.SIGTERM, stop=stop), working_site(parsed.data, stop) as site:
        if parsed.gpu:
            check_gpu(site)
        work(site, f"{parsed.name}-{os.getpid()}", stop, everything if parsed.gpu else anything)
    return 0


@contextmanager
def working_site(data: Path, stop: threading.Event) -> Iterator[Site]:
    """A site opened for work: its log is written, its notices are sent and it is tidied until `stop` is set."""
    site = open_site(data)
    write_logs(site.settings.logs, file=site.log_file)
    reopen_on_hangup(site.log_file)
    name = f"{socket.gethostname()}-{os.getpid()}"
    courier = threading.Thread(target=send_notices, args=(site, stop), daemon=True)
    tidier = threading.Thread(target=tidy_daily, args=(site, name, stop), daemon=True)
    courier.start()
    tidier.start()
    try:
        yield site
    finally:
        stop.set()
        courier.join(15)
        tidier.join(15)
        site.close()


if __name__ == "__main__":
    sys.exit(main())
