"""Outputs as they are written: a file of texts per generator, and one file of outputs that belong to no generator.

A generator's texts are read when they are first needed; until then its row is known by the digest of its file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from billboards.board.model import Generator, Instance, Outputs, Texts, loose_rows
from billboards.board.names import generator_name_mistake, name_mistake
from billboards.board.parts import LISTED, OUTPUTS, check_files, check_keys, instance_position, named_files, read_part
from billboards.board.settings import Settings
from billboards.errors import InvalidBoard, StoreFailed
from billboards.reading import Problems, json_lines, shown

TEXT_KEYS = ("instance", "text")
OUTPUT_KEYS = ("instance", "id", "text")


def generator_rows(
    root: Path,
    settings: Settings,
    position: Mapping[str, int],
    problems: Problems,
) -> tuple[Outputs, ...]:
    """A row per file; also for one that can't be read, so that nobody else complains of its absence."""
    rows = []
    for name, path in named_files(root, "generators", ".jsonl", generator_name_mistake, problems).items():
        raw = read_part(root, f"generators/{path.name}", problems)
        version = hashlib.sha256(raw or b"").hexdigest()[:16]
        generator = settings.generators.get(name, Generator(name))
        rows.append(Outputs(name, generator, version, TextsFile(root, path, position, version)))
    check_files("generators", ".jsonl", settings.generators, {row.name for row in rows}, settings, problems)
    return tuple(rows)


def loose_outputs(
    root: Path, instances: Sequence[Instance], position: Mapping[str, int], problems: Problems
) -> tuple[Outputs, ...]:
    """Outputs that belong to no generator, laid out in as few rows as they need."""
    found: dict[str, tuple[str, str]] = {}
    for line, item in json_lines(read_part(root, OUTPUTS, problems) or b"", OUTPUTS, problems):
        check_keys(item, OUTPUT_KEYS, OUTPUTS, line, problems)
        k = instance_position(item, position, OUTPUTS, line, problems)
        key, text = item.get("id"), item.get("text")
        if not isinstance(key, str) or not isinstance(text, str):
            problems.error(OUTPUTS, line, '"id" and "text" must be texts in quotes')
        elif wrong := name_mistake(key):
            problems.error(OUTPUTS, line, f'"id" {shown(key)} {wrong}')
        elif key in found:
            problems.error(OUTPUTS, line, f"output {shown(key)} appears twice; ids of outputs must differ")
        elif k is not None:
            found[key] = (item["instance"], text)
    return loose_rows(instances, ((instance, key, text) for key, (instance, text) in found.items()))


@dataclass(frozen=True)
class TextsFile:
    """Reads one generator's texts when they are first needed."""

    root: Path
    path: Path
    position: Mapping[str, int]
    version: str

    @property
    def name(self) -> str:
        return f"generators/{self.path.name}"

    def __call__(self) -> Texts:
        problems, name = Problems(LISTED), self.name
        raw = read_part(self.root, name, problems)
        if raw is not None and hashlib.sha256(raw).hexdigest()[:16] != self.version:
            raise StoreFailed(f"{self.path}: has changed since the board was opened; open the board again")
        texts = read_texts(raw or b"", name, self.position, problems)
        if raw is None and not problems:
            problems.error(name, None, "is gone since the board was opened")
        if problems.errors:
            raise InvalidBoard(str(self.root), problems.errors)
        return texts


def read_texts(raw: bytes, name: str, position: Mapping[str, int], problems: Problems) -> Texts:
    """A generator's texts in the order of the instances, None where it has none."""
    return read_texts_and_lines(raw, name, position, problems)[0]


def read_texts_and_lines(
    raw: bytes, name: str, position: Mapping[str, int], problems: Problems
) -> tuple[Texts, dict[int, int]]:
    """A generator's texts in the order of the instances, and the line each stands on."""
    texts: list[str | None] = [None] * len(position)
    lines: dict[int, int] = {}
    for line, item in json_lines(raw, name, problems):
        check_keys(item, TEXT_KEYS, name, line, problems)
        k = instance_position(item, position, name, line, problems)
        text = item.get("text")
        if not isinstance(text, str):
            problems.error(name, line, f'"text" must be text in quotes; found {shown(text)}')
        elif k is not None and k in lines:
            message = f"instance {shown(item['instance'])} appears twice, first on line {lines[k]}"
            problems.error(name, line, message)
        elif k is not None:
            texts[k], lines[k] = text, line
    return tuple(texts), lines
