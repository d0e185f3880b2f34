"""What evaluation harnesses log, as a board: a model is a generator, a sample an instance, a score a column.

Harnesses keep what a model was asked, what was expected, what it said and how that was scored. There are no people in
it: the board has outputs and imported scores, and judgments may come later. Each importer reads one harness' files into
samples; here these become rows and columns. One instance must be the same for every model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from billboards.board import DataCard, Instance
from billboards.board.judgment_sources import Imported
from billboards.errors import ImportRefused
from billboards.importers._assembling import (
    assemble,
    board_name,
    check_name,
    counts,
    references,
    rows_of_generators,
    score_column,
)
from billboards.reading import Problems, is_number, refuse_errors, shown


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """What one model said on one instance, what was expected, and the scores it got."""

    instance: str
    output: str
    input: str | None = None
    targets: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(kw_only=True)
class Samples:
    """Samples of all models, as they are read; mistakes go to `problems` with file and line."""

    problems: Problems = field(default_factory=Problems)
    notes: list[str] = field(default_factory=list)
    _files: set[str] = field(default_factory=set)
    _instances: dict[str, Instance] = field(default_factory=dict)
    _texts: dict[str, dict[str, str]] = field(default_factory=dict)
    _scores: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)

    def add(self, generator: str, sample: Sample, where: str, line: int | None = None) -> None:
        """One more sample; twice the same, or another input under the same id, is a mistake."""
        self._files.add(where)
        check_name("generator", generator, where, line, self.problems)
        check_name("instance", sample.instance, where, line, self.problems)
        texts = self._texts.setdefault(generator, {})
        if sample.instance in texts:
            self.problems.error(where, line, f"{generator}'s output for {shown(sample.instance)} appears twice")
            return
        made = Instance(sample.instance, references=references(sample.targets, "target"), input=sample.input)
        kept = self._instances.setdefault(sample.instance, made)
        if kept != made:
            self.problems.error(
                where,
                line,
                f"instance {shown(sample.instance)} has another input or target elsewhere; import one task at a time",
            )
        texts[sample.instance] = sample.output
        for name, value in sample.scores.items():
            if math.isfinite(value):
                self._scores.setdefault(name, {}).setdefault(generator, {})[sample.instance] = value

    def check(self, path: Path) -> None:
        """A file that gave no sample and no mistake is one itself."""
        if str(path) not in self._files and not self.problems.errors:
            self.problems.error(str(path), None, "holds no samples; is it what the harness wrote?")

    def board(self, source: Path, name: str | None, usual: str, card: DataCard) -> Imported:
        """The board of all samples."""
        if not self._instances and not self.problems.errors:
            self.problems.error(str(source), None, "holds no samples; is it what the harness wrote?")
        refuse_errors(self.problems)
        instances = tuple(self._instances[key] for key in sorted(self._instances, key=_numbered))
        board = assemble(
            board_name(name or usual),
            instances,
            rows_of_generators(instances, self._texts),
            (),
            dimensions=(),
            ranks=None,
            card=card,
        )
        place = {instance.id: k for k, instance in enumerate(instances)}
        columns = []
        for metric, by_generator in sorted(self._scores.items()):
            values = {row.name: np.full(len(instances), np.nan) for row in board.rows}
            for generator, scores in by_generator.items():
                for key, value in scores.items():
                    values[generator][place[key]] = value
            columns.append(
                score_column(
                    metric, values, references=board.reference_names, needs_references=bool(board.reference_names)
                )
            )
        return Imported(replace(board, imported=tuple(columns)), (counts(source, board), *self.notes))


def _numbered(key: str) -> tuple[int, int, str]:
    """Ids that are numbers in their order, others by name behind them."""
    return (0, int(key), key) if key.isdecimal() else (1, 0, key)


def files_below(source: Path, patterns: Sequence[str], what: str) -> list[Path]:
    """The file itself, or every file below a folder that matches one of the patterns."""
    if source.is_file():
        return [source]
    if not source.exists():
        raise ImportRefused(f"{source}: no such file or folder; it should hold {what}")
    files = sorted({path for pattern in patterns for path in source.rglob(pattern)})
    if not files:
        raise ImportRefused(f"{source}: holds no {what} (looked for {', '.join(patterns)})")
    return files


def numeric(values: Mapping[str, Any], without: Sequence[str] = ()) -> dict[str, float]:
    """The numbers and truth values of an object, by key."""
    return {
        key: float(value)
        for key, value in values.items()
        if key not in without and (isinstance(value, bool) or is_number(value))
    }


def plain_text(value: object) -> str | None:
    """A text, or the last one that is said in a list of messages; None for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value:
        parts = [_message_text(item) for item in value]
        texts = [part for part in parts if part is not None]
        return "\n".join(texts) if len(texts) == len(value) else None
    return _message_text(value)


def _message_text(item: object) -> str | None:
    """The text of a message: its content, which may come in parts."""
    if isinstance(item, str):
        return item
    if not isinstance(item, dict):
        return None
    content = item.get("content", item.get("text"))
    return content if isinstance(content, str) else plain_text(content) if isinstance(content, list) else None


def generator_name(model: str) -> str:
    """A model's name as a generator's: what stands for a slash in file names is one again where it can be."""
    return model.replace("__", "/").replace("/", "_").strip() or "model"
