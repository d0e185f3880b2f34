"""What older versions kept still opens, and every number they gave is still given.

Each folder `v*` beside this file was written by `make.py` on the version of its name. Only the outer doors are used
here, so that the tests stay as they are however the package is cut: the command line, `import billboards`, and HTTP
(`test_golden_site.py`). `test_golden_python.py` has what is done in Python.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from frozen_documents import differences
from frozen_runs import board_facts, copied, kept_run, run_differences, run_line

HERE = Path(__file__).parent
VERSIONS = sorted(path.name for path in HERE.glob("v*"))
RUNS = sorted(path.relative_to(HERE).as_posix() for path in HERE.glob("v*/commands/*.json"))

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
    assert list(kept) == ["articles", "captions", "harbour", "quiet", "versus"]
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
        kept = kept_run(HERE / version, line)
        assert list(run_differences(kept, run_line(kept["argv"], tmp_path))) == []


def test_added_keys_are_allowed_and_changes_are_named() -> None:
    kept = {"rank": 1, "value": 0.5, "names": ["a"], "sure": True}
    assert list(differences(kept, {**kept, "new": 3})) == []
    assert list(differences(kept, {**kept, "value": 0.5 + 1e-12})) == []
    assert list(differences(kept, {**kept, "value": 0.5 + 1e-8})) == ["$.value: 0.5, now 0.50000001"]
    assert list(differences(kept, {**kept, "sure": 1})) == ["$.sure: true, now 1"]
    assert list(differences(kept, {**kept, "names": ["a", "b"]})) == ["$.names: 1 items, now 2"]
    assert list(differences(kept, {"rank": "1"}))[:2] == ['$.rank: 1, now "1"', "$.value: is gone"]
