"""The benchmarks of load and scale run, on sites too small to say anything about time."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def printed(script: str, *arguments: str) -> str:
    command = [sys.executable, str(BENCHMARKS / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def figures(size: int) -> dict[str, dict[str, float]]:
    """What a site of this size would have cost: most of it in proportion, a page half a second more."""
    spent = {"seconds": size / 10, "processor": size / 10, "mib": 70.0 + size, "read": size / 10}
    steps: dict[str, dict[str, float]] = {step: dict(spent) for step in ("open", "plan", "rank", "score", "refresh")}
    steps["refresh"]["document"] = size / 1024
    page = {"seconds": 0.5 + size / 1000, "again": 0.01, "mib": 100.0, "kilobytes": float(size)}
    return steps | {"page": page, "submit": {"each": size, "processor": 1.0}, "disk": {"database": size, "blobs": size}}


def test_a_million_submissions_are_reckoned_from_what_two_sizes_cost(tmp_path: Path) -> None:
    for size in (100, 1000):
        (tmp_path / str(size)).mkdir()
        (tmp_path / str(size) / "figures.json").write_text(json.dumps(figures(size)))
    found = printed("scale.py", "--generators", "100", "1000", "--simulate", "--keep", str(tmp_path))
    assert re.search(r"rank +processor +1\.00, seconds +1\.00", found)
    broken = dict(re.findall(r"^  (\w[^\d]*?) +[\d,.]+ .* passed at ([\d,]+)", found, re.MULTILINE))
    sizes = [int(size.replace(",", "")) for size in broken.values()]
    assert len(sizes) == 9
    assert sizes == sorted(sizes), "what breaks first comes first"
    assert abs(int(broken["the board page, the first time"].replace(",", "")) - 9500) <= 10
    assert abs(int(broken["a ranking"].replace(",", "")) - 6000) <= 20


@pytest.mark.study
def test_a_site_under_load_answers_everybody_and_finishes_everything() -> None:
    given = ("--readers", "4", "--wide", "2", "--columns", "4", "--submitters", "2", "--slow", "8")
    found = printed("load.py", "--seconds", "1.2", *given)
    assert "goal: no error, all scored: met" in found
    assert re.search(r"2 of the readers on /boards/wide: \d+,\d+ bytes", found)
    assert re.search(r"wide board page +\d+ answers, 0 errors", found)
    assert re.search(r"slow clients +48 begun, \d+ ended by the server", found)
    assert re.search(r'finished after \d+ s more: {"scored": 12}', found)


@pytest.mark.long
def test_a_simulated_day_of_a_shared_task_loses_nothing() -> None:
    found = printed(
        "soak.py", "--teams", "2", "--submissions", "6", "--annotators", "2", "--answers", "2", "--hours", "12"
    )
    assert "nothing lost, no error" in found
    assert re.search(
        r"2 teams, \d submissions taken and \d refused after the deadline, 2 annotators with 4 answers", found
    )
    assert "3 restarts, 2 backups, 1 upgrade" in found
