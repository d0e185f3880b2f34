"""Tables and figures for papers on the command line: chosen, in every format, in files that are whole or untouched."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import billboards as bb
from billboards.cli.main import main

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "analyses"))

from small_boards import small_board

RANK = ("--no-save", "--draws", 50, "--ensemble", "lasso")


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small board, scored."""
    folder = tmp_path_factory.mktemp("boards") / "small"
    bb.score(bb.save(replace(small_board(instances=25), metrics=("BLEU", "chrF", "length")), folder))
    return folder


@pytest.fixture(autouse=True)
def _quiet(capsys: pytest.CaptureFixture[str]) -> Iterator[None]:
    yield
    capsys.readouterr()


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_a_folder_gets_one_csv_file_per_table_each_of_which_pandas_reads(board: Path, tmp_path: Path) -> None:
    assert run("rank", board, *RANK, "-o", tmp_path / "tables") == 0
    tables = {file.stem: pd.read_csv(file) for file in (tmp_path / "tables").glob("*.csv")}
    assert {"metrics", "generators"} <= set(tables)
    assert set(tables["metrics"]["name"]) == {"BLEU", "chrF", "length"}
    assert tables["generators"]["corpus:BLEU"].dtype == float
    assert list(tables["generators"]["name"][:4]) == ["g0", "g1", "g2", "g3"]


def test_csv_on_stdout_is_one_table_and_a_note_says_how_to_get_the_others(
    board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("rank", board, *RANK, "--csv") == 0
    printed = capsys.readouterr()
    assert len({line.count(",") for line in printed.out.splitlines()}) == 1
    assert "; -o FOLDER writes all" in printed.err


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("t.tex", "% The preamble needs: booktabs\n"),
        ("t.md", "**"),
        ("t.html", '<div class="scroll'),
        ("t.json", "{\n"),
        ("t.csv", "rank,name,"),
        ("t.txt", "small"),
    ],
)
def test_a_files_name_says_its_format(board: Path, tmp_path: Path, name: str, start: str) -> None:
    assert run("rank", board, *RANK, "-o", tmp_path / name) == 0
    assert (tmp_path / name).read_text().startswith(start)


def test_a_json_document_is_no_folder(board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rank", board, *RANK, "--json", "-o", tmp_path / "folder") == 2
    assert "as in -o result.json" in capsys.readouterr().err


def test_columns_rows_digits_label_and_star_make_the_table_that_a_paper_wants(
    board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = ("--columns", "name,corpus:BLEU", "--rows", "g2,g0", "--digits", 0, "--label", "tab:x", "--star")
    assert run("rank", board, *RANK, "--latex", "--table", "generators", *wanted, "--caption", "Mine & more") == 0
    lines = capsys.readouterr().out.splitlines()
    assert r"generator & BLEU \\" in lines
    rows = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    assert [line.split(" & ")[0] for line in rows if "&" in line] == ["g2", "g0"]
    assert r"\begin{table*}[t]" in lines
    assert r"\caption{Mine \& more.}" in lines
    assert r"\label{tab:x}" in lines


def test_tables_that_lack_the_columns_are_left_out_and_named(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rank", board, *RANK, "--markdown", "--columns", "name,within") == 0
    printed = capsys.readouterr()
    assert printed.out.count("**small") == 2
    assert "left out, because they lack what was asked for:" in printed.err
    assert run("rank", board, *RANK, "--columns", "colour") == 2
    assert "no column of the table metrics named 'colour'" in capsys.readouterr().err


def test_a_baseline_is_marked_and_explained(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rank", board, *RANK, "--json", "--baseline", "g0") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["outstanding"]["baseline"] == "g0"
    assert set(document["outstanding"]["p_generators"]["chrF"]) == {"g1", "g2", "g3"}
    assert run("rank", board, *RANK, "--baseline", "g9") == 2
    assert "no baseline named 'g9'" in capsys.readouterr().err


@pytest.mark.long
def test_a_chart_is_a_figure_or_its_data(board: Path, tmp_path: Path) -> None:
    for name in ("a.pdf", "a.svg", "a.csv", "a.dat"):
        assert run("rank", board, *RANK, "--chart", tmp_path / name) == 0
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert set(pd.read_csv(tmp_path / "a.csv")["name"]) >= {"BLEU", "chrF"}


@pytest.mark.long
@pytest.mark.parametrize("what", ["report", "judgments"])
def test_a_limit_leaves_the_older_file_as_it_was(board: Path, tmp_path: Path, what: str) -> None:
    older = tmp_path / "keep.html"
    older.write_text("what was there\n" * 400)
    command = {
        "report": ["report", board, "-o", older, "--no-studies", "--no-references", "--ensemble", "lasso"],
        "judgments": ["judgments", "write", board, "--format", "csv", "-o", older],
    }[what]

    def limited() -> None:
        # Below what the page has, above what the database of scores writes while it is read.
        most = 80_000 if what == "report" else 100
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    arguments = [sys.executable, "-m", "billboards", *map(str, command)]
    ended = subprocess.run(arguments, preexec_fn=limited, capture_output=True, text=True, check=False)
    assert ended.returncode == 1, ended.stderr
    assert "can't be written: File too large; what was there is unchanged" in ended.stderr
    assert older.read_text() == "what was there\n" * 400
