"""What comes along with the package: licences are read without a network, and an audit says when there was none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))


def test_everything_that_is_shipped_has_a_licence_that_allows_it() -> None:
    done = subprocess.run([sys.executable, TOOLS / "licences.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert int(done.stdout.split()[0]) > 30


def test_a_licence_that_asks_for_everything_in_return_is_named(tools: None) -> None:
    from licences import mistakes  # type: ignore[import-not-found]

    right = ["MIT", "LGPL-3.0-only", "GNU Lesser General Public License v3 (LGPLv3)", "GPL-2.0 OR MIT", "PSF-2.0"]
    assert mistakes({str(k): text for k, text in enumerate(right)}) == []
    wrong = ["GPL-3.0-only", "AGPL-3.0", "GNU General Public License v3 (GPLv3)", "SSPL-1.0", ""]
    assert [line[0] for line in mistakes({str(k): text for k, text in enumerate(wrong)})] == ["0", "1", "2", "3", "4"]


def test_an_audit_names_what_is_weak_and_says_when_nothing_was_checked(tools: None) -> None:
    from dependency_audit import skipped, unknown, weaknesses  # type: ignore[import-not-found]

    weak = {
        "name": "a",
        "version": "1",
        "vulns": [{"id": "X-1", "fix_versions": ["2"]}, {"id": "X-2", "fix_versions": []}],
    }
    sound, absent = {"name": "b", "version": "1", "vulns": []}, {"name": "c", "skip_reason": "not found"}
    document = {"dependencies": [weak, sound, absent]}
    assert unknown(document) == ["not found"]
    assert weaknesses(document) == ["a 1: X-1; mended in 2", "a 1: X-2; mended in no version"]
    assert skipped("Traceback\nConnectionError: no route\n").endswith("known weaknesses: ConnectionError: no route")
    assert skipped("").endswith("no answer")
