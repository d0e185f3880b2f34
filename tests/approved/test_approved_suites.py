"""What the commands on suites print and write, in each form, and what they refuse."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from approving import approve
from small_suites import SUITE, compared_board, valued_board, written_suite
from told_commands import told_by

from billboards.analyses.suite.open import open_suite
from billboards.board import Board, ImportedColumn
from billboards.board.writing import write_board

QUICK = ("--draws", "30", "--wide")
OWN = """\
\"\"\"How many words of the output stand in the first reference.\"\"\"
NAME = "shared"
def score(outputs, references, inputs):
    return [
        float(len(set((text or "").split()) & set(given[0].split()))) for text, given in zip(outputs, references)
    ]
"""
#: What is asked of the suite of three ports, by name.
ASKED: dict[str, tuple[str, ...]] = {
    "tables": ("tables",),
    "tables with p": ("tables", "--show", "p"),
    "tables with intervals": ("tables", "--show", "intervals"),
    "tables of one task": ("tables", "--task", "notes", "--dimension", "truth"),
    "tables of nothing": ("tables", "--task", "none"),
    "tables by languages": ("tables", "--languages", "columns"),
    "tables by several statistics": ("tables", "--statistic", "spearman/by-item", "--statistic", "kendall-b/pooled"),
    "tables as another community": ("tables", "--preset", "summeval"),
    "tables of systems": ("tables", "--statistic", "pearson", "--grouping", "by-system"),
    "tables of ties": ("tables", "--ties", "half", "--preferences", "mixed"),
    "tables for a paper": ("tables", "--latex", "--heat", "--bold", "best", "--label", "tab:ports", "--star"),
    "tables in Markdown": ("tables", "--markdown", "--digits", "2", "--notes", "none"),
    "rank": ("rank",),
    "rank by others": ("rank", "--role", "other"),
    "rank by one block": ("rank", "--block", "one", "--sides", "one"),
    "rank without blocks": ("rank", "--block", "none", "--seed", "3"),
    "rank of two metrics": ("rank", "--metric", "chrF", "--metric", "length"),
    "rank as CSV": ("rank", "--csv"),
    "rank of pairs too": ("rank", "--preferences", "mixed"),
    "rank by half ties": ("rank", "--preferences", "mixed", "--ties", "half"),
    "rank without ties": ("rank", "--preferences", "mixed", "--ties", "left-out"),
    "rank by accuracy": ("rank", "--preferences", "mixed", "--statistic", "accuracy", "--task", "songs"),
    "rank by accuracy without ties": ("rank", "--statistic", "accuracy", "--task", "songs", "--ties", "left-out"),
    "rank of songs": ("rank", "--task", "songs"),
    "rank by several statistics": ("rank", "--statistic", "spearman", "--statistic", "pearson/by-item"),
    "rank by items": ("rank", "--statistic", "spearman/by-item", "--dimension", "truth"),
    "rank of nothing": ("rank", "--dimension", "none"),
    "tables by accuracy": ("tables", "--statistic", "accuracy", "--show", "intervals"),
    "people": ("people",),
    "advise": ("advise",),
    "advise for songs": ("advise", "--task", "songs", "--language", "en"),
    "advise without references": ("advise", "--references", "no"),
    "advise for a board": ("advise", "--board", "Two", "--cost", "instant"),
    "advise for German": ("advise", "--language", "de", "--references", "yes", "--cost", "paid"),
    "advise for no board": ("advise", "--board", "Four"),
    "a metric that is not there": ("rank", "--metric", "none"),
    "a statistic that is not there": ("tables", "--statistic", "none"),
    "a suite that is not there": ("people",),
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = written_suite(tmp_path_factory.mktemp("ports"))
    open_suite(path).score()
    took_as_long_everywhere(path.parent)
    return path


def took_as_long_everywhere(folder: Path) -> None:
    """What advice says of a metric's speed is the same on every machine."""
    for cells in folder.glob("*/.billboards/cells.sqlite"):
        with closing(sqlite3.connect(cells)) as database, database:
            database.execute("update cells set seconds = column_id / 1024.0")


@pytest.mark.parametrize("name", ASKED)
def test_a_suite_says_what_was_approved(name: str, suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    action, *more = ASKED[name]
    file = suite.with_name("none.toml") if name.endswith("suite that is not there") else suite
    drawn = () if action == "people" else QUICK
    told = told_by(["suite", action, file, *more, *drawn], capsys)
    if action in ("tables", "rank", "people", "advise") and not {"--csv", "--latex", "--markdown"} & set(more):
        told["json"] = told_by(["suite", action, file, *more, *drawn, "--json"], capsys)["out"]
    approve(f"suites/{name.replace(' ', '-')}", told, folder=str(suite.parent))


def test_a_run_computes_shows_and_writes_what_was_approved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    suite, page, out = written_suite(tmp_path), tmp_path / "page.html", tmp_path / "out"
    (tmp_path / "shared.py").write_text(OWN)
    told = told_by(
        ["suite", "run", suite, "--add", "shared.py", "--jobs", 1, *QUICK, "--html", page, "-o", out],
        capsys,
        files=(page, out),
    )
    took_as_long_everywhere(tmp_path)
    told["again"] = told_by(["suite", "run", suite, "--jobs", 1, *QUICK, "--json"], capsys)
    told["one"] = told_by(["suite", "run", suite, "--metric", "chrF", "--jobs", 1, *QUICK, "--table", 2], capsys)
    told["report"] = told_by(
        ["metric", "report", "shared.py", "--suite", suite, "--html", page, "--jobs", 1, *QUICK], capsys, files=(page,)
    )
    told["report on boards"] = told_by(
        ["metric", "report", "chrF", "one", "pairs", "--jobs", 1, *QUICK, "--json"], capsys
    )
    approve("suites/run", told, folder=tmp_path)


def test_a_new_suite_is_written_as_approved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written_suite(tmp_path)
    write_board(valued_board("three", 6, seed=4, references=1, language=None, human=True), tmp_path / "three")
    folders = [tmp_path / name for name in ("one", "two", "pairs", "three")]
    new = tmp_path / "new.toml"
    told = {
        "written": told_by(["suite", "new", new, *folders], capsys, files=(new,)),
        "again": told_by(["suite", "new", new, *folders], capsys),
        "twice": told_by(["suite", "new", tmp_path / "twice.toml", folders[0], folders[0]], capsys),
        "nothing": told_by(["suite", "new", tmp_path / "nothing.toml"], capsys),
        "no board": told_by(["suite", "new", tmp_path / "other.toml", tmp_path / "none"], capsys),
        "people": told_by(["suite", "people", new], capsys),
    }
    approve("suites/new", told, folder=tmp_path)


#: What a suite's file may have wrong: a part of it, and what stands there instead.
WRONG: dict[str, tuple[str, str]] = {
    "no name": ('name = "ports"', ""),
    "an empty name": ('name = "ports"', 'name = ""'),
    "a wrong name": ('name = "ports"', 'name = "a/b"'),
    "an unknown key": ("[families]", 'colour = "red"\n[families]'),
    "metrics as a word": ('metrics = ["ROUGE-1", "chrF", "length"]', 'metrics = "chrF"'),
    "no metrics": ('metrics = ["ROUGE-1", "chrF", "length"]', "metrics = []"),
    "a metric twice": ('metrics = ["ROUGE-1", "chrF", "length"]', 'metrics = ["chrF", "chrF"]'),
    "an unknown metric": ('"length"]', '"lengh"]'),
    "a family of nobody": ('letters = ["chrF"]', 'letters = ["BLEU"]'),
    "a metric in two families": ('letters = ["chrF"]', 'letters = ["ROUGE-1"]'),
    "an empty family": ('letters = ["chrF"]', "letters = []"),
    "a folder that is not there": ('folder = "two"', 'folder = "four"'),
    "no folder": ('folder = "two"\n', ""),
    "a label twice": ('label = "Two"', 'label = "One"'),
    "an unknown dimension": ('correctness = "truth"\nothers = ["style"]', 'correctness = "trust"\nothers = ["style"]'),
    "another that is correctness": ('others = ["style"]', 'others = ["truth"]'),
    "another that is unknown": ('others = ["style"]', 'others = ["stile"]'),
    "a difficulty that is a word": ("difficulty = 2", 'difficulty = "hard"'),
    "a negative weight": ("weight = 2.0", "weight = -2.0"),
    "no weight at all": ("weight = 2.0", "weight = 0"),
    "an endless weight": ("weight = 2.0", "weight = inf"),
    "a key of a board that is unknown": ("weight = 2.0", "wheight = 2.0"),
    "no boards": (SUITE[SUITE.index("[[boards]]") :], ""),
}


def test_a_suites_file_is_refused_with_the_words_approved(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told: dict[str, Any] = {}
    for name, (old, new) in WRONG.items():
        assert old in SUITE
        file = suite.with_name("wrong.toml")
        file.write_text(SUITE.replace(old, new))
        told[name] = told_by(["suite", "tables", file, "--draws", "5"], capsys)
    approve("suites/wrong", told, folder=suite.parent)


RICH = """\
name = "coast"
metrics = ["ROUGE-1", "chrF", "length", "sent", "released"]
statistics = ["spearman", "pearson/by-item"]
ties = "half"
preferences = "mixed"

[families]
words = ["ROUGE-1"]
letters = ["chrF", "sent"]

[[boards]]
folder = "one"
correctness = ["truth", "style"]
group = "Both"
task = "notes"
difficulty = 1
reference = "REFERENCE"

[[boards]]
folder = "two"
correctness = "truth"
others = ["style"]
group = "Both"
task = "notes"
difficulty = 3
instead = { chrF = "chrF(beta=1)" }

[[boards]]
folder = "three"
correctness = "truth"
task = "letters"

[[boards]]
folder = "pairs"
correctness = "better"
task = "songs"
"""


def with_sent_scores(board: Board, *, scores_only: bool) -> Board:
    """The board with a column that came along: a word count that errs, and lacks a value."""
    values = {}
    for place, row in enumerate(board.rows):
        counts = np.array([len((text or "").split()) for text in row.texts], np.float64)
        counts[place] += 4
        counts[-1] = np.nan if place == 1 else counts[-1]
        values[row.name] = counts
    names = ("sent", "released") if scores_only else ("released",)
    columns = tuple(
        ImportedColumn(
            name=name,
            source_name=name,
            signature=f"imported:{name}",
            values=values,
            references=(),
            scores_only=name == "sent",
        )
        for name in names
    )
    return replace(board, imported=columns)


def test_a_suite_of_many_kinds_of_boards_says_what_was_approved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    boards = {
        "one": with_sent_scores(valued_board("one", 10, seed=1, human=True), scores_only=True),
        "two": with_sent_scores(valued_board("two", 9, seed=2, human=True), scores_only=False),
        "three": valued_board("three", 8, seed=3, references=1, language="de"),
        "pairs": compared_board("pairs", 7, seed=4),
    }
    for name, board in boards.items():
        write_board(board, tmp_path / name)
    suite, page = tmp_path / "coast.toml", tmp_path / "page.html"
    first = boards["one"].instances[0].references[0].name
    suite.write_text(RICH.replace("REFERENCE", first), "utf-8")
    told = {"run": told_by(["suite", "run", suite, "--jobs", 1, *QUICK, "--html", page], capsys, files=(page,))}
    took_as_long_everywhere(tmp_path)
    for name, asked in {
        "tables": ("tables",),
        "tables with intervals": ("tables", "--show", "intervals", "--languages", "columns"),
        "tables of German": ("tables", "--language", "de"),
        "rank": ("rank",),
        "rank by one": ("rank", "--block", "one", "--role", "other"),
        "rank of notes": ("rank", "--task", "notes", "--sides", "one"),
        "rank as JSON": ("rank", "--json"),
        "people": ("people",),
        "advise": ("advise", "--task", "notes"),
        "advise for German": ("advise", "--language", "de", "--json"),
    }.items():
        action, *more = asked
        told[name] = told_by(["suite", action, suite, *more, *(() if action == "people" else QUICK)], capsys)
    for metric in ("chrF", "sent", "released", "length", "none"):
        told[f"report on {metric}"] = told_by(
            ["metric", "report", metric, "--suite", suite, "--jobs", 1, *QUICK], capsys
        )
    approve("suites/rich", told, folder=tmp_path)
