"""The files that a board folder consists of, and what every line about an instance must say.

A file that is absent is no mistake here: who needs it says so. One that can't be read, stands for a name that another
file stands for, or has a name that is no text, always is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from billboards.board.names import file_name, named
from billboards.board.settings import FILE, Settings
from billboards.reading import Problems, shown

INSTANCES = "instances.jsonl"
OUTPUTS = "outputs.jsonl"
#: How many mistakes of one file are listed; the rest are counted.
LISTED = 100


def read_part(root: Path, name: str, problems: Problems) -> bytes | None:
    """A file's bytes; None where it is absent, and where it can't be read, which is a mistake."""
    path = root / name
    try:
        if path.is_file():
            return path.read_bytes()
        if path.exists() or path.is_symlink():
            problems.error(name, None, "can't be read: it must be a file")
    except OSError as error:
        problems.error(name, None, f"can't be read: {error.strerror or error}")
    return None


def part_files(root: Path, folder: str, suffix: str, problems: Problems) -> list[Path]:
    """The files of one kind in a part of the board, in the order of their names; hidden ones are not the board's."""
    where = root / folder
    try:
        exists = where.exists() or where.is_symlink()
        paths = sorted(where.iterdir()) if exists else []
    except OSError as error:
        problems.error(folder, None, f"can't be read: {error.strerror}; it must be a folder with *{suffix} files")
        return []
    files = [path for path in paths if path.suffix == suffix and not path.name.startswith(".")]
    for path in files:
        if not _is_text(path.name):
            problems.error(folder, None, f"the file name {path.name!a} is not UTF-8; rename the file")
    return [path for path in files if _is_text(path.name)]


def _is_text(name: str) -> bool:
    """Whether a file's name could be decoded; what could not stands in it as surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def named_files(
    root: Path, folder: str, suffix: str, mistake: Callable[[str], str | None], problems: Problems
) -> dict[str, Path]:
    """The files of a folder by the name each stands for; two files for one name are a mistake."""
    by_name: dict[str, Path] = {}
    for path in part_files(root, folder, suffix, problems):
        name = named(path)
        if wrong := mistake(name):
            problems.error(f"{folder}/{path.name}", None, f"the name {shown(name)} {wrong}")
        if name in by_name:
            message = f"stands for {shown(name)}, as {by_name[name].name} does; keep one of the two"
            problems.error(f"{folder}/{path.name}", None, message)
        by_name.setdefault(name, path)
    return by_name


def check_files(
    folder: str, suffix: str, stated: Iterable[str], present: Collection[str], settings: Settings, problems: Problems
) -> None:
    """Whatever `board.toml` has a table about must have a file in its folder."""
    for name in stated:
        if name not in present and not problems.errors_in(folder):
            message = f"[{folder}.{name}] has no file {folder}/{file_name(name)}{suffix}"
            problems.error(FILE, settings.line(folder, name), message)


def check_keys(item: Iterable[str], allowed: tuple[str, ...], name: str, line: int, problems: Problems) -> None:
    """A key that nobody reads is a mistake, most often in spelling."""
    for key in item:
        if key not in allowed:
            problems.error(name, line, f"unknown key {shown(key)}; known: {', '.join(allowed)}")


def instance_position(
    item: Mapping[str, Any], position: Mapping[str, int], name: str, line: int, problems: Problems
) -> int | None:
    """The position of the instance a line speaks of; where no instance could be read, that was said already."""
    key = item.get("instance")
    if not isinstance(key, str):
        problems.error(name, line, f'"instance" must be an instance\'s id in quotes; found {shown(key)}')
        return None
    if position and key not in position:
        problems.error(name, line, f"instance {shown(key)} is not in {INSTANCES}")
    return position.get(key)


def reference_set(
    names: tuple[str, ...] | None,
    of_board: tuple[str, ...],
    settings: Settings,
    key: tuple[str, ...],
    problems: Problems,
) -> tuple[str, ...] | None:
    """The references a setting names, in the board's own order."""
    if names is None:
        return None
    for name in names:
        if name not in of_board and not problems.errors_in(INSTANCES):
            message = f"{'.'.join(key)} names reference {shown(name)}, which no instance has"
            problems.error(FILE, settings.line(*key), message)
    return tuple(name for name in of_board if name in names)
