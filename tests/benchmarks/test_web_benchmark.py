"""The benchmark of the site runs on a board too small to say anything about time, and weighs what it serves."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "web.py"


def printed(*arguments: str, **environment: str) -> str:
    command = [sys.executable, str(SCRIPT), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_the_board_page_is_weighed_and_compared_with_a_one_line_route() -> None:
    lines = printed("--quick", "--rounds", "2", "--seconds", "0.2").splitlines()
    assert re.fullmatch(r"the first table comes after [\d.]+ s, and after [\d.]+ s once it is kept", lines[0])
    assert lines[1].startswith("/boards/table: 5 generators × 8 columns, ")
    assert lines[2] == "goal: at most 300,000 bytes compressed: met"
    assert re.fullmatch(r"further requests of the first view, for files that are kept for ever: \d+", lines[3])
    assert lines[4] == "fetched before the first view beside the page: 0"
    figures = r" +\d+ requests per second, +\d+ µs of processor time each"
    assert re.fullmatch(f"one-line route{figures}", lines[5])
    assert re.fullmatch(f"board page{figures}", lines[6])
    assert re.fullmatch(f"logged in{figures}", lines[7])
    ratio = r"[\d.]+ \(quartiles [\d.]+ to [\d.]+\) of"
    for name, (clock, processor, goal) in {"board page": lines[8:11], "logged in": lines[11:]}.items():
        assert re.fullmatch(f"{name}: {ratio} the one-line route's rate by the clock", clock)
        assert re.fullmatch(f"{name}: {ratio} its rate for the same processor time of the server", processor)
        assert re.fullmatch(r"goal: at least 0.5 of it: \w+ by the clock, \w+ by processor time", goal)


def test_the_real_board_is_said_to_be_absent_where_it_is(tmp_path: Path) -> None:
    found = printed(BILLBOARDS_SHARED=str(tmp_path))
    assert found.startswith("wmt20-zh-en: not measured, data absent; set BILLBOARDS_SHARED")
