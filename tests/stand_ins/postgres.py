"""A PostgreSQL server of the tests' own: real, on a socket in a temporary folder, gone at the end.

The server refuses to run as root; there it runs as the user that Debian's package made for it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Self

#: Where distributions put the server's programs, which are seldom on the path.
PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin")
USER = "billboards"


def find_programs() -> Path | None:
    """The folder of `initdb` and `postgres`, if the server is installed."""
    for place in PLACES:
        found = sorted(Path("/").glob(place[1:]))
        if found and (found[-1] / "initdb").exists():
            return found[-1]
    on_path = shutil.which("initdb")
    return None if on_path is None else Path(on_path).resolve().parent


class PostgresServer:
    """The server; `new_database` gives the address of an empty database on it."""

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        self._count = 0

    def __enter__(self) -> Self:
        # Below /tmp itself: a socket's path may have no more than 107 characters.
        self.folder = Path(tempfile.mkdtemp(prefix="bb-pg-", dir="/tmp"))
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
        self._run(
            "initdb", "-D", self.folder / "data", "-A", "trust", "-U", USER, "--no-sync", "--locale=C", "-E", "UTF8"
        )
        self._log = (self.folder / "log").open("wb")
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        settings = ("listen_addresses=", "fsync=off", "max_connections=200", "autovacuum=off")
        options = [word for setting in settings for word in ("-c", setting)]
        command = self._command("postgres", "-D", self.folder / "data", "-k", self.folder, *options)
        self.process = subprocess.Popen(command, stdout=self._log, stderr=self._log)
        for _ in range(600):
            done = subprocess.run(self._command("pg_isready", "-q", "-h", self.folder), check=False)
            if done.returncode == 0:
                return
            time.sleep(0.05)
        raise RuntimeError((self.folder / "log").read_text())

    def stop(self) -> None:
        """End every connection and the server."""
        subprocess.run(
            self._command("pg_ctl", "stop", "-s", "-m", "immediate", "-D", self.folder / "data"), check=False
        )
        self.process.wait(timeout=30)

    def new_database(self) -> str:
        self._count += 1
        name = f"site{self._count}"
        self.sql(f"create database {name}")
        return f"postgresql://{USER}@/{name}?host={self.folder}"

    def sql(self, statement: str) -> None:
        self._run("psql", "-q", "-h", self.folder, "-U", USER, "-d", "postgres", "-c", statement)

    def _command(self, program: str, *words: object) -> list[str]:
        command = [str(self._programs / program), *map(str, words)]
        return ["runuser", "-u", "postgres", "--", *command] if os.geteuid() == 0 else command

    def _run(self, program: str, *words: object) -> None:
        done = subprocess.run(self._command(program, *words), capture_output=True, text=True, check=False, cwd="/")
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr}")
