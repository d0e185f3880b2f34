"""Entries of the catalogue as texts, for files that a test's own server has."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

#: Writes a file of entries, and others beside it.
WriteEntry = Callable[..., Path]

#: Three outputs of two systems, which the table importer reads.
TABLE = b"item,system,output,quality\n1,A,one,1\n2,A,two,2\n3,A,three,3\n1,B,eins,3\n2,B,zwei,1\n3,B,drei,2\n"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def toml(name: str, sources: str, /, **changed: str) -> str:
    """An entry that makes a board of a table; `changed` holds lines of TOML by key."""
    lines = {
        "name": f'"{name}"',
        "title": '"Two systems"',
        "task": '"translation"',
        "languages": '["en"]',
        "judged": "6",
        "licence": '"CC0-1.0"',
        "citation": '"Somebody (2026): Two systems"',
        "importer": '"table"',
        "source": '"ratings.csv"',
        "options": '{ instance = "item", generator = "system", output = "output", judgment = ["quality"] }',
        **changed,
    }
    return "".join(f"{key} = {value}\n" for key, value in lines.items()) + sources


def url_source(url: str, data: bytes | None, /, **changed: str) -> str:
    """A source that is one file at an address; its size and digest are those of `data`, if given."""
    lines = {"url": f'"{url}"', "licence": '"CC0-1.0"', "files": '["ratings.csv"]'}
    if data is not None:
        lines |= {"size": str(len(data)), "sha256": f'"{sha256(data)}"'}
    return "\n[[sources]]\n" + "".join(f"{key} = {value}\n" for key, value in {**lines, **changed}.items())
