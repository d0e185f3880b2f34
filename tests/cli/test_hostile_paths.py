"""Every command with every file it takes replaced by what is none: one line on stderr, no traceback, no waiting.

The commands and what they take are read from their parsers, so that a new one is tried without being named here.
"""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from page_sites import page_board

from billboards.board.writing import write_board
from billboards.cli import options
from billboards.cli._arguments import LateParser
from billboards.cli.main import command_parser, every_command, main

#: What is written, not read: a place for it may be missing.
WRITTEN = {"out", "html", "chart", "home", "wheels", "site", "new folder", "suite new suite", "backup file",
           "restore data"}  # fmt: skip
#: Arguments that are texts for argparse and files for the command.
FILES = {("campaign template check", "template"), ("campaign template preview", "template"),
         ("campaign template show", "template"), ("campaign new", "template"), ("ensemble apply", "signature"),
         ("pack check", "folder"), ("submit", "path"), ("verify", "board"), ("verify", "key")}  # fmt: skip
#: What many commands take and one reader reads, with the command that stands for all.
ALIKE = {"card": "table", "data": "list"}
#: Commands that make a site of such a place, or work for it for ever.
ENDLESS = {"serve": ("directory", "missing"), "worker": ("directory", "missing")}
EXTRA = {"serve": ["--token", "owner"], "submit": ["--to", "http://127.0.0.1:9"], "worker": ["--engine", "local"]}
ODD = ("missing", "directory", "empty", "binary", "unreadable", "pipe", "device", "long")


@dataclass(frozen=True)
class Slot:
    """One argument of one command that is a file or a folder."""

    command: tuple[str, ...]
    parser: argparse.ArgumentParser
    action: argparse.Action

    def __str__(self) -> str:
        return f"{' '.join(self.command)} {self.action.dest}"


def _leaves(parser: argparse.ArgumentParser, command: tuple[str, ...]) -> Iterator[Slot]:
    if isinstance(parser, LateParser):
        parser.complete()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from _leaves(below, (*command, name))
            return
    yield from (Slot(command, parser, action) for action in parser._actions)


def _is_file(slot: Slot) -> bool:
    name, action = " ".join(slot.command), slot.action
    # Importers read cards alike, and campaigns and crowds their site.
    if action.option_strings and ALIKE.get(action.dest, slot.command[-1]) != slot.command[-1]:
        return False
    taken = action.type is Path or (name, action.dest) in FILES
    return taken and not WRITTEN & {action.dest, f"{name} {action.dest}"}


def _slots() -> Iterator[Slot]:
    for name in every_command():
        yield from _leaves(command_parser(name), (name,))


ALL = tuple(_slots())
SLOTS = tuple(filter(_is_file, ALL))
#: Options that take a number, and the kinds of number there are.
KINDS = (options.positive, options.none_or_more, options.non_negative, options.port)
NUMBERS = tuple(one for one in ALL if one.action.option_strings and one.action.type in KINDS)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A place of each odd kind, and a board that is in order."""
    home = tmp_path_factory.mktemp("odd")
    (home / "directory").mkdir()
    (home / "empty").touch()
    (home / "binary").write_bytes(bytes(range(256)) * 20)
    os.mkfifo(home / "pipe")
    # A file that is there, and that even the superuser can't read from its beginning.
    others = {"unreadable": Path("/proc/self/mem"), "device": Path("/dev/zero"), "long": home / ("x" * 300)}
    board = write_board(page_board(4), home / "board")
    return {kind: home / kind for kind in ODD} | others | {"board": board, "home": home}


def _argv(slot: Slot, odd: Path, places: dict[str, Path], numbers: Iterator[int]) -> list[str]:
    """A command line on which all is well except one place."""
    extra = EXTRA.get(slot.command[0], [])
    words, tail = list(slot.command), list[str]()
    for action in slot.parser._actions:
        if action is slot.action:
            value = str(odd)
        elif extra and action.option_strings[-1:] == extra[:1]:
            value = extra[1]
        elif not action.required:
            continue
        else:
            value = _sound(action, places, numbers)
        if action.option_strings:
            words += [action.option_strings[-1], value]
        else:
            tail.append(value)
    return [*words, *tail]


def _sound(action: argparse.Action, places: dict[str, Path], numbers: Iterator[int]) -> str:
    if action.choices:
        return str(next(iter(action.choices)))
    if action.type is not Path:
        return "late" if action.type is None else "1"
    made = {"board": places["board"], "boards": places["board"], "into": places["board"]}
    return str(made.get(action.dest, places["home"] / f"new-{next(numbers)}"))


@pytest.fixture
def alarm() -> Iterator[None]:
    """Whoever waits for a pipe is woken and fails."""

    def wake(*_: object) -> None:
        raise AssertionError("the command waits")

    before = signal.signal(signal.SIGALRM, wake)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize("kind", ODD)
def test_a_place_that_is_no_file_is_refused_in_one_line(
    kind: str,
    places: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BILLBOARDS_PACKS", str(tmp_path / "packs"))
    numbers, refused = count(), 0
    for slot in SLOTS:
        if kind in ENDLESS.get(slot.command[0], ()):
            continue
        argv = _argv(slot, places[kind], places, numbers)
        code = _code(argv)
        said = capsys.readouterr()
        assert code in (0, 1, 2), argv
        lines = said.err.strip().splitlines()
        assert sum(line.startswith("billboards") for line in lines) == (code != 0), (argv, said.err)
        refused += code == 2
    assert refused > len(SLOTS) / 2


def _code(argv: list[str]) -> Any:
    try:
        return main(argv)
    except SystemExit as ended:
        return ended.code


@pytest.mark.parametrize(
    "argv",
    [["report", "-o"], ["judgments", "write", "--format", "csv", "-o"], ["new"], ["demo", "--no-site", "-o"]],
    ids=" ".join,
)
def test_a_place_where_nothing_can_be_written_is_refused_in_one_line(
    argv: list[str], places: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    board = [] if argv[0] in ("new", "demo") else [str(places["board"])]
    for place in (places["empty"] / "x", Path("/proc/x"), places["long"]):
        assert main([*argv, str(place), *board]) in (1, 2)
        assert capsys.readouterr().err.count("\n") == 1


#: A number in Arabic digits, a power, one as programs write it, and what is none at all.
NO_NUMBERS = ("١", "²", "1_0", "nan", "inf", "-1", "", "9" * 500)


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_a_number_is_written_in_digits(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert not [str(slot) for slot in ALL if slot.action.type in (int, float)]
    for slot in NUMBERS:
        assert _code([*slot.command, f"{slot.action.option_strings[-1]}={text}"]) == 2
        assert f"argument {'/'.join(slot.action.option_strings)}: " in capsys.readouterr().err, str(slot)
