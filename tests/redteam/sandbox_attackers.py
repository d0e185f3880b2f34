"""Runs attacks on sandboxes, as whichever user it is started: reads them from its input, prints a line about each.

It needs the standard library and billboards' sandbox only, so that another user's interpreter can run it.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from billboards.run import sandbox
from billboards.run.sandbox import Limits, Work, run

#: Small, so that every attack meets its limit soon. Time by the clock is not: on a machine that has much to do it would
#: be up before an attack has come to its own limit. Each stops by itself.
LIMITS: dict[str, Any] = {
    "wall_seconds": 60,
    "cpu_seconds": 5,
    "memory_bytes": 96 << 20,
    "processes": 24,
    "open_files": 64,
    "file_bytes": 8 << 20,
    "tmp_bytes": 16 << 20,
    "tmp_files": 500,
    "output_bytes": 1 << 20,
    "result_bytes": 1 << 16,
}


def main() -> None:
    available = sandbox.sandbox_available()
    if not available:
        sys.exit(str(available.reason))
    folder = Path.cwd() / "metric"
    for attack in json.load(sys.stdin):
        for name, content in attack["files"].items():
            (folder / name).write_text(content, encoding="utf-8")
        print(json.dumps(attempt(folder, attack)), flush=True)


def attempt(folder: Path, attack: dict[str, Any]) -> dict[str, Any]:
    """One attack; `left` tells whether something of it runs on afterwards, found by the mark that it was given."""
    mark = f"3600.{time.monotonic_ns()}"
    work = Work(
        folder,
        lambda places: (places.python if attack["python"] else "/bin/sh", "attack", places.result, mark),
        {"generator.jsonl": b"{}\n"},
    )
    outcome = run(work, limits=Limits(**{**LIMITS, **attack["limits"]}))
    return {
        "name": attack["name"],
        "verdict": outcome.verdict,
        "exit_code": outcome.exit_code,
        "problem": outcome.problem,
        "stdout": outcome.stdout,
        "stderr": outcome.stderr[-2000:],
        "result": None if outcome.result is None else outcome.result.decode("utf-8", "replace"),
        "platform": outcome.platform,
        "seconds": outcome.seconds,
        "cpu_seconds": outcome.cpu_seconds,
        "peak": outcome.peak_memory,
        "left": is_running(mark),
    }


def is_running(mark: str) -> bool:
    for arguments in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in arguments.read_bytes().split(b"\0"):
                return True
        except OSError:
            continue
    return False


if __name__ == "__main__":
    main()
