"""Plays every attack of tests/redteam and prints what became of each.

    python tools/redteam.py
    python tools/redteam.py -k sandbox

The tests say what happened by the file that BILLBOARDS_REDTEAM_LOG names, a line of JSON for each attack; with the
variable set they play the longest attacks, too. What is given is handed on to pytest. The table has a row for each
attack: what it was, its kind, how it ended, seconds, and memory at its peak where that was measured. The exit status is
1 if an attack was not contained, if a test failed, or if nothing was played.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

CONTAINED = "contained"
HEADINGS = ("attack", "kind", "outcome", "seconds", "peak")
#: Columns of words end here; the whole of a cut text is in the test of that name.
WIDTHS = (52, 62, 60)


@dataclass(frozen=True, kw_only=True)
class Attack:
    """What one attack came to."""

    attack: str
    kind: str
    outcome: str
    seconds: float
    peak: int | None

    @property
    def is_contained(self) -> bool:
        return self.outcome.startswith(CONTAINED)


def main(arguments: Sequence[str]) -> int:
    attacks, status = play(arguments)
    print("\n".join(table(attacks)))
    print("\n".join(counts(attacks)))
    return 0 if attacks and status == 0 and all(attack.is_contained for attack in attacks) else 1


def play(arguments: Sequence[str]) -> tuple[list[Attack], int]:
    """Run the tests; all attacks that they put down, and pytest's exit status."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "attacks.jsonl")
        command = [sys.executable, "-m", "pytest", "tests/redteam", "-q", *arguments]
        environment = {**os.environ, "BILLBOARDS_REDTEAM_LOG": str(log)}
        status = subprocess.run(command, env=environment, cwd=Path(__file__).parents[1], check=False).returncode
        lines = log.read_text("utf-8").splitlines() if log.exists() else []
    return read_attacks(lines), status


def read_attacks(lines: Iterable[str]) -> list[Attack]:
    return [Attack(**json.loads(line)) for line in lines]


def table(attacks: Sequence[Attack]) -> Iterable[str]:
    """Those that got away stand last, where they are seen."""
    yield row(*HEADINGS)
    for attack in sorted(attacks, key=lambda attack: (not attack.is_contained, attack.kind)):
        peak = "" if attack.peak is None else f"{attack.peak / (1 << 20):.0f} MiB"
        yield row(attack.attack, attack.kind, attack.outcome, f"{attack.seconds:.2f}", peak)


def row(attack: str, kind: str, outcome: str, seconds: str, peak: str) -> str:
    words = (text[:width].ljust(width) for text, width in zip((attack, kind, outcome), WIDTHS, strict=True))
    return "  ".join((*words, seconds.rjust(8), peak.rjust(9)))


def counts(attacks: Sequence[Attack]) -> Iterable[str]:
    """How many there were of each kind, and how many of them were contained."""
    yield ""
    played, contained = (Counter(attack.kind for attack in some) for some in (attacks, filter(_contained, attacks)))
    for kind in sorted(played):
        yield f"{kind}: {contained[kind]} of {played[kind]} contained"
    yield f"all: {contained.total()} of {played.total()} contained"


def _contained(attack: Attack) -> bool:
    return attack.is_contained


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
