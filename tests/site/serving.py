"""A site served for real on loopback, with its worker in a thread, for as long as a test lasts."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import uvicorn
from api_sites import SmallSite

from billboards.site.work.jobs import run_job
from billboards.site.work.worklist import next_job


@contextmanager
def served(small: SmallSite, *, working: bool = True) -> Iterator[str]:
    """The address of the site; what is submitted there is scored."""
    listening = socket.create_server(("127.0.0.1", 0))
    # Without a set-up of logs: it closes the handlers of the whole process, and some of them close their stream too.
    server = uvicorn.Server(uvicorn.Config(small.client.app, log_config=None, log_level="error", lifespan="off"))
    web = Thread(target=server.run, args=([listening],), daemon=True)
    stop = Event()
    worker = Thread(target=_work, args=(small, stop), daemon=True)
    web.start()
    if working:
        worker.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        stop.set()
        server.should_exit = True
        web.join(10)
        if working:
            worker.join(30)


def _work(small: SmallSite, stop: Event) -> None:
    while not stop.is_set():
        job = next_job(small.site, "worker")
        if job is None:
            stop.wait(0.02)
        else:
            run_job(small.site, job)
