"""What all processes of a sandbox use together, read from outside, in the sandbox's own /proc.

The kernel's limits hold for one process each, so a program of many processes could have many times as much. A `Tally`
sums them: memory that can't be given back, processor time with that of ended children, threads, and files in the
private file systems.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType

TICKS = os.sysconf("SC_CLK_TCK")
#: Kinds of resident memory that only the program's end gives back; pages of files are the system's to drop.
KEPT = (b"RssAnon:", b"RssShmem:")
SHARED_OUT = (b"Pss_Anon:", b"Pss_Shmem:")


@dataclass(frozen=True, slots=True)
class Tally:
    """What a sandbox uses at one moment; `memory` may count pages twice that forked processes share."""

    memory: int = 0
    cpu_seconds: float = 0.0
    threads: int = 0
    files: int = 0


class ProcessView:
    """The processes and private file systems of a sandbox, by its first process; a context that closes its handles."""

    def __init__(self, first_process: int, private: tuple[str, ...]) -> None:
        root = f"/proc/{first_process}/root"
        self._handles: list[int] = []
        self._proc = self._open(f"{root}/proc")
        self._private = [self._open(root + folder) for folder in private]

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
        memory, ticks, threads = 0, 0, 0
        for process in self._processes():
            with suppress(OSError):
                status = self._read(f"{process}/status")
                fields = self._read(f"{process}/stat").rpartition(b")")[2].split()
                memory += _kilobytes(status, KEPT) * 1024
                ticks += sum(map(int, fields[11:15]))
                threads += int(fields[17])
        return Tally(memory, ticks / TICKS, threads, sum(map(_files, self._private)))

    def exact_memory(self) -> int:
        """As `Tally.memory`, each shared page counted once; slower, so asked for only in doubt."""
        return sum(map(self._exact_memory_of, self._processes())) * 1024

    def _exact_memory_of(self, process: str) -> int:
        """In kilobytes; a process that closes its map to others is counted by what it can't hide."""
        try:
            return _kilobytes(self._read(f"{process}/smaps_rollup"), SHARED_OUT)
        except OSError:
            with suppress(OSError):
                return _kilobytes(self._read(f"{process}/status"), KEPT)
        return 0

    def _processes(self) -> list[str]:
        with suppress(OSError):
            return [name for name in os.listdir(self._proc) if name.isdigit()]  # noqa: PTH208 - by handle
        return []

    def _open(self, folder: str) -> int:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        self._handles.append(handle)
        return handle

    def _read(self, path: str) -> bytes:
        file = os.open(path, os.O_RDONLY, dir_fd=self._proc)
        try:
            return os.read(file, 1 << 16)
        finally:
            os.close(file)


def _kilobytes(listing: bytes, names: tuple[bytes, ...]) -> int:
    return sum(int(line.split()[1]) for line in listing.splitlines() if line.startswith(names))


def _files(folder: int) -> int:
    held = os.fstatvfs(folder)
    return held.f_files - held.f_ffree
