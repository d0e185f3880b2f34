"""The tutorial is true: its shell blocks run one after the other, and print what its excerpts say.

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

import pytest

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```\n(?:```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str]]:
    """Every shell block with its excerpt, which may be empty."""
    return [(match[1], match[2] or "") for match in BLOCK.finditer(TUTORIAL.read_text("utf-8"))]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What each block prints, run in order in one new folder."""
    folder = tmp_path_factory.mktemp("tutorial")
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path, "COLUMNS": "100", "PYTHONUTF8": "1", "TERM": "dumb"}
    return [_output(shell, folder, environment) for shell, _ in blocks()]


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


def _lines(text: str) -> Iterator[str]:
    return (" ".join(line.split()) for line in text.splitlines() if line.strip())


def test_every_block_of_the_tutorial_is_found() -> None:
    text = TUTORIAL.read_text("utf-8")
    assert len(blocks()) == text.count("```sh\n") >= 10
    assert sum(bool(excerpt) for _, excerpt in blocks()) == text.count("```text\n")


@pytest.mark.parametrize("number", range(len(blocks())))
def test_a_block_prints_what_its_excerpt_says(number: int, printed: list[str]) -> None:
    found = _lines(printed[number])
    missing = [line for line in _lines(blocks()[number][1]) if line != "…" and line not in found]
    assert missing == [], printed[number]


def test_the_report_of_the_tutorial_has_the_sections_it_names(printed: list[str]) -> None:
    """The bold names under "The report" are headings of the page's template."""
    section = TUTORIAL.read_text("utf-8").partition("## 5. The report")[2].partition("\n## ")[0]
    named = [name.strip("?") for name in re.findall(r"\*\*(.+?)\*\*", section)]
    template = (TUTORIAL.parents[1] / "src/billboards/analyses/report.html.j2").read_text("utf-8").lower()
    assert len(named) >= 7
    assert [name for name in named if name.lower() not in template] == []
