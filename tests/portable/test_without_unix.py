"""The library and the command line need neither bubblewrap nor what only Unix has: they work on Windows and macOS, too.

Modules that Windows lacks are made absent here, and programs that only Linux has are not found; CI runs the same tests
on the real systems.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ABSENT = ("fcntl", "grp", "pwd", "resource", "termios")
#: portalocker, which sacreBLEU loads, has a way of its own on each system.
PRELUDE = (
    "import sys, portalocker\nfor name in {absent!r}: sys.modules[name] = None\nfrom billboards.cli.main import main\n"
)


def billboards(folder: Path, *commands: list[str]) -> subprocess.CompletedProcess[str]:
    """Some commands, one after the other, as on Windows."""
    script = PRELUDE.format(absent=ABSENT) + f"sys.exit(max(main(words) for words in {list(commands)!r}))"
    # No PATH: no bwrap, no Java, no browser.
    environment = {**os.environ, "PATH": "", "PYTHONUTF8": "1"}
    return subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems' outputs of four inputs, with ratings."""
    folder = tmp_path_factory.mktemp("texts")
    (folder / "src.txt").write_text("eins\nzwei\ndrei\nvier\n")
    (folder / "ref.txt").write_text("the cat sat here\na dog ran off\nit rains a lot\nwe go home now\n")
    (folder / "old.txt").write_text("the cat sat\na dog runs\nit rains much\nwe went home\n")
    (folder / "new.txt").write_text("the cat sat here\na dog ran away\nit rains a lot\nwe go home\n")
    rows = [f"{system},{k},{score}" for system, scores in (("old", (60, 55, 70, 50)), ("new", (99, 80, 98, 90)))
            for k, score in enumerate(scores, 1)]  # fmt: skip
    (folder / "human.csv").write_text("system,line,score\n" + "\n".join(rows) + "\n")
    return folder


def test_texts_are_scored_with_the_numbers_of_every_system(texts: Path) -> None:
    files = ["--output", "old.txt", "new.txt", "--reference", "ref.txt"]
    done = billboards(texts, ["score", *files, "--metric", "chrF", "TER", "--json"])
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["schema"] == 1
    numbers = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "portable_numbers.py")], capture_output=True, text=True, check=False
    )
    assert numbers.stdout == "8 of 8 metrics give the expected numbers\n"


@pytest.mark.long
def test_a_board_is_made_scored_ranked_and_reported(texts: Path) -> None:
    files = ["--source", "src.txt", "--reference", "A=ref.txt", "--output", "old.txt", "new.txt"]
    done = billboards(
        texts,
        ["import", "text", *files, "--judgments", "human.csv", "-o", "mine"],
        ["score", "mine", "--metric", "chrF", "--metric", "BLEU", "--jobs", "1"],
        ["rank", "mine", "--draws", "0"],
        ["check", "mine"],
        ["report", "mine", "--no-studies", "--jobs", "1"],
    )
    assert done.returncode == 0, done.stderr
    assert "ranked by chrF" in done.stderr
    assert (texts / "mine" / "report.html").stat().st_size > 50_000


def test_the_site_says_that_windows_is_not_enough(texts: Path) -> None:
    done = billboards(texts, ["serve", "a-site", "--port", "0"])
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(
        (
            "this needs Linux or macOS; on Windows use WSL, where everything works as on Linux",
            "install it with `pip install 'billboards[site]'`",
        )
    )
