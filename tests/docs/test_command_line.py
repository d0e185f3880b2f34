"""Every command, argument and option that argparse knows is explained in its section, and no option that is not."""

from __future__ import annotations

import re
from argparse import Action, ArgumentParser
from argparse import _SubParsersAction as SubParsers
from collections.abc import Iterator
from pathlib import Path

import pytest

from billboards.cli._arguments import LateParser
from billboards.cli.main import command_parser, every_command
from billboards.show.arranging import ARRANGING
from billboards.show.latex import LATEX

COMMANDS = list(every_command())

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "command-line.md").read_text("utf-8")
SECTIONS = {title: text for title, _, text in (part.partition("\n") for part in PAGE.split("\n## ")[1:])}
EVERYWHERE = {"--help", "-h", "--version"}
#: How tables are printed and written: explained once, for all commands that have --table.
TABLES = {"--markdown", "-o", "--out", *(option.flag for option in (*ARRANGING, *LATEX))}


def actions(parser: ArgumentParser) -> Iterator[Action]:
    """Every argument of a parser and of the parsers below it."""
    for action in parser._actions:
        yield action
        if isinstance(action, SubParsers):
            for below in action.choices.values():
                if isinstance(below, LateParser):
                    below.complete()
                yield from actions(below)


def known(command: str) -> list[Action]:
    return list(actions(command_parser(command)))


def known_options(command: str) -> set[str]:
    return {option for action in known(command) for option in action.option_strings}


def mentioned(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z_-]*", text))


def test_there_is_one_section_for_each_command() -> None:
    titles = sorted(title for title in SECTIONS if title.startswith("billboards "))
    assert titles == sorted(f"billboards {command}" for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_explained_and_none_is_invented(command: str) -> None:
    said, options = mentioned(SECTIONS[f"billboards {command}"]), known_options(command) - EVERYWHERE
    shared = TABLES if "--table" in options else set()
    assert options - said - shared == set(), "not in the page"
    assert said - options == set(), "no such option"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_kind_or_action_of_a_command_is_named(command: str) -> None:
    below = [name for action in known(command) if isinstance(action, SubParsers) for name in action.choices]
    assert [name for name in below if name not in SECTIONS[f"billboards {command}"]] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_argument_without_a_name_is_named(command: str) -> None:
    words = {str(a.metavar) for a in known(command) if not a.option_strings and a.metavar and a.nargs != "A..."}
    assert [word for word in words if word not in SECTIONS[f"billboards {command}"]] == []


def test_options_of_tables_are_explained_once() -> None:
    assert TABLES - mentioned(SECTIONS["Options that several commands share"]) == set()


def test_shared_options_are_shared() -> None:
    everything = set().union(*map(known_options, COMMANDS))
    assert mentioned(SECTIONS["Options that several commands share"]) - everything == set()
