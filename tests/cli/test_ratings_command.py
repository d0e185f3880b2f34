"""Studies of single ratings on the command line: JSON that parses, tables that show, one line for bad input."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import billboards as bb
from billboards.cli.main import main

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "analyses"))

from crowded_boards import crowded_board


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("boards") / "crowded"
    bb.save(crowded_board(unlabelled=10), folder)
    return folder


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "ratings.csv"
    rows = [f"{k},w{j},{(k * 7 + j * 3) % 5 + 1}" for k in range(20) for j in range(3)]
    path.write_text("item,worker,stars\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


COLUMNS = ("--item", "item", "--value", "stars", "--annotator", "worker", "--range", "1:5")


def test_agreement_as_json_with_days(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("ratings", "agreement", board, "--by", "day", "--resamples", 20, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["seed"], len(document["populations"])) == ("annotator_agreement", 0, 2)
    assert {"alpha", "icc", "kappa", "score_interval"} <= set(document["dimensions"][0])


def test_designs_of_a_table_as_json_and_chart(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chart = tmp_path / "designs.svg"
    assert run("ratings", "designs", table, *COLUMNS, "--rounds", 20, "--seed", 5, "--json", "--chart", chart) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["rounds"], document["seed"]) == ("designs", 20, 5)
    assert [one["labels"] for one in document["designs"]] == [1, 3, 3] * 2
    assert chart.read_text(encoding="utf-8").startswith("<svg")


def test_a_chart_of_days(board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chart = tmp_path / "days.svg"
    assert run("ratings", "agreement", board, "--by", "campaign", "--resamples", 5, "--chart", chart) == 0
    assert "spring" in chart.read_text(encoding="utf-8")
    assert "by campaign" in capsys.readouterr().out


def test_severity_consensus_and_doubts_as_json(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("ratings", "severity", board, "--no-drift", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["drift"], document["parts"]) == ("severity", False, 1)
    assert run("ratings", "consensus", board, "--method", "majority", "--json") == 0
    assert json.loads(capsys.readouterr().out)["methods"] == ["majority"]
    assert run("ratings", "doubts", board, "--metric", "good", "--show", 2, "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["implausible"]) == 2


@pytest.mark.parametrize("format_", ["--csv", "--latex", "--wide"])
@pytest.mark.parametrize(
    "action", [("agreement", "--by", "day", "--resamples", 5), ("severity",), ("designs", "--rounds", 5)]
)
def test_tables_come_in_every_format(
    board: Path, action: tuple[object, ...], format_: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("ratings", action[0], board, *action[1:], format_) == 0
    assert "adequacy" in capsys.readouterr().out


def test_estimates_of_everyone_and_what_to_label_next(
    board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("estimate", board, "--metric", "good", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["kind"] == "estimates"
    assert {one["generator"] for one in document["estimates"]} == {"g0", "g1", "g2", "g3"}
    assert run("estimate", board, "g3", "--metric", "good", "--next", 4, "--json") == 0
    drawn = tmp_path / "next.json"
    drawn.write_text(capsys.readouterr().out, encoding="utf-8")
    assert len(json.loads(drawn.read_text(encoding="utf-8"))["items"]) == 4
    assert run("estimate", board, "g3", "--metric", "good", "--next", 4) == 0
    assert "to label next" in capsys.readouterr().out
    assert run("estimate", board, "g3", "--metric", "good", "--drawn", drawn, "--json") == 0
    assert json.loads(capsys.readouterr().out)["generator"] == "g3"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ratings", "designs", "{table}"], "name the columns with --item and --value"),
        (["ratings", "agreement", "{board}", "--dimension", "style"], "no dimension named 'style'"),
        (["ratings", "agreement", "{board}", "--campaign", "winter"], "no campaign named 'winter'"),
        (["ratings", "designs", "{board}", "--labels", 9], "no item has 9 labels"),
        (["estimate", "{board}", "--next", 5], "--next is about one generator"),
        (["estimate", "{board}", "g3", "--drawn", "{table}"], "can't be read as JSON"),
        (["ratings", "agreement", "{board}", "--chart", "x.svg", "--resamples", 5], "nothing to draw"),
    ],
)
def test_bad_input_is_one_line(
    board: Path, table: Path, arguments: list[object], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    filled = [str(one).format(board=board, table=table) for one in arguments]
    assert run(*filled) == 2
    message = capsys.readouterr().err
    assert words in message
    assert message.count("\n") == 1
