"""What older versions kept still opens, and every number they gave is still given.

Each folder `v*` beside this file was written by `make.py` on the version of its name. Only the outer doors are used
here, so that the tests stay as they are however the package is cut: the command line, `import billboards`, and HTTP
(`test_golden_site.py`).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from frozen_documents import differences, normalised
from frozen_metrics import learned_numbers, metric_numbers
from frozen_runs import board_facts, copied, run_differences, run_line, working_in

import billboards as bb

HERE = Path(__file__).parent
VERSIONS = sorted(path.name for path in HERE.glob("v*"))
RUNS = sorted(path.relative_to(HERE).as_posix() for path in HERE.glob("v*/commands/*.json"))

#: A command line that is frozen as JSON, and the same from Python.
IN_PYTHON: Mapping[str, Callable[[Any], Any]] = {
    "rank harbour --no-save": bb.rank,
    "rank harbour --domain weather --no-save --draws 100": lambda board: bb.rank(
        board, part=bb.Slice(domain="weather"), draws=100
    ),
    "rank harbour --k 5 --no-save --draws 100": lambda board: bb.rank(board, k=5, draws=100),
    "rank harbour --ensemble best-subset --k 2 --no-save --draws 100": lambda board: bb.rank(
        board, method="best-subset", k=2, draws=100
    ),
    "rank versus --no-save": bb.rank,
    "ensemble study harbour": bb.ensemble,
    "overrating harbour --human Mara --crossed --no-score --jobs 1": lambda board: bb.overrating(
        board, "Mara", crossed=True, score=False
    ),
    "compare harbour chrF BLEU --draws 200": lambda board: bb.compare(board, "chrF", "BLEU", draws=200, shown=5),
    "compare harbour --draws 200": lambda board: bb.compare_all(board, draws=200),
    "sensitivity harbour --draws 100": lambda board: bb.sensitivity(board, draws=100),
    "hybrids harbour --mixtures 500": lambda board: bb.hybrids(board, mixtures=500),
    "estimate harbour Brisk --labels 10": lambda board: bb.estimate(board, "Brisk", labels=10),
    "power harbour chrF BLEU": lambda board: bb.power(board, "chrF", "BLEU"),
    "agreement harbour overall crowd --show 2": lambda board: bb.agreement(board, "overall", "crowd", shown=2),
    "references harbour --jobs 1 --metric chrF --metric TER": lambda board: bb.references(board, ["chrF", "TER"]),
    "challenge harbour --jobs 1 --metric chrF --metric length": lambda board: bb.challenge(board, ["chrF", "length"]),
    "card harbour": bb.card,
}

#: How a board's scores are computed anew, and lines that use them.
SCORED_ANEW: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "harbour": (
        ("score harbour --jobs 1", "score harbour --references Ada --jobs 1"),
        ("rank harbour --no-save", "rank harbour --references Ada --no-save --draws 100"),
    ),
    "versus": (
        ("score versus --jobs 1", "score versus --metric ROUGE-L --jobs 1"),
        ("rank versus --no-save", "compare versus --draws 100"),
    ),
    "captions": (("score captions --jobs 1",), ("rank captions --no-save",)),
    "quiet": (("score quiet --jobs 1",), ("rank quiet --by chrF --no-save",)),
}


def kept_run(version: str, line: str) -> dict[str, Any]:
    """The kept run of a command line that prints JSON."""
    for path in (HERE / version / "commands").glob("*.json"):
        run: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if run["argv"] == [*line.split(), "--json"]:
            return run
    raise LookupError(line)


@pytest.mark.parametrize("name", RUNS)
def test_a_command_line_comes_to_what_it_came_to(name: str, tmp_path: Path) -> None:
    kept = json.loads((HERE / name).read_text("utf-8"))
    workspace = (HERE / name).parents[1] / "workspace"
    now = run_line(kept["argv"], copied(workspace, tmp_path, kept["argv"]))
    unlike = list(run_differences(kept, now))
    assert not unlike, "\n".join([" ".join(kept["argv"]), *unlike[:20]])


@pytest.mark.parametrize("version", VERSIONS)
def test_boards_open_with_the_same_contents_and_digests(version: str, tmp_path: Path) -> None:
    kept = json.loads((HERE / version / "boards.json").read_text("utf-8"))
    workspace = shutil.copytree(HERE / version / "workspace", tmp_path / "workspace")
    assert list(kept) == ["captions", "harbour", "quiet", "versus"]
    assert list(differences(kept, board_facts(workspace))) == []


@pytest.mark.parametrize("board", SCORED_ANEW)
@pytest.mark.parametrize("version", VERSIONS)
def test_scores_that_are_computed_anew_give_the_same_rankings(version: str, board: str, tmp_path: Path) -> None:
    copied(HERE / version / "workspace", tmp_path, [board])
    shutil.rmtree(tmp_path / board / ".billboards")
    scoring, lines = SCORED_ANEW[board]
    for line in scoring:
        assert run_line(line.split(), tmp_path)["counts"][0] > 0
    for line in lines:
        kept = kept_run(version, line)
        assert list(run_differences(kept, run_line(kept["argv"], tmp_path))) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_metrics_score_texts_as_they_did(version: str) -> None:
    kept = json.loads((HERE / version / "metrics.json").read_text("utf-8"))
    assert list(differences(kept["plain"], normalised(metric_numbers()))) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_metrics_on_the_embedded_model_score_texts_as_they_did(version: str) -> None:
    kept = json.loads((HERE / version / "metrics.json").read_text("utf-8"))
    assert list(differences(kept["learned"], normalised(learned_numbers()), relative=1e-4)) == []


@pytest.mark.parametrize("line", IN_PYTHON)
@pytest.mark.parametrize("version", VERSIONS)
def test_python_gives_what_the_command_line_gave(version: str, line: str, tmp_path: Path) -> None:
    kept = kept_run(version, line)
    copied(HERE / version / "workspace", tmp_path, kept["argv"])
    with working_in(tmp_path):
        result = IN_PYTHON[line](bb.open(next(word for word in kept["argv"] if (tmp_path / word).is_dir())))
    document = json.loads(json.dumps(result.document))
    assert list(differences(kept["stdout"], normalised(document, folder=str(tmp_path)))) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_a_kept_suite_says_the_same_from_python(version: str, tmp_path: Path) -> None:
    kept = kept_run(version, "suite rank suite.toml --draws 100")
    copied(HERE / version / "workspace", tmp_path, kept["argv"])
    with working_in(tmp_path):
        document = json.loads(json.dumps(bb.open_suite("suite.toml").rank(draws=100).document))
    assert list(differences(kept["stdout"], normalised(document))) == []


def test_added_keys_are_allowed_and_changes_are_named() -> None:
    kept = {"rank": 1, "value": 0.5, "names": ["a"], "sure": True}
    assert list(differences(kept, {**kept, "new": 3})) == []
    assert list(differences(kept, {**kept, "value": 0.5 + 1e-12})) == []
    assert list(differences(kept, {**kept, "value": 0.5 + 1e-8})) == ["$.value: 0.5, now 0.50000001"]
    assert list(differences(kept, {**kept, "sure": 1})) == ["$.sure: true, now 1"]
    assert list(differences(kept, {**kept, "names": ["a", "b"]})) == ["$.names: 1 items, now 2"]
    assert list(differences(kept, {"rank": "1"}))[:2] == ['$.rank: 1, now "1"', "$.value: is gone"]
