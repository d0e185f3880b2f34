"""What tests share: where the human-evaluation data lie, and that nothing may be skipped where all is installed."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest

FORBID_SKIPS = "BILLBOARDS_FORBID_SKIPS"


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
        pytest.skip("the human-evaluation data are absent: set BILLBOARDS_SHARED or put shared/ beside the checkout")
    return data


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where every part is said to be installed, a skipped test is a failed one."""
    report = yield
    if report.skipped and os.environ.get(FORBID_SKIPS) and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"skipped where {FORBID_SKIPS} is set: {reason}"
    return report
