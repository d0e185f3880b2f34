"""How much a submitted program may use, in all its processes together.

Every limit has two guards: the kernel's own, which holds for each process, and the watch from outside, which sums up
and can say which limit it was. The kernel's lies a little higher, so that it is the watch that speaks.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from billboards.errors import InvalidInput

MIB = 1 << 20
#: Locks of files that a program may hold; the kernel keeps each in memory that nobody counts.
MOST_LOCKS = 1000


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Seconds, bytes and counts; `output_bytes` is how much of each of stdout and stderr is kept."""

    wall_seconds: float = 600.0
    cpu_seconds: float = 1200.0
    memory_bytes: int = 4096 * MIB
    processes: int = 256
    open_files: int = 256
    file_bytes: int = 1024 * MIB
    tmp_bytes: int = 1024 * MIB
    tmp_files: int = 50_000
    output_bytes: int = MIB // 16
    result_bytes: int = 64 * MIB

    def __post_init__(self) -> None:
        for limit in fields(self):
            if not getattr(self, limit.name) > 0:
                raise InvalidInput(f"{limit.name} is {getattr(self, limit.name)}; a limit is a number above 0")

    def times(self, count: float) -> Limits:
        """The limits of so many generators in one run: the time of all, the space of one."""
        return replace(self, wall_seconds=count * self.wall_seconds, cpu_seconds=count * self.cpu_seconds)

    def of_one_process(self, *, confined: bool) -> dict[str, tuple[int, int]]:
        """The kernel's limits by their names, soft and hard."""
        cpu = int(self.cpu_seconds) + 1
        limits = {
            # Address space would count what libraries reserve and never touch.
            "RLIMIT_DATA": (2 * self.memory_bytes, 2 * self.memory_bytes),
            "RLIMIT_CPU": (cpu, cpu + 1),
            "RLIMIT_FSIZE": (self.file_bytes, self.file_bytes),
            "RLIMIT_NOFILE": (self.open_files, self.open_files),
            "RLIMIT_CORE": (0, 0),
            "RLIMIT_MSGQUEUE": (0, 0),
            # Signals on their way, and timers, which the kernel keeps in memory of its own.
            "RLIMIT_SIGPENDING": (1024, 1024),
            "RLIMIT_MEMLOCK": (MIB, MIB),
        }
        # Outside a sandbox the user's other processes, the server's among them, would count as the program's.
        return {**limits, "RLIMIT_NPROC": (self.processes + 9, self.processes + 9)} if confined else limits
