"""Other tools' doors: schema, pre-commit, GitHub Action, the hub and evaluate, each tried as that tool uses it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from test_release import check_schema

import billboards as bb
from billboards.board.schema import board_schema
from billboards.cli.main import main
from billboards.demo import build_board

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a board in it."""
    folder = tmp_path_factory.mktemp("repository") / "my-board"
    bb.score(bb.save(replace(build_board(), metrics=("BLEU", "TER")), folder))
    return folder


def program(*words: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([environment.pop("PATH", ""), str(Path(sys.executable).parent), os.environ["PATH"]])
    everything = {**os.environ, **environment, "PATH": path.strip(os.pathsep)}
    return subprocess.run(words, cwd=folder, env=everything, capture_output=True, text=True, check=False)


def test_the_schema_takes_real_boards_and_refuses_a_wrong_key(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "board"]) == 0
    schema = json.loads(capsys.readouterr().out)
    jsonschema.Draft7Validator.check_schema(schema)
    settings = tomllib.loads((board / "board.toml").read_text("utf-8"))
    jsonschema.Draft7Validator(schema).validate(settings)
    (mistake,) = jsonschema.Draft7Validator(board_schema()).iter_errors({**settings, "metric": ["BLEU"]})
    assert "'metric' was unexpected" in mistake.message
    assert main(["schema", "catalogue"]) == 0
    assert json.loads(capsys.readouterr().out)["fileMatch"] == ["board.toml"]


def test_the_pre_commit_hook_passes_a_board_and_names_a_mistake(board: Path, tmp_path: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    command = [*shlex.split(hook["entry"]), "my-board"]
    assert program(*command, folder=board.parent).returncode == 0
    (tmp_path / "my-board").mkdir()
    (tmp_path / "my-board" / "board.toml").write_text('titel = "x"\n')
    done = program(*command, folder=tmp_path)
    assert done.returncode == 2
    assert "unknown key 'titel'" in done.stdout + done.stderr


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    """A `gh` that keeps what it is told."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "gh").write_text('#!/bin/sh\necho "$@" > "$RUNNER_TEMP/gh.txt"\ncat "$5" > "$RUNNER_TEMP/comment.md"\n')
    (folder / "gh").chmod(0o755)
    return folder


def test_the_action_ranks_and_comments_once(board: Path, hub: Path, tmp_path: Path) -> None:
    check_schema("github-actions", ROOT / "action.yml")
    script = str(ROOT / "deploy" / "action" / "rank.sh")
    asked = {"BOARD": "my-board", "PULL_REQUEST": "7", "RUNNER_TEMP": str(tmp_path), "PATH": str(hub)}
    files = {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"), "GITHUB_OUTPUT": str(tmp_path / "out")}
    done = program("bash", script, folder=board.parent, **asked, **files)
    assert done.returncode == 0, done.stderr
    comment = (tmp_path / "comment.md").read_text("utf-8")
    assert comment.startswith("### billboards: `my-board`\n")
    assert "| metric" in comment
    assert "pr comment 7 --body-file" in (tmp_path / "gh.txt").read_text()
    assert (tmp_path / "summary.md").read_text("utf-8") == comment
    ranking = json.loads(Path((tmp_path / "out").read_text().strip().removeprefix("ranking=")).read_text("utf-8"))
    assert ranking["ranked_by"] == "BLEU"


def test_the_action_comments_mistakes_and_fails(hub: Path, tmp_path: Path) -> None:
    (tmp_path / "my-board").mkdir()
    script = str(ROOT / "deploy" / "action" / "rank.sh")
    asked = {"BOARD": "my-board", "PULL_REQUEST": "7", "RUNNER_TEMP": str(tmp_path), "PATH": str(hub)}
    assert program("bash", script, folder=tmp_path, **asked).returncode == 1
    assert "`my-board` has mistakes" in (tmp_path / "comment.md").read_text("utf-8")


@pytest.mark.filterwarnings("ignore")  # the loader's own packages deprecate things of theirs
def test_a_board_on_the_hub_is_loaded_without_a_script(
    board: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["export", "hf", str(board), "-o", str(tmp_path / "hub")]) == 0
    head = yaml.safe_load((tmp_path / "hub" / "README.md").read_text("utf-8").split("---\n")[1])
    assert (head["license"], head["language"]) == ("mit", ["en"])
    import datasets

    loaded: Any = {
        name: datasets.load_dataset(str(tmp_path / "hub"), name, split="train", cache_dir=str(tmp_path / "cache"))
        for name in ("outputs", "scores", "judgments")
    }
    opened = bb.open(board)
    assert loaded["outputs"].num_rows == sum(text is not None for row in opened.rows for text in row.texts)
    assert set(loaded["scores"]["metric"]) == {"BLEU", "TER"}
    assert (
        min(
            score
            for name, score in zip(loaded["scores"]["metric"], loaded["scores"]["score"], strict=True)
            if name == "TER"
        )
        >= 0
    )
    assert main(["export", "hf", str(board), "-o", str(tmp_path / "hub")]) == 2


EVALUATED = """
import json, sys, evaluate
loaded = evaluate.load(sys.argv[1], "chrF")
print(json.dumps(loaded.compute(predictions=json.loads(sys.argv[2]), references=json.loads(sys.argv[3]))))
"""


def test_evaluate_loads_our_metrics_with_our_numbers(tmp_path: Path) -> None:
    """In a process of its own: evaluate imports its modules from one folder for as long as a process lives."""
    module = str(ROOT / "integrations" / "evaluate" / "billboards_metric")
    texts, references = ["the cat sat", "a dog"], ["the cat sat down", "a dog"]
    words = (sys.executable, "-c", EVALUATED, module, json.dumps(texts), json.dumps(references))
    done = program(*words, folder=tmp_path, HF_HOME=str(tmp_path / "hub"), HF_EVALUATE_OFFLINE="1")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    own = bb.metric("chrF").score(texts, references)
    assert result["score"] == own.corpus
    assert result["scores"] == list(own.sentences)
    assert result["signature"] == own.signature
