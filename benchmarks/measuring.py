"""Measuring commands from outside: wall time, processor time and peak memory of a child process, as medians.

The kernel counts the pages of the process that starts a child into the child's peak memory. So this module and the
benchmarks stay small: they import neither numpy nor billboards and leave all work to children. Processor time stands
beside wall time because it suffers less from whatever else the machine does.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

Command = Sequence[str | Path]

BILLBOARDS = (sys.executable, "-m", "billboards")


@dataclass(frozen=True)
class Cost:
    """What a command cost: seconds by the clock, seconds of processor time, and MiB at the peak."""

    seconds: float
    processor: float
    mib: float

    def __str__(self) -> str:
        return f"{self.seconds:9.3f} {self.processor:9.3f} {self.mib:8.0f}"


HEADER = f"{'wall s':>9} {'cpu s':>9} {'MiB':>8}"


def cost_of(command: Command, *, runs: int = 1, before: Callable[[], None] | None = None) -> Cost:
    """The median cost of running a command a few times, each time after `before` has set things up."""
    costs = []
    for _ in range(runs):
        if before is not None:
            before()
        costs.append(run(command)[0])
    return Cost(*(median(getattr(cost, name) for cost in costs) for name in ("seconds", "processor", "mib")))


def run(command: Command) -> tuple[Cost, str]:
    """Run a command to its end; its cost, and what it printed. A command that fails ends the benchmark."""
    words = list(map(str, command))
    start = time.perf_counter()
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=said) as child,
    ):
        assert child.stdout is not None
        printed = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            said.seek(0)
            sys.exit(f"{' '.join(words)}\nended with exit code {child.returncode}: {said.read().decode()}")
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024), printed.decode("utf-8")


def growth(before: float, after: float, times: float) -> float:
    """The exponent b of cost ~ size^b between two sizes, the second `times` the first: 1 is linear, 0 constant."""
    return math.log(after / before) / math.log(times)


def shared_data() -> Path | None:
    """The folder of human-evaluation data, from the environment or beside the checkout."""
    named = os.environ.get("BILLBOARDS_SHARED")
    root = Path(named) if named else Path(__file__).resolve().parents[2] / "shared"
    return root / "data" if (root / "data").is_dir() else None
