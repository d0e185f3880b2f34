"""`billboards score` on text files: what it prints in every format, and files as people have them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sacrebleu.metrics.bleu import BLEU

from billboards.cli.main import main

REFERENCE = ["The bus is late today.", "Nobody has seen the driver.", "It may rain tonight, they say.", "Good night!"]
FIRST = ["The bus is late today.", "Nobody saw the driver.", "It may rain tonight.", "Good night!"]
SECOND = ["Bus late today.", "No one saw a driver.", "Rain may come, they say.", "Good evening!"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, texts in (("ref.txt", REFERENCE), ("a.txt", FIRST), ("b.txt", SECOND)):
        Path(name).write_text("".join(f"{text}\n" for text in texts))
    return tmp_path


def score(*words: str) -> int:
    return main(["score", *words])


def as_json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert score(*words, "--json") == 0
    document: dict[str, object] = json.loads(capsys.readouterr().out)
    return document


def value(capsys: pytest.CaptureFixture[str], *words: str) -> float:
    metrics = as_json(capsys, *words, "--metric", "BLEU")["metrics"]
    assert isinstance(metrics, list)
    return float(metrics[0]["scores"][0]["score"])


def expected(outputs: list[str], *references: list[str]) -> float:
    return float(BLEU().corpus_score(outputs, list(references)).score)


@pytest.mark.usefixtures("folder")
def test_two_outputs_are_scored_and_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert score("--output", "a.txt", "b.txt", "--reference", "ref.txt", "--metric", "BLEU", "chrF", "TER") == 0
    printed = " ".join(capsys.readouterr().out.split())
    for words in ("nrefs:1|bs:1000|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp", "p (bs)", "TER ↓"):
        assert words in printed
    assert "nrefs:1|ar:10000|seed:12345" in printed


@pytest.mark.usefixtures("folder")
def test_json_has_what_sacrebleu_prints(capsys: pytest.CaptureFixture[str]) -> None:
    document = as_json(capsys, "--output", "a.txt", "b.txt", "--reference", "ref.txt", "--metric", "BLEU", "--compare")
    assert (document["kind"], document["baseline"], document["lines"]) == ("text-scores", "a.txt", 4)
    metrics = document["metrics"]
    assert isinstance(metrics, list)
    own = metrics[0]["scores"]
    command = [sys.executable, "-m", "sacrebleu", "ref.txt", "-i", "a.txt", "b.txt", "--paired-ar", "-f", "json"]
    theirs = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert [each["score"] for each in own] == pytest.approx([system["BLEU"]["score"] for system in theirs])
    assert own[1]["p_randomisation"] == theirs[1]["BLEU"]["p_value"]
    assert own[0]["p_bootstrap"] is None


@pytest.mark.usefixtures("folder")
def test_csv_is_one_long_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert score("--output", "a.txt", "b.txt", "--reference", "ref.txt", "--csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["metric"], row["output"]) for row in rows] == [
        ("BLEU", "a.txt"),
        ("BLEU", "b.txt"),
        ("chrF", "a.txt"),
        ("chrF", "b.txt"),
    ]
    assert float(rows[0]["score"]) == pytest.approx(expected(FIRST, REFERENCE))
    assert float(rows[0]["interval_low"]) < float(rows[0]["score"])


@pytest.mark.usefixtures("folder")
def test_papers_and_readmes_have_systems_by_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--output", "Ours & theirs=a.txt", "b.txt", "--reference", "ref.txt", "--metric", "BLEU", "TER"]
    assert score(*words, "--latex", "--bold") == 0
    printed = capsys.readouterr().out
    assert r"System & BLEU & TER $\downarrow$ \\" in printed
    assert rf"Ours \& theirs & \textbf{{{expected(FIRST, REFERENCE):.2f}}} {{\small $\pm$ " in printed
    assert score(*words, "--markdown") == 0
    printed = capsys.readouterr().out
    assert printed.startswith("| System | BLEU | TER ↓ |\n| --- | ---: | ---: |\n| Ours & theirs | ")
    assert "**" not in printed


@pytest.mark.usefixtures("folder")
def test_one_output_has_an_interval_and_no_test(capsys: pytest.CaptureFixture[str]) -> None:
    assert score("--output", "a.txt", "--reference", "ref.txt") == 0
    printed = capsys.readouterr().out
    assert "95% interval" in printed
    assert "p (" not in printed
    assert score("--output", "a.txt", "--reference", "ref.txt", "--compare") == 2
    assert "--compare needs two or more outputs" in capsys.readouterr().err


@pytest.mark.parametrize(
    "written",
    [
        b"\n".join(text.encode() for text in FIRST),
        b"".join(text.encode() + b"\r\n" for text in FIRST),
        b"".join(text.encode() + b"  \t\n" for text in FIRST),
    ],
    ids=["no final newline", "Windows line ends", "blanks at the end"],
)
@pytest.mark.usefixtures("folder")
def test_line_ends_do_not_count(written: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    Path("c.txt").write_bytes(written)
    assert value(capsys, "--output", "c.txt", "--reference", "ref.txt") == pytest.approx(expected(FIRST, REFERENCE))


@pytest.mark.usefixtures("folder")
def test_only_a_newline_ends_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    odd = ["The bus\u2028is late\x85today.", "Nobody\x0bsaw the\x0c driver.", "It may\rrain\x1ctonight.", ""]
    Path("c.txt").write_text("".join(f"{text}\n" for text in odd), newline="")
    assert value(capsys, "--output", "c.txt", "--reference", "ref.txt") == pytest.approx(expected(odd, REFERENCE))


@pytest.mark.usefixtures("folder")
def test_a_byte_order_mark_counts_as_in_sacrebleu_and_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    Path("c.txt").write_text("\ufeff" + "".join(f"{text}\n" for text in FIRST), "utf-8")
    assert score("--output", "c.txt", "--reference", "ref.txt", "--metric", "BLEU", "--json") == 0
    printed = capsys.readouterr()
    marked = expected(["\ufeff" + FIRST[0], *FIRST[1:]], REFERENCE)
    assert json.loads(printed.out)["metrics"][0]["scores"][0]["score"] == pytest.approx(marked)
    assert "c.txt: begins with a byte-order mark" in printed.err


@pytest.mark.usefixtures("folder")
def test_gzipped_files_and_stdin(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    Path("ref.txt.gz").write_bytes(gzip.compress(Path("ref.txt").read_bytes()))
    stdin = Path("a.txt").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
    assert value(capsys, "--output", "-", "--reference", "ref.txt.gz") == pytest.approx(expected(FIRST, REFERENCE))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
    assert score("--output", "-", "b.txt", "--reference", "-") == 2
    assert "- can be read only once" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_empty_lines_of_a_second_reference_count_as_in_sacrebleu(capsys: pytest.CaptureFixture[str]) -> None:
    second = ["", *SECOND[1:3], ""]
    Path("second.txt").write_text("".join(f"{text}\n" for text in second))
    own = value(capsys, "--output", "a.txt", "--reference", "ref.txt", "second.txt")
    assert own == pytest.approx(expected(FIRST, REFERENCE, second))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--output", "a.txt", "--reference", "short.txt"], "a.txt has 4 lines and short.txt 3"),
        (["--output", "a.txt", "nowhere.txt", "--reference", "ref.txt"], "nowhere.txt: no such file"),
        (["--output", "a.txt", "--reference", "empty.txt"], "empty.txt: is empty"),
        (["--output", "latin.txt", "--reference", "ref.txt"], "latin.txt:2: not UTF-8"),
        (["--output", "a.txt", "a.txt", "--reference", "ref.txt"], "two outputs are called a.txt"),
        (["--output", "a.txt"], "BLEU, chrF need references"),
        (["--output", "a.txt", "--reference", "ref.txt", "--metric", "SARI"], "SARI needs sources"),
        (["--output", "a.txt", "--reference", "ref.txt", "--metric", "BLEUX"], "no metric named 'BLEUX'"),
        (["--output", "a.txt", "--reference", "ref.txt", "--tokenize", "14a"], "14a"),
        (["--output", "a.txt", "--reference", "ref.txt", "--generator", "x"], "--generator goes with a board folder"),
        (["a.txt"], "a.txt: is a file, not a board folder"),
        (["board", "--output", "a.txt"], "give a board folder or text files with --output, not both"),
        (["board", "--source", "a.txt"], "--source goes with --output FILE"),
        (["board", "--json"], "`billboards rank board` shows them"),
        ([], "nothing to score"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_does_not_fit_is_told(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("short.txt").write_text("a\nb\nc\n")
    Path("empty.txt").write_text("")
    Path("latin.txt").write_bytes("a\nGrüße\nc\nd\n".encode("latin-1"))
    assert score(*words) == 2
    assert message in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_language_and_tokenizer_choose_how_bleu_cuts(capsys: pytest.CaptureFixture[str]) -> None:
    Path("zh.txt").write_text("今天公交车晚点了。\n")
    Path("zh-ref.txt").write_text("公交车今天晚点了。\n")
    files = ["--output", "zh.txt", "--reference", "zh-ref.txt", "--metric", "BLEU"]
    assert score(*files, "--language", "zh") == 0
    assert "tok:zh" in capsys.readouterr().out
    assert score(*files, "--tokenize", "char") == 0
    assert "tok:char" in capsys.readouterr().out
    assert score(*files[:-1], "BLEU(tokenize=intl)", "--tokenize", "char") == 0
    assert "tok:intl" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_a_board_may_follow_the_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "mine"]) == 0
    assert score("--metric", "length", "mine") == 0
    assert "cells computed" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["score", "--output", "endless", "--reference", "ref.txt"],
        ["score", "--output", "a.txt", "--reference", "/dev/zero"],
        ["import", "text", "--output", "A=endless", "-o", "board"],
        ["import", "text", "--output", "a.txt", "--reference", "/dev/zero", "-o", "board"],
    ],
)
@pytest.mark.usefixtures("folder")
def test_pipes_and_devices_are_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("endless")
    assert main(words) == 2
    assert "is a pipe or a device" in capsys.readouterr().err
