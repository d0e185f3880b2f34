"""Every example runs as it stands, in a folder of its own, and says what it is there to show."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

SAYS = {
    "metrics_on_a_data_frame.py": ["overlap", "words", "interval_low"],
    "own_metric.py": ["word-recall|lowercase:True", "word-recall|lowercase:False", "BLEU|"],
    "rank_a_board.py": ["generators by", "agrees best with the experts", "Asked of the crowd"],
}


def test_every_example_is_run_here() -> None:
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == sorted(SAYS)


@pytest.mark.long
@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs_as_it_stands(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", str(EXAMPLES / name)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [words for words in SAYS[name] if words not in done.stdout] == []
