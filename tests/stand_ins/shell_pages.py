"""Pages whose shell blocks run one after the other, and print what their excerpts say.

An excerpt is a `text` block behind a shell block. Its lines must stand in the block's output, in that order; `…` leaves
lines out, and the blanks between columns don't count.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

BLOCK = re.compile(r"^```sh\n(.*?)^```\n(?:```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    """Every shell block with its excerpt, which may be empty."""
    return [(match[1], match[2] or "") for match in BLOCK.finditer(page.read_text("utf-8"))]


def outputs(page: Path, folder: Path) -> list[str]:
    """What each block prints, run in order in one folder."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path, "COLUMNS": "100", "PYTHONUTF8": "1", "TERM": "dumb"}
    return [_output(shell, folder, environment) for shell, _ in blocks(page)]


def _output(shell: str, folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        ["sh", "-e", "-c", shell],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, f"{shell}\n{done.stdout}"
    return done.stdout


def missing(excerpt: str, printed: str) -> list[str]:
    """Lines of an excerpt that don't stand in the output, in that order."""
    present = _lines(printed)
    return [line for line in _lines(excerpt) if line != "…" and line not in present]


def _lines(text: str) -> Iterator[str]:
    return (" ".join(line.split()) for line in text.splitlines() if line.strip())
