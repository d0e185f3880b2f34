"""A metric of one's own, as a file or a function, wherever a metric may be named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_boards import small_board
from small_suites import SUITE, written_suite

import billboards as bb
from billboards.analyses._archive import home_of
from billboards.board.missing_cells import column_key
from billboards.cli.main import main
from billboards.errors import InvalidInput, UnknownName
from billboards.metrics.bleu import BLEU
from billboards.metrics.own import FileMetric, FunctionMetric, open_metric_file

MINE = '''"""Words that the output shares with its first reference."""

def score(outputs, references, inputs):
    return [len(set(o.split()) & set(r[0].split())) for o, r in zip(outputs, references, strict=True)]
'''
CASE = 2.0


def words(outputs: list[str]) -> list[float]:
    """Words of an output."""
    return [float(len(output.split())) for output in outputs]


def shared(outputs: list[str], references: list[list[str]]) -> list[float]:
    return [
        float(len(set(output.split()) & set(texts[0].split())))
        for output, texts in zip(outputs, references, strict=True)
    ]


def copied(
    outputs: list[str], references: list[list[str]] | None = None, inputs: list[str] | None = None
) -> list[float]:
    assert references == [["a c"], ["b"]]
    return [float(output == given) for output, given in zip(outputs, inputs or (), strict=True)]


def twice(outputs: list[str], factor: float = CASE) -> list[float]:
    return [factor * len(output) for output in outputs]


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


@pytest.fixture
def board(tmp_path: Path) -> bb.Board:
    bb.save(small_board(instances=6), tmp_path / "board")
    return bb.open(tmp_path / "board")


def kept(board: bb.Board, metric: bb.Metric) -> list[float]:
    """A metric's scores of one generator, as the board's folder keeps them."""
    outputs = board.row("g0")
    cells = home_of(board).cells.load(column_key(board, metric, board.references), [outputs.version])
    return [float(score) for score in cells[outputs.version]]


def test_whatever_names_a_metric_gives_one(mine: Path) -> None:
    assert bb.metric(BLEU()) == bb.metric(BLEU) == bb.metric("bleu") == BLEU()
    assert bb.metric(BLEU, lowercase=True) == BLEU(lowercase=True)
    assert isinstance(bb.metric(mine), FileMetric)
    assert bb.metric(str(mine)) == bb.metric(mine)
    assert isinstance(bb.metric(words), FunctionMetric)


def test_a_function_is_given_what_its_parameters_name() -> None:
    batch = bb.Batch(["a b c", "b"], [["a c"], ["b"]], ["x", "b"])
    assert bb.metric(words).score_batch(batch).tolist() == [3.0, 1.0]  # type: ignore[union-attr]
    assert bb.metric(shared).score_batch(batch).tolist() == [2.0, 1.0]  # type: ignore[union-attr]
    assert bb.metric(copied).score_batch(batch).tolist() == [0.0, 1.0]  # type: ignore[union-attr]
    assert bb.metric(twice).score_batch(batch).tolist() == [10.0, 2.0]  # type: ignore[union-attr]
    cards = [bb.metric(function).card for function in (words, shared, copied)]
    assert [card.needs_references for card in cards] == [False, True, True]
    assert [card.needs_input for card in cards] == [False, False, True]
    assert (cards[0].name, cards[0].summary) == ("words", "Words of an output.")


def test_a_functions_name_and_direction_can_be_said() -> None:
    made = bb.metric(lambda outputs: [len(output) for output in outputs], name="letters", higher_is_better=False)
    assert (made.name, made.card.higher_is_better) == ("letters", False)
    assert made.signature.startswith("letters|function:")
    assert made.signature.endswith("|needs:none|higher_is_better:no")


def scorer(factor: float) -> Callable[[list[str]], Sequence[float]]:
    def stretched(outputs: list[str]) -> list[float]:
        return [factor * len(output) for output in outputs]

    return stretched


def test_a_functions_signature_is_its_source_and_what_it_uses() -> None:
    """Two functions of one source that score differently are two columns."""
    assert bb.metric(words).signature == bb.metric(words).signature
    assert bb.metric(scorer(1.0)).signature == bb.metric(scorer(1.0)).signature
    assert bb.metric(scorer(1.0)).signature != bb.metric(scorer(2.0)).signature
    code = "def outer(outputs): return inner(outputs)\ndef inner(outputs): return [{}] * len(outputs)"
    signatures = set()
    for number in (1, 2):
        scope: dict[str, Any] = {"__name__": "made"}
        exec(code.format(number), scope)
        signatures.add(bb.metric(scope["outer"]).signature)
    assert len(signatures) == 2


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda outputs: [], r"found '<lambda>'; name the function by metric\(function, name="),
        (lambda: [], "outputs is missing"),
        (lambda outputs, judgments: [], "parameter 'judgments' is none of them"),
        (lambda *outputs: [], "parameter 'outputs' is none of them"),
        (sum, "is no function; write def score"),
        (3, "is no metric; give a name, a Python file, a function or a Metric"),
        (dict, "is no metric"),
    ],
)  # fmt: skip
def test_what_can_not_score_is_refused(wrong: object, says: str) -> None:
    named = {} if "name=" in says or not callable(wrong) or isinstance(wrong, type) else {"name": "mine"}
    with pytest.raises(InvalidInput, match=says):
        bb.metric(wrong, **named)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parameters", "needs"),
    [
        ("outputs", "none"),
        ("outputs, references", "references"),
        ("outputs, inputs", "input"),
        ("o, r, i", "references"),
    ],
)
def test_a_files_function_may_name_less_than_there_is(tmp_path: Path, parameters: str, needs: str) -> None:
    file = tmp_path / "words.py"
    last = parameters.split(", ")[-1]
    file.write_text(f"def score({parameters}):\n    return [len(kept) for kept in {last}]\n")
    metric = open_metric_file(file)
    assert f"|needs:{needs}|" in metric.signature
    batch = bb.Batch(["four", "five5"], [["a"], ["b", "c"]], ["sixsix", "seven77"])
    expected = {"outputs": [4, 5], "references": [1, 2], "inputs": [6, 7], "i": [6, 7]}[last]
    assert metric.score_batch(batch).tolist() == expected


def test_a_file_changed_within_a_second_is_scored_as_it_is_now(tmp_path: Path) -> None:
    """Python keeps compiled code by a file's length and the second it was changed in; both are the same here."""
    file = tmp_path / "grade.py"
    values = []
    for value in (1.0, 2.0):
        file.write_text(f"def score(outputs, references):\n    return [{value} for _ in outputs]\n")
        os.utime(file, (1_700_000_000, 1_700_000_000))
        values.append(bb.metric(file).score(["a", "b"], ["c", "d"]).corpus)
    assert values == [1.0, 2.0]


def test_options_are_refused_where_there_are_none(mine: Path) -> None:
    for spec in (mine, BLEU(), "pack:mine"):
        with pytest.raises(InvalidInput, match="takes no options here; found beta"):
            bb.metric(spec, beta=1)
    with pytest.raises(InvalidInput, match="is no Python file"):
        bb.metric("./absent.py")


def test_a_board_is_scored_by_names_files_and_functions(board: bb.Board, mine: Path) -> None:
    report = bb.score(board, ["bleu", str(mine), words])
    assert report.failures == {}
    outputs = [text or "" for text in board.row("g0").texts]
    assert kept(board, bb.metric(words)) == words(outputs)
    first = [[instance.references[0].text] for instance in board.instances]
    assert kept(board, bb.metric(mine)) == shared(outputs, first)
    assert bb.score(board, words).computed == 0
    assert {"BLEU", "mine", "words"} <= {standing.name for standing in bb.rank(board).value.metrics}


def test_functions_and_files_run_in_several_processes(board: bb.Board, mine: Path) -> None:
    report = bb.score(board, [words, mine], jobs=2)
    assert report.failures == {}
    assert kept(board, bb.metric(words)) == words([text or "" for text in board.row("g0").texts])


def test_a_function_that_other_processes_can_not_find_fails_alone(board: bb.Board) -> None:
    report = bb.score(board, [scorer(2.0), "length"], jobs=2)
    (reason,) = report.failures.values()
    assert "other processes can't find this function; define it at the top of a Python file" in reason
    assert kept(board, bb.metric("length"))


def test_a_board_can_not_name_a_file(tmp_path: Path, mine: Path) -> None:
    bb.save(replace(small_board(instances=3), metrics=(str(mine),)), tmp_path / "naming")
    with pytest.raises(InvalidInput, match="a board's file can't name a Python file"):
        bb.score(bb.open(tmp_path / "naming"))
    with pytest.raises(InvalidInput, match="a board's file can't name a Python file"):
        bb.audit(bb.open(tmp_path / "naming"))


def test_every_analysis_that_takes_metrics_takes_functions(board: bb.Board) -> None:
    assert "shared" in json.dumps(bb.challenge(board, [shared]).document)
    assert "shared" in json.dumps(bb.references(board, [shared]).document)
    assert "shared" in json.dumps(bb.overrating(board, "A", metrics=[shared]).document)
    assert "words" in json.dumps(bb.audit(board, [words], against=[shared], draws=20).document)


@pytest.mark.parametrize(
    "command",
    [
        ["score"],
        ["audit", "--method", "rerank"],
        ["challenge"],
        ["references"],
        ["overrating", "--human", "A"],
    ],
)
def test_every_command_takes_a_file(
    board: bb.Board, mine: Path, tmp_path: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    name, *options = command
    if name == "audit":
        mine.write_text(MINE.replace("def score", "NEEDS = []\n\ndef score").replace("r[0].split()", "'a'"))
    assert main([name, str(tmp_path / "board"), "--metric", str(mine), *options, "--jobs", "1"]) == 0
    shown = capsys.readouterr()
    assert name == "score" or "mine" in shown.out
    if name == "score":
        assert kept(board, bb.metric(mine))


def test_a_suite_takes_files_by_name_and_in_its_file(
    mine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    how = ["--jobs", "1", "--draws", "20", "--wide"]
    suite = written_suite(tmp_path, SUITE.replace('"chrF", "length"', '"chrf", "mine.py"'))
    assert main(["suite", "run", str(suite), *how]) == 0
    shown = capsys.readouterr().out
    assert "mine" in shown
    assert "chrF" in shown
    assert main(["suite", "run", str(suite), "--metric", str(mine), "--metric", "chrF", *how]) == 0
    assert "mine" in capsys.readouterr().out
    assert main(["metric", "report", str(mine), "--suite", str(suite), *how]) == 0
    assert "mine over" in capsys.readouterr().out
    assert main(["metric", "report", "rouge-1", "--suite", str(suite), *how]) == 0
    assert "ROUGE-1 over" in capsys.readouterr().out


def test_a_suite_takes_functions(tmp_path: Path) -> None:
    suite = bb.open_suite(written_suite(tmp_path))
    rows = {cell.metric for cell in suite.run([words, "length"], draws=20).value.kept.result.cells}
    assert rows == {"words", "length"}
    assert suite.report_metric(words, draws=20).value.metric == "words"


def test_the_command_line_shows_a_files_card(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics", str(mine)]) == 0
    assert "Words that the output shares with its first reference." in capsys.readouterr().out


def test_a_function_typed_in_at_a_keyboard_is_refused_by_several_processes(board: bb.Board, tmp_path: Path) -> None:
    program = (
        "import billboards as bb\n"
        "def typed(outputs): return [1.0 for _ in outputs]\n"
        f"board = bb.open({str(tmp_path / 'board')!r})\n"
        "print(bb.score(board, [typed], jobs=2).failures)\n"
        "print(bb.score(board, [typed]).failures)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    refused, alone = done.stdout.splitlines()
    assert "other processes can't find this function" in refused
    assert alone == "{}"


def test_an_unknown_name_is_answered_with_names_in_their_own_case() -> None:
    with pytest.raises(UnknownName, match="did you mean BERTScore"):
        bb.metric("bertscor")
