"""A control group for each run, where the server was given a part of the system's tree of groups to itself.

In a group the kernel counts all that a program's processes use together: memory of every kind, also that of sockets,
page tables and private file systems, processor time of children that nobody waited for, and the number of processes.
systemd gives a service its own part of the tree with `Delegate=yes`; without one the watch counts what it can see.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from billboards.run.limits import MIB, Limits

#: Where the server's own processes go: a group that has groups with limits below it can hold no process itself.
SERVER = "billboards-server"
RUN = "billboards-run"
NEEDED = ("memory", "pids", "cpu")
#: What the sandbox itself needs: bubblewrap, the launcher, their page tables.
OWN_BYTES, OWN_PROCESSES = 64 * MIB, 8
#: Microseconds in which a group has its share of processor time.
PERIOD = 100_000
#: How long the kernel may take to end what is in a group, in seconds.
PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """One run's group, as a folder of the kernel's."""

    folder: Path

    def limit(self, limits: Limits) -> None:
        """Write the limits down; private file systems are in memory, so they count."""
        memory = limits.memory_bytes + 2 * limits.tmp_bytes + limits.result_bytes + OWN_BYTES
        processors = max(1.0, limits.cpu_seconds / limits.wall_seconds)
        self._write("memory.max", str(memory))
        self._write("memory.oom.group", "1")
        self._write("pids.max", str(limits.processes + OWN_PROCESSES))
        self._write("cpu.max", f"{int(processors * PERIOD)} {PERIOD}")
        with suppress(FileNotFoundError):
            # Where the kernel can't swap there is nothing to forbid.
            self._write("memory.swap.max", "0")

    @property
    def cpu_seconds(self) -> float:
        return self._numbers("cpu.stat").get("usage_usec", 0) / 1e6

    @property
    def memory_ran_out(self) -> bool:
        """Whether the kernel ended something in here because there was no more memory for it."""
        return self._numbers("memory.events").get("oom_kill", 0) > 0

    @property
    def is_empty(self) -> bool:
        return self._numbers("cgroup.events").get("populated", 0) == 0

    def end(self) -> None:
        """Kill everything in the group; before Linux 5.14 the end of the first process inside must do."""
        with suppress(FileNotFoundError):
            self._write("cgroup.kill", "1")

    def remove(self) -> None:
        """Take the group away once it is empty; a group that somebody still lives in stays, with its limits."""
        deadline = time.monotonic() + PATIENCE
        while not self.is_empty and time.monotonic() < deadline:
            time.sleep(0.01)
        with suppress(OSError):
            self.folder.rmdir()

    def _write(self, name: str, text: str) -> None:
        # Never made anew: what is not there is not the kernel's.
        file = os.open(self.folder / name, os.O_WRONLY)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)

    def _numbers(self, name: str) -> dict[str, int]:
        """A file of lines `name number`; nothing where the group is gone."""
        try:
            lines = (self.folder / name).read_text("ascii").splitlines()
        except OSError:
            return {}
        return {key: int(value) for key, _, value in (line.partition(" ") for line in lines) if value.isdigit()}


@contextmanager
def control_group(limits: Limits) -> Iterator[ControlGroup | None]:
    """A group for one run, gone afterwards with everything in it; None where the server may not make one."""
    top = delegated_group()
    if top is None:
        yield None
        return
    prepare(top)
    group = ControlGroup(top / f"{RUN}-{os.getpid()}-{secrets.token_hex(8)}")
    group.folder.mkdir()
    try:
        group.limit(limits)
        yield group
    finally:
        group.end()
        group.remove()


def delegated_group(proc: Path = Path("/proc/self")) -> Path | None:
    """The group that was given to this server, or None."""
    mounts = (line.split() for line in (proc / "mountinfo").read_text("utf-8", "replace").splitlines())
    mounted = [(fields[3], fields[4]) for fields in mounts if fields[fields.index("-") + 1] == "cgroup2"]
    lines = (proc / "cgroup").read_text("utf-8", "replace").splitlines()
    own = [line.removeprefix("0::") for line in lines if line.startswith("0::")]
    if not mounted or not own:
        return None
    root, place = mounted[0]
    folder = Path(place) / own[0].removeprefix(root.rstrip("/")).lstrip("/")
    top = folder.parent if folder.name == SERVER else folder
    return top if _is_given_to_us(top) and _has_controllers(top) else None


def prepare(top: Path) -> None:
    """Move the server into a group of its own below `top`, and let the groups beside it have limits.

    Done anew for every run: it costs little, and whoever was started meanwhile is moved too. Groups that a killed
    server left behind are removed.
    """
    (top / SERVER).mkdir(exist_ok=True)
    for pid in (top / "cgroup.procs").read_text("ascii").split():
        with suppress(ProcessLookupError):
            ControlGroup(top / SERVER)._write("cgroup.procs", pid)
    ControlGroup(top)._write("cgroup.subtree_control", " ".join(f"+{name}" for name in NEEDED))
    for left in top.glob(f"{RUN}-*"):
        if not Path("/proc", left.name.split("-")[2]).exists():
            with suppress(OSError):
                left.rmdir()


def _has_controllers(top: Path) -> bool:
    try:
        return set(NEEDED) <= set((top / "cgroup.controllers").read_text("ascii").split())
    except OSError:
        return False


def _is_given_to_us(top: Path) -> bool:
    """systemd marks what it gives away, and makes a service's user its owner. Nothing else is ours to change."""
    try:
        if os.geteuid() != 0:
            return top.stat().st_uid == os.geteuid() and os.access(top / "cgroup.procs", os.W_OK)
        return any(_mark(top, name) == b"1" for name in ("user.delegate", "trusted.delegate"))
    except OSError:
        return False


def _mark(top: Path, name: str) -> bytes | None:
    try:
        return os.getxattr(top, name)
    except OSError:
        return None
