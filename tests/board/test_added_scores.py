"""Scores that an owner adds: every line is checked, nothing is written over silently, and the newcomer has a rank."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import billboards as bb
from billboards.board import Aggregate, Board, Dimension, Generator, Instance, Reference, row_of
from billboards.board.folder import open_board
from billboards.board.judgments import JudgmentColumns
from billboards.board.writing import write_board
from billboards.cli.main import main

IDS = tuple(f"i{k}" for k in range(6))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two judged generators under one imported metric where lower is better, and a newcomer that has no scores."""
    instances = tuple(Instance(key, references=(Reference("Ada", f"text {key}"),)) for key in IDS)
    rows = tuple(row_of(Generator(n), instances, tuple(f"{n} {key}" for key in IDS)) for n in ("a", "b", "late"))
    judged = JudgmentColumns(("adequacy",))
    for k in range(len(IDS)):
        judged.add(k, 0, {"adequacy": 4.0 + (k % 2)})
        judged.add(k, 1, {"adequacy": 1.0 + (k % 3)})
    board = Board(
        name="ferry",
        instances=instances,
        rows=rows,
        judgments=judged.build(),
        dimensions={"adequacy": Dimension("adequacy")},
        aggregates={"overall": Aggregate("overall", ("adequacy",))},
        ranks="overall",
    )
    root = write_board(board, tmp_path / "ferry")
    (root / "scores").mkdir()
    lines = [f"{key}\t{1 + k % 2}\t{4 - k % 3}.50" for k, key in enumerate(IDS)]
    (root / "scores" / "edits.tsv").write_text("instance\ta\tb\n" + "\n".join(lines) + "\n")
    with (root / "board.toml").open("a") as file:
        file.write('\n[scores.edits]\nname = "Edits"\nhigher_is_better = false\n')
    return root


Add = Callable[..., int]


@pytest.fixture
def add(folder: Path, tmp_path: Path) -> Add:
    """`scores add` with a file of this content."""

    def run(name: str, content: str, *options: str) -> int:
        (tmp_path / name).write_text(content)
        return main(["scores", "add", str(folder), str(tmp_path / name), *options])

    return run


def plain(values: list[float]) -> str:
    return "instance\tscore\n" + "".join(f"{key}\t{value}\n" for key, value in zip(IDS, values, strict=True))


def test_a_newcomer_has_a_rank_once_its_scores_are_added(
    folder: Path, add: Add, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {g.name: g.rank for g in bb.rank(bb.open(folder), draws=0).value.generators}
    assert before["late"] is None
    assert add("late.tsv", plain([0.5] * 6), "--metric", "Edits", "--generator", "late") == 0
    assert "edits: 6 for late" in capsys.readouterr().err
    ranking = bb.rank(bb.open(folder), draws=0).value
    assert ranking.ranked_by == "Edits"
    assert [(g.name, g.rank) for g in ranking.generators] == [("late", 1), ("a", 2), ("b", 3)]
    (column,) = open_board(folder).imported
    assert column.values["late"].tolist() == [-0.5] * 6
    assert column.values["b"].tolist() == [-4.5, -3.5, -2.5, -4.5, -3.5, -2.5]


def test_a_dry_run_writes_nothing(folder: Path, add: Add, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / "scores" / "edits.tsv").read_bytes()
    assert add("late.tsv", plain([0.5] * 6), "--metric", "Edits", "--generator", "late", "--dry-run") == 0
    assert capsys.readouterr().err == "edits: 6 for late\nnothing was written\n"
    assert (folder / "scores" / "edits.tsv").read_bytes() == before


def test_scores_that_differ_are_replaced_only_when_asked(
    folder: Path, add: Add, capsys: pytest.CaptureFixture[str]
) -> None:
    values = [1.0, 2.0, 1.0, 2.0, 1.0, 7.0]
    asked = ("--metric", "Edits", "--generator", "a")
    assert add("a.tsv", plain(values), *asked) == 2
    words = "edits: a has other scores already on 1 instances, the first 2 where the file says 7; --replace"
    assert words in capsys.readouterr().err
    assert open_board(folder).imported[0].values["a"][5] == -2.0
    assert add("a.tsv", plain(values), *asked, "--replace") == 0
    assert "edits: 1 replaced of a, 5 there already" in capsys.readouterr().err
    assert open_board(folder).imported[0].values["a"][5] == -7.0


def test_a_file_may_say_everything_itself_as_csv_json_lines_or_a_table(folder: Path, add: Add) -> None:
    assert add("all.csv", "instance,generator,metric,score\ni0,late,Edits,1\ni1,late,Edits,\n") == 0
    line = {"instance": "i1", "generator": "late", "metric": "edits", "score": 2}
    assert add("all.jsonl", json.dumps(line) + "\n") == 0
    assert add("wide.tsv", "instance\tlate\ta\ni2\t3\t1\n", "--metric", "Edits") == 0
    late = open_board(folder).imported[0].values["late"]
    assert late[:3].tolist() == [-1.0, -2.0, -3.0]
    assert np.isnan(late[3:]).all()


def test_a_new_column_must_be_asked_for_and_says_what_it_is(
    folder: Path, add: Add, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("--metric", "Errors", "--generator", "a")
    assert add("new.tsv", plain([1.0] * 6), *asked) == 2
    assert "no imported metric named 'Errors'" in capsys.readouterr().err
    assert add("new.tsv", plain([1.0] * 6), *asked, "--lower-is-better") == 2
    assert "add --new" in capsys.readouterr().err
    assert add("new.tsv", plain([1.0] * 6), *asked, "--new", "--lower-is-better", "--needs", "nothing") == 0
    (column,) = [column for column in open_board(folder).imported if column.name == "Errors"]
    assert column.values["a"].tolist() == [-1.0] * 6
    assert not column.needs_references


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ("instance\tscore\ni9\t1\n", ("--metric", "Edits", "--generator", "late"), "instance 'i9' is not on the board"),
        ("instance\tscore\ni0\tx\n", ("--metric", "Edits", "--generator", "late"), "s.tsv:2: 'x' is not a score"),
        ("instance\tscore\ni0\tinf\n", ("--metric", "Edits", "--generator", "late"), "'inf' is not a score"),
        ("instance\tscore\ni0\t1\n", ("--metric", "Edits", "--generator", "lake"), "did you mean late"),
        ("instance\tscore\ni0\t1\n", ("--metric", "Edits"), "has no column generator; name it with --generator"),
        ("instance\tlate\ni0\t1\n", (), "name its metric with --metric"),
        ("instance\tscore\ni0\t1\ni0\t2\n", ("--metric", "Edits", "--generator", "late"), "a second score of late"),
        ("instance\tscore\tof\ni0\t1\t1\n", ("--metric", "Edits", "--generator", "late"), "unknown column 'of'"),
        ("instance\tscore\n", ("--metric", "Edits", "--generator", "late"), "holds no score"),
    ],
)
def test_every_mistake_is_named_and_nothing_is_written(
    folder: Path,
    add: Add,
    capsys: pytest.CaptureFixture[str],
    content: str,
    options: tuple[str, ...],
    words: str,
) -> None:
    before = (folder / "scores" / "edits.tsv").read_bytes()
    assert add("s.tsv", content, *options) == 2
    assert words in capsys.readouterr().err
    assert (folder / "scores" / "edits.tsv").read_bytes() == before
    assert [path.name for path in (folder / "scores").iterdir()] == ["edits.tsv"]
