"""A suite's file for boards that are there, to be edited: every key that matters, with what is known filled in."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from billboards.board import Board
from billboards.board.folder import open_board
from billboards.errors import InvalidInput, StoreFailed

_HEAD = """\
# What each metric is worth on several boards. Run it: billboards suite run {file}
# `docs/suites.md` explains every key.
name = {name}
# The metrics to judge; those without options get a tokenizer of each board's language.
metrics = {metrics}

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
    metrics = list(dict.fromkeys(name for _, board in boards for name in board.metrics))
    head = _HEAD.format(file=file.name, name=_quoted(file.stem), metrics=json.dumps(metrics, ensure_ascii=False))
    text = head + "".join("\n".join(("", *_lines(folder, board, file))) + "\n" for folder, board in boards)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreFailed(f"{file}: can't be written: {error.strerror or error}") from error
    return file


def _lines(folder: Path, board: Board, file: Path) -> Iterator[str]:
    yield "[[boards]]"
    yield f"folder = {_quoted(os.path.relpath(folder.absolute(), file.absolute().parent))}"
    if board.card.task:
        yield f"task = {_quoted(board.card.task)}"
    names = (*board.dimensions, *board.aggregates)
    yield f"correctness = {_quoted(board.ranks or next(iter(names), ''))}  # one of {', '.join(names)}"
    yield "# others = []  # by default every other dimension that has judgments"
    yield "# weight = 1.0"
    yield "# difficulty = 1  # its place on the figure's axis"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
