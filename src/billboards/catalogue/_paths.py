"""Paths inside sources: which are safe to write, and which a pattern names.

A path in an entry or an archive is relative, with slashes, and never leads out of its folder. In a pattern `*` stands
for anything but a slash and `**` for anything.
"""

from __future__ import annotations

import re
from functools import cache

_DRIVE = re.compile(r"[A-Za-z]:")


def is_safe(path: str) -> bool:
    """Whether a relative path stays below the folder it is put into, on every system."""
    return (
        bool(path)
        and len(path.encode("utf-8", "surrogatepass")) < 1024
        and path.isprintable()
        and "\\" not in path
        and not _DRIVE.match(path)
        and all(part not in ("", ".", "..") and len(part.encode("utf-8")) < 256 for part in path.split("/"))
    )


def is_pattern(path: str) -> bool:
    """Whether a path names several files."""
    return "*" in path


def matches(path: str, pattern: str) -> bool:
    """Whether a path is one that a pattern names."""
    return _compiled(pattern).fullmatch(path) is not None


def fixed_folder(pattern: str) -> str:
    """The folder in which all files that a pattern names must lie."""
    return "/".join(pattern.partition("*")[0].split("/")[:-1])


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    words = {"**": ".*", "*": "[^/]*"}
    return re.compile("".join(words.get(part, re.escape(part)) for part in re.split(r"(\*\*|\*)", pattern)))
