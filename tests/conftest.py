"""What tests share: where the human-evaluation data lie."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def find_shared_data() -> Path | None:
    """The shared data's folder, from the environment or beside the checkout."""
    named = os.environ.get("BILLBOARDS_SHARED")
    root = Path(named) if named else Path(__file__).resolve().parents[2] / "shared"
    data = root / "data"
    return data if data.is_dir() else None


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real human-evaluation data; tests that need it skip, saying so, where it is absent."""
    data = find_shared_data()
    if data is None:
        pytest.skip("the shared human-evaluation data are absent: set BILLBOARDS_SHARED or put shared/ beside the checkout")
    return data
