"""Names on a board: what may be one, and the file name it is kept under.

Instance ids and generators' names stand in tab-separated tables, in commands and in file names, so a name is one line
of ordinary characters. Any such name can be a file name: what file systems treat specially is percent-encoded.
"""

from __future__ import annotations

import re
import unicodedata
import urllib.parse
from pathlib import Path

_SAFE = " ()+,-._@="
_LONGEST = 200
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_RESERVED = re.compile(r"#\d+")
_BOARD = re.compile(r"\w[\w.-]*")


def file_name(name: str) -> str:
    """A generator's or metric's name as a file name; any name can be one."""
    quoted = urllib.parse.quote(name, safe=_SAFE)
    return "%2E" + quoted[1:] if quoted.startswith(".") else quoted


def named(path: Path) -> str:
    """The name that `file_name` made a file name of."""
    return urllib.parse.unquote(path.stem)


def name_mistake(name: str) -> str | None:
    """What is wrong with a name, if anything, as the end of a sentence that begins with it."""
    if not name:
        return "is empty"
    forbidden = _FORBIDDEN.search(name)
    if forbidden is None:
        return None
    return f"holds the character U+{ord(forbidden[0]):04X}; names have no tabs, line ends or other control characters"


def file_name_mistake(name: str) -> str | None:
    """What is wrong with a name that a file is to be called by, if anything."""
    mistake = name_mistake(name)
    if mistake is None and len(file_name(name)) > _LONGEST:
        return f"is too long: as a file name it has {len(file_name(name))} bytes, and at most {_LONGEST} are allowed"
    return mistake


def is_loose(name: str) -> bool:
    """Whether a row of this name holds outputs that belong to no generator."""
    return _RESERVED.fullmatch(name) is not None


def generator_name_mistake(name: str) -> str | None:
    """What is wrong with a generator's name, if anything."""
    if is_loose(name):
        return "is taken: #1, #2, … are the rows of outputs that belong to no generator"
    return file_name_mistake(name)


def mistake_in(kind: str, name: str) -> str | None:
    """What is wrong with the name of a `kind` of thing, if anything; some of them name files."""
    if kind == "generator":
        return generator_name_mistake(name)
    return file_name_mistake(name) if kind in ("campaign", "scores") else name_mistake(name)


def board_name_mistake(name: str) -> str | None:
    """What is wrong with a board's name, if anything; it stands in signatures and commands."""
    if _BOARD.fullmatch(name):
        return None
    return "may hold letters, digits, dots, dashes and underscores only, and begins with a letter or digit"


def folded(name: str) -> str:
    """The name as a file system sees it that ignores case and how accents are encoded."""
    return unicodedata.normalize("NFC", name).casefold()


def folder_order(name: str) -> str:
    """Sorts names as a board folder lists their files, so that a board opens as it was imported."""
    return f"{file_name(name)}.jsonl"


def is_human(name: str) -> bool:
    """Whether a system's name says that people wrote its outputs, as Human, Human-A and Human-A.0 do."""
    return re.fullmatch(r"Human(-.+)?", name) is not None


def plain_name(name: str) -> str:
    """A system's name without the submission number that WMT appends: `Human-A.0` is `Human-A`."""
    return re.sub(r"\.\d+$", "", name)
