"""Completion offers commands, options, boards, metrics and generators: asked directly, and in the shells themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from billboards.cli.completion import SCRIPTS, candidates
from billboards.cli.main import main


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a board of two generators, as far as completion looks at it."""
    (tmp_path / "harbour" / "generators").mkdir(parents=True)
    (tmp_path / "harbour" / "board.toml").write_text("")
    for name in ("Lead-3", "BART"):
        (tmp_path / "harbour" / "generators" / f"{name}.jsonl").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ra"], ["ratings", "rank"]),
        (["leaderb"], ["leaderboard"]),
        (["rank", ""], ["harbour"]),
        (["leaderboard", "h"], ["harbour"]),
        (["rank", "harbour", "--by", "ROUGE-L"], ["ROUGE-L", "ROUGE-Lsum"]),
        (["rank", "harbour", "--by", "bertscore"], ["BERTScore"]),
        (["overrating", "harbour", "--human", ""], ["BART", "Lead-3"]),
        (["rank", "--aggr"], ["--aggregate"]),
        (["ensemble", "l"], ["list"]),
        (["completion", "z"], ["zsh"]),
        (["no-such-command", ""], []),
    ],
)
def test_what_is_offered(words: list[str], expected: list[str], here: Path) -> None:
    assert candidates(words) == expected


def ask(shell: str, line: str, folder: Path) -> list[str]:
    """What a shell that has read its script offers for a line."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    (folder / "script").write_text(SCRIPTS[shell])
    words = line.split(" ")
    quoted = " ".join(word or "''" for word in words)
    scripts = {
        "bash": f"source ./script; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; "
        '_billboards; printf "%s\\n" "${COMPREPLY[@]}"',
        "zsh": 'compdef() { :; }; _files() { :; }; compadd() { shift 2; print -l -- "$@"; }; source ./script; '
        f"words=({quoted}); CURRENT={len(words)}; _billboards",
        "fish": f'source ./script; complete -C "{line}"',
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HOME": str(folder)}
    done = subprocess.run(
        [program, "-c", scripts[shell]], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return [text for text in done.stdout.split("\n") if text]


@pytest.mark.parametrize("shell", list(SCRIPTS))
def test_the_shells_themselves_offer_commands_boards_and_generators(shell: str, here: Path) -> None:
    assert {"rank", "ratings"} <= set(ask(shell, "billboards ra", here))
    assert "harbour" in [name.rstrip("/") for name in ask(shell, "billboards rank h", here)]
    assert "BART" in ask(shell, "billboards overrating harbour --human B", here)


def test_the_script_is_printed_and_a_shell_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "fish"]) == 0
    assert "complete -c billboards" in capsys.readouterr().out
    assert main(["completion"]) == 2
    assert "name your shell" in capsys.readouterr().err
