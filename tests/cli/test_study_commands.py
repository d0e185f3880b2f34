"""Hybrids, estimate, power and agreement on the command line: JSON that parses, and one line for bad names."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from compared_boards import compared_board

import billboards as bb
from billboards.cli.main import main

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "analyses"))

from small_boards import small_board


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small board, scored."""
    folder = tmp_path_factory.mktemp("boards") / "small"
    bb.score(bb.save(replace(small_board(instances=25), metrics=("BLEU", "chrF", "length")), folder))
    return folder


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_hybrids_as_json(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("hybrids", board, "--mixtures", 300, "--parents", "all", "--sample", 10, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["kind"], document["parents"], document["sample"]) == (1, "hybrids", None, 10)
    assert {one["name"] for one in document["metrics"]} == {"BLEU", "chrF"}
    assert {"correlation", "hits", "mrr", "difference", "p", "cluster"} <= set(document["metrics"][0])
    assert document["left_out"] == {"length": "a statistic, not a metric"}


def test_estimate_as_json(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("estimate", board, "g1", "--labels", 10, "--metric", "chrF", "--seed", 3, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["target"], document["labels"], document["available"]) == (
        "estimate",
        "instances",
        10,
        25,
    )
    low, high = document["with_metric"]["interval"]
    assert low < document["with_metric"]["mean"] < high
    assert run("estimate", board, "g1", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["target"], document["labels"], document["fitted_on"]) == ("population", 25, ["g0", "g2", "g3"])


@pytest.mark.parametrize(("pair", "kind"), [(("g0", "g2"), "generators"), (("BLEU", "chrF"), "metrics")])
def test_power_as_json(board: Path, pair: tuple[str, str], kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("power", board, *pair, "--power", 0.9, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["entries"], document["power"], document["level"]) == ("power", kind, 0.9, 0.05)
    assert {"name", "unit", "difference", "units", "power_here", "needed", "labels"} == set(document["needs"][0])
    assert (document["needs"][0]["name"] == "people") == (kind == "generators")


def test_agreement_as_json(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("agreement", board, "adequacy", "overall", "--domain", "sea", "--show", 2, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["slice"]) == ("agreement", "domain sea")
    outputs = document["levels"][0]
    assert (outputs["level"], outputs["n"]) == ("outputs", 78)
    assert [outputs[name] for name in ("pearson", "spearman", "kendall")] == pytest.approx([1, 1, 1])


@pytest.mark.parametrize("form", ["--csv", "--latex", "--wide"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["hybrids", "{board}", "--mixtures", "200"],
        ["estimate", "{board}", "g1"],
        ["power", "{board}", "g0", "g1"],
        ["agreement", "{board}", "adequacy", "overall"],
    ],
)
def test_every_format_prints_something(
    arguments: list[str], form: str, board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*(a.format(board=board) for a in arguments), form) == 0
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["hybrids", "{board}", "--aggregate", "overal"], "did you mean overall?"),
        (["hybrids", "{board}", "--parents", "9"], "hybrids of 9 parents"),
        (["estimate", "{board}", "g9"], "no generator named 'g9'"),
        (["estimate", "{board}", "g1", "--metric", "chrff"], "did you mean chrF?"),
        (["estimate", "{board}", "g1", "--labels", "26"], "g1 has 25 labels and 26 are to be used"),
        (["power", "{board}", "BLEU", "BLUE"], "no metric named 'BLUE'"),
        (["power", "{board}", "BLEU", "g1"], "name two metrics or two generators"),
        (["agreement", "{board}", "crowd", "overall"], "no aggregate or dimension named 'crowd'"),
    ],
)
def test_bad_names_are_one_line_on_stderr_and_exit_code_2(
    arguments: list[str], said: str, board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*(a.format(board=board) for a in arguments)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert said in captured.err


def test_every_two_metrics_as_json(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("compare", board, "--draws", 50, "--unit", "instances", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["unit"], document["draws"]) == ("metric_pairs", "instances", 50)
    assert len(document["compared"]) == 3
    assert {"difference", "p", "holm", "bh", "n", "accuracy", "p_accuracy", "pairs"} <= set(document["compared"][0])


def test_one_name_alone_can_t_be_compared(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("compare", board, "BLEU") == 2
    assert "BLEU must be compared with another" in capsys.readouterr().err


def test_values_of_every_statistic(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("sensitivity", board, "--draws", 10, "--values", "--csv") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "statistic,name,value,p,n"
    assert any(line.startswith('"kendall-c, by item",chrF,') for line in lines)


def test_overrating_with_generators_as_a_sample(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("overrating", board, "--human", "B", "--crossed", "--jobs", 1, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["crossed"] is True
    assert {"instances", "generators", "residual"} == set(document["metrics"][0]["components"])


def test_a_report_without_studies(board: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run("report", board, "-o", page, "--no-references", "--no-studies", "--human", "A", "--jobs", 1) == 0
    assert 'id="hybrids"' not in page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A board whose people compared outputs, scored."""
    folder = tmp_path_factory.mktemp("compared")
    bb.score(bb.save(compared_board(folder), folder / "board"), ["BLEU", "length"])
    return folder / "board"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("compare", "BLEU", "length"), "WMT's Kendall of BLEU 1.000"),
        (("compare", "A", "B"), "people 83.333 16.667"),
        (("compare",), "BLEU length 0.333"),
        (("power", "BLEU", "length"), "WMT's Kendall 0.3333 instances 6"),
        (("power", "A", "B"), "people 66.6667 instances 6"),
        (("sensitivity",), "without without B"),
    ],
)
def test_commands_work_where_people_compared_outputs(
    compared: Path, words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command, *names = words
    assert run(command, compared, *names, "--wide") == 0
    assert said in " ".join(capsys.readouterr().out.split())


def test_hybrids_of_compared_outputs_are_refused_in_one_line(
    compared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("hybrids", compared) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "gave no values, so a mixture of outputs has no mean to order it by; rank, compare, power" in line


def test_a_power_that_no_board_can_have_is_one_line_on_stderr_and_exit_code_2(
    board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        run("power", str(board), "g0", "g1", "--power", "1")
    assert end.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "--power: must be below 1; found 1.0" in captured.err
