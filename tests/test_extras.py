"""A part that is missing is answered with the command that installs it, and extras hold what they are named after."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from billboards.cli import demo
from billboards.cli.main import main
from billboards.extras import EXTRAS, answer_to, extra_of, install_command

ROOT = Path(__file__).resolve().parents[1]
DECLARED: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]


def test_every_extra_for_users_is_explained_and_all_holds_each_of_them() -> None:
    users = set(DECLARED) - {"all", "test", "check", "docs"}
    assert set(EXTRAS) == users
    (everything,) = DECLARED["all"]
    assert set(everything.removeprefix("billboards[").removesuffix("]").split(",")) == users


def test_a_module_is_answered_with_the_extra_that_brings_it() -> None:
    assert extra_of("torch.nn") == "neural"
    assert extra_of("httpx") == "site"
    assert extra_of("numpy") is None
    error = ModuleNotFoundError("No module named 'alembic'", name="alembic")
    assert answer_to(error) == (
        "this needs alembic, which is not installed; install it with `pip install 'billboards[site]'`"
    )
    assert answer_to(ModuleNotFoundError("No module named 'numpy'", name="numpy")) is None


def test_commands_of_a_site_name_the_extra_and_show_no_traceback(tmp_path: Path) -> None:
    script = (
        "import sys; sys.modules['sqlalchemy'] = None\n"
        "from billboards.cli.main import main\n"
        "for words in ('forget . ann', 'tidy .', 'backup . b.zip'):\n"
        "    print(main(words.split()), flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout.split() == ["1", "1", "1"], done.stderr
    assert done.stderr.count(install_command("site")) == 3


def test_messages_that_name_an_extra_name_it_the_same_way_and_one_that_there_is() -> None:
    named: list[str] = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        text = path.read_text("utf-8")
        named += re.findall(r"pip install 'billboards\[([\w{}.]+)\]'", text)
        assert not re.search(r"""pip install "?billboards\[""", text), path
    assert {name for name in named if "{" not in name} <= set(DECLARED)
    assert len(named) > 10


def test_the_demo_ends_with_the_report_where_the_site_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(demo, "site_is_installed", lambda: False)

    def remember(command: list[str]) -> int:
        ran.append(command)
        return 0

    monkeypatch.setattr("billboards.cli.main.main", remember)
    assert main(["demo", "-o", str(tmp_path / "demo"), "--jobs", "1"]) == 0
    assert [command[0] for command in ran] == ["score", "rank", "agreement", "report"]
    assert "--open" in ran[-1]
    assert "for the site, too: `pip install 'billboards[site]'`" in capsys.readouterr().err
