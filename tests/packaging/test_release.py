"""What is released: workflows that are right, a wheel that says what the checkout says, and recipes that follow it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def check_schema(schema: str, *files: Path) -> None:
    """Hold files against a schema that comes with check-jsonschema; nothing is fetched."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.long
def test_workflows_are_as_github_wants_them() -> None:
    assert [path.stem for path in WORKFLOWS] == ["ci", "release"]
    check_schema("github-workflows", *WORKFLOWS)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_a_workflow_runs_is_in_the_checkout(path: Path) -> None:
    """A script that was renamed would be noticed on the day of a release."""
    named = re.findall(r"(?<![\w/.])((?:tools|tests|\.ci|deploy)/[\w/.-]+\w)", path.read_text("utf-8"))
    named += re.findall(r"\{project\}/([\w/.]+)", PROJECT["tool"]["cibuildwheel"]["test-command"])
    assert len(named) >= 2
    assert [
        name for name in named if "*" not in name and not name.endswith("build_") and not (ROOT / name).exists()
    ] == []


#: The first version of each action that runs on Node 24, since GitHub's machines have no older one any more.
FIRST_ON_NODE_24 = {
    "actions/checkout": 5,
    "actions/setup-python": 6,
    "actions/upload-artifact": 6,
    "actions/download-artifact": 7,
    "actions/upload-pages-artifact": 5,
    "actions/deploy-pages": 5,
    "docker/setup-qemu-action": 4,
    "docker/setup-buildx-action": 4,
    "docker/login-action": 4,
    "docker/build-push-action": 7,
}
#: Machines that GitHub has taken away.
RETIRED = {"ubuntu-20.04", "macos-12", "macos-13", "macos-14", "windows-2019"}
RUN_BY_GITHUB = [
    *WORKFLOWS,
    ROOT / "action.yml",
    ROOT / "docs" / "interoperability.md",
    ROOT / "src/billboards/site/publishing/repository/github.yml",
]


@pytest.mark.parametrize("path", RUN_BY_GITHUB, ids=lambda path: path.stem)
def test_actions_and_machines_are_those_that_github_still_runs(path: Path) -> None:
    text = path.read_text("utf-8")
    used = re.findall(r"uses: ((?:actions|docker)/[\w-]+)@v(\d+)", text)
    assert used
    assert [(name, version) for name, version in used if int(version) < FIRST_ON_NODE_24[name]] == []
    assert set(re.findall(r"(?:ubuntu|macos|windows)-[\d.]+", text)) & RETIRED == set()


def test_what_builds_without_an_environment_of_its_own_finds_the_builder() -> None:
    """A new machine's Python has no setuptools, which `check_wheel.py` builds with."""
    release = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))
    steps = [step.get("run", "") for step in release["jobs"]["sources"]["steps"]]
    builder = next(k for k, run in enumerate(steps) if "requirements/build.txt" in run)
    assert builder < next(k for k, run in enumerate(steps) if "check_wheel.py" in run)


def test_wheels_are_built_for_linux_macos_and_windows_and_published_without_a_password() -> None:
    release = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))
    machines = release["jobs"]["wheels"]["strategy"]["matrix"]["os"]
    assert {name.partition("-")[0] for name in machines} == {"ubuntu", "macos", "windows"}
    assert "ubuntu-24.04-arm" in machines
    publish = release["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert set(publish["needs"]) == {"wheels", "sources"}
    assert "secrets." not in str(publish)


@pytest.mark.long
def test_the_wheel_installs_in_a_new_environment_and_gives_the_same_numbers() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "check_wheel.py", "--here"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    name, audited, installed, scored = done.stdout.splitlines()
    assert re.fullmatch(rf"billboards-{PROJECT['project']['version']}-py3-none-linux_\w+\.whl", name)
    assert audited == "audited: runs with glibc 2.31 and later"
    assert installed == f"installed: billboards {PROJECT['project']['version']}"
    assert scored == "scored: 12 metrics, the checkout's numbers"


def test_the_conda_recipe_asks_for_what_the_package_asks_for() -> None:
    text = (ROOT / "deploy" / "conda" / "meta.yaml").read_text("utf-8")
    plain = re.sub(r"\{% set version = \"(.+?)\" %\}", "", text)
    recipe = yaml.safe_load(re.sub(r"\{\{.*?\}\}", "x", plain))
    wanted = {requirement.replace(" ", "") for requirement in PROJECT["project"]["dependencies"]}
    assert {line.replace(" ", "") for line in recipe["requirements"]["run"]} - {"python>=3.11"} == wanted
    assert f'version = "{PROJECT["project"]["version"]}"' in text
    assert PROJECT["build-system"]["requires"] == ["setuptools==84.2.1"]
    assert "setuptools ==84.2.1" in recipe["requirements"]["host"]


def test_the_changelog_begins_with_the_version_that_is_released() -> None:
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert headings[0] == PROJECT["project"]["version"]


@pytest.mark.long
def test_citation_and_issue_forms_are_as_their_readers_want_them() -> None:
    check_schema("citation-file-format", ROOT / "CITATION.cff")
    check_schema("github-issue-forms", *sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml")))
    check_schema("github-issue-config", ROOT / ".github/ISSUE_TEMPLATE/config.yml")
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["version"] == PROJECT["project"]["version"]
    assert f"version = {{{PROJECT['project']['version']}}}" in (ROOT / "README.md").read_text("utf-8")
