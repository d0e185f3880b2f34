"""What comes along with the package: licences are read without a network, and an audit says when there was none."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))


def test_everything_that_is_shipped_has_a_licence_that_allows_it() -> None:
    done = subprocess.run([sys.executable, TOOLS / "licences.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert int(done.stdout.split()[0]) > 30


def test_a_licence_that_asks_for_everything_in_return_is_named(tools: None) -> None:
    from licences import mistakes  # type: ignore[import-not-found]

    right = ["MIT", "LGPL-3.0-only", "GNU Lesser General Public License v3 (LGPLv3)", "GPL-2.0 OR MIT", "PSF-2.0"]
    assert mistakes({str(k): text for k, text in enumerate(right)}) == []
    wrong = ["GPL-3.0-only", "AGPL-3.0", "GNU General Public License v3 (GPLv3)", "SSPL-1.0", ""]
    assert [line[0] for line in mistakes({str(k): text for k, text in enumerate(wrong)})] == ["0", "1", "2", "3", "4"]


def test_an_audit_names_what_is_weak_and_says_when_nothing_was_checked(tools: None) -> None:
    from dependency_audit import skipped, unknown, weaknesses  # type: ignore[import-not-found]

    weak = {
        "name": "a",
        "version": "1",
        "vulns": [{"id": "X-1", "fix_versions": ["2"]}, {"id": "X-2", "fix_versions": []}],
    }
    sound, absent = {"name": "b", "version": "1", "vulns": []}, {"name": "c", "skip_reason": "not found"}
    document = {"dependencies": [weak, sound, absent]}
    assert unknown(document) == ["not found"]
    assert weaknesses(document) == ["a 1: X-1; mended in 2", "a 1: X-2; mended in no version"]
    assert skipped("Traceback\nConnectionError: no route\n").endswith("known weaknesses: ConnectionError: no route")
    assert skipped("").endswith("no answer")


@pytest.mark.parametrize("answer", ["", '{"dependencies": [{"name": "c", "skip_reason": "not found"}]}'])
def test_an_audit_that_looked_at_nothing_fails_unless_that_is_allowed_and_then_says_so_loudly(
    tools: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], answer: str
) -> None:
    import dependency_audit

    monkeypatch.setattr(dependency_audit, "COMMAND", (sys.executable, "-c", f"print({answer!r})"))
    monkeypatch.delenv(dependency_audit.VARIABLE, raising=False)
    assert dependency_audit.main([]) == 1
    assert "NOT CHECKED" in capsys.readouterr().out
    assert dependency_audit.main(["--allow-unchecked"]) == 0
    assert "*** ALLOWED TO PASS WITHOUT AN AUDIT" in capsys.readouterr().out
    monkeypatch.setenv(dependency_audit.VARIABLE, dependency_audit.ALLOWED)
    assert dependency_audit.main([]) == 0
    monkeypatch.setenv(dependency_audit.VARIABLE, "yes")
    assert dependency_audit.main([]) == 1


def test_a_release_never_allows_that_nothing_is_checked() -> None:
    text = (TOOLS.parent / "Makefile").read_text("utf-8")
    recipe = text.partition("\nrelease:")[2].partition("\n\n")[0]
    assert "env -u BILLBOARDS_AUDIT $(BIN)/python tools/dependency_audit.py\n" in recipe
    assert "allow" not in recipe.partition("\n")[2]


def test_the_locks_hold_all_that_the_project_asks_for_by_hash_and_name_no_host() -> None:
    done = subprocess.run([sys.executable, TOOLS / "locks.py", "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\nrun `python tools/locks.py` after a change of pyproject.toml"


def test_a_lock_without_a_package_a_hash_or_with_a_host_is_refused(tools: None) -> None:
    from locks import mistakes  # type: ignore[import-not-found]

    right = "setuptools==84.2.1 \\\n    --hash=sha256:00\n"
    assert mistakes("build.txt", right) == []
    assert mistakes("build.txt", "wheel==1 --hash=sha256:0\n") == ["build.txt: setuptools==84.2.1 is missing"]
    assert mistakes("build.txt", right.replace("84", "83")) == [
        "build.txt: setuptools==84.2.1 is locked as 83.2.1",
    ]
    assert mistakes("build.txt", "setuptools==84.2.1\n") == ["build.txt: setuptools==84.2.1 has no hash"]
    assert mistakes("build.txt", f"--index-url https://a.example\n{right}")[-1] == "build.txt: names a host"


@pytest.mark.long
def test_two_builds_of_the_wheel_are_the_same_bytes_and_have_a_bill_of_materials(tmp_path: Path) -> None:
    command = [sys.executable, str(TOOLS / "build_wheel.py"), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("billboards-*.whl")
    assert hashlib.sha256(wheel.read_bytes()).hexdigest() in (tmp_path / "SHA256SUMS").read_text()
    document = json.loads((tmp_path / "billboards.cdx.json").read_text("utf-8"))
    assert document["bomFormat"] == "CycloneDX"
    assert document["metadata"]["component"]["name"] == "billboards"
    assert {"fastapi", "sqlalchemy", "psycopg"} <= {component["name"] for component in document["components"]}
