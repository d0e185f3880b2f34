"""What all processes of a sandbox use together, read from outside, in the sandbox's own /proc.

The kernel's limits hold for one process each, so a program of many processes could have many times as much. A `Tally`
sums them: memory that can't be given back, with page tables and what the kernel keeps for sockets and pipes; processor
time with that of ended children; threads; and files in the private file systems.
"""

from __future__ import annotations

import os
import select
import signal
import stat
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

TICKS = os.sysconf("SC_CLK_TCK")
PROCESSORS = os.cpu_count() or 1
#: Kinds of memory that only the program's end gives back; pages of files are the system's to drop.
KEPT = (b"RssAnon:", b"RssShmem:", b"HugetlbPages:", b"VmPTE:")
SHARED_OUT = (b"Pss_Anon:", b"Pss_Shmem:")
#: What a socket's buffers can hold, at their default size, which can't be changed inside; and a pipe's or a terminal's.
SOCKET_BYTES, PIPE_BYTES = 256 << 10, 64 << 10
#: The kernel's mark of a process that is on its way out, among the flags of its line.
EXITING = 0x4
PIPES = ("pipe:", "/dev/pts/", "/dev/ptmx")
#: What the kernel keeps for one mapping of a process, at least, and how much of their list is read.
MAPPING_BYTES, MAPPINGS_READ = 256, 1 << 20
MOST_MAPPINGS = 1 << 16


@dataclass(frozen=True, slots=True)
class Tally:
    """What a sandbox uses at one moment; `memory` may count pages twice that forked processes share.

    `buffers` is the most that the kernel can keep for sockets, pipes and mappings.
    """

    memory: int = 0
    cpu_seconds: float = 0.0
    threads: int = 0
    files: int = 0
    buffers: int = 0


class FirstProcess:
    """The first process of a sandbox, by a handle that stays its own; everything inside ends with it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._handle = os.pidfd_open(pid)

    def end(self) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def is_ending(self) -> bool:
        """Whether it is on its way out, which can take a while: everything else inside ends first."""
        try:
            with open(f"/proc/{self.pid}/stat", "rb") as file:  # noqa: PTH123 - as all files of /proc here
                flags = int(file.read().rpartition(b")")[2].split()[6])
        except (FileNotFoundError, ProcessLookupError):
            return True
        return bool(flags & EXITING) or self.has_ended(0)

    def has_ended(self, seconds: float) -> bool:
        """Whether it ends within so many seconds. The kernel says so when nothing that was inside is left."""
        poll = select.poll()
        poll.register(self._handle, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def close(self) -> None:
        os.close(self._handle)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Process:
    """One process at one look: ticks of its own and of children that it waited for."""

    key: tuple[str, bytes]
    running: bool
    memory: int
    ticks: int
    of_children: int
    threads: int
    handles: int


class ProcessView:
    """The processes and private file systems of a sandbox, by its first process; a context that closes its handles."""

    def __init__(self, first_process: int, private: tuple[str, ...]) -> None:
        root = f"/proc/{first_process}/root"
        self._handles: list[int] = []
        self._proc = self._open(f"{root}/proc")
        self._private = [self._open(root + folder) for folder in private]
        self._seen: dict[tuple[str, bytes], int] = {}
        self._ticks_of_ended = self._ticks_of_young = 0.0
        self._looked = time.monotonic()
        self._mappings = 0

    def __enter__(self) -> ProcessView:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # An open handle keeps a dead sandbox's private file systems, and so their memory, alive.
        for handle in self._handles:
            os.close(handle)

    def tally(self) -> Tally:
        """The sums of now; processes that end meanwhile are left out."""
        processes = [process for name in self._processes() if (process := self._look_at(name)) is not None]
        return Tally(
            memory=sum(process.memory for process in processes),
            cpu_seconds=self._ticks(processes) / TICKS,
            threads=sum(process.threads for process in processes),
            files=sum(map(_files, self._private)),
            buffers=self._socket_buffers()
            + sum(process.handles for process in processes) * PIPE_BYTES
            + self._mappings * MAPPING_BYTES,
        )

    def exact_memory(self) -> int:
        """As `Tally.memory` with buffers, but shared pages and pipes counted once; slower, asked for only in doubt."""
        names = self._processes()
        pages = sum(map(self._exact_memory_of, names)) * 1024
        return pages + self._socket_buffers() + self._pipe_buffers(names) + self._mappings * MAPPING_BYTES

    def count_mappings(self) -> None:
        """Count the mappings of all processes, for the tallies to come; slow, so asked for seldom."""
        self._mappings = sum(map(self._mappings_of, self._processes()))

    def locks(self) -> int:
        """How many locks of files are held inside; slow for the whole system, so asked for seldom."""
        with suppress(OSError):
            return self._read("locks").count(b"\n")
        return 0

    def _look_at(self, name: str) -> _Process | None:
        try:
            status = self._read(f"{name}/status")
            fields = self._read(f"{name}/stat").rpartition(b")")[2].split()
        except OSError:
            return None
        return _Process(
            key=(name, fields[19]),
            running=fields[0] == b"R",
            memory=_sum(status, KEPT) * 1024,
            ticks=int(fields[11]) + int(fields[12]),
            of_children=int(fields[13]) + int(fields[14]),
            threads=int(fields[17]),
            handles=_sum(status, (b"FDSize:",)),
        )

    def _ticks(self, processes: list[_Process]) -> float:
        """Processor time of everything that ever ran inside, as far as it can be known; never more than it was.

        A process that nobody waits for takes its time with it. So there are three sums: what the living say of
        themselves and of those they waited for; what was last seen of every process; and, for processes that live too
        short to be seen twice, how many of them were running whenever one looked, halved because they may have waited
        for a processor.
        """
        now = time.monotonic()
        young = sum(process.running and process.key not in self._seen for process in processes)
        self._ticks_of_young += min(young, PROCESSORS) * (now - self._looked) * TICKS / 2
        self._looked = now
        seen = {process.key: process.ticks for process in processes}
        self._ticks_of_ended += sum(ticks for key, ticks in self._seen.items() if key not in seen)
        self._seen = seen
        waited_for = sum(process.ticks + process.of_children for process in processes)
        return max(waited_for, self._ticks_of_ended + sum(seen.values()), self._ticks_of_young)

    def _socket_buffers(self) -> int:
        """What the sockets of the sandbox's own network can hold, also those that no process has open any more."""
        with suppress(OSError, ValueError, IndexError):
            sockets = int(self._read("1/net/sockstat").split(None, 3)[2])
            return sockets * SOCKET_BYTES + (self._tcp_buffers() if sockets else 0)
        return 0

    def _tcp_buffers(self) -> int:
        """Buffers of TCP grow with use; one that holds anything counts as full."""
        busy = 0
        for name in ("1/net/tcp", "1/net/tcp6"):
            for line in self._read(name, 1 << 20).splitlines()[1:]:
                fields = line.split()
                busy += len(fields) > 4 and fields[4] != b"00000000:00000000" and fields[3] != b"0A"
        return busy * _most_of_tcp()

    def _pipe_buffers(self, names: list[str]) -> int:
        """A process that closes its handles to others is counted by how many it can have."""
        pipes, hidden = set[str | None](), 0
        for name in names:
            try:
                folder = os.open(f"{name}/fd", os.O_RDONLY | os.O_DIRECTORY, dir_fd=self._proc)
            except FileNotFoundError:
                continue
            except OSError:
                with suppress(OSError):
                    hidden += _sum(self._read(f"{name}/status"), (b"FDSize:",))
                continue
            with suppress(OSError):
                for handle in os.listdir(folder):  # noqa: PTH208 - by handle
                    with suppress(OSError):
                        pipes.add(_pipe(handle, folder))
            os.close(folder)
        return (len(pipes - {None}) + hidden) * PIPE_BYTES

    def _mappings_of(self, name: str) -> int:
        try:
            listing = self._read(f"{name}/maps", MAPPINGS_READ)
        except OSError:
            return 0
        return MOST_MAPPINGS if len(listing) > MAPPINGS_READ - 4096 else listing.count(b"\n")

    def _exact_memory_of(self, process: str) -> int:
        """In kilobytes; a process that closes its map to others is counted by what it can't hide."""
        try:
            status = self._read(f"{process}/status")
            return _sum(self._read(f"{process}/smaps_rollup"), SHARED_OUT) + _sum(status, (b"HugetlbPages:", b"VmPTE:"))
        except OSError:
            with suppress(OSError):
                return _sum(self._read(f"{process}/status"), KEPT)
        return 0

    def _processes(self) -> list[str]:
        with suppress(OSError):
            return [name for name in os.listdir(self._proc) if name.isdigit()]  # noqa: PTH208 - by handle
        return []

    def _open(self, folder: str) -> int:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        self._handles.append(handle)
        return handle

    def _read(self, path: str, most: int = 1 << 16) -> bytes:
        """The beginning of a file, which the kernel hands out in small blocks."""
        file = os.open(path, os.O_RDONLY, dir_fd=self._proc)
        content = b""
        try:
            while len(content) < most and (block := os.read(file, most - len(content))):
                content += block
        finally:
            os.close(file)
        return content


def _pipe(handle: str, folder: int) -> str | None:
    """The pipe or terminal that a handle leads to, of which others may be handles, too; None where it is neither."""
    place = os.readlink(handle, dir_fd=folder)
    if place.startswith(PIPES):
        return place
    held = os.stat(handle, dir_fd=folder) if place.startswith("/") else None
    return f"{held.st_dev} {held.st_ino}" if held is not None and stat.S_ISFIFO(held.st_mode) else None


def _sum(listing: bytes, names: tuple[bytes, ...]) -> int:
    """Of the numbers behind some names; those of memory are in kilobytes."""
    return sum(int(line.split()[1]) for line in listing.splitlines() if line.startswith(names))


def _files(folder: int) -> int:
    held = os.fstatvfs(folder)
    return held.f_files - held.f_ffree


def _most_of_tcp() -> int:
    """What one connection's two buffers can hold at most."""
    settings = (Path("/proc/sys/net/ipv4") / name for name in ("tcp_rmem", "tcp_wmem"))
    return sum(int(setting.read_text("ascii").split()[2]) for setting in settings)
