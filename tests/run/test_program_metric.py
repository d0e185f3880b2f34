"""Submitted programs as metrics: what they see, what they are, what they say when something is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from program_runs import run_program

from billboards.errors import InvalidSubmission, MetricFailed
from billboards.metrics.base import Batch, MetricCard, score_checked
from billboards.metrics.executor import Task, run_task
from billboards.run.manifest import Contract, manifest_from
from billboards.run.program import ProgramMetric, folder_digest, given_files, open_program
from billboards.run.sandbox import sandbox_available

BATCH = Batch(["one", "zwei\n\u2028", "três"], [["a", "b"], ["c"], ["d"]], ["x", "y", "z"])
CARD = MetricCard(name="own", needs_references=True, needs_input=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "own"
    made.mkdir()
    return made


@pytest.fixture(autouse=True)
def confined() -> None:
    if not sandbox_available():
        pytest.skip(str(sandbox_available().reason))


def python(folder: Path, code: str, card: MetricCard = CARD) -> ProgramMetric:
    (folder / "metric.py").write_text(code)
    return ProgramMetric(card, folder, "metric.py")


def test_run_sh_is_called_as_the_paper_has_it(folder: Path) -> None:
    (folder / "run.sh").write_text('cat "$1" "$2" "$3"; echo "$# $0" $(basename "$4"); seq 3 > "$4"\n')
    done = run_program(ProgramMetric(CARD, folder, "run.sh"), BATCH)
    lines = done.outcome.stdout.splitlines()
    given = [json.loads(line) for line in lines[:9]]
    ids = [(line.pop("seg_id"), line.pop("set_id")) for line in given[3:6]]
    assert len({text for text, _ in ids}) == len({number for _, number in ids}) == 3
    assert given == [
        {"src": "x"},
        {"src": "y"},
        {"src": "z"},
        {"hyp": "one"},
        {"hyp": "zwei\n\u2028"},
        {"hyp": "três"},
        {"refs": ["a", "b"]},
        {"refs": ["c"]},
        {"refs": ["d"]},
    ]
    assert lines[9] == "4 run.sh scores.txt"
    assert done.scores is not None
    assert done.scores.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("parameters", "lengths"),
    [("outputs", [3, 6, 4]), ("outputs, references", [2, 1, 1]), ("outputs, inputs", [1, 1, 1])],
)
def test_a_python_function_may_name_less_than_there_is(folder: Path, parameters: str, lengths: list[float]) -> None:
    last = parameters.split(", ")[-1]
    metric = python(folder, f"def score({parameters}):\n    return [len(kept) for kept in {last}]\n")
    assert metric.score_batch(BATCH).tolist() == lengths


def test_a_python_function_is_given_texts_and_returns_numbers(folder: Path) -> None:
    metric = python(
        folder,
        "def score(outputs, references, inputs):\n"
        "    assert outputs == ['one', 'zwei\\n\\u2028', 'três'], outputs\n"
        "    assert (references, inputs) == ([['a', 'b'], ['c'], ['d']], ['x', 'y', 'z'])\n"
        "    yield from (0.1 + 0.2, 1, -2e-300)\n",
    )
    assert metric.score_batch(BATCH).tobytes() == np.array([0.1 + 0.2, 1, -2e-300]).tobytes()


def test_a_python_file_may_import_its_neighbours(folder: Path) -> None:
    (folder / "neighbour.py").write_text("def length(text): return len(text)\n")
    metric = python(
        folder, "from neighbour import length\ndef score(outputs, references, inputs): return map(length, outputs)\n"
    )
    assert metric.score_batch(BATCH).tolist() == [3, 6, 4]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("x = 1", "metric.py has no function score(outputs, references, inputs)"),
        ("def score(texts): return []", "takes 1 positional argument but 3 were given"),
        ("def score(o, r, i): return [1.0]", "score() returned 1 scores for 3 outputs; return one for each"),
        ("def score(o, r, i): return ['1'] * 3", "score() returned '1' for output 1; return a number"),
        ("def score(o, r, i): return [True] * 3", "score() returned True for output 1; return a number"),
        ("def score(o, r, i): return None", "score() returned nothing; return a number for each output"),
        ("def score(o, r, i): return [0.0, float('nan'), 0.0]", "scores line 2: nan is not finite"),
        ("def score(o, r, i): raise ValueError('no vowels')", "its last words: ValueError: no vowels"),
        ("def score(o, r, i) return", "SyntaxError"),
        ("import billboards", "No module named 'billboards'"),
    ],
)
def test_a_function_that_breaks_the_contract_is_told_in_its_own_terms(code: str, words: str, folder: Path) -> None:
    with pytest.raises(MetricFailed) as caught:
        python(folder, code).score_batch(BATCH)
    assert str(caught.value).startswith("own: ")
    assert words in str(caught.value)


def test_what_a_metric_does_not_declare_it_does_not_see() -> None:
    blind = given_files(MetricCard(name="blind", needs_references=False), BATCH, b"seed")
    assert blind["source.jsonl"] == b'{"src": ""}\n' * 3
    assert blind["references.jsonl"] == b'{"refs": []}\n' * 3


def test_a_program_keeps_the_contract_of_every_metric(folder: Path) -> None:
    metric = python(folder, "def score(outputs, references, inputs): return [len(o) for o in outputs]\n")
    assert score_checked(metric, BATCH)[""].tolist() == [3, 6, 4]
    assert (metric.needs_corpus, metric.multiple_references, metric.name) == (True, "own", "own")
    (folder / "metric.py").write_text("1 / 0\n")
    assert "ZeroDivisionError" in str(run_task(Task((0, 0), metric, BATCH)).failure)


def test_the_signature_changes_with_everything_that_can_change_a_score(folder: Path) -> None:
    metric = python(folder, "def score(outputs, references, inputs): return [1] * len(outputs)\n")
    signatures = [metric.signature]
    signatures.append(ProgramMetric(MetricCard(name="own", higher_is_better=False), folder, "metric.py").signature)
    signatures.append(ProgramMetric(MetricCard(name="own", needs_references=False), folder, "metric.py").signature)
    signatures.append(ProgramMetric(MetricCard(name="other"), folder, "metric.py").signature)
    (folder / "weights.bin").write_bytes(b"1")
    signatures.append(ProgramMetric(CARD, folder, "metric.py").signature)
    (folder / "weights.bin").rename(folder / "weights2.bin")
    signatures.append(ProgramMetric(CARD, folder, "metric.py").signature)
    assert len(set(signatures)) == 6
    assert ProgramMetric(CARD, folder, "metric.py", trusted=True).signature == signatures[-1]
    whole = ProgramMetric(CARD, folder, "metric.py", contract=Contract(whole_generators=True))
    assert whole.signature == signatures[-1].replace("needs:references+input", "needs:references+input+corpus")
    assert whole.signature != signatures[-1]


def test_a_digest_knows_content_names_and_executable_bits_but_no_links(folder: Path) -> None:
    (folder / "a").write_text("1")
    before = folder_digest(folder)
    (folder / "link").symlink_to("/etc/passwd")
    assert folder_digest(folder) == before
    (folder / "a").chmod(0o755)
    assert folder_digest(folder) != before


def test_a_folder_is_opened_by_its_manifest(folder: Path) -> None:
    (folder / "metric.toml").write_text('name = "Own"\nhigher_is_better = true\nneeds = []\ntraining_data = "none"\n')
    (folder / "metric.py").write_text(
        "def score(outputs, references, inputs): return [len(inputs[0])] * len(outputs)\n"
    )
    metric = open_program(folder)
    assert metric.name == "Own"
    assert metric.score_batch(BATCH).tolist() == [0, 0, 0]


def test_a_file_that_is_closed_to_others_is_named(folder: Path) -> None:
    (folder / "run.sh").write_text("true\n")
    (folder / "weights.bin").write_bytes(b"1")
    (folder / "weights.bin").chmod(0o600)
    values = {"name": "own", "higher_is_better": True, "needs": [], "training_data": "none"}
    with pytest.raises(InvalidSubmission, match=r"own/weights.bin: is closed to other users; .* `chmod -R a\+rX own`"):
        open_program(folder, manifest=manifest_from(values, folder))


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ('cat "$3" >&2; exit 37', "own: ended with an exit code that is not 0, or by a signal; more is withheld"),
        ('cp "$3" "$4"', "own: wrote no file of one finite decimal number for each output, in their order; more is"),
        ("echo 1e9999999 > $4", "own: wrote no file of one finite decimal number for each output, in their order;"),
        ('rm -f "$4"; mkdir "$4"', "own: left no plain file"),
    ],
)
def test_without_quoting_a_program_cannot_tell_what_it_was_given(script: str, words: str, folder: Path) -> None:
    (folder / "run.sh").write_text(script)
    problem = str(run_program(ProgramMetric(CARD, folder, "run.sh"), BATCH, quoting=False).problem)
    assert problem.startswith(words)
    assert "refs" not in problem
    assert "37" not in problem


def test_there_must_be_something_to_score(folder: Path) -> None:
    with pytest.raises(MetricFailed, match="there is no output to score"):
        python(folder, "").score_batch(Batch([]))
