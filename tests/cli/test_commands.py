"""The command line as a script uses it: exit codes, one line of error, JSON that keeps its contract."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import billboards as bb
from billboards.cli.main import every_command, main

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "analyses"))

from small_boards import small_board


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """A small board in a folder that names two quick metrics."""
    bb.save(replace(small_board(instances=25), metrics=("BLEU", "chrF", "length")), tmp_path / "small")
    return tmp_path / "small"


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_score_then_rank_keeps_the_json_contract(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("score", board, "--jobs", 1) == 0
    assert "14 cells computed, 0 were there already" in capsys.readouterr().err
    assert run("score", board, "--jobs", 1) == 0
    assert "0 cells computed, 14 were there already" in capsys.readouterr().err
    assert run("rank", board, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == 1
    assert {"statistic", "grouping", "metrics", "ensemble", "generators", "ranked_by"} <= set(document)
    assert {"name", "signature", "correlation", "n", "interval", "cluster"} <= set(document["metrics"][0])
    assert {"weights", "lambda", "correlation", "signature"} <= set(document["ensemble"])
    assert {"name", "kind", "scores"} <= set(document["generators"][0])
    assert set(document["generators"][0]["scores"]) == {"BLEU", "chrF", "length", "ensemble"}


def test_overrating_computes_what_it_needs_and_keeps_the_json_contract(
    board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("overrating", board, "--human", "B", "--references", "A", "--json", "--jobs", 1) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["human"], document["references"]) == (1, "B", ["A"])
    assert {m["name"] for m in document["metrics"]} == {"BLEU", "chrF"}
    assert all(m["ci90"][0] < m["beta0"] < m["ci90"][1] and m["n"] == 125 for m in document["metrics"])


def test_one_lambda_for_all_and_a_slice(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("score", board, "--jobs", 1)
    capsys.readouterr()
    assert run("rank", board, "--json", "--lambda", "0.5", "--domain", "sea", "--no-save") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["ensemble"]["lambda"] == 0.5
    assert document["slice"] == "domain sea"
    assert not (board / "rankings").exists()


@pytest.mark.parametrize("form", ["--csv", "--latex", "--wide"])
def test_every_format_prints_something(board: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    run("score", board, "--jobs", 1)
    assert run("rank", board, form) == 0
    assert "chrF" in capsys.readouterr().out


def test_csv_is_one_table_and_a_note_names_the_others(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("score", board, "--jobs", 1)
    capsys.readouterr()
    assert run("rank", board, "--csv", "--no-save") == 0
    first = capsys.readouterr()
    assert len({len(row) for row in csv.reader(first.out.splitlines())}) == 1
    assert "this is the table metrics; --table NAME prints another: lines, ensemble, generators" in first.err
    tables = {}
    for name in ("metrics", "ensemble", "generators", "4"):
        assert run("rank", board, "--csv", "--no-save", "--table", name) == 0
        tables[name], said = capsys.readouterr()
        assert "--table" not in said
    assert (tables["metrics"], tables["4"]) == (first.out, tables["generators"])
    assert {row["name"] for row in csv.DictReader(tables["generators"].splitlines())} >= {"g1", "g2"}
    assert run("rank", board, "--no-save", "--table", "generators", "--latex") == 0
    assert capsys.readouterr().out.count("\\begin{table") == 1
    assert run("rank", board, "--no-save", "--table", "metric") == 2
    assert "no table named 'metric'; did you mean metrics?" in capsys.readouterr().err


def test_history_lists_and_shows_kept_rankings(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("score", board, "--jobs", 1)
    run("rank", board, "--json")
    kept = json.loads(capsys.readouterr().out)
    assert run("history", board) == 0
    name = capsys.readouterr().out.split()[0]
    assert run("history", board, name, "--json") == 0
    assert json.loads(capsys.readouterr().out) == kept


def test_ensemble_study_list_and_apply(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("score", board, "--jobs", 1)
    assert run("ensemble", "study", board, "--json") == 0
    study = json.loads(capsys.readouterr().out)
    signature = study["ensemble"]["signature"]
    assert run("ensemble", "list", board) == 0
    assert signature in capsys.readouterr().out
    assert (
        run("ensemble", "apply", signature, board / "generators" / "g1.jsonl", "--board", board, "--jobs", 1, "--json")
        == 0
    )
    applied = json.loads(capsys.readouterr().out)
    assert (applied["signature"], applied["n"]) == (signature, 25)


@pytest.mark.long
def test_references_and_report(board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("score", board, "--jobs", 1)
    assert run("references", board, "--json", "--jobs", 1) == 0
    out = capsys.readouterr().out
    assert [point["size"] for point in json.loads(out)["curves"]["chrF"]] == [1, 2]
    page = tmp_path / "page.html"
    assert run("report", board, "-o", page, "--human", "B", "--jobs", 1) == 0
    text = page.read_text("utf-8")
    assert "data:image/svg+xml" in text
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", text)


def test_new_check_and_metrics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("new", tmp_path / "mine") == 0
    assert run("check", tmp_path / "mine") == 0
    assert run("metrics") == 0
    assert "chrF++" in capsys.readouterr().out
    assert run("metrics", "chrF++", "--json") == 0
    assert json.loads(capsys.readouterr().out)[0]["name"] == "chrF++"


def test_check_says_every_mistake_with_file_and_line_and_ends_with_2(
    board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (board / "generators" / "g1.jsonl").read_text().splitlines()
    lines[3] = '{"instance": "nowhere", "text": "x"}'
    (board / "generators" / "g1.jsonl").write_text("\n".join(lines) + "\n")
    with (board / "judgments" / "judgments.jsonl").open("a") as file:
        file.write('{"instance": "i0"}\n')
    assert run("check", board) == 2
    out = capsys.readouterr().out
    assert "generators/g1.jsonl:4: error:" in out
    assert "judgments/judgments.jsonl:151: error:" in out
    assert run("check", board, "--json") == 2
    assert json.loads(capsys.readouterr().out)["problems"]


def test_mistakes_beyond_those_listed_are_counted(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (board / "judgments" / "judgments.jsonl").write_text("nonsense\n" * 250)
    assert run("check", board) == 2
    out = capsys.readouterr().out
    assert "judgments/judgments.jsonl: error: and 150 more mistakes in this file" in out
    assert "\n250 mistakes, " in out
    assert run("rank", board) == 2
    assert "(and 249 more: `billboards check" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["check", "metrics", "judges"])
def test_what_a_command_prints_as_json_fits_its_schema(
    command: str, board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    assert run("schema", command) == 0
    schema = json.loads(capsys.readouterr().out)
    assert run(command, *([board] if command == "check" else []), "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    jsonschema.validate(printed, schema)
    wrong = [{"name": 1}] if command != "check" else {**printed, "problems": [1]}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, schema)


def test_check_recompute_prints_a_verdict(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", board, "--recompute", "--json") == 0
    assert json.loads(capsys.readouterr().out)["recomputed"] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["import", "SUMMEVAL", "x", "-o", "y"], "there is no 'SUMMEVAL'; did you mean summeval"),
        (["suite", "Run", "x"], "did you mean run, rank?"),
        (["schema", "nothing-like-it"], "choose from board, catalogue, check"),
    ],
)
def test_a_word_that_is_no_choice_is_answered_with_the_one_that_was_meant(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(*arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rank", "no-such-folder"], "no such board folder"),
        (["rank", "{board}/board.toml"], "is a file, not a board folder; `billboards import` makes a board of a table"),
        (["get", "summeval", "--from", "{board}/nowhere"], "no such folder or archive; --from names one"),
        (
            ["score", "--output", "{board}/board.toml"],
            "need references; give them (--reference FILE on the command line)",
        ),
        (["score", "{board}", "--metric", "BLUE"], "did you mean BLEU"),
        (["score", "{board}", "--references", "Z"], "no reference named 'Z'"),
        (["rank", "{board}", "--domain", "air"], "no part of the board named 'domain air'"),
        (["overrating", "{board}"], "choose the human generator with --human (or human=…); judged ones: A, B"),
        (["overrating", "{board}", "--human", "g0"], "not a human generator"),
        (["ensemble", "apply", "ensemble.x", "{board}/board.toml", "--board", "{board}"], "no ensemble named"),
        (["new", "{board}"], "exists already"),
        (["import", "table", "no-file.csv", "-o", "out"], "no-file.csv"),
        (["history", "{board}", "abc"], "no ranking named"),
        (["nonsense"], "no command 'nonsense'"),
        (["rnak"], "did you mean rank?"),
        (["RNAK"], "did you mean rank?"),
        (["rank", "{parent}/SMALL"], "SMALL: no such board folder; did you mean"),
        (["compare", "{board}", "G0", "G1"], "no generator named 'G0'; did you mean g0"),
        (["rank", "{board}", "--aggregate", "OVERAL"], "did you mean overall"),
    ],
)
def test_bad_input_is_one_line_on_stderr_and_exit_code_2(
    arguments: list[str], said: str, board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(path for path in board.rglob("*"))
    assert run(*(a.format(board=board, parent=board.parent) for a in arguments)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert said in captured.err
    assert sorted(path for path in board.rglob("*")) == before


def test_tables_are_not_written_as_a_folder_that_is_called_like_a_file(
    board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        run("rank", str(board), "-o", str(tmp_path / "tables.xlsx"))
    assert "tables are written as .tex, .md, .html, .csv, .json or .txt, or into a folder" in capsys.readouterr().err
    assert not (tmp_path / "tables.xlsx").exists()


def test_an_import_that_fails_leaves_nothing_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "table.csv"
    table.write_text("instance,generator,output\ni1,g,a\ni1,g,b\n")
    assert run("import", "table", table, "-o", tmp_path / "out") == 2
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]
    assert "i1" in capsys.readouterr().err


def test_help_names_every_command_and_version_prints() -> None:
    shown = subprocess.run([sys.executable, "-m", "billboards", "--help"], capture_output=True, text=True, check=True)
    assert all(f"\n  {name} " in shown.stdout for name in every_command())
    version = subprocess.run(
        [sys.executable, "-m", "billboards", "--version"], capture_output=True, text=True, check=True
    )
    assert version.stdout.startswith("billboards 0.")


@pytest.mark.parametrize("command", list(every_command()))
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    assert f"usage: billboards {command}" in capsys.readouterr().out


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from billboards.cli.main import main; main(['--help']); "
        "heavy = {'numpy', 'scipy', 'rich', 'altair', 'sacrebleu', 'json', 'sqlite3'} & set(sys.modules); "
        "sys.exit(str(heavy) if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.long
def test_ctrl_c_keeps_what_was_finished_and_the_next_run_goes_on(tmp_path: Path) -> None:
    board = bb.save(replace(small_board(instances=4000, generators=3), metrics=("TER", "length")), tmp_path / "big")
    command = [
        sys.executable,
        "-m",
        "billboards",
        "score",
        str(board.home),
        "--metric",
        "length",
        "--metric",
        "TER",
        "--jobs",
        "2",
    ]
    scoring = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    cells = tmp_path / "big" / ".billboards" / "cells.sqlite"
    deadline = time.monotonic() + 60
    while not cells.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(scoring.pid, signal.SIGINT)
    _, said = scoring.communicate(timeout=60)
    assert scoring.returncode == 130
    assert "what was finished is kept" in said
    assert main(["score", str(board.home), "--metric", "length", "--jobs", "1"]) == 0


@pytest.mark.long
def test_a_reader_that_stops_early_is_no_error(board: Path) -> None:
    run("score", board, "--jobs", 1)
    command = f"'{sys.executable}' -m billboards rank '{board}' --json | head -c 10"
    ended = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False)
    assert ended.stderr in ("", "ranked by chrF\n")
