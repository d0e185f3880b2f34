"""The benchmark of publishing runs on a small board: its links lead somewhere, and its numbers are a live site's."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "publish.py"


def printed(*arguments: str, **environment: str) -> str:
    command = [sys.executable, str(SCRIPT), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.study
def test_a_published_board_is_weighed_its_links_followed_and_its_numbers_compared_with_a_live_site() -> None:
    found = printed("--quick", "--pairs", "2")
    assert re.search(r"^made-up: published in .* of processor time, .* by the clock$", found, re.MULTILINE)
    assert re.search(r"^made-up: \d+ pages, \d+ files, [\d.]+ MB, gzip [\d.]+ MB$", found, re.MULTILINE)
    assert re.search(r"^made-up:   pages of instances +12 files", found, re.MULTILINE)
    links = re.search(r"^made-up: ([\d,]+) links on (\d+) pages, 0 lead nowhere$", found, re.MULTILINE)
    assert links is not None
    assert int(links[1].replace(",", "")) > 1000
    compared = re.search(r"^made-up: ([\d,]+) numbers on (\d+) pages compared", found, re.MULTILINE)
    assert compared is not None
    assert int(compared[1].replace(",", "")) > 1000
    # Three pages are a published site's own.
    assert int(compared[2]) == int(links[2]) - 3
    assert "made-up: 0 pages differ, 0 were not reached by the live site's links" in found


def test_real_boards_are_said_to_be_absent_where_they_are(tmp_path: Path) -> None:
    lines = printed(BILLBOARDS_SHARED=str(tmp_path)).splitlines()
    assert [line.partition(":")[0] for line in lines] == ["wmt20-zh-en", "wmt23-en-de"]
    assert all("not measured, data absent" in line for line in lines)
