"""The commands on suites, and a metric of ten lines over a whole suite: killed amid its work, it goes on from there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_suites import valued_board, written_suite

from billboards.analyses.suite.open import open_suite
from billboards.board.cells import SqliteCells
from billboards.board.missing_cells import Progress
from billboards.board.writing import write_board
from billboards.cli.main import main
from billboards.errors import InvalidInput, MetricFailed
from billboards.metrics.base import Batch
from billboards.metrics.own import open_metric_file

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "suite" / "shared_words.py"
SLOW = """\
import time
NAME = "slow"
def score(outputs, references, inputs):
    time.sleep(0.15)
    return [float(len(text)) for text in outputs]
"""


def test_the_example_is_ten_lines_long() -> None:
    assert len(EXAMPLE.read_text().splitlines()) <= 10


def test_a_ten_line_metric_runs_over_a_whole_suite_with_one_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = str(written_suite(tmp_path))
    assert main(["suite", "run", suite, "--add", str(EXAMPLE), "--jobs", "1", "--draws", "50", "--wide"]) == 0
    shown = capsys.readouterr()
    assert "shared_words" in shown.out
    assert "Ports of call: correctness" in shown.out
    assert "ports: metrics over all boards" in shown.out
    assert main(["suite", "run", suite, "--add", str(EXAMPLE), "--jobs", "1", "--draws", "50"]) == 0
    assert capsys.readouterr().err.startswith("0 cells computed, ")


@pytest.mark.long
def test_a_run_that_is_killed_goes_on_with_the_rest(tmp_path: Path) -> None:
    """Nine rows and two reference sets on one board make twelve cells; what was saved before the kill stays."""
    suite, slow = written_suite(tmp_path), tmp_path / "slow.py"
    slow.write_text(SLOW)
    arguments = ["suite", "run", str(suite), "--metric", "length", "--add", str(slow), "--jobs", "1", "--draws", "20"]
    command = [sys.executable, "-m", "billboards", *arguments, "--json"]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while _slow_cells(tmp_path) < 2 and running.poll() is None:
        time.sleep(0.02)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    before = _slow_cells(tmp_path)
    assert 2 <= before < 12
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    # Twelve of slow, nine of length; length comes without references and is computed last on each board.
    assert _slow_cells(tmp_path) == 12
    computed = int(done.stderr.split(" cells computed")[0])
    assert computed <= 21 - before
    assert json.loads(done.stdout)["kind"] == "suite_results"


def _slow_cells(folder: Path) -> int:
    """How many cells of the slow metric are saved on all boards."""
    total = 0
    for name in ("one", "two", "pairs"):
        cells = SqliteCells(folder / name)
        total += sum(len(cells.present(key)) for key in cells.columns() if key.column.name == "slow")
    return total


def test_progress_runs_over_all_boards(tmp_path: Path) -> None:
    seen: list[Progress] = []
    open_suite(written_suite(tmp_path)).judging(["chrF"]).score(on_progress=seen.append)
    assert [step.done for step in seen] == sorted(step.done for step in seen)
    assert seen[-1].done == seen[-1].total == 3 * (2 * 12 + 10 + 9)
    assert [step.cell.split(" · ")[0] for step in (seen[0], seen[-1])] == ["One", "Pairs"]


def test_a_metric_that_fails_is_named_and_the_others_stand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("def score(outputs, references, inputs):\n    return ['x'] * len(outputs)\n")
    suite = str(written_suite(tmp_path))
    code = main(["suite", "run", suite, "--metric", "chrF", "--add", str(bad), "--jobs", "1", "--draws", "20"])
    shown = capsys.readouterr()
    assert code == 1
    assert "failed: bad on One:" in shown.err
    assert "score() must return a number for each output" in shown.err
    assert "chrF" in shown.out


@pytest.mark.parametrize("form", ["--csv", "--latex", "--json"])
def test_tables_and_rankings_come_in_every_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    write_board(valued_board("one", 8, seed=1), tmp_path / "one")
    assert main(["suite", "new", str(tmp_path / "s.toml"), str(tmp_path / "one")]) == 0
    open_suite(tmp_path / "s.toml").score()
    capsys.readouterr()
    assert main(["suite", "tables", str(tmp_path / "s.toml"), "--draws", "20", form]) == 0
    tables = capsys.readouterr().out
    assert main(["suite", "rank", str(tmp_path / "s.toml"), "--draws", "20", form]) == 0
    ranking = capsys.readouterr().out
    if form == "--json":
        assert json.loads(tables)["cells"][0]["measures"]["kendall"]["p"] is not None
        assert json.loads(ranking)["standings"][0]["metric"] == "chrF"
    elif form == "--csv":
        assert tables.startswith("name,block,one:truth,one:truth p,one:truth 95%_low,one:truth 95%_high,one:truth n")
    else:
        assert r"\toprule" in tables
        assert r"\toprule" in ranking


def test_a_metric_report_is_written_for_boards_and_for_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_board(valued_board("one", 8, seed=1), tmp_path / "one")
    page = tmp_path / "page.html"
    how = ["--draws", "20", "--jobs", "1", "--wide"]
    assert main(["metric", "report", str(EXAMPLE), str(tmp_path / "one"), "--html", str(page), *how]) == 0
    assert "shared_words over boards" in capsys.readouterr().out
    assert "shared_words" in page.read_text()
    assert main(["metric", "report", "chrF"]) == 2
    assert "name board folders, or a suite with --suite" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1\n", "has no function score"),
        ("def score(o, r, i): return []\nNAME = 3\n", "NAME must be a name"),
        ("def score(o, r, i): return []\nNEEDS = ['judgments']\n", "NEEDS must be a list"),
        ("def score(o, r, i): return []\nHIGHER_IS_BETTER = 'yes'\n", "HIGHER_IS_BETTER must be True or False"),
        ("1 / 0\n", "ZeroDivisionError"),
    ],
)
def test_a_metric_file_with_a_mistake_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "own.py"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=says):
        open_metric_file(path)


def test_a_metric_files_signature_is_its_content(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text('"""Counts."""\nNEEDS = []\ndef score(o, r, i): return [1.0 for _ in o]\n')
    first = open_metric_file(path)
    assert (first.card.summary, first.card.needs_references) == ("Counts.", False)
    path.write_text(path.read_text() + "# changed\n")
    assert open_metric_file(path).signature != first.signature
    with pytest.raises(MetricFailed, match="has changed while it was in use"):
        first.score_batch(Batch(["a"]))


def test_the_best_of_every_column_of_a_suites_tables_is_bold_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = written_suite(tmp_path)
    result = open_suite(suite).run(draws=20).value.kept.result
    assert main(["suite", "tables", str(suite), "--draws", "20", "--latex", "--table", "correctness"]) == 0
    assert r"\textbf" not in capsys.readouterr().out
    assert (
        main(["suite", "tables", str(suite), "--draws", "20", "--latex", "--table", "correctness", "--bold", "best"])
        == 0
    )
    latex = capsys.readouterr().out
    one = next(column for column in result.columns if column.label == "One")
    values = [100 * cell.measures["pearson"].value for cell in result.cells if cell.column == one.key and cell.measures]
    assert rf"\textbf{{{max(values):.1f}}}" in latex
    assert rf"\textbf{{{min(values):.1f}}}" not in latex
    assert "Bold: the best value of a column." in latex
