"""Several boards in one audit: the paper's table of correlations, and the points behind every cell."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_audits import audit_board

from billboards.board.writing import write_board
from billboards.cli.main import main


@pytest.fixture
def boards(tmp_path: Path) -> list[str]:
    whole = replace(audit_board(), metrics=("chrF", "ROUGE-1"))
    fewer = replace(whole, name="fewer", rows=whole.rows[:6])
    without = replace(whole, name="two", rows=whole.rows[:2])
    return [str(write_board(board, tmp_path / board.name)) for board in (whole, fewer, without)]


def test_two_boards_are_one_table_and_one_figure(
    boards: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figure = tmp_path / "figure.svg"
    arguments = [
        "audit",
        *boards,
        "--metric",
        "length",
        "--against",
        "chrF",
        "--no-save",
        "--jobs",
        "1",
        "--draws",
        "5",
    ]
    assert main([*arguments, "--json", "--scatter", str(figure)]) == 0
    printed = capsys.readouterr()
    assert f"not audited: {boards[2]}: board two: an audit compares with 3 machines or more" in printed.err
    document = json.loads(printed.out)
    assert document["kind"] == "audits-of-boards"
    assert [audit["board"] for audit in document["audits"]] == ["small", "fewer"]
    rows = {row["method"]: row for row in document["correlations"]}
    assert list(rows) == ["enumerate", "extract", "rerank"]
    extract = rows["extract"]
    for board in ("small", "fewer"):
        points = [p for p in document["points"] if (p["board"], p["method"]) == (board, "extract")]
        assert len(points) == (8 if board == "small" else 6)
        r = np.corrcoef([p["pseudo"] for p in points], [p["score"] for p in points])[0, 1]
        assert extract["boards"][board] == pytest.approx(r)
    assert extract["mean"] == pytest.approx(sum(extract["boards"].values()) / 2)
    svg = figure.read_text("utf-8")
    assert "small: length, chrF" in svg
    assert "fewer: length, chrF" in svg


def test_each_table_can_be_had_as_csv_and_latex(boards: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["audit", *boards[:2], "--metric", "length", "--method", "extract", "--against", "chrF"]
    arguments += ["--no-save", "--jobs", "1", "--draws", "5"]
    assert main([*arguments, "--csv", "--table", "correlations"]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (row["metric"], row["method"], row["judge"]) == ("length", "extract", "chrF")
    assert float(row["mean"]) == pytest.approx((float(row["board_0"]) + float(row["board_1"])) / 2)
    assert main([*arguments, "--latex", "--table", "correlations"]) == 0
    assert "small & fewer & Avg." in capsys.readouterr().out
