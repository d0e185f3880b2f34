"""Audits and challenges from the command line, in the report, on pages and as charts; and who may lead a ranking."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_audits import audit_board

from billboards.analyses.audit.columns import audit_columns
from billboards.analyses.rank import rank_board
from billboards.board import Aggregate, Board, Dimension, ImportedColumn, Judgments, Scores
from billboards.board.folder import open_board
from billboards.board.matrix import board_scores
from billboards.board.writing import write_board
from billboards.cli.main import main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_board(replace(audit_board(), metrics=("chrF", "ROUGE-1")), tmp_path / "board")


def test_an_audit_prints_enters_and_keeps_what_it_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = folder.parent / "audit.html"
    arguments = ["audit", str(folder), "--metric", "length", "--sentences", "5", "--jobs", "1", "--html", str(page)]
    assert main([*arguments, "--wide"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "greedy extraction of 5 sentences of the input, lazily" in said
    for line in ("rerank, random choice", "extract, random choice", "enumerate, random choice"):
        assert line in said
    board = open_board(folder)
    assert board.generator("optimised.length.extract").optimised_by == "length"
    assert [path.name.split(".")[0] for path in (folder / "audits").iterdir()] == ["length"]
    html = page.read_text("utf-8")
    assert "What the metrics of board small reward" in html
    assert html.count("<img") == 3


def test_an_audit_is_json_and_csv_and_leaves_the_board_alone_if_told_to(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (folder / "board.toml").read_text("utf-8")
    arguments = ["audit", str(folder), "--metric", "length", "--method", "extract", "--sentences", "6"]
    arguments += ["--no-save", "--jobs", "1"]
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (audit,) = document["audits"]
    assert (document["kind"], audit["metric"], audit["own"]["rank"]) == ("audits", "length", 1)
    assert main([*arguments, "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out.split("\n\n")[0])))
    assert rows[0]["name"] == "length"
    assert float(rows[0]["attack"]) == pytest.approx(audit["attack"])
    assert (folder / "board.toml").read_text("utf-8") == before
    assert not (folder / "audits").exists()


def test_a_challenge_is_a_table_of_shares(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["challenge", str(folder), "--metric", "length", "--kind", "truncation", "--jobs", "1", "--json"]
    assert main(arguments) == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert (result["share"], result["right"], result["pairs"]) == (1.0, 24, 24)


def test_the_report_shows_kept_audits(folder: Path, tmp_path: Path) -> None:
    import billboards as bb

    board = bb.open(folder)
    bb.audit_metrics(board, ["length"], against=["chrF"], draws=50, save=True)
    page = bb.report(bb.open(folder), tmp_path / "report.html", with_studies=False, with_references=False)
    html = page.read_text("utf-8")
    assert 'id="audits"' in html
    assert "Outputs made for it by reranking over the outputs of 8 generators" in html


def judged_board(rule: str, references: int = 2) -> Board:
    """Judgments that follow a reference-free column, so that it correlates best."""
    board = audit_board(references)
    draw = np.random.default_rng(1)
    quality = np.array([5.0, 4, 3, 3, 2, 2, 3, 1])[:, None] + draw.normal(0, 0.3, (8, 24))
    row, instance = np.divmod(np.arange(8 * 24, dtype=np.int32), 24)
    judgments = Judgments(
        dimensions=("good",), annotators=(), campaigns=("all",),
        instance=instance.astype(np.int32), row=row.astype(np.int32),
        annotator=np.full(192, -1, np.int32), campaign=np.zeros(192, np.int32), values=quality.reshape(-1, 1),
    )  # fmt: skip
    free = {one.name: values for one, values in zip(board.rows, quality, strict=True)}
    based = {one.name: values + draw.normal(0, 1.5, 24) for one, values in zip(board.rows, quality, strict=True)}
    imported = [
        ImportedColumn(name="free", source_name="free", signature="imported:1", values=free, needs_references=False)
    ]
    if references:
        imported.append(
            ImportedColumn(
                name="based", source_name="based", signature="imported:2", values=based, references=board.references
            )
        )
    return replace(
        board,
        judgments=judgments,
        dimensions={"good": Dimension("good")},
        aggregates={"good": Aggregate("good", ("good",))},
        ranks="good",
        imported=tuple(imported),
        reference_free="ranks" if rule == "ranks" else "diagnostic",
    )


@pytest.mark.parametrize(
    ("rule", "references", "leader", "note"),
    [
        ("diagnostic", 2, "ensemble", "free uses no reference: it correlates best but does not rank generators alone"),
        ("ranks", 2, "free", "free uses no reference and ranks the generators: the board's owner allows it"),
        ("diagnostic", 0, "free", "free uses no reference and ranks the generators: the board has none"),
    ],
)
def test_a_reference_free_metric_leads_only_where_it_may(rule: str, references: int, leader: str, note: str) -> None:
    ranking = rank_board(judged_board(rule, references), None, k=2, draws=0)
    assert ranking.ranked_by == leader
    assert note in ranking.notes
    assert ranking.ensemble is not None
    assert "free" in ranking.ensemble.weights


def test_a_barred_metric_does_not_lead_and_the_board_says_why() -> None:
    ranking = rank_board(judged_board("ranks"), None, draws=0, barred={"free": "is flagged by its audit"})
    assert ranking.ranked_by != "free"
    assert "free is flagged by its audit: it correlates best but does not rank generators alone" in ranking.notes


def test_a_column_is_audited_from_scores_alone() -> None:
    board = judged_board("diagnostic")
    found, refused = audit_columns(board, board_scores(board, None))
    assert (list(found), refused) == (["free"], {})
    assert [one.judge for one in found["free"].judges] == ["based", "people"]
    assert found["free"].level == "clear"
    few = replace(board, rows=board.rows[:2])
    scores = board_scores(board, None)
    cut = Scores(columns=scores.columns, rows=scores.rows[:2], values=scores.values[:, :2])
    assert "compares with 3 machines" in audit_columns(few, cut)[1]["free"]


def test_an_optimised_generator_needs_its_metric_in_board_toml(folder: Path) -> None:
    from billboards.errors import InvalidBoard

    text = (folder / "board.toml").read_text("utf-8")
    (folder / "board.toml").write_text(f'{text}\n[generators.best]\nkind = "optimised"\n', "utf-8")
    with pytest.raises(InvalidBoard, match="belong together"):
        open_board(folder)
