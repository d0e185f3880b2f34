"""Every door that takes a metric takes every kind of name: options, parts, files, packs, modules, functions."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_boards import small_board

import billboards as bb
from billboards.cli.main import main
from billboards.errors import UnknownName
from billboards.run.packs import build_pack

OVERLAP = '''"""The share of words that stand in a reference."""

def score(outputs, references, inputs):
    return [
        sum(word in " ".join(texts).split() for word in output.split()) / max(len(output.split()), 1)
        for output, texts in zip(outputs, references)
    ]
'''
MANIFEST = 'name = "packed"\nhigher_is_better = true\nneeds = ["references"]\ntraining_data = "none"\n'
MODULE = """
import datasets
import evaluate

class Shared(evaluate.Metric):
    def _info(self):
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description="", citation="", inputs_description="",
            features=datasets.Features({"predictions": text, "references": datasets.Sequence(text)}),
        )

    def _compute(self, predictions, references):
        hits = [word in " ".join(texts).split() for p, texts in zip(predictions, references) for word in p.split()]
        return {"shared": sum(hits) / max(len(hits), 1)}
"""

#: What is written, and how its column is called.
KINDS = {
    "any case": ("bleu", "BLEU"),
    "options": ("CHRF( beta = 1 )", "chrF(beta=1)"),
    "a part": ("rouge-l[Recall]", "ROUGE-L[recall]"),
    "a file": ("./mine.py", "mine"),
    "a pack": ("pack:./pack", "packed"),
    "a module": ("evaluate:./shared", "evaluate:shared"),
}
#: Commands that compute a metric, and those that read its scores, with what else they are asked.
COMPUTING: dict[str, Callable[[str], list[str]]] = {
    "score": lambda spec: ["score", "board", "--metric", spec, "--references", "B"],
    "score texts": lambda spec: ["score", "--output", "a.txt", "--reference", "b.txt", "--metric", spec],
    "audit": lambda spec: ["audit", "board", "--metric", spec, "--draws", "5", "--no-save"],
    "audit against": lambda spec: [
        "audit",
        "board",
        "--metric",
        "length",
        "--against",
        spec,
        "--draws",
        "5",
        "--no-save",
    ],
    "challenge": lambda spec: ["challenge", "board", "--metric", spec, "--kind", "truncation"],
    "references": lambda spec: ["references", "board", "--metric", spec, "--most", "1"],
    "overrating": lambda spec: ["overrating", "board", "--human", "B", "--metric", spec],
    "suite": lambda spec: ["suite", "run", "suite.toml", "--metric", spec, "--draws", "5"],
    "suite add": lambda spec: ["suite", "run", "suite.toml", "--add", spec, "--draws", "5"],
    "metric report": lambda spec: ["metric", "report", spec, "board", "--metric", "length", "--draws", "5"],
    "metric report beside": lambda spec: ["metric", "report", "length", "board", "--metric", spec, "--draws", "5"],
}
#: Doors that do not print the metric's name: scores are kept, and a report speaks of another metric.
UNSEEN = ("score", "metric report beside")
READING: dict[str, Callable[[str], list[str]]] = {
    "rank": lambda spec: ["rank", "board", "--by", spec, "--draws", "5", "--no-save"],
    "compare": lambda spec: ["compare", "board", spec, "length", "--draws", "5"],
    "compare generators": lambda spec: ["compare", "board", "g0", "g1", "--by", spec, "--draws", "5"],
    "power": lambda spec: ["power", "board", "length", spec],
    "estimate": lambda spec: ["estimate", "board", "g0", "--metric", spec],
    "estimate all": lambda spec: ["estimate", "board", "--metric", spec],
    "doubts": lambda spec: ["ratings", "doubts", "board", "--metric", spec],
}


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A folder with a board that is scored by a metric of this kind, what was written for it, and its column."""
    folder = tmp_path_factory.mktemp("names")
    spec, column = KINDS[request.param]
    with pytest.MonkeyPatch.context() as patch:
        _prepare(folder, patch)
        if spec.startswith("evaluate:"):
            pytest.importorskip("evaluate", reason="evaluate is in the extra of that name")
        assert main(["score", "board", "--metric", spec, "length", "--jobs", "1"]) == 0
    return folder, spec, column


def _prepare(folder: Path, patch: pytest.MonkeyPatch) -> None:
    patch.chdir(folder)
    patch.setenv("BILLBOARDS_PACKS", str(folder / "packs"))
    if (folder / "board").exists():
        return
    (folder / "mine.py").write_text(OVERLAP)
    (folder / "pack").mkdir()
    (folder / "pack" / "metric.py").write_text(OVERLAP)
    (folder / "pack" / "metric.toml").write_text(MANIFEST)
    build_pack(folder / "pack", trusted=True)
    (folder / "shared").mkdir()
    (folder / "shared" / "shared.py").write_text(MODULE)
    (folder / "a.txt").write_text("the ferry leaves\nat noon\n")
    (folder / "b.txt").write_text("the ferry left\nat noon\n")
    bb.save(replace(small_board(), metrics=("length",)), folder / "board")
    (folder / "suite.toml").write_text('metrics = ["length"]\n[[boards]]\nfolder = "board"\nothers = []\n')


@pytest.mark.parametrize("door", [*COMPUTING, *READING])
def test_a_command_takes_it(
    kind: tuple[Path, str, str], door: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, spec, column = kind
    _prepare(folder, monkeypatch)
    command = {**COMPUTING, **READING}[door](spec)
    jobs = ["--jobs", "1"] if door in COMPUTING else []
    code = main([*command, *jobs, *(["--json"] if door not in UNSEEN else [])])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    assert door in UNSEEN or json.dumps(column, ensure_ascii=False) in printed.out, printed.out[:2000]


def shared_words(outputs: list[str], references: list[list[str]]) -> list[float]:
    return [
        float(len(set(output.split()) & set(texts[0].split())))
        for output, texts in zip(outputs, references, strict=True)
    ]


@pytest.mark.long
@pytest.mark.parametrize("single", [shared_words, bb.metric("rouge-1"), "rouge-1", Path("mine.py")])
def test_a_function_takes_it_alone_or_in_a_list(single: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _prepare(tmp_path, monkeypatch)
    board: Any = bb.open("board")
    column = bb.metric(single).name
    for metrics in (single, [single, "length"]):
        assert not bb.score(board, metrics).failures
        assert column in bb.challenge(board, metrics, kinds=["truncation"]).to_text()
        assert column in bb.references(board, metrics, most=1).to_text()
        assert column in bb.overrating(board, "B", metrics=metrics).to_text()
        assert column in bb.audit(board, metrics, draws=5).to_text()
        judges = [*metrics[:1], "chrF"] if isinstance(metrics, list) else metrics
        assert column in bb.audit(board, ["length"], against=judges, draws=5).to_text(wide=True)
        assert column in bb.open_suite("suite.toml").run(metrics, draws=5).to_text(wide=True)
    assert bb.rank(board, by=single, draws=5).value.ranked_by == column
    compared: Any = bb.compare(board, single, "LENGTH", draws=5).value
    assert (compared.first, compared.second) == (column, "length")
    decided: Any = bb.compare(board, "g0", "g1", by=single, draws=5).value
    assert decided.decided_by == column
    assert bb.power(board, "length", single).value.second == column
    estimated: Any = bb.estimate(board, "g0", metric=single).value
    assert estimated.metric == column
    assert bb.ratings_doubts(board, metric=single).value.metric == column
    assert bb.report(board, "report.html", by=single, with_studies=False, with_references=False).is_file()
    assert bb.metric(single).score("a b", "a c").corpus > 0


def test_the_owner_of_a_board_may_name_its_leader_in_any_case(tmp_path: Path) -> None:
    board = bb.save(replace(small_board(), metrics=("BLEU", "length"), by="bleu"), tmp_path / "board")
    bb.score(board)
    assert bb.rank(board, draws=5).value.ranked_by == "BLEU"


def test_what_stands_for_no_scores_is_named_with_its_neighbours(tmp_path: Path) -> None:
    board = bb.save(replace(small_board(), metrics=("BLEU",)), tmp_path / "board")
    bb.score(board)
    with pytest.raises(UnknownName, match=r"no metric named 'blue'; did you mean BLEU\?"):
        bb.rank(board, by="blue", draws=5)
    with pytest.raises(UnknownName, match=r"no metric named 'bleu\[x\]'|no part of BLEU named 'x'"):
        bb.rank(board, by="bleu[x]", draws=5)
