"""A bar for whatever takes long, on stderr and on a terminal only; --quiet and --no-color for every command."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from small_boards import small_board

import billboards as bb
from billboards.board.missing_cells import Progress
from billboards.cli.main import main
from billboards.site.admin.backup import back_up, restore
from billboards.site.site import open_site

STEPS = """
import time
from billboards.board.missing_cells import Progress
from billboards.cli.progress import scoring_progress
with scoring_progress("importing") as show:
    time.sleep({wait})
    if {counted}:
        show(Progress(3, 10, "step three"))
        time.sleep(0.5)
"""


def on_terminal(code: str, **variables: str) -> str:
    """What a script writes where stderr is a terminal."""
    ours, side = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", **variables}
    child = subprocess.Popen([sys.executable, "-c", code], stdin=side, stdout=side, stderr=side, env=environment)
    os.close(side)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert child.wait() == 0, shown
    return shown.decode()


def test_steps_are_shown_with_their_number_and_the_time_left() -> None:
    shown = on_terminal(STEPS.format(wait=0, counted=True))
    assert "step three" in shown
    assert "3/10" in shown
    assert "importing" not in shown


@pytest.mark.long
def test_what_has_no_steps_is_named_after_two_seconds() -> None:
    shown = on_terminal(STEPS.format(wait=3, counted=False))
    assert "importing" in shown
    assert "0/?" not in shown


@pytest.mark.long
def test_nothing_is_drawn_with_quiet_or_off_a_terminal() -> None:
    assert on_terminal(STEPS.format(wait=0, counted=True), BILLBOARDS_QUIET="1") == ""
    run = subprocess.run([sys.executable, "-c", STEPS.format(wait=0, counted=True)], capture_output=True, check=True)
    assert (run.stdout, run.stderr) == (b"", b"")


def test_every_command_takes_the_two_switches(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    folder = tmp_path / "small"
    bb.save(small_board(), folder)
    for arguments in (["check", str(folder), "--quiet", "--no-color"], ["--quiet", "doctor", "--no-color"]):
        assert main(arguments) == 0
    assert (os.environ["NO_COLOR"], os.environ.get("BILLBOARDS_QUIET")) == ("", None)
    assert capsys.readouterr().out


def test_a_backup_and_its_restoring_count_all_rows(tmp_path: Path) -> None:
    told: list[Progress] = []
    folder = tmp_path / "small"
    bb.save(small_board(), folder)
    with closing(open_site(tmp_path / "site", boards=[folder])) as site:
        rows = back_up(site, tmp_path / "a.tar.gz", told.append).rows
    restore(tmp_path / "a.tar.gz", tmp_path / "new", watch=told.append)
    assert rows > 0
    assert told[-1].done == told[-1].total == rows
    assert [step.done for step in told] == sorted(step.done for step in told)
