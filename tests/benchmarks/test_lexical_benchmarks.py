"""The benchmarks of the lexical metrics run, and our scores are their peers', on few outputs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def printed(script: str, *arguments: str, **environment: str) -> str:
    """What a benchmark prints; one that fails says why."""
    command = [sys.executable, str(BENCHMARKS / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_generated_texts_get_the_scores_of_sacrebleu_under_all_options() -> None:
    found = printed("lexical_sacrebleu.py", "--part", "generated", "--cases", "60")
    assert re.findall(r"(\S+) +\d+ choices of options +60 scores, .* \(equal\)", found) == [
        "BLEU", "chrF", "chrF++", "TER"
    ]  # fmt: skip


@pytest.mark.study
@pytest.mark.data
def test_everyday_tasks_have_the_numbers_of_the_libraries_that_people_use(shared_data: Path) -> None:
    found = printed("library.py", "--lines", "20", "--runs", "1", BILLBOARDS_SHARED=str(shared_data.parent))
    rows = [line.split(" | ") for line in found.splitlines() if line.startswith("| ")][2:]
    assert [row[1] for row in rows] == [*["sacrebleu"] * 5, *["rouge_score"] * 2, "bert_score", "plain Python"]
    assert all(float(row[-1].rstrip(" |")) < 1e-4 for row in rows)
    assert "No module of evaluate was named with --module" in found


@pytest.mark.data
@pytest.mark.parametrize(("board", "every"), [("wmt20-zh-en", "900"), ("flickr8k", "60"), ("multi_summeval", "60")])
def test_real_outputs_get_the_scores_of_sacrebleu(shared_data: Path, board: str, every: str) -> None:
    found = printed("lexical_sacrebleu.py", "--part", board, "--every", every)
    assert found.count("(equal)") == 4


@pytest.mark.data
def test_released_edit_rates_are_compared(shared_data: Path) -> None:
    assert printed("lexical_sacrebleu.py", "--part", "released", "--every", "97").count("(equal)") == 4


@pytest.mark.long
@pytest.mark.data
def test_every_metric_is_timed_beside_its_peer_with_the_same_numbers(shared_data: Path) -> None:
    found = printed("lexical.py", "--part", "speed", "--outputs", "4")
    lines = re.findall(
        r"^(\S+(?: \+ L)?) +ours +[\d.]+ +peer +[\d.]+ +[\d.]+× .*difference (\S+)$", found, re.MULTILINE
    )
    assert [name for name, _ in lines] == ["BLEU", "chrF", "chrF++", "TER", "ROUGE-3 + L"]
    assert all(float(difference) < 1e-9 for _, difference in lines)


def test_memory_is_measured_at_two_sizes() -> None:
    found = printed("lexical.py", "--part", "memory", "--outputs", "500")
    assert re.search(r"^500 outputs streamed in \d+ s: \d+ MiB at the peak", found)
    assert "goal: under 1024 MiB: met" in found


def test_data_that_are_absent_are_said_to_be(tmp_path: Path) -> None:
    for script, part in (("lexical.py", "speed"), ("lexical_sacrebleu.py", "cnndm")):
        assert "absent; set BILLBOARDS_SHARED" in printed(script, "--part", part, BILLBOARDS_SHARED=str(tmp_path))


@pytest.mark.long
@pytest.mark.data
def test_corpus_values_are_compared_with_sacrebleus(shared_data: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    asked = ("--boards", "cnndm", "--metrics", "BLEU", "chrF", "--generators", "1", "--instances", "5")
    printed_lines = printed("corpus.py", *asked, "--write", str(kept))
    assert printed_lines.endswith("equal\n")
    assert re.findall(r"1 compared, largest differences: value (\S+),", printed_lines) == ["0.0e+00", "0.0e+00"]
    entries = json.loads(kept.read_text("utf-8"))
    assert [(entry["metric"], len(entry["values"])) for entry in entries] == [("BLEU", 1), ("chrF", 1)]


def test_corpus_values_are_not_measured_where_the_data_are_absent(tmp_path: Path) -> None:
    assert "absent" in printed("corpus.py", BILLBOARDS_SHARED=str(tmp_path))


@pytest.mark.long
@pytest.mark.data
def test_text_files_have_sacrebleus_numbers(shared_data: Path) -> None:
    asked = ("--set", "wmt20-zh-en", "wmt23-en-de", "--metrics", "BLEU", "chrF", "--lines", "150", "--runs", "1")
    lines = printed("texts.py", *asked)
    assert "wmt23-en-de: 150 lines, BLEU, chrF" in lines
    assert lines.count("sacreBLEU's two runs take") == 4
    assert lines.endswith("every number is the same in the digits that sacreBLEU prints\n")


def test_text_files_are_not_measured_where_the_data_are_absent(tmp_path: Path) -> None:
    assert "absent" in printed("texts.py", BILLBOARDS_SHARED=str(tmp_path))
