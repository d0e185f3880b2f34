"""How fast the command starts: `billboards --help` against a bare interpreter, which is the least any Python can take.

Commands take turns, so that whatever else the machine does falls on all of them alike, and the medians are printed.

    python benchmarks/startup.py [--runs 30]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import median

from measuring import Command, run

GOAL = 5.0
BARE = "python -c pass"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30, help="runs of each command (default 30)")
    runs = parser.parse_args().runs
    seconds = medians(commands(), runs)
    bare = seconds[BARE]
    print(f"median of {runs} runs, in milliseconds, and times a bare interpreter's start")
    for name, value in seconds.items():
        print(f"{name:28} {1000 * value:8.1f} {value / bare:6.2f}×")
    ratio = seconds["billboards --help"] / bare
    print(f"goal: billboards --help within {GOAL:g}×: {'met' if ratio <= GOAL else 'missed'}")


def commands() -> dict[str, Command]:
    """What is started, by name; the first is the peer."""
    script = Path(sys.executable).with_name("billboards")
    billboards: Command = (script,) if script.exists() else (sys.executable, "-m", "billboards")
    return {
        BARE: (sys.executable, "-c", "pass"),
        "python -c 'import billboards'": (sys.executable, "-c", "import billboards"),
        "python -c 'import argparse'": (sys.executable, "-c", "import argparse"),
        "billboards --help": (*billboards, "--help"),
        "billboards rank --help": (*billboards, "rank", "--help"),
        "billboards metrics": (*billboards, "metrics"),
        "python -c 'import numpy'": (sys.executable, "-c", "import numpy"),
    }


def medians(chosen: dict[str, Command], runs: int) -> dict[str, float]:
    """The median wall time of each command; one round before the first that counts fills the caches."""
    for command in chosen.values():
        run(command)
    rounds = [{name: run(command)[0].seconds for name, command in chosen.items()} for _ in range(runs)]
    return {name: median(one[name] for one in rounds) for name in chosen}


if __name__ == "__main__":
    main()
