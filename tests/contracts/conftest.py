"""What the metrics under contract need beside packages, small enough to be at hand everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def parts_of_metrics(small_wordnet: Path, spice_jar: Path) -> None:
    """METEOR's WordNet and SPICE's program, as stand-ins."""
