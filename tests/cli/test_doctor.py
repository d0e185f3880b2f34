"""`billboards doctor` on a full and a bare machine; `--help` groups commands; habits are understood."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from billboards.cli import doctor
from billboards.cli.main import ALIASES, GROUPS, every_command, main
from billboards.extras import EXTRAS


def test_a_full_machine_has_every_part_but_a_graphics_card(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["works"]) == (1, True)
    states = {part["part"]: part["state"] for part in document["parts"]}
    assert {states[part] for part in ("billboards", "lexical metrics (C)", "[site]", "[neural]", "[mcp]")} == {"works"}
    assert len(states) == 9 + len(EXTRAS)


def test_a_bare_machine_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["doctor"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "[site] absent boards on the web, and the client of a site: pip install 'billboards[site]'" in printed
    assert "Java (SPICE) absent install a Java runtime (Debian: default-jre), if you want SPICE" in printed


def test_a_system_without_a_sandbox_lacks_it_and_that_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    seen = doctor._sandbox()
    assert (seen.part, seen.state, seen.remedy) == ("sandbox", "absent", seen.detail)
    assert "submitted programs need Linux and bubblewrap" in seen.detail


def test_a_full_disk_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(doctor, "LITTLE_DISK", 1 << 60)
    seen = doctor._disk("this folder", tmp_path)
    assert seen.state == "broken"
    assert "make room" in seen.remedy


def test_help_groups_every_command_once_and_fits_the_terminal() -> None:
    environment = {**os.environ, "COLUMNS": "80"}
    shown = subprocess.run(
        [sys.executable, "-m", "billboards", "--help"], capture_output=True, text=True, check=True, env=environment
    ).stdout
    lines = shown.splitlines()
    assert [line for line in lines if line.endswith(":") and not line.startswith(" ")][-len(GROUPS) :]
    assert max(map(len, lines)) <= 80 + len("rank text generators and the metrics")
    for name in every_command():
        assert sum(line.startswith(f"  {name} ") for line in lines) == 1, name
    assert {name for names in GROUPS.values() for name in names} <= set(every_command())


def test_habits_are_understood(capsys: pytest.CaptureFixture[str]) -> None:
    assert not set(ALIASES) & set(every_command())
    assert set(ALIASES.values()) <= set(every_command())
    with pytest.raises(SystemExit):
        main(["help", "leaderboard"])
    assert "usage: billboards rank" in capsys.readouterr().out
    assert main(["version"]) == 0
    assert main(["Downlod"]) == 2
    assert "did you mean get?" in capsys.readouterr().err
