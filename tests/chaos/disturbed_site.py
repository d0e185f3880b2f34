"""A real site in processes of its own, and everything that can be done to it from outside.

`billboards serve` runs on a data folder that lies on a small disk of its own where the system lets one be mounted
(Linux, as root); elsewhere a full disk is a limit on the size of every file that the site's processes write. A
disturbance ends by itself: what was killed is started again, what was filled is freed.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from postgres import PostgresServer
from processes import children

#: The longest a full disk, a held lock or a stopped server lasts, in seconds.
LONGEST = 0.8


@contextmanager
def small_disk(folder: Path, mebibytes: int) -> Iterator[bool]:
    """A folder on a disk of its own, which can be filled; says whether there is one."""
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", str(folder)]
    mounted = sys.platform == "linux" and subprocess.run(command, capture_output=True, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


@dataclass
class DisturbedSite:
    """The processes of a site, and what is done to them."""

    data: Path
    #: Where its processes say what happens to them: beside the disk that is filled.
    log: Path
    own_disk: bool
    server: PostgresServer | None
    chance: random.Random
    tree: subprocess.Popen[bytes] | None = None
    port: int = 0
    done: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]

    @property
    def headers(self) -> dict[str, str]:
        """What the owner shows; the token is the data folder's."""
        token = self.data / "start.token"
        return {"authorization": f"Bearer {token.read_text()}"} if token.exists() else {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api/v1"

    @property
    def kinds(self) -> tuple[str, ...]:
        """All disturbances that there are on this database."""
        on_database = ("lock",) if self.server is None else ("connections", "database")
        return ("web", "worker", "supervisor", "disk", *on_database)

    def start(self) -> None:
        """Start the site where it does not run; its port may for a while still be held by a dying child."""
        if self.tree is None or self.tree.poll() is not None:
            command = [sys.executable, "-m", "billboards.cli.main", "serve", str(self.data), "--port", str(self.port)]
            with self.log.open("ab") as log:
                self.tree = subprocess.Popen(command, stderr=log)

    def end(self) -> None:
        if self.tree is not None and self.tree.poll() is None:
            self.tree.terminate()
            self.tree.wait(60)

    def disturb(self, kind: str) -> None:
        """Do one thing to it, and wait until the thing is over."""
        doing = {
            "web": lambda: self._kill_child("web_process"),
            "worker": lambda: self._kill_child("site.worker"),
            "supervisor": self._kill_supervisor,
            "disk": self._fill_disk,
            "lock": self._hold_lock,
            "connections": self._cut_connections,
            "database": self._restart_database,
        }
        doing[kind]()
        self.done[kind] = self.done.get(kind, 0) + 1

    def _pause(self) -> None:
        time.sleep(self.chance.uniform(0.1, LONGEST))

    def _children(self, word: str) -> list[int]:
        assert self.tree is not None
        return sorted(pid for pid, command in children(self.tree.pid).items() if word in command)

    def _kill_child(self, word: str) -> None:
        found = self._children(word)
        if found:
            with suppress(ProcessLookupError):
                os.kill(self.chance.choice(found), signal.SIGKILL)

    def _kill_supervisor(self) -> None:
        assert self.tree is not None
        self.tree.kill()
        self.tree.wait()

    def _fill_disk(self) -> None:
        if not self.own_disk:
            self._limit_files()
            return
        filling = self.data / "filling"
        with filling.open("wb") as file:
            # What the site takes or gives back meanwhile is taken too, down to the last page.
            for _ in range(100):
                free = os.statvfs(self.data)
                if not free.f_bavail:
                    break
                with suppress(OSError):
                    size = free.f_bavail * free.f_frsize
                    os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), size)
        self._pause()
        filling.unlink()

    def _limit_files(self) -> None:
        """No process of the site can write a byte to a file for a while."""
        found = self._children("")
        for pid, size in [*((pid, 0) for pid in found), *((pid, resource.RLIM_INFINITY) for pid in found)]:
            if size and pid == found[0]:
                self._pause()
            with suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def _hold_lock(self) -> None:
        """Somebody else writes to the database, and takes their time."""
        connection = sqlite3.connect(self.data / "site.sqlite", timeout=30, isolation_level=None)
        try:
            connection.execute("begin immediate")
            self._pause()
            connection.execute("rollback")
        finally:
            connection.close()

    def _cut_connections(self) -> None:
        assert self.server is not None
        self.server.sql("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()")

    def _restart_database(self) -> None:
        assert self.server is not None
        self.server.stop()
        self._pause()
        self.server.start()
