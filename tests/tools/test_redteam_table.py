"""The red team's table: what is counted, and when it is a failure."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

LINES = [
    {"attack": "a fork bomb", "kind": "sandbox, as root: processes", "outcome": "contained: processes", "seconds": 1.0,
     "peak": 3 << 20},
    {"attack": "half a head", "kind": "web", "outcome": "contained", "seconds": 0.25, "peak": None},
]  # fmt: skip
AWAY = {"attack": "a way out", "kind": "web", "outcome": "got away: read a file", "seconds": 2.0, "peak": None}


@pytest.fixture
def redteam(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    path = Path(__file__).parents[2] / "tools" / "redteam.py"
    spec = importlib.util.spec_from_file_location("redteam", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "redteam", module)
    spec.loader.exec_module(module)
    return module


def test_the_table_has_a_row_for_each_attack_and_counts_by_kind(redteam: ModuleType) -> None:
    attacks = redteam.read_attacks(map(json.dumps, [AWAY, *LINES]))
    rows = [line.split("  ") for line in redteam.table(attacks)]
    assert [cells[0] for cells in rows] == ["attack", "a fork bomb", "half a head", "a way out"]
    assert [cells[-1].strip() for cells in rows] == ["peak", "3 MiB", "", ""]
    assert list(redteam.counts(attacks)) == [
        "", "sandbox, as root: processes: 1 of 1 contained", "web: 1 of 2 contained", "all: 2 of 3 contained",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "status", "code"),
    [(LINES, 0, 0), (LINES, 1, 1), ([*LINES, AWAY], 0, 1), ([], 0, 1)],
    ids=["all contained", "a test failed", "one got away", "nothing played"],
)
def test_the_exit_status_says_whether_all_was_contained(
    lines: list[dict[str, object]],
    status: int,
    code: int,
    redteam: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    attacks = redteam.read_attacks(map(json.dumps, lines))
    monkeypatch.setattr(redteam, "play", lambda arguments: (attacks, status))
    assert redteam.main([]) == code
    assert f"of {len(lines)} contained" in capsys.readouterr().out
