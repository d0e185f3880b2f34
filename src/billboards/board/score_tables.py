"""Tables of scores that came with the data: tab-separated, a line per instance, a column per generator.

An empty cell is a score that does not exist. Anything else must be a finite number written with plain digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from billboards.reading import Problems, numbered_lines, shown

Floats = NDArray[np.float64]


def read_score_table(
    raw: bytes, name: str, position: Mapping[str, int], is_row: Callable[[str], bool], problems: Problems
) -> dict[str, Floats]:
    """Scores by row name, in the order of the instances, NaN where there is none."""
    lines = ((number, line.split("\t")) for number, line in numbered_lines(raw, name, problems) if line)
    number, header = next(lines, (1, [""]))
    if header[0] != "instance":
        problems.error(name, number, 'the first line must read "instance", then a generator per column, tabs between')
        return {}
    _check_header(header[1:], is_row, name, number, problems)
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
    columns: Sequence[str], is_row: Callable[[str], bool], name: str, number: int, problems: Problems
) -> None:
    for column in dict.fromkeys(columns):
        if not is_row(column):
            problems.error(name, number, f"column {shown(column)} is no generator of this board")
        if columns.count(column) > 1:
            problems.error(name, number, f"generator {shown(column)} stands in two columns")


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
