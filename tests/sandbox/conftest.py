"""The arena for hostile programs: each is run as a submitted metric, next to everything it must never find.

After every attack the arena itself checks what holds for all of them: no secret came out, the metric's folder is as it
was, nothing of the program is left, and the next, decent program scores as if nothing had been.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from program_runs import run_program

from billboards.metrics.base import Batch, MetricCard
from billboards.run.program import ProgramMetric, folder_digest
from billboards.run.program_metrics import ProgramRun
from billboards.run.sandbox import Limits, sandbox_available

SECRET = "the-judgments-of-4711"
BATCH = Batch(["one", "two two", "drei"], [["a"], ["b"], ["c"]], ["x", "y", "z"])
#: Small, so that every attack meets its limit soon.
LIMITS = Limits(
    wall_seconds=20,
    cpu_seconds=10,
    memory_bytes=96 << 20,
    processes=24,
    open_files=64,
    file_bytes=8 << 20,
    tmp_bytes=16 << 20,
    tmp_files=500,
    output_bytes=4096,
    result_bytes=1 << 16,
)
DECENT = 'while read -r line; do echo 0.5; done < "$2" > "$4"\n'


@pytest.fixture(scope="session", autouse=True)
def confined() -> None:
    """These tests need a sandbox; where there is none they skip, saying why."""
    available = sandbox_available()
    if not available:
        pytest.skip(str(available.reason))


@pytest.fixture
def secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site's data folder with a secret wherever a program might look for one."""
    data = tmp_path / "site"
    for name in ("site.sqlite", "boards/demo/judgments/human.jsonl", "metrics/other/run.sh", ".ssh/id_ed25519"):
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(SECRET)
    monkeypatch.setenv("BILLBOARDS_TOKEN", SECRET)
    return data


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., ProgramMetric]:
    """Makes a metric of a shell script, or of a Python script that a shell script runs."""

    def make(*, sh: str = "", py: str = "", **limits: float) -> ProgramMetric:
        folder = tmp_path / "site" / "metrics" / "own"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "attack.py").write_text(py)
        (folder / "run.sh").write_text(sh or 'exec python3 attack.py "$@"\n')
        allowed = replace(LIMITS, **limits)  # type: ignore[arg-type]  # counts stay whole, seconds need not
        return ProgramMetric(MetricCard(name="own", needs_input=True), folder, "run.sh", limits=allowed)

    return make


@pytest.fixture
def attack(secrets: Path, program: Callable[..., ProgramMetric]) -> Iterator[Callable[..., ProgramRun]]:
    """Runs an attack and checks what holds for every one of them."""
    others = children()

    def run(**script: str | float) -> ProgramRun:
        metric = program(**script)
        before = folder_digest(metric.folder)
        done = run_program(metric, BATCH)
        outcome = done.outcome
        assert SECRET not in f"{outcome.stdout}{outcome.stderr}{outcome.result!r}{done.problem}"
        assert folder_digest(metric.folder) == before
        assert not outcome.platform
        assert (done.scores is None) != (done.problem is None)
        return done

    yield run
    assert children() <= others
    after = run_program(program(sh=DECENT), BATCH)
    assert after.problem is None
    assert after.scores is not None
    assert after.scores.tolist() == [0.5, 0.5, 0.5]


def children() -> set[str]:
    """The processes this one has started and not yet waited for."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        # A process may end between being listed and being looked at.
        with suppress(FileNotFoundError, ProcessLookupError):
            parent = stat.read_text("utf-8", "replace").rpartition(")")[2].split()[1]
            if parent == str(os.getpid()):
                found.add(stat.parent.name)
    return found


@pytest.fixture(params=["as the server's user allows", "in a user namespace"])
def kind_of_user(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both kinds of walls: root's, which has an own user for every program, and everybody else's."""
    if request.param == "in a user namespace":
        monkeypatch.setattr("billboards.run.confinement.os.geteuid", lambda: 1000)
    return str(request.param)
