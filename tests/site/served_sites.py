"""A site that is being served on this machine, with a worker, for browsers to look at."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn

from billboards.site.site import Site
from billboards.site.web.app import create_app
from billboards.site.work.jobs import run_job
from billboards.site.work.worklist import next_job

SCREENSHOTS = Path(__file__).resolve().parents[2] / "docs" / "screenshots"


@dataclass
class Served:
    """A site that is being served, with one worker at work."""

    site: Site
    address: str
    _stop: threading.Event = field(default_factory=threading.Event)

    def work(self) -> None:
        """Do what there is to do until the end."""
        while not self._stop.is_set():
            job = next_job(self.site, "browser tests")
            if job is None:
                self._stop.wait(0.1)
            else:
                run_job(self.site, job)

    def stop(self) -> None:
        self._stop.set()


@contextmanager
def serving(site: Site, *, working: bool = True) -> Iterator[Served]:
    """A site on a free port of this machine, with a worker unless a test does the work itself."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    # Without a set-up of logs: it closes the handlers of the whole process, and some of them close their stream too.
    options = uvicorn.Config(create_app(site), host="127.0.0.1", port=port, log_config=None, log_level="error")
    server = uvicorn.Server(options)
    found = Served(site, f"http://127.0.0.1:{port}")
    threads = [threading.Thread(target=server.run), *([threading.Thread(target=found.work)] if working else [])]
    for thread in threads:
        thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield found
    finally:
        found.stop()
        server.should_exit = True
        for thread in threads:
            thread.join()
