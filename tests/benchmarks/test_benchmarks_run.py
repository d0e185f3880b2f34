"""The benchmarks run and agree with their peers, on boards too small to say anything about time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def printed(script: str, *arguments: str, **environment: str) -> str:
    """What a benchmark prints; one that fails says why."""
    command = [sys.executable, str(BENCHMARKS / script), *arguments]
    environment = {**os.environ, **environment}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_starting_is_compared_with_a_bare_interpreter() -> None:
    lines = printed("startup.py", "--runs", "1").splitlines()
    ratios = {line[:28].strip(): line.split()[-1] for line in lines if line.endswith("×")}
    assert ratios["python -c pass"] == "1.00×"
    assert {"billboards --help", "billboards rank --help", "billboards metrics"} <= ratios.keys()
    assert lines[-1].startswith("goal: billboards --help within 5×:")


@pytest.fixture(scope="module")
def growing() -> str:
    return printed("board.py", "--quick", "--runs", "1", "--part", "generators")


@pytest.mark.long
@pytest.mark.parametrize("step", ["import", "open", "score", "score again", "rank", "score one more generator"])
def test_every_step_is_measured_at_two_sizes_with_its_growth(growing: str, step: str) -> None:
    found = re.findall(rf"^ +(\d+) +(\d+)  {step}((?: +-?[\d.]+)+)$", growing, re.MULTILINE)
    assert [(size, outputs) for size, outputs, _ in found] == [("4", "160"), ("8", "320")]
    assert [len(figures.split()) for *_, figures in found] == [3, 5]


@pytest.mark.long
def test_a_ratio_is_printed_where_the_peers_numbers_are_the_same(growing: str) -> None:
    assert "4 metrics, 100 draws, ensemble at lambda 1" in growing
    assert re.search(r"largest difference between the two: \S+ \(equal\)", growing)
    assert "largest difference between our BLEU and sacreBLEU's: 0.0e+00" in growing
    assert len(re.findall(r"ours [\d.]+ s, peer [\d.]+ s: the peer takes [\d.]+× as long", growing)) == 4


@pytest.mark.study
def test_a_refresh_is_held_against_the_score_matrix() -> None:
    found = printed("board.py", "--quick", "--runs", "1", "--part", "refresh")
    assert "refresh after one more generator, 15 metrics" in found
    figures = re.findall(r"^ +(\d+) +([\d.]+)  rank with it((?: +-?[\d.]+)+)$", found, re.MULTILINE)
    assert [(generators, matrix) for generators, matrix, _ in figures] == [("4", "0.0"), ("8", "0.0")]
    assert [len(rest.split()) for *_, rest in figures] == [5, 5]


def test_the_real_board_is_said_to_be_absent_where_it_is(tmp_path: Path) -> None:
    found = printed("board.py", "--part", "zh-en", BILLBOARDS_SHARED=str(tmp_path))
    assert found.startswith("wmt20-zh-en: not measured, data absent; set BILLBOARDS_SHARED")


@pytest.mark.long
@pytest.mark.data
def test_statistics_agree_with_their_peers(shared_data: Path) -> None:
    found = printed("stats.py")
    assert "bootstrap, 1000 draws" in found
    assert "leave-one-generator-out ensemble" in found


@pytest.mark.long
def test_every_attack_on_a_metric_is_a_line_with_its_evidence() -> None:
    lines = printed("audits.py", "--board", "summeval", "--metric", "repetition-3", "--draws", "20").splitlines()
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| repetition-3")
    ]
    assert [(row[0], row[1], row[2], row[3], row[5]) for row in rows] == [
        ("repetition-3", "rerank", "held", "1/17", "2/17")
    ]
    assert lines[-1].endswith("s of processor time")
