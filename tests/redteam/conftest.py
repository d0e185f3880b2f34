"""Attacks are played on small sites and on sandboxes, and put down where `make redteam` can read them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from site_fixtures import harbour, make_harbour, metric_zip

__all__ = ["harbour", "make_harbour", "metric_zip"]


@pytest.fixture
def record_attack() -> Callable[..., None]:
    """Appends a line about an attack to the file that BILLBOARDS_REDTEAM_LOG names, if it names one."""

    def record(attack: str, kind: str, outcome: str, *, contained: bool, seconds: float, peak: int | None) -> None:
        if path := os.environ.get("BILLBOARDS_REDTEAM_LOG"):
            told = f"{'contained' if contained else 'got away'}: {outcome}"
            line = {"attack": attack, "kind": kind, "outcome": told, "seconds": seconds, "peak": peak}
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    return record
