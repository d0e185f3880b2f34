"""What a command says: its exit code, what it prints, and what the files that it writes hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from told_pages import page_lines

from billboards.cli.main import main

#: Data within a page: told by its kind alone.
_DATA = re.compile(r"data:([\w/+.-]+)[^\s\"']*")


def told_by(
    arguments: Iterable[object], capsys: pytest.CaptureFixture[str], *, files: Iterable[Path] = ()
) -> dict[str, Any]:
    """A command's answer; JSON as its values, a page as its lines."""
    capsys.readouterr()
    try:
        code: object = main([str(argument) for argument in arguments])
    except SystemExit as ended:
        code = ended.code
    printed = capsys.readouterr()
    told: dict[str, Any] = {"out": plain(printed.out), "err": printed.err.splitlines()}
    if code:
        told["exit"] = code
    return told | {path.name: told_file(path) for path in files}


def told_file(path: Path) -> Any:
    """What a file says; of a folder, what each of its files says."""
    if path.is_dir():
        return {
            part.relative_to(path).as_posix(): told_file(part) for part in sorted(path.rglob("*")) if part.is_file()
        }
    if not path.exists():
        return "not there"
    return plain(path.read_text("utf-8"))


def plain(text: str) -> Any:
    """JSON's values, a page's lines, or the lines of a text without spaces at their ends."""
    if text.startswith(("{", "[")):
        try:
            return json.loads(text)
        except ValueError:
            pass
    if text.lstrip().lower().startswith("<!doctype html"):
        return [_DATA.sub(r"data:\1", line) for line in page_lines(text)]
    return [line.rstrip() for line in text.splitlines()]
