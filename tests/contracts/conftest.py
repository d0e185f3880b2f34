"""What the metrics under contract need beside packages, small enough to be at hand everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from judge_server import JudgeServer


@pytest.fixture(autouse=True)
def parts_of_metrics(
    small_wordnet: Path,
    spice_jar: Path,
    judge_environment: None,
    standing_judge_server: JudgeServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """METEOR's WordNet, SPICE's program and the judges' endpoint, as stand-ins."""
    monkeypatch.setenv("BILLBOARDS_JUDGE_URL", standing_judge_server.url)
    monkeypatch.setenv("BILLBOARDS_JUDGE_MODEL", "stand-in")
