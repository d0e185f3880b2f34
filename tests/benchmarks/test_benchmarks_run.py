"""Benchmarks run on small sizes, so that they can't rot; no time is asserted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def run(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, check=True, timeout=300).stdout


def test_startup_prints_our_figure_the_peer_s_and_the_ratio() -> None:
    printed = run("startup.py", "--runs", "1")
    assert "python -c pass" in printed
    assert "billboards --help" in printed
    assert "×" in printed


@pytest.mark.parametrize("part", ["generators", "instances"])
def test_growth_runs_on_small_boards(part: str) -> None:
    printed = run("board.py", "--quick", "--runs", "1", "--part", part)
    assert "rank with it" in printed
    assert "growth of cpu" in printed


@pytest.mark.data
def test_statistics_agree_with_their_peers(shared_data: Path) -> None:
    printed = run("stats.py")
    assert "bootstrap, 1000 draws" in printed
    assert "leave-one-generator-out ensemble" in printed
