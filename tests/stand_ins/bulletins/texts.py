"""The written part of the board: records with two references each, training pairs, a human's texts, and wordings.

All of it is JSON lines inside the package, so that the board needs no network. Only this module knows the
files; generators are handed the training pairs and an input, and never see a reference.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from billboards.board import Instance, Reference


@dataclass(frozen=True, slots=True)
class Pair:
    """A training example: an input and a text for it."""

    input: str
    text: str


@dataclass(frozen=True, slots=True)
class Wording:
    """How people put a fact: `phrases` name it beyond doubt, `hints` do so only where the fact is known to be there."""

    field: str
    value: str
    phrases: tuple[str, ...]
    hints: tuple[str, ...]


def read_instances() -> tuple[Instance, ...]:
    return tuple(
        Instance(
            item["id"],
            references=tuple(Reference(reference["name"], reference["text"]) for reference in item["references"]),
            input=item["input"],
            document=item["document"],
            domain=item["domain"],
            tags=tuple(item["tags"]),
        )
        for item in _lines("instances.jsonl")
    )


def read_training() -> tuple[Pair, ...]:
    return tuple(Pair(item["input"], item["text"]) for item in _lines("training.jsonl"))


def read_human() -> dict[str, str]:
    """The human generator's texts, by instance."""
    return {item["instance"]: item["text"] for item in _lines("human.jsonl")}


def read_wordings() -> tuple[Wording, ...]:
    return tuple(
        Wording(item["field"], item["value"], tuple(item.get("said", ())), tuple(item.get("hints", ())))
        for item in _lines("wordings.jsonl")
    )


def _lines(name: str) -> Iterator[dict[str, Any]]:
    text = files("bulletins").joinpath("data", name).read_text(encoding="utf-8")
    return (json.loads(line) for line in text.split("\n") if line)
