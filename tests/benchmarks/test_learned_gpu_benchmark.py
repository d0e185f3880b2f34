"""The benchmark of the large learned metrics runs where there is no GPU, with tiny shapes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'billboards[neural]'")

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "learned_gpu.py"


def printed(*arguments: str, **environment: str) -> str:
    command = [sys.executable, str(SCRIPT), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.study
def test_tiny_models_of_both_shapes_are_measured_beside_the_authors_way(tmp_path: Path) -> None:
    said = printed("--tiny", BILLBOARDS_SHARED=str(tmp_path))
    assert "MetricX-24, mT5-XL's shape (tiny): 8 outputs, 8 distinct sequences" in said
    # Output with input, with reference and with both.
    assert "XCOMET, XLM-R-XL's shape (tiny): 8 outputs, 24 distinct sequences" in said
    assert said.count("ratio of outputs/s to the authors' way:") == 2


def test_absent_data_are_said_to_be_absent(tmp_path: Path) -> None:
    assert "not measured, data absent" in printed(BILLBOARDS_SHARED=str(tmp_path))
