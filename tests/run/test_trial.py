"""Trial runs: which outputs, what passes, and how long the board will take."""

from __future__ import annotations

from pathlib import Path

import pytest

from billboards.errors import InvalidInput
from billboards.metrics.base import Batch, MetricCard
from billboards.run.program import ProgramMetric
from billboards.run.sandbox import sandbox_available
from billboards.run.trial import pick, try_program

WORDS = Batch(["x" * k for k in (5, 90, 3, 7, 1, 8, 20, 4, 6, 2, 30, 9)], [["r"]] * 12, [str(k) for k in range(12)])
RANDOM = "import random\ndef score(outputs, references, inputs): return [random.random() for _ in outputs]\n"


@pytest.fixture(autouse=True)
def confined() -> None:
    if not sandbox_available():
        pytest.skip(str(sandbox_available().reason))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "own"
    made.mkdir()
    return made


def metric(folder: Path, code: str, *, deterministic: bool = True) -> ProgramMetric:
    (folder / "metric.py").write_text(code)
    return ProgramMetric(MetricCard(name="own", deterministic=deterministic), folder, "metric.py")


def test_the_shortest_and_the_longest_output_are_among_the_few() -> None:
    few = pick(WORDS, 8)
    assert len(few) == 8
    assert {len(output) for output in few.outputs} >= {1, 90}
    assert [WORDS.outputs.index(output) for output in few.outputs] == [int(given) for given in few.inputs]
    assert list(few.inputs) == sorted(few.inputs, key=int)


def test_a_small_board_is_tried_whole() -> None:
    assert pick(WORDS, 100).outputs == WORDS.outputs
    with pytest.raises(InvalidInput, match="at least one output"):
        pick(Batch([]), 8)


def test_a_metric_that_repeats_itself_passes(folder: Path) -> None:
    trial = try_program(metric(folder, "def score(o, r, i): return [len(x) / 3 for x in o]\n"), WORDS, rows=10)
    assert trial.problem is None
    assert trial.repeatable
    assert len(trial.runs) == 2
    assert trial.scores == tuple(len(output) / 3 for output in pick(WORDS, 8).outputs)
    assert trial.estimate == (10 * trial.seconds, 10 * trial.seconds * 12 / 8)


def test_sets_of_texts_have_one_order_in_both_runs(folder: Path) -> None:
    code = "def score(o, r, i): return [float(list({'a', 'b', 'c', 'd', x}).index('a')) for x in o]\n"
    assert try_program(metric(folder, code), WORDS).problem is None


def test_a_metric_that_does_not_repeat_itself_fails_unless_it_said_so(folder: Path) -> None:
    failed = try_program(metric(folder, RANDOM), WORDS)
    assert "fix its seeds, or declare `deterministic = false`" in str(failed.problem)
    declared = try_program(metric(folder, RANDOM, deterministic=False), WORDS)
    assert (declared.problem, declared.repeatable) == (None, False)


def test_without_quoting_no_score_is_repeated(folder: Path) -> None:
    problem = str(try_program(metric(folder, RANDOM), WORDS, quoting=False).problem)
    assert problem.startswith("own: scored the same outputs differently when run again; fix its seeds")
    assert "0." not in problem


def test_a_metric_that_fails_is_run_once(folder: Path) -> None:
    trial = try_program(metric(folder, "def score(o, r, i): return [1.0]\n"), WORDS)
    assert len(trial.runs) == 1
    assert "score() returned 1 scores for 8 outputs" in str(trial.problem)
    assert (trial.scores, trial.platform) == ((), False)
