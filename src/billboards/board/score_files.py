"""Scores that came with the data: the tables `scores/NAME.tsv`, with what `board.toml` says of each.

A table is tab-separated, a line per instance and a column per generator. An empty cell is a score that does not exist;
anything else must be a finite number written with plain digits. A column's identity is a digest of its file. A large
table is kept as numbers and loaded whenever it is asked for.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from billboards.board._kept import FOLDER as KEPT
from billboards.board._kept import SCORES, KeptTable, is_large, keep_numbers, kept_facts, key_of
from billboards.board._parts import INSTANCES, OUTPUTS, check_files, named_files, read_part, reference_set
from billboards.board.model import Outputs, digest
from billboards.board.names import file_name_mistake, is_loose
from billboards.board.scores import ImportedColumn
from billboards.board.settings import ImportedSettings, Settings
from billboards.errors import StoreFailed
from billboards.reading import Problems, numbered_lines, shown

Floats = NDArray[np.float64]


def read_scores(
    root: Path,
    settings: Settings,
    position: Mapping[str, int],
    rows: Sequence[Outputs],
    references: tuple[str, ...],
    problems: Problems,
) -> tuple[ImportedColumn, ...]:
    """A column per file; also for one that can't be read, so that nobody else complains of its absence."""
    is_row = _row_test(rows, problems)
    columns = []
    for name, path in named_files(root, "scores", ".tsv", file_name_mistake, problems).items():
        stated = settings.scores.get(name, ImportedSettings(name=name))
        file = ScoresFile(root=root, path=path, position=position, settings=stated)
        used = reference_set(stated.references, references, settings, ("scores", name, "references"), problems)
        raw = read_part(root, file.name, problems)
        columns.append(
            ImportedColumn(
                name=stated.name,
                source_name=name,
                signature=_signature(raw or b"", stated),
                values={} if raw is None else _score_table(raw, file, is_row, problems),
                references=() if "references" not in stated.needs else references if used is None else used,
                needs_references="references" in stated.needs,
                needs_input="input" in stated.needs,
                is_ensemble=stated.is_ensemble,
                is_statistic=stated.is_statistic,
                computed_by=stated.computed_by,
                higher_is_better=stated.higher_is_better,
                scores_only=stated.scores_only,
            )
        )
    check_files("scores", ".tsv", settings.scores, {column.source_name for column in columns}, settings, problems)
    return tuple(columns)


def _row_test(rows: Sequence[Outputs], problems: Problems) -> Callable[[str], bool]:
    """Whether a name is a row's; where rows could not be read, any name may be one of theirs."""
    names = {row.name for row in rows}
    generators_read = not problems.errors_in("generators")
    loose_read = not (problems.errors_in(OUTPUTS) or problems.errors_in(INSTANCES))
    return lambda name: name in names or not (loose_read if is_loose(name) else generators_read)


def _signature(raw: bytes, settings: ImportedSettings) -> str:
    """The identity of imported scores: their digest, which is another one when they are turned round."""
    turned = b"" if settings.higher_is_better else b"-"
    return f"imported:{hashlib.sha256(turned + raw).hexdigest()[:16]}"


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoresFile:
    """Reads one table of scores, when the board is opened or again later."""

    root: Path
    path: Path
    position: Mapping[str, int]
    settings: ImportedSettings

    @property
    def name(self) -> str:
        return f"scores/{self.path.name}"

    def read(self, raw: bytes, is_row: Callable[[str], bool], problems: Problems) -> dict[str, Floats]:
        values = read_score_table(raw, self.name, self.position, is_row, problems)
        return values if self.settings.higher_is_better else {row: _negated(scores) for row, scores in values.items()}

    def again(self, version: str) -> dict[str, Floats]:
        """The same scores from the same bytes."""
        raw = read_part(self.root, self.name, Problems()) or b""
        if hashlib.sha256(raw).hexdigest() != version:
            raise StoreFailed(f"{self.path}: has changed since the board was opened; open the board again")
        return self.read(raw, lambda _: True, Problems())


def _score_table(
    raw: bytes, file: ScoresFile, is_row: Callable[[str], bool], problems: Problems
) -> Mapping[str, Floats]:
    """A table of scores; a large one is loaded, as it was kept when first read, whenever it is asked for."""
    if not is_large(len(raw)):
        return file.read(raw, is_row, problems)
    path, version = file.root / KEPT / file.name, hashlib.sha256(raw).hexdigest()
    key = key_of(version, digest(file.position), file.settings.higher_is_better)
    facts = kept_facts(path, key)
    if facts is None or not all(map(is_row, facts["rows"])):
        before = len(problems)
        values = file.read(raw, is_row, problems)
        facts, arrays = {"rows": list(values)}, {SCORES: np.array([*values.values()])}
        if len(problems) > before or not values or not keep_numbers(path, key, facts, arrays):
            return values
    return KeptTable(path, key, facts["rows"], partial(file.again, version))


def _negated(scores: Floats) -> Floats:
    """Scores turned round, without a negative zero."""
    turned: Floats = 0.0 - scores
    return turned


def read_score_table(
    raw: bytes,
    name: str,
    position: Mapping[str, int],
    is_row: Callable[[str], bool],
    problems: Problems,
    *,
    rows: tuple[str, str] = ("generator", "of this board"),
) -> dict[str, Floats]:
    """Scores by row name, in the order of the instances, NaN where there is none; `rows` says what columns are of."""
    lines = ((number, line.split("\t")) for number, line in numbered_lines(raw, name, problems) if line)
    number, header = next(lines, (1, [""]))
    if header[0] != "instance":
        problems.error(name, number, f'the first line must read "instance", then a {rows[0]} per column, tabs between')
        return {}
    _check_header(header[1:], is_row, rows, name, number, problems)
    values = np.full((len(header) - 1, len(position)), np.nan)
    seen: dict[str, int] = {}
    for number, cells in lines:
        if cells[0] not in position:
            if position:
                problems.error(name, number, f"instance {shown(cells[0])} is not in instances.jsonl")
        elif cells[0] in seen:
            first = seen[cells[0]]
            problems.error(name, number, f"instance {shown(cells[0])} appears twice, first on line {first}")
        elif len(cells) != len(header):
            problems.error(name, number, f"{len(cells)} columns where the first line has {len(header)}")
        else:
            seen[cells[0]] = number
            values[:, position[cells[0]]] = _numbers(cells[1:], name, number, problems)
    return dict(zip(header[1:], values, strict=True)) if len(set(header[1:])) == len(header) - 1 else {}


def _check_header(
    columns: Sequence[str],
    is_row: Callable[[str], bool],
    rows: tuple[str, str],
    name: str,
    number: int,
    problems: Problems,
) -> None:
    kind, whose = rows
    for column, times in Counter(columns).items():
        if not is_row(column):
            problems.error(name, number, f"column {shown(column)} is no {kind} {whose}")
        if times > 1:
            problems.error(name, number, f"{kind} {shown(column)} stands in two columns")


def _numbers(cells: Sequence[str], name: str, number: int, problems: Problems) -> list[float]:
    """The scores of a line; where all are plain numbers, as usual, no cell is looked at twice."""
    joined = "".join(cells)
    if joined.isascii() and "_" not in joined:
        try:
            scores = list(map(float, cells))
        except ValueError:
            scores = [math.nan]
        if math.isfinite(sum(scores)):
            return scores
    return [_number(cell, name, number, problems) if cell else math.nan for cell in cells]


def _number(cell: str, name: str, number: int, problems: Problems) -> float:
    """A score; Python's leave to write 1_000 or digits of other scripts is not given here."""
    try:
        value = float(cell) if cell.isascii() and "_" not in cell else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        problems.error(name, number, f"{shown(cell)} is not a score; leave the cell empty where there is none")
    return value
