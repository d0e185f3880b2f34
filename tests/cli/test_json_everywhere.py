"""Whatever prints a result prints it as JSON, too; the rest writes files, serves or has a format of its own."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from argparse import _SubParsersAction as SubParsers
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_boards import small_board

import billboards as bb
from billboards.cli._arguments import LateParser
from billboards.cli.main import command_parser, every_command, main

#: Commands without --json, by the reason.
FILES = {
    "new", "import", "export mtme", "export hf", "judgments add", "suite new", "report", "demo", "publish",
    "bertscore baseline",
}  # fmt: skip
OTHER_FORMATS = {
    "judgments write", "campaign template show", "campaign template preview", "campaign judgments", "bertscore match",
    "crowd review", "schema", "completion",
}  # fmt: skip
PROCESSES = {"serve", "worker", "mcp"}
#: They change something and say so in one line, which is no result; what they make is an id or a name at most.
CHANGES = {
    *(f"campaign {verb}" for verb in ("meta", "open", "pause", "resume", "top-up", "admit", "exclude", "readmit")),
    *(f"crowd {verb}" for verb in ("draft", "publish", "grow", "end", "approve", "reject", "bonus", "pay", "settle")),
    "pack build",
}


def leaves(parser: ArgumentParser, name: str) -> Iterator[tuple[str, set[str]]]:
    """Every command that can be given, with its options."""
    if isinstance(parser, LateParser):
        parser.complete()
    below = [action for action in parser._actions if isinstance(action, SubParsers)]
    for actions in below:
        for word, inner in actions.choices.items():
            yield from leaves(inner, name if name == "import" else f"{name} {word}")
    if not below:
        yield name, {option for action in parser._actions for option in action.option_strings}


def test_what_prints_a_result_prints_json_too() -> None:
    every = [leaf for command in every_command() for leaf in leaves(command_parser(command), command)]
    assert len(every) > 100
    without = {name for name, options in every if "--json" not in options}
    assert without == FILES | OTHER_FORMATS | PROCESSES | CHANGES


def printed(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> dict[str, object]:
    assert main([str(argument) for argument in arguments]) == code
    document: dict[str, object] = json.loads(capsys.readouterr().out)
    assert document["schema"] == 1
    return document


def test_templates_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    templates = printed(capsys, "campaign", "template", "list", "--json")["templates"]
    assert isinstance(templates, list)
    assert {"name": "esa", "title": templates[[t["name"] for t in templates].index("esa")]["title"]} in templates
    sound = printed(capsys, "campaign", "template", "check", "esa", "--json")
    assert sound["problems"] == []
    assert str(sound["signature"])
    (tmp_path / "mine.toml").write_text("nonsense = 1\n")
    wrong = printed(capsys, "campaign", "template", "check", tmp_path / "mine.toml", "--json", code=1)
    assert wrong["signature"] is None
    assert wrong["problems"]


def test_packs_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "pack", "list", "--home", tmp_path, "--json")["packs"] == []


def test_added_scores_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    board = small_board()
    folder = tmp_path / "small"
    bb.save(board, folder)
    lines = [f"{instance.id}\t{k}.5" for k, instance in enumerate(board.instances)]
    (tmp_path / "mine.tsv").write_text("\n".join(["instance\tscore", *lines]) + "\n")
    asked = ["scores", "add", folder, tmp_path / "mine.tsv", "--metric", "Mine", "--generator", "g0", "--new", "--json"]
    planned = printed(capsys, *asked, "--dry-run")
    column = {"metric": "Mine", "new": True, "added": {"g0": 12}, "replaced": {}, "same": 0}
    assert (planned["written"], planned["columns"]) == (False, [column])
    assert not (tmp_path / "small" / "scores" / "Mine.tsv").exists()
    assert printed(capsys, *asked)["written"] is True
    assert (tmp_path / "small" / "scores" / "Mine.tsv").exists()
