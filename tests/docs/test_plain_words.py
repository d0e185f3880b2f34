"""Sentences that readers could not understand do not come back."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RIDDLES = (
    "has all of its places",
    "only with its word in the header",
    "a tie of people's makes",
    "climbs as it promises",
    "laid only on the very outputs",
    "its own mood, its kin",
    "what a pair counts that a metric ties, where people",
    "draw again and again: others of which",
    "before anything has its place",
    "served only once somebody can",
    "where labels say most; a plain mean",
    "since calling the command is the choice",
    "hard earns nothing there",
)


@pytest.mark.parametrize("riddle", RIDDLES)
def test_a_riddle_is_on_no_page_and_in_no_module(riddle: str) -> None:
    files = [
        ROOT / "README.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / "src").rglob("*.j2"),
    ]
    assert len(files) > 500
    assert [str(path) for path in files if riddle in " ".join(path.read_text("utf-8").split())] == []
