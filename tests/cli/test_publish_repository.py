"""`billboards publish --template`: a repository that is safe for strangers’ pull requests, run step by step."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from small_sites import make_board

from billboards.board.writing import write_board
from billboards.cli.main import main

METRIC = """
HIGHER_IS_BETTER = False
NEEDS = []

def score(outputs, references, inputs):
    return [output.count("wrong") for output in outputs]
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the board of a small site."""
    home = tmp_path_factory.mktemp("home")
    board = write_board(make_board(metrics=("chrF", "ROUGE-1")), home / "ferry")
    assert main(["publish", str(board), "--template", "github", str(home / "repository")]) == 0
    return home / "repository"


@pytest.fixture(scope="module")
def workflow(repository: Path) -> dict[Any, Any]:
    text = (repository / ".github" / "workflows" / "leaderboard.yml").read_text("utf-8")
    document: dict[Any, Any] = yaml.safe_load(text)
    return document


def step(repository: Path, *arguments: str, isolated: bool = False) -> str:
    """A step of the workflow; the one that runs metrics has nothing but Python."""
    program = [sys.executable, *(["-I"] if isolated else []), "ci/leaderboard.py", *arguments]
    done = subprocess.run(program, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_repository_has_board_workflow_steps_and_readme(repository: Path) -> None:
    files = {path.relative_to(repository).as_posix() for path in repository.rglob("*") if path.is_file()}
    assert {".github/workflows/leaderboard.yml", "ci/leaderboard.py", "README.md", "requirements.txt"} <= files
    assert {"boards/ferry/board.toml", "boards/ferry/instances.jsonl", "metrics/.gitkeep", ".gitignore"} <= files
    assert not any(".billboards/" in name for name in files)


def test_pull_requests_of_strangers_get_no_secret_and_no_token_that_writes(workflow: dict[Any, Any]) -> None:
    # YAML 1.1 reads the key `on` as true.
    triggers = workflow[True]
    assert set(triggers) == {"pull_request", "push", "workflow_dispatch"}
    assert workflow["permissions"] == {"contents": "read"}
    assert "permissions" not in workflow["jobs"]["rank"]
    assert "secrets" not in json.dumps(workflow)
    publish = workflow["jobs"]["publish"]
    assert publish["permissions"] == {"pages": "write", "id-token": "write"}
    assert "github.event_name != 'pull_request'" in publish["if"]
    assert [use["uses"].partition("@")[0] for use in publish["steps"]] == ["actions/deploy-pages"]
    checkout = workflow["jobs"]["rank"]["steps"][0]
    assert checkout["with"]["persist-credentials"] is False


def test_no_text_of_a_pull_request_becomes_part_of_a_command(workflow: dict[Any, Any]) -> None:
    for job in workflow["jobs"].values():
        for entry in job["steps"]:
            assert "${{" not in entry.get("run", "")


def test_metrics_run_without_network_rights_or_judgments(workflow: dict[Any, Any]) -> None:
    (box,) = [s["run"] for s in workflow["jobs"]["rank"]["steps"] if "docker run" in s.get("run", "")]
    for limit in ("--network none", "--read-only", "--cap-drop ALL", "no-new-privileges", "--user 65534", "--memory"):
        assert limit in box
    mounted = re.findall(r'--volume "\$PWD/([^"]*)"', box)
    assert mounted == ["ci:/work/ci:ro", "metrics:/work/metrics:ro", "given:/work/given:ro", "scored:/work/scored"]


@pytest.mark.long
def test_a_pull_request_with_a_generator_and_a_metric_is_ranked_and_says_what_moved(
    repository: Path, tmp_path: Path
) -> None:
    base, head = tmp_path / "base", tmp_path / "head"
    shutil.copytree(repository, base)
    shutil.copytree(repository, head)
    (head / "metrics" / "wrongs.py").write_text(METRIC)
    perfect = head / "boards" / "ferry" / "generators" / "newcomer.jsonl"
    shutil.copyfile(head / "boards" / "ferry" / "generators" / "g0.jsonl", perfect)
    step(head, "give", "given")
    given = (head / "given" / "ferry.json").read_text("utf-8")
    assert set(json.loads(given)) == {"inputs", "references", "ids", "outputs"}
    assert "adequacy" not in given
    step(head, "score", "given", "scored", isolated=True)
    step(head, "take", "scored")
    summary = step(head, "compare", str(base))
    assert re.search(r"^\| (\d+|–) \| newcomer \| \*\*new\*\* \|$", summary, re.M)
    assert re.search(r"^\| (\d+|–) \| wrongs \| \*\*new\*\* \|$", summary, re.M)
    assert re.search(r"^\| (\d+) \| chrF \| ", summary, re.M)
    stated = (head / "boards" / "ferry" / "board.toml").read_text("utf-8")
    assert "higher_is_better = false" in stated


def test_a_metric_that_fails_stops_the_pull_request_with_its_reason(repository: Path, tmp_path: Path) -> None:
    head = tmp_path / "head"
    shutil.copytree(repository, head)
    (head / "metrics" / "broken.py").write_text("def score(outputs, references, inputs):\n    return [1.0]\n")
    step(head, "give", "given")
    step(head, "score", "given", "scored", isolated=True)
    done = subprocess.run(
        [sys.executable, "ci/leaderboard.py", "take", "scored"], cwd=head, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "broken.py on ferry: 1 scores for the 12 outputs of" in done.stderr


def test_a_space_has_its_head_and_a_script(tmp_path: Path) -> None:
    assert main(["publish", "--template", "space", str(tmp_path / "space")]) == 0
    head = yaml.safe_load((tmp_path / "space" / "README.md").read_text("utf-8").split("---")[1])
    assert (head["sdk"], head["app_file"]) == ("static", "public/index.html")
    assert (tmp_path / "space" / "publish.sh").stat().st_mode & 0o100


def test_a_folder_that_is_not_empty_stays_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    assert main(["publish", "--template", "github", str(tmp_path)]) == 2
    assert "not empty" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
