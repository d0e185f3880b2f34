"""A suite's file for boards that are there, to be edited: every key that matters, with what is known filled in."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count
from pathlib import Path

from billboards.analyses.suite.checked_boards import other_dimensions
from billboards.board import Board
from billboards.board.folder import open_board
from billboards.errors import InvalidInput
from billboards.saving import save_file
from billboards.stats.yardsticks import PRESETS

_HEAD = """\
# What each metric is worth on several boards. Run it: billboards suite run {file}
# `docs/suites.md` explains every key.
name = {name}
# The metrics to judge; those without options get a tokenizer of each board's language. {imported}
metrics = {metrics}
# How to measure: as a community reports (one of {presets}), or by statistics of your choice.
# preset = "summeval"
# statistics = ["spearman/by-item", "kendall-b"]
# ties = "wrong"  # what a pair counts that a metric ties: wrong, half, left-out

# Families of metrics, for the figure of agreement against difficulty.
# [families]
# n-gram = ["BLEU", "ROUGE-1"]
"""


def write_suite(path: str | Path, folders: Sequence[str | Path]) -> Path:
    """Write a suite of these boards; a file that is there is left alone."""
    file = Path(path)
    if file.exists():
        raise InvalidInput(f"{file} is there already; name another file, or edit that one")
    boards = [(Path(folder), open_board(folder)) for folder in folders]
    own = list(dict.fromkeys(name for _, board in boards for name in board.metrics))
    imported = [name for name in _imported(board for _, board in boards) if name not in own]
    came = f"The last {len(imported)} came with boards as scores." if imported else ""
    metrics = json.dumps([*own, *imported], ensure_ascii=False)
    presets = ", ".join(PRESETS)
    head = _HEAD.format(
        file=file.name, name=_quoted(file.stem), metrics=metrics, imported=came, presets=presets
    ).replace(". \n", ".\n")
    labels = _labels(boards)
    text = head + "".join(
        "\n".join(("", *_lines(folder, board, file, label))) + "\n"
        for (folder, board), label in zip(boards, labels, strict=True)
    )
    return save_file(file, text)


def _labels(boards: Sequence[tuple[Path, Board]]) -> list[str]:
    """A name for each board that no other has: its own, else its folder's, else that with a number."""
    several = Counter(board.name for _, board in boards)
    labels = list[str]()
    for folder, board in boards:
        plain = board.name if several[board.name] == 1 else folder.absolute().name
        free = (name for name in chain([plain], (f"{plain}-{k}" for k in count(2))) if name not in labels)
        labels.append(next(free))
    return labels


def _imported(boards: Iterable[Board]) -> list[str]:
    """The metrics whose scores came with boards, each once, under the names that suites know."""
    return list(dict.fromkeys(column.name for board in boards for column in board.imported))


def _lines(folder: Path, board: Board, file: Path, label: str) -> Iterator[str]:
    yield "[[boards]]"
    yield f"folder = {_quoted(os.path.relpath(folder.absolute(), file.absolute().parent))}"
    if label != board.name:
        yield f"label = {_quoted(label)}  # another board has the name {board.name}, too"
    if board.card.task:
        yield f"task = {_quoted(board.card.task)}"
    names = (*board.dimensions, *board.aggregates)
    correctness = board.ranks or next(iter(names), "")
    yield f"correctness = {_quoted(correctness)}  # one of {', '.join(names)}"
    others = list(other_dimensions(board, (correctness,) if correctness else ()))
    yield f"others = {json.dumps(others, ensure_ascii=False)}  # the other dimensions that have judgments"
    yield "# weight = 1.0"
    yield "# difficulty = 1  # its place on the figure's axis"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
