"""Programs with a step that is done once: loaded once for several generators, which are scored apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from billboards.metrics.base import Batch, MetricCard
from billboards.run.program import ProgramMetric, run_rows
from billboards.run.sandbox import sandbox_available
from billboards.run.trial import try_program

CARD = MetricCard(name="own", needs_references=False)
A, B, C = Batch(["a", "b b"]), Batch(["c c c"]), Batch(["d", "e", "f f"])

#: Prints when it is loaded; scores 1000 times how often it was loaded, 100 for each output scored before, and words.
COUNTER = """
import os
LOADS, SEEN = [], []
def load():
    LOADS.append(1)
    print("loaded by", os.getpid())
    return {"factor": 1.0}
def score(outputs, references, inputs, loaded):
    before = len(SEEN)
    SEEN.extend(outputs)
    loaded["factor"] += 1
    return [1000 * len(LOADS) + 100 * before + 10 * loaded["factor"] + len(o.split()) for o in outputs]
"""


@pytest.fixture(autouse=True)
def confined() -> None:
    if not sandbox_available():
        pytest.skip(str(sandbox_available().reason))


def program(tmp_path: Path, code: str) -> ProgramMetric:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "metric.py").write_text(code)
    return ProgramMetric(CARD, folder, "metric.py")


def test_it_is_loaded_once_and_nothing_of_one_generator_is_seen_at_the_next(tmp_path: Path) -> None:
    done = run_rows(program(tmp_path, COUNTER), [A, B, C])
    assert [run.problem for run in done] == [None, None, None]
    # Loaded once; of the outputs before and of what they changed in what was loaded, nothing is seen.
    assert [list(run.scores) for run in done if run.scores is not None] == [
        [1021, 1022],
        [1023],
        [1021, 1021, 1022],
    ]
    assert done[0].outcome.stdout.count("loaded by") == 1


def test_its_scores_are_those_of_each_generator_alone(tmp_path: Path) -> None:
    own = program(tmp_path, COUNTER)
    together = own.score_rows([A, B, C])
    assert [row.tolist() for row in together] == [own.score_batch(batch).tolist() for batch in (A, B, C)]


def test_files_and_processes_of_one_generator_are_gone_at_the_next(tmp_path: Path) -> None:
    code = """
import os, pathlib, subprocess
def load():
    return None
def score(outputs, references, inputs, loaded):
    left = [p for d in (os.environ["TMPDIR"], "/dev/shm") for p in pathlib.Path(d).iterdir()]
    running = [p for p in os.listdir("/proc") if p.isdigit() and b"sleep" in open(f"/proc/{p}/comm", "rb").read()]
    pathlib.Path(os.environ["TMPDIR"], "note").write_text("seen")
    pathlib.Path(os.environ["TMPDIR"], "folder").mkdir()
    pathlib.Path("/dev/shm/note").write_text("seen")
    subprocess.Popen(["sleep", "60"], start_new_session=True)
    return [len(left) + 10 * len(running)] * len(outputs)
"""
    done = run_rows(program(tmp_path, code), [A, B, C])
    assert [run.problem for run in done] == [None, None, None]
    assert [set(run.scores) for run in done if run.scores is not None] == [{0.0}, {0.0}, {0.0}]


def test_a_fork_cannot_write_into_the_process_that_the_next_one_begins_with(tmp_path: Path) -> None:
    code = """
import os
def load():
    return None
def score(outputs, references, inputs, loaded):
    try:
        open(f"/proc/{os.getppid()}/mem", "r+b").close()
    except PermissionError:
        return [0.0] * len(outputs)
    return [1.0] * len(outputs)
"""
    (run,) = run_rows(program(tmp_path, code), [A])
    assert run.problem is None
    assert run.scores is not None
    assert run.scores.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("raise ValueError('no wrong words please')", "no wrong words please"),
        ("return [1.0]", "returned 1 scores for 2 outputs"),
        ("return ['a', 'b']", "return a number for each output"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
        ("import os; os._exit(0)", "exit code 1"),
    ],
)
def test_what_goes_wrong_in_a_fork_is_said(tmp_path: Path, line: str, words: str) -> None:
    code = f"def load():\n    return 1\ndef score(outputs, references, inputs, loaded):\n    {line}\n"
    (run,) = run_rows(program(tmp_path, code), [A])
    assert run.scores is None
    assert words in str(run.problem)


def test_a_helper_called_load_is_not_a_step_of_its_own(tmp_path: Path) -> None:
    code = "def load():\n    return 2.0\ndef score(outputs, references, inputs):\n    return [load()] * len(outputs)\n"
    own = program(tmp_path, code)
    assert not own.loads
    assert own.score_batch(A).tolist() == [2.0, 2.0]


@pytest.mark.long
def test_the_trial_finds_a_program_whose_scores_depend_on_company(tmp_path: Path) -> None:
    # An abstract socket outlives no fork, but the loaded process itself can be asked to remember.
    code = """
import threading, os
R, W = os.pipe()
SEEN = []
def load():
    threading.Thread(target=lambda: [SEEN.append(os.read(R, 1)) for _ in range(9)], daemon=True).start()
    return SEEN
def score(outputs, references, inputs, loaded):
    before = len(loaded)
    os.write(W, b"x")
    import time; time.sleep(0.3)
    return [float(before)] * len(outputs)
"""
    trial = try_program(program(tmp_path, code), Batch(["a", "b b", "c"]))
    assert trial.problem is not None
    assert "must not depend on what it scored before" in trial.problem
