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


@pytest.mark.long
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


@pytest.mark.long
def test_the_pre_commit_hook_passes_a_board_and_names_a_mistake(board: Path, tmp_path: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    command = [*shlex.split(hook["entry"]), "my-board"]
    assert program(*command, folder=board.parent).returncode == 0
    (tmp_path / "my-board").mkdir()
    (tmp_path / "my-board" / "board.toml").write_text('titel = "x"\n')
    done = program(*command, folder=tmp_path)
    assert done.returncode == 2
    assert "unknown key 'titel'" in done.stdout + done.stderr


HUB = """#!/bin/sh
# A `gh` that keeps comments as files: NUMBER.md
[ -e "$RUNNER_TEMP/refuses" ] && { echo "HTTP 403: Resource not accessible by integration" >&2; exit 1; }
for word in "$@"; do
  case "$word" in body=@*) body=${word#body=@} ;; --jq) asks=1 ;; */issues/comments/*) number=${word##*/} ;; esac
done
cd "$RUNNER_TEMP/comments"
if [ -n "$asks" ]; then grep -l "billboards: my-board -->" *.md | sed s/.md//
else cp "$body" "${number:-$(($(ls | wc -l) + 1))}.md"; fi
"""


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    """GitHub with one comment that somebody else's job wrote."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "gh").write_text(HUB)
    (folder / "gh").chmod(0o755)
    (tmp_path / "comments").mkdir()
    (tmp_path / "comments" / "1.md").write_text("The coverage is 97%")
    return folder


def action(board: Path, hub: Path, **asked: str) -> subprocess.CompletedProcess[str]:
    """What action.yml runs, for pull request 7 of a sample repository."""
    place = hub.parent
    files = {"GITHUB_STEP_SUMMARY": str(place / "summary.md"), "GITHUB_OUTPUT": str(place / "out")}
    fixed = {"BOARD": "my-board", "PULL_REQUEST": "7", "GITHUB_REPOSITORY": "me/mine", "RUNNER_TEMP": str(place)}
    script = str(ROOT / "deploy" / "action" / "rank.sh")
    return program("bash", script, folder=board.parent, **{**fixed, **files, **asked}, PATH=str(hub))


@pytest.mark.long
def test_the_action_ranks_and_writes_over_its_own_comment_alone(board: Path, hub: Path, tmp_path: Path) -> None:
    check_schema("github-actions", ROOT / "action.yml")
    for _ in range(2):
        done = action(board, hub, METRICS="BLEU TER")
        assert done.returncode == 0, done.stderr
    comments = {path.name: path.read_text("utf-8") for path in (tmp_path / "comments").iterdir()}
    assert sorted(comments) == ["1.md", "2.md"]
    assert comments["1.md"] == "The coverage is 97%"
    assert comments["2.md"].startswith("### billboards: `my-board`\n")
    assert "| metric" in comments["2.md"]
    assert (tmp_path / "summary.md").read_text("utf-8") == 2 * comments["2.md"]
    ranking = json.loads(Path((tmp_path / "out").read_text().split()[0].removeprefix("ranking=")).read_text("utf-8"))
    assert ranking["ranked_by"] == "BLEU"


@pytest.mark.long
def test_a_pull_request_from_a_fork_gets_a_warning_and_the_ranking_in_the_summary(
    board: Path, hub: Path, tmp_path: Path
) -> None:
    (tmp_path / "refuses").touch()
    done = action(board, hub)
    assert done.returncode == 0, done.stderr
    assert "::warning title=billboards::the comment could not be written" in done.stdout
    assert "| metric" in (tmp_path / "summary.md").read_text("utf-8")


@pytest.mark.long
def test_the_action_comments_mistakes_and_fails(board: Path, hub: Path, tmp_path: Path) -> None:
    assert action(board, hub, METRICS="BLUE").returncode == 1
    assert "no metric named 'BLUE'; did you mean BLEU" in (tmp_path / "comments" / "2.md").read_text("utf-8")
    (tmp_path / "elsewhere" / "my-board").mkdir(parents=True)
    assert action(tmp_path / "elsewhere" / "my-board", hub).returncode == 1
    assert "`my-board` has mistakes" in (tmp_path / "comments" / "2.md").read_text("utf-8")


@pytest.mark.long
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


@pytest.mark.long
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
